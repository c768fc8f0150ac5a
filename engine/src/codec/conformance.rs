//! Checks that every codec must pass, over the same table of shapes.

use proptest::prelude::*;

use super::bits::MAX_WIDTH;
use super::int::{CODECS, TRIALS};
use super::int_codec::{Codec, varint_len};
use super::stats::Stats;
use super::*;
use crate::base::bytes::{Cursor, zigzag};

/// A fixed sequence of pseudo-random numbers (splitmix64).
fn noise(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |i: u64| {
        let z = (seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// Pseudo-random numbers of `width` bits, read as signed.
fn random(width: u8, count: usize) -> Vec<i64> {
    let ones = u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0);
    noise(u64::from(width)).map(|number| (number & ones).cast_signed()).take(count).collect()
}

/// Codes of a repeated loop, interrupted by new ones.
fn chains(count: i64) -> Vec<i64> {
    (0..count).map(|i| if i % 7 == 3 { 100_000 + i / 7 } else { 500 + i % 100 }).collect()
}

/// Shapes of columns: a name and the values.
fn shapes() -> Vec<(String, Vec<i64>)> {
    let loops = |count: i64| (0..count).map(|i| (i % 37) * (i % 37) * 1001).collect::<Vec<_>>();
    let mut times: Vec<i64> = random(12, 700)
        .iter()
        .scan(0, |time, gap| {
            *time += gap;
            Some(*time)
        })
        .collect();
    let ticks: Vec<i64> = times.iter().map(|time| 5_000_000_000_000 + time * 714).collect();
    times.dedup();
    let mut shapes: Vec<(String, Vec<i64>)> = [
        ("empty", vec![]),
        ("zero", vec![0]),
        ("one", vec![-77]),
        ("smallest", vec![i64::MIN]),
        ("largest", vec![i64::MAX]),
        ("two", vec![3, -4]),
        ("constant", vec![1 << 40; 300]),
        ("constant smallest", vec![i64::MIN; 65]),
        ("arithmetic", (0..500).map(|i| 1_000_000 - 7 * i).collect()),
        ("arithmetic over the edge", (0..100).map(|i: i64| i64::MAX.wrapping_add(i * 3)).collect()),
        ("runs", (0..600).map(|i| [5, -9, 1 << 33][i / 41 % 3]).collect()),
        ("long run and one other", (0..400).map(|i| i64::from(i == 399)).collect()),
        ("alternating extremes", (0..130).map(|i| if i % 2 == 0 { i64::MIN } else { i64::MAX }).collect()),
        ("extremes and zero", (0..90).map(|i| [i64::MIN, 0, i64::MAX][i % 3]).collect()),
        ("few distinct", random(2, 300).iter().map(|code| code * 0x1234_5678_9abc).collect()),
        (
            "256 distinct",
            random(8, 900).iter().map(|code| code.wrapping_mul(0x0123_4567_89ab_cdef)).collect(),
        ),
        ("times", times),
        ("clock ticks", ticks),
        ("loops", loops(1024)),
        ("chains", chains(600)),
        ("mostly zero", random(9, 512).iter().map(|i| if *i < 5 { i << 40 } else { 0 }).collect()),
    ]
    .map(|(name, values)| (name.to_owned(), values))
    .into();
    for width in 0..=MAX_WIDTH {
        for count in [1, 70] {
            shapes.push((format!("{count} random of {width} bits"), random(width, count)));
        }
    }
    for width in [7, 13, 33, 64] {
        shapes.push((format!("1024 random of {width} bits"), random(width, 1024)));
        let bell =
            |i: u64| (0..8).map(|part| (i >> (part * 8) & 0xff).cast_signed()).sum::<i64>() << (width / 2);
        shapes.push((format!("a bell at {width}"), noise(3).map(bell).take(1024).collect()));
    }
    shapes
}

/// Decodes every truncation and every change of one byte: the result is an answer of the right
/// length or an error.
#[track_caller]
fn check_hostile<T>(
    name: &str,
    bytes: &[u8],
    count: usize,
    decode: impl Fn(&[u8]) -> Result<T>,
    len: impl Fn(&T) -> usize,
) {
    let answers_or_fails = |bytes: &[u8], how: &str, at: usize| {
        if let Ok(values) = decode(bytes) {
            assert_eq!(len(&values), count, "{name}: {how} at {at}");
        }
    };
    for keep in 0..bytes.len() {
        answers_or_fails(&bytes[..keep], "cut", keep);
    }
    let mut changed = bytes.to_vec();
    // Every bit of the first 64 bytes, which hold the sizes; one bit of each byte after
    // them. Also a few fixed values of each byte.
    for at in 0..bytes.len() {
        let bits = if at < 64 { 0..8 } else { at % 8..at % 8 + 1 };
        let values = bits.map(|bit| bytes[at] ^ 1 << bit).chain([0, 0x7f, 0x80, 0xff]);
        for value in values {
            changed[at] = value;
            answers_or_fails(&changed, "change", at);
        }
        changed[at] = bytes[at];
    }
    let mut longer = bytes.to_vec();
    longer.push(0);
    answers_or_fails(&longer, "longer", 0);
}

fn decoded_ints(bytes: &[u8], count: usize) -> Result<Vec<i64>> {
    let mut values = vec![99];
    decode_ints(bytes, count, &mut values)?;
    Ok(values)
}

/// Most values of a hostile test. Longer columns have no other kinds of bytes, only more.
const HOSTILE_MAX: usize = 700;

#[track_caller]
fn check_codec(name: &str, codec: &dyn Codec, values: &[i64]) {
    let stats = Stats::of(values);
    let Some(len) = codec.encoded_len(&stats) else { return };
    let mut bytes = Vec::new();
    codec.encode(values, &stats, &mut bytes);
    assert_eq!(bytes.len(), len, "{name}: stated length");
    let decode = |bytes: &[u8]| {
        let mut decoded = vec![-1; values.len()];
        codec
            .decode(Cursor::new(bytes, 0, "test"), &mut decoded, &mut BlockDecoder::default())
            .map(|()| decoded)
    };
    assert_eq!(decode(&bytes).as_deref(), Ok(values), "{name}");
    if values.len() <= HOSTILE_MAX {
        check_hostile(name, &bytes, values.len(), decode, Vec::len);
    }
}

#[test]
fn every_codec_keeps_every_shape_it_takes() {
    for (name, values) in shapes() {
        for (id, codec) in CODECS.into_iter().enumerate() {
            check_codec(&format!("{} of {name}", int::NAMES[id]), codec, &values);
        }
    }
}

#[test]
fn every_trial_keeps_every_shape_it_takes() {
    for (name, values) in shapes() {
        if values.is_empty() {
            continue;
        }
        for (id, trial) in TRIALS.into_iter().enumerate() {
            let name = format!("{} of {name}", int::NAMES[CODECS.len() + 1 + id]);
            let decode = |bytes: &[u8]| {
                let mut decoded = vec![-1; values.len()];
                trial
                    .decode(Cursor::new(bytes, 0, "test"), &mut decoded, &mut BlockDecoder::default())
                    .map(|()| decoded)
            };
            let attempt = trial.attempt(&values, &Stats::of(&values), &mut Encoder::default());
            let Some(bytes) = attempt else {
                assert!(name.starts_with("chains"), "{name} is refused");
                continue;
            };
            assert_eq!(decode(&bytes).as_deref(), Ok(values.as_slice()), "{name}");
            if values.len() <= HOSTILE_MAX {
                check_hostile(&name, &bytes, values.len(), decode, Vec::len);
            }
        }
    }
}

/// Length of the values as varints, plus the id: the size without any codec.
fn varint_form_len(values: &[i64]) -> usize {
    1 + values.iter().map(|value| varint_len(zigzag(*value))).sum::<usize>()
}

/// Most bytes of a codec besides the values: two varints of ten bytes, and a width.
const HEADER_MAX: usize = 21;

#[track_caller]
fn check_chosen(name: &str, values: &[i64]) {
    let mut bytes = Vec::new();
    encode_ints(values, &mut bytes);
    assert_eq!(decoded_ints(&bytes, values.len()).as_deref(), Ok(values), "{name}");
    let most = (8 * values.len() + HEADER_MAX).min(varint_form_len(values));
    assert!(bytes.len() <= most, "{name}: {} bytes, {most} without a choice", bytes.len());
    let mut again = Vec::new();
    encode_ints(values, &mut again);
    assert_eq!(bytes, again, "{name}: the choice is not deterministic");
}

#[test]
fn the_chosen_codec_keeps_every_shape() {
    for (name, values) in shapes() {
        check_chosen(&name, &values);
        let mut bytes = Vec::new();
        encode_ints(&values, &mut bytes);
        if values.len() <= HOSTILE_MAX {
            check_hostile(&name, &bytes, values.len(), |bytes| decoded_ints(bytes, values.len()), Vec::len);
        }
    }
}

#[track_caller]
fn check_name(values: &[i64], expected: &str) {
    let mut bytes = Vec::new();
    encode_ints(values, &mut bytes);
    assert_eq!(codec_name(&bytes), expected);
}

#[test]
fn each_codec_is_chosen_for_what_it_is_made_for() {
    check_name(&[7; 1000], "constant");
    check_name(&random(11, 50), "frame of reference");
    check_name(&(0..1000).map(|i| i * 3).collect::<Vec<_>>(), "delta");
    check_name(&(0..60).map(|i| [1 << 40, -5, 99][i / 20]).collect::<Vec<_>>(), "run length");
    check_name(
        &random(1, 60).iter().map(|code| code << 50 | 1).chain([0, 1]).collect::<Vec<_>>(),
        "dictionary",
    );
    check_name(
        &random(9, 40).iter().map(|ticks| ticks * 714).collect::<Vec<_>>(),
        "divisor, frame of reference",
    );
    check_name(&[3, -2, 1 << 60, 7, 1, 9, -5, 4, 2], "varint");
    let (_, loops) = shapes().into_iter().find(|(name, _)| name == "loops").unwrap();
    check_name(&loops, "divisor, shuffled zstd");
    check_name(
        &loops.iter().enumerate().map(|(i, value)| value + i as i64 % 2).collect::<Vec<_>>(),
        "shuffled zstd",
    );
    check_name(&chains(2048), "chains");
    let bell = |i: u64| (0..8).map(|part| (i >> (part * 8) & 0xff).cast_signed()).sum::<i64>();
    let wide: Vec<i64> =
        noise(3).map(|i| if i % 64 == 0 { bell(i) << 20 } else { bell(i) }).take(4096).collect();
    check_name(&wide, "pco");
}

#[test]
fn names_of_columns_that_are_none() {
    assert_eq!(codec_name(&[]), "nothing");
    assert_eq!(codec_name(&[0]), "unknown");
    assert_eq!(codec_name(&[0xff]), "unknown");
}

#[test]
fn more_values_than_a_block_holds_are_refused_unread() {
    let invalid = |error: Error| matches!(error, Error::Invalid { .. });
    let count = MAX_VALUES + 1;
    assert!(decode_ints(&[INTS, 0], count, &mut Vec::new()).is_err_and(invalid));
    assert!(decode_floats(&[], count, &mut Vec::new()).is_err_and(invalid));
    assert!(decode_mask(&[], count, &mut Vec::new()).is_err_and(invalid));
    assert!(decode_texts(&[], count).is_err_and(invalid));
    assert_eq!(decoded_ints(&[INTS, 0], MAX_VALUES).map(|values| values.len()), Ok(MAX_VALUES));
}

fn float_shapes() -> Vec<(&'static str, Vec<f64>)> {
    let noisy: Vec<f64> = noise(9).map(|bits| f64::from_bits(bits | 1 << 62)).take(200).collect();
    let counter = |i: u64| (i >> 50) as f64 * 0.125;
    vec![
        ("empty", vec![]),
        ("zeros", vec![0.0, -0.0]),
        ("minus zero", vec![-0.0; 40]),
        (
            "special",
            vec![f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE / 2.0, f64::MAX],
        ),
        (
            "NaN payloads",
            (0..99).map(|i| f64::from_bits(0x7ff0_0000_0000_0001 + i * 0x8_0000_0001)).collect(),
        ),
        ("integers", (0..300).map(|i| f64::from(i * i)).collect()),
        ("beyond exact integers", vec![9_007_199_254_740_993.0, 1e300, -1e17]),
        ("percent", (0..300).map(|i| f64::from(i % 97) / 100.0).collect()),
        (
            "percent and a NaN",
            (0..300).map(|i| if i == 7 { f64::NAN } else { f64::from(i) / 10.0 }).collect(),
        ),
        ("eighths", noise(4).map(counter).take(700).collect()),
        ("a sine", (0..1024).map(|i| (f64::from(i) * 0.01).sin()).collect()),
        ("floats of 32 bits", noise(5).map(|bits| f64::from((bits >> 40) as f32 / 1e3)).take(500).collect()),
        ("thirds", (0..500).map(|i| f64::from(i) / 3.0).collect()),
        ("seconds from ticks", noise(7).map(|i| (i >> 50) as f64 * 0.714e-9).take(1000).collect()),
        ("noise", noisy),
    ]
}

#[track_caller]
fn check_floats(name: &str, values: &[f64]) -> Vec<u8> {
    let decode = |bytes: &[u8]| {
        let mut decoded = vec![1.5];
        decode_floats(bytes, values.len(), &mut decoded).map(|()| decoded)
    };
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let mut bytes = Vec::new();
    encode_floats(values, &mut bytes);
    assert_eq!(decode(&bytes).map(|decoded| bits(&decoded)), Ok(bits(values)), "{name}");
    assert!(bytes.len() <= 8 * values.len() + HEADER_MAX + 1, "{name}: {} bytes", bytes.len());
    check_hostile(name, &bytes, values.len(), decode, Vec::len);
    bytes
}

#[test]
fn floats_keep_every_bit() {
    for (name, values) in float_shapes() {
        check_floats(name, &values);
    }
}

#[test]
fn each_form_of_floats_is_chosen_for_what_it_is_made_for() {
    let name = |wanted: &str| {
        let shape = float_shapes().into_iter().find(|(name, _)| *name == wanted).unwrap();
        codec_name(&check_floats(wanted, &shape.1))
    };
    assert_eq!(name("percent"), "decimals");
    assert_eq!(name("special"), "ordered bits");
    assert_eq!(name("seconds from ticks"), "pco");
}

#[track_caller]
fn check_texts(texts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_texts(texts.iter().copied(), &mut bytes);
    let decode = |bytes: &[u8]| decode_texts(bytes, texts.len());
    let decoded = decode(&bytes).unwrap();
    assert_eq!(decoded.iter().collect::<Vec<_>>(), texts);
    assert_eq!(decoded.len(), texts.len());
    // Reading each text of a damaged column must not panic either.
    check_hostile("texts", &bytes, texts.len(), decode, |texts| {
        texts.iter().map(|text| text.chars().count().min(1) | 1).sum()
    });
    bytes
}

#[test]
fn texts_of_every_form() {
    assert_eq!(codec_name(&check_texts(&[])), "plain");
    assert_eq!(codec_name(&check_texts(&["", "a", ""])), "plain");
    assert_eq!(codec_name(&check_texts(&["é", "è", "日本", "日曜", "🦀", "🦁"])), "front-coded");
    let words: Vec<String> =
        noise(8).map(|i| format!("{:04x} add multiply transpose", i >> 48)).take(200).collect();
    assert_eq!(codec_name(&check_texts(&words.iter().map(String::as_str).collect::<Vec<_>>())), "zstd");
    let paths: Vec<String> =
        noise(1).map(|i| format!("/very/long/path/to/model/{:04x}", i >> 48)).take(300).collect();
    let mut paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    paths.sort_unstable();
    assert_eq!(codec_name(&check_texts(&paths)), "front-coded zstd");
}

#[test]
fn texts_that_claim_more_than_a_block_holds_are_refused() {
    // One text of 2^28 bytes, repeated by front coding: sixteen bytes that would decode to 2^44.
    let mut bytes = vec![TEXTS + 2];
    for length in [MAX_TEXT_BYTES as i64, 0] {
        let mut column = Vec::new();
        encode_ints(&vec![length; MAX_VALUES], &mut column);
        crate::base::bytes::Put::put_bytes(&mut bytes, &column);
    }
    assert!(matches!(decode_texts(&bytes, MAX_VALUES), Err(Error::Corrupt { .. })));
}

#[track_caller]
fn check_mask(present: &[bool], expected: &str) {
    let decode = |bytes: &[u8]| {
        let mut decoded = vec![true];
        decode_mask(bytes, present.len(), &mut decoded).map(|()| decoded)
    };
    let mut bytes = Vec::new();
    encode_mask(present, &mut bytes);
    assert_eq!(decode(&bytes).as_deref(), Ok(present));
    assert_eq!(codec_name(&bytes), expected);
    assert!(bytes.len() <= 2 + present.len().div_ceil(8), "{} bytes", bytes.len());
    check_hostile("mask", &bytes, present.len(), decode, Vec::len);
}

#[test]
fn masks_of_every_form() {
    check_mask(&[], "all alike");
    check_mask(&[true; 1000], "all alike");
    check_mask(&[false; 77], "all alike");
    check_mask(&[false, true], "bits");
    check_mask(&noise(2).map(|i| i & 1 == 1).take(1001).collect::<Vec<_>>(), "bits");
    check_mask(&(0..1000).map(|i| i == 500).collect::<Vec<_>>(), "runs");
    check_mask(&(0..4096).map(|i| i % 512 < 256).collect::<Vec<_>>(), "runs");
}

#[test]
fn a_frame_is_as_long_as_it_states() {
    let content: Vec<u8> = noise(6).map(|i| (i & 3) as u8).take(2_000).collect();
    let mut frame = Vec::new();
    compress(&content, &mut frame);
    assert_eq!(decompress(&frame, content.len()).as_deref(), Ok(content.as_slice()));
    assert!(decompress(&frame, content.len() - 1).is_err(), "longer than allowed");
    let twice = [frame.as_slice(), frame.as_slice()].concat();
    assert!(decompress(&twice, 1 << 20).is_err(), "two frames");
    check_hostile("frame", &frame[..], content.len(), |bytes| decompress(bytes, 1 << 20), |_| content.len());
    let mut zeros = Vec::new();
    compress(&vec![0; 1 << 24], &mut zeros);
    assert_eq!(
        decompress(&zeros, 1 << 24).map(|content| content.len()),
        Ok(1 << 24),
        "the ratio of zeros is allowed"
    );
    let mut empty = Vec::new();
    compress(&[], &mut empty);
    assert_eq!(decompress(&empty, 0), Ok(vec![]));
    // A header that states 2^32 bytes, without any content.
    assert!(decompress(&[0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0], usize::MAX).is_err());
}

/// Values like those of columns: noise of some width on a line, with repeats.
fn columns() -> impl Strategy<Value = Vec<i64>> {
    (any::<i64>(), any::<i32>(), 0..=MAX_WIDTH, 1..5_usize, 1..2000_i64, 0..400_usize).prop_flat_map(
        |(base, slope, width, repeats, unit, count)| {
            prop::collection::vec(any::<i64>(), count).prop_map(move |noise| {
                let value = |(i, noise): (usize, &i64)| {
                    let noise = noise.checked_shr(64 - u32::from(width)).unwrap_or(0).wrapping_mul(unit);
                    base.wrapping_add(i64::from(slope).wrapping_mul((i / repeats) as i64)).wrapping_add(noise)
                };
                noise.iter().enumerate().map(value).collect()
            })
        },
    )
}

proptest! {
    #[test]
    fn any_column_comes_back(values in columns()) {
        check_chosen("column", &values);
    }

    #[test]
    fn any_integers_come_back_from_every_codec(values in prop::collection::vec(any::<i64>(), 0..80)) {
        check_chosen("integers", &values);
        let stats = Stats::of(&values);
        for codec in CODECS {
            let Some(len) = codec.encoded_len(&stats) else { continue };
            let mut bytes = Vec::new();
            codec.encode(&values, &stats, &mut bytes);
            prop_assert_eq!(bytes.len(), len);
        }
    }

    #[test]
    fn any_floats_come_back(bits in prop::collection::vec(any::<u64>(), 0..120), decimals in any::<bool>()) {
        let value = |bits: &u64| if decimals { (bits >> 44) as f64 / 1000.0 } else { f64::from_bits(*bits) };
        check_floats("floats", &bits.iter().map(value).collect::<Vec<_>>());
    }

    #[test]
    fn any_texts_come_back(texts in prop::collection::vec(".{0,12}", 0..40)) {
        check_texts(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn any_mask_comes_back(present in prop::collection::vec(any::<bool>(), 0..200), stretch in 1..9_usize) {
        let present: Vec<bool> = present.iter().flat_map(|mark| std::iter::repeat_n(*mark, stretch)).collect();
        let mut bytes = Vec::new();
        encode_mask(&present, &mut bytes);
        let mut decoded = Vec::new();
        decode_mask(&bytes, present.len(), &mut decoded).unwrap();
        prop_assert_eq!(decoded, present);
    }

    #[test]
    fn any_bytes_end_in_a_column_or_an_error(mut bytes in prop::collection::vec(any::<u8>(), 1..80), count in 0..600_usize) {
        for id in (INTS..INTS + 9).chain(FLOATS..FLOATS + 4).chain(TEXTS..TEXTS + 5).chain(MASKS..MASKS + 4) {
            bytes[0] = id;
            let lens = [
                decoded_ints(&bytes, count).map(|values| values.len()),
                decode_texts(&bytes, count).map(|texts| texts.iter().len()),
            ];
            let (mut floats, mut mask) = (Vec::new(), Vec::new());
            let floats = decode_floats(&bytes, count, &mut floats).map(|()| floats.len());
            let mask = decode_mask(&bytes, count, &mut mask).map(|()| mask.len());
            for len in lens.into_iter().chain([floats, mask]).flatten() {
                prop_assert_eq!(len, count);
            }
        }
    }
}
