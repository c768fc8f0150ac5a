//! Columns of 64-bit integers: the choice of a codec for each, and the byte that names it.
//!
//! Most codecs state their size exactly from [`Stats`]. The smallest wins; of equal sizes the
//! earlier in [`CODECS`]. The size of an entropy coder is known only by trying it. Entropy coders
//! are tried if the other codecs stay wide. They must win by a tenth, because they decode slower.

use super::chains::Chains;
use super::constant::Constant;
use super::delta::Delta;
use super::dictionary::DictionaryCodec;
use super::divisor::{self, Quotients};
use super::entropy::Entropy;
use super::frame::Frame;
use super::int_codec::{Codec, Decode, Trial};
use super::run::RunCodec;
use super::shuffle::Shuffle;
use super::sparse::Sparse;
use super::stats::{Stats, are_all};
use super::varint::Varint;
use super::{BlockDecoder, Encoder, INTS, MAX_VALUES, check_count};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

/// Codecs by id, from [`INTS`] on.
pub const CODECS: [&dyn Codec; 7] =
    [&Constant, &Frame, &Delta, &RunCodec, &DictionaryCodec, &Varint, &Sparse];
/// Codecs by id, after [`CODECS`] and the divisor.
pub const TRIALS: [&dyn Trial; 3] = [&Shuffle, &Chains, &Entropy];
/// Decoders of [`CODECS`] and [`TRIALS`], by id. A divisor has no decoder of its own.
const DECODERS: [Option<&dyn Decode>; NAMES.len()] = [
    Some(&Constant),
    Some(&Frame),
    Some(&Delta),
    Some(&RunCodec),
    Some(&DictionaryCodec),
    Some(&Varint),
    Some(&Sparse),
    None,
    Some(&Shuffle),
    Some(&Chains),
    Some(&Entropy),
];
/// Id of [`Constant`].
const CONSTANT: u8 = INTS;
const DIVISOR: u8 = INTS + CODECS.len() as u8;
const FIRST_TRIAL: u8 = DIVISOR + 1;
/// Names that [`super::codec_name`] returns, by id.
pub const NAMES: [&str; CODECS.len() + 1 + TRIALS.len()] = [
    "constant",
    "frame of reference",
    "delta",
    "run length",
    "dictionary",
    "varint",
    "sparse",
    "divisor",
    "shuffled zstd",
    "chains",
    "pco",
];
/// Names of the codecs of the quotients below a divisor, by id.
const NAMES_DIVIDED: [&str; NAMES.len()] = [
    "divisor, constant",
    "divisor, frame of reference",
    "divisor, delta",
    "divisor, run length",
    "divisor, dictionary",
    "divisor, varint",
    "divisor, sparse",
    "divisor",
    "divisor, shuffled zstd",
    "divisor, chains",
    "divisor, pco",
];

/// Appends a column: the id of the smallest codec, then its bytes.
pub fn encode(values: &[i64], encoder: &mut Encoder, out: &mut Vec<u8>) {
    assert!(values.len() <= MAX_VALUES, "a block holds at most MAX_VALUES values");
    // Every other codec takes at least as many bytes.
    if let Some(&first) = values.first()
        && are_all(values, first)
    {
        out.push(CONSTANT);
        out.put_signed(first);
        return;
    }
    match Quotients::of(values) {
        Some(quotients) => {
            out.push(DIVISOR);
            quotients.put_header(out);
            encode_undivided(&quotients.values, &Stats::of(&quotients.values), encoder, out);
        }
        None => encode_undivided(values, &Stats::of(values), encoder, out),
    }
}

/// Id of the codec that needs the fewest bytes, and the number of bytes.
fn smallest(stats: &Stats) -> (u8, usize) {
    let sizes = (INTS..).zip(CODECS).filter_map(|(id, codec)| Some((id, codec.encoded_len(stats)?)));
    sizes.min_by_key(|(_, len)| *len).expect("the frame of reference fits every column")
}

fn encode_undivided(values: &[i64], stats: &Stats, encoder: &mut Encoder, out: &mut Vec<u8>) {
    let (id, len) = smallest(stats);
    let mut best: Option<(u8, Vec<u8>)> = None;
    for (id, trial) in (FIRST_TRIAL..).zip(TRIALS) {
        let best_len = best.as_ref().map_or(len, |(_, bytes)| bytes.len());
        let is_wide = best_len * 8 > trial.worth_above_bits() * values.len();
        if !is_wide || values.len() < trial.min_values() {
            continue;
        }
        let attempt = trial.attempt(values, stats, encoder).filter(|bytes| wins(bytes.len(), best_len));
        best = attempt.map(|bytes| (id, bytes)).or(best);
    }
    match best {
        Some((id, bytes)) => {
            out.push(id);
            out.extend_from_slice(&bytes);
        }
        None => {
            out.push(id);
            CODECS[usize::from(id - INTS)].encode(values, stats, out);
        }
    }
}

/// Whether an attempt is worth its slower decoding: it must be smaller by a tenth or more.
pub fn wins(attempt_len: usize, len: usize) -> bool {
    attempt_len * 10 <= len * 9
}

/// Reads what [`encode`] wrote.
pub fn decode(bytes: &[u8], count: usize, decoder: &mut BlockDecoder, out: &mut Vec<i64>) -> Result<()> {
    check_count(count)?;
    out.clear();
    let mut cursor = Cursor::new(bytes, 0, "integer column");
    let id = cursor.u8()?;
    // At most MAX_VALUES: a valid constant column of two bytes can be that long.
    out.resize(count, 0);
    if id != DIVISOR {
        return decode_undivided(id, cursor, decoder, out);
    }
    let (base, divisor) = divisor::header(&mut cursor)?;
    let id = cursor.u8()?;
    decode_undivided(id, cursor, decoder, out)?;
    divisor::multiply(base, divisor, out);
    Ok(())
}

fn decode_undivided(id: u8, cursor: Cursor<'_>, decoder: &mut BlockDecoder, out: &mut [i64]) -> Result<()> {
    let decoder_of = |id: u8| DECODERS.get(usize::from(id.checked_sub(INTS)?)).copied().flatten();
    decoder_of(id).ok_or_else(|| cursor.corrupt())?.decode(cursor, out, decoder)
}

/// Name of the codec, or codecs, of a column of integers.
pub fn name(bytes: &[u8]) -> Option<&'static str> {
    let mut cursor = Cursor::new(bytes, 0, "integer column");
    let index = |id: u8| id.checked_sub(INTS).map(usize::from);
    let id = cursor.u8().ok()?;
    if id == DIVISOR && divisor::header(&mut cursor).is_ok() {
        return NAMES_DIVIDED.get(index(cursor.u8().ok()?)?).copied();
    }
    NAMES.get(index(id)?).copied()
}

/// The single value of a column whose codec stores only one.
pub fn constant(bytes: &[u8]) -> Option<i64> {
    let mut cursor = Cursor::new(bytes, 0, "integer column");
    let value = (cursor.u8().ok()? == CONSTANT).then(|| cursor.signed())?.ok()?;
    cursor.finish().ok().map(|()| value)
}
