//! An overlay: what the ranks of a profile show together and no segment shows alone, as bytes.
//!
//! It holds the number of the operation of each call, and the clocks that the calls show. Waits,
//! blame and tracks follow from it and the segments. It is a pure function of the segments, so it
//! can be lost and computed again. Layout: [`VERSION`], the clocks, then a column of integers for
//! each rank and run of calls. Most operations of a rank follow each other, so a call costs a few
//! bits.

use super::instances::Instances;
use super::{ClockVerdict, Job, JobClocks, MatchedJob, RankClock, Unbounded};
use crate::base::bytes::{Cursor, Put};
use crate::base::{ClockFit, Error, Result};
use crate::codec::{BlockDecoder, Encoder, MAX_VALUES};

/// Version of analysis and layout. Another version is computed again.
pub const VERSION: u32 = 8;

const DAMAGED: Error = Error::Inconsistent { what: "an overlay of other segments" };

/// The overlay of matched calls.
#[must_use]
pub fn encode(job: &Job, matched: &MatchedJob) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_varint(VERSION.into());
    out.put_varint(job.ranks.len() as u64);
    put_clocks(&matched.clocks, &mut out);
    let instances = &matched.instances;
    out.put_varint(instances.len() as u64);
    let of_call = instances.by_call(job);
    let mut encoder = Encoder::default();
    let (mut column, mut packed) = (Vec::new(), Vec::new());
    for (rank, numbers) in job.ranks.iter().zip(&of_call) {
        let mut expected = 0;
        for run in rank.by_group.chunks(MAX_VALUES) {
            column.clear();
            column.extend(run.iter().map(|&call| {
                let number = i64::from(numbers[call as usize]);
                let step = number - expected;
                expected = number + 1;
                step
            }));
            packed.clear();
            encoder.ints(&column, &mut packed);
            out.put_bytes(&packed);
        }
    }
    out
}

fn put_clocks(clocks: &JobClocks, out: &mut Vec<u8>) {
    out.put_varint(clocks.reference as u64);
    out.push(match clocks.verdict {
        ClockVerdict::Unknown => 0,
        ClockVerdict::Agree => 1,
        ClockVerdict::Aligned => 2,
    });
    out.put_varint(clocks.violations);
    for clock in &clocks.ranks {
        out.put_signed(clock.fit.at_ps());
        out.put_signed(clock.fit.offset_ps());
        out.put_signed(clock.fit.drift_ppb().into());
        for bound in [clock.low_ps, clock.high_ps] {
            out.push(u8::from(bound.is_some()));
            out.put_signed(bound.unwrap_or(0));
        }
        let unbounded = clock.unbounded.and_then(|why| Unbounded::ALL.iter().position(|one| *one == why));
        out.push(unbounded.map_or(0, |at| u8::try_from(at + 1).unwrap_or(0)));
        out.put_varint(clock.residual_ps);
        out.put_varint(clock.calls.into());
    }
}

/// The matched calls of the job that the overlay was made of.
///
/// # Errors
/// If the bytes are damaged, of another version, or of other segments.
pub fn decode(job: &Job, bytes: &[u8]) -> Result<MatchedJob> {
    let mut cursor = Cursor::new(bytes, 0, "overlay");
    if cursor.varint_u32()? != VERSION || cursor.varint()? != job.ranks.len() as u64 {
        return Err(DAMAGED);
    }
    let clocks = clocks(&mut cursor, job.ranks.len())?;
    let count = usize::try_from(cursor.varint()?).map_err(|_| DAMAGED)?;
    let calls: usize = job.ranks.iter().map(|rank| rank.calls.len()).sum();
    if count > calls {
        return Err(DAMAGED);
    }
    let (mut decoder, mut column) = (BlockDecoder::default(), Vec::new());
    let mut of_ranks: Vec<Vec<u32>> = Vec::with_capacity(job.ranks.len());
    for rank in &job.ranks {
        let mut expected = 0_i64;
        let mut numbers = Vec::with_capacity(rank.by_group.len());
        for run in rank.by_group.chunks(MAX_VALUES) {
            decoder.ints(cursor.bytes()?, run.len(), &mut column)?;
            for step in &column {
                let number = expected.checked_add(*step).ok_or(DAMAGED)?;
                expected = number.checked_add(1).ok_or(DAMAGED)?;
                numbers.push(u32::try_from(number).map_err(|_| DAMAGED)?);
            }
        }
        of_ranks.push(numbers);
    }
    cursor.finish()?;
    Ok(MatchedJob { instances: Instances::of_numbers(job, &of_ranks, count).ok_or(DAMAGED)?, clocks })
}

fn clocks(cursor: &mut Cursor<'_>, ranks: usize) -> Result<JobClocks> {
    let reference = usize::try_from(cursor.varint()?).map_err(|_| DAMAGED)?;
    if reference >= ranks.max(1) {
        return Err(DAMAGED);
    }
    let verdict = match cursor.u8()? {
        0 => ClockVerdict::Unknown,
        1 => ClockVerdict::Agree,
        2 => ClockVerdict::Aligned,
        _ => return Err(cursor.corrupt()),
    };
    let violations = cursor.varint()?;
    let mut of_ranks = Vec::with_capacity(ranks);
    for _ in 0..ranks {
        let (at, offset) = (cursor.signed()?, cursor.signed()?);
        let drift = i32::try_from(cursor.signed()?).map_err(|_| DAMAGED)?;
        let mut bound = || -> Result<Option<i64>> {
            let is_there = cursor.u8()? != 0;
            let bound = cursor.signed()?;
            Ok(is_there.then_some(bound))
        };
        let (low_ps, high_ps) = (bound()?, bound()?);
        let bound = low_ps.zip(high_ps).map(|(low, high)| offset.abs_diff(low).max(offset.abs_diff(high)));
        let fit = ClockFit::new(at, offset, drift, bound)?;
        let unbounded = match cursor.u8()? {
            0 => None,
            code => Some(*Unbounded::ALL.get(usize::from(code) - 1).ok_or(DAMAGED)?),
        };
        let (residual_ps, calls) = (cursor.varint()?, cursor.varint_u32()?);
        of_ranks.push(RankClock { fit, low_ps, high_ps, unbounded, residual_ps, calls });
    }
    Ok(JobClocks { reference, verdict, ranks: of_ranks, violations })
}
