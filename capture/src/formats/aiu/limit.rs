//! The part of the events that the settings limit a rank to, and begins whose durations are left
//! out.
//!
//! A first pass over the files decides about each event, because a begin counts with the time of
//! its end. An event counts if a part of it lies between the two times; a begin and its end count
//! once. The second pass asks [`Allowed`] in the same order. Memory is a bit an event.

use nprof_engine::base::Result;
use regex_automata::meta::Regex;
use rustc_hash::FxHashMap;

use super::TraceDialect;
use super::rank::{FlexRanks, Whose};
use super::settings::EventLimit;
use crate::formats::trace_event::layer::{Layer, LayerClaim, LayerEvent, LowerReader};

/// Decisions about the events of a rank, in the order of the files.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    bits: Vec<u64>,
    count: usize,
    next: usize,
}

impl Allowed {
    /// Whether the next event is read.
    pub(super) fn next(&mut self) -> bool {
        let at = self.next;
        self.next += 1;
        self.bits.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }

    fn push(&mut self) -> usize {
        self.count += 1;
        self.bits.resize(self.count.div_ceil(64), 0);
        self.count - 1
    }

    fn allow(&mut self, at: usize) {
        self.bits[at / 64] |= 1 << (at % 64);
    }
}

/// A begin that waits for its end.
#[derive(Debug, Clone, Copy)]
struct LimitedBegin {
    /// Its position among the events.
    at: usize,
    /// Its time in microseconds.
    us: f64,
    /// Its exact time in picoseconds.
    ps: Option<i64>,
    /// Whether its time is written with a fraction.
    has_fraction: bool,
}

/// The first pass over the events of a rank.
#[derive(Debug)]
pub(super) struct Look<'l> {
    /// `None` if all events count.
    limit: Option<&'l EventLimit>,
    /// Begins and ends are left out if one of these finds their duration.
    durations: Vec<Regex>,
    ranks: FlexRanks,
    dialect: TraceDialect,
    /// Events that counted.
    counted: u64,
    open: FxHashMap<Box<[u8]>, Vec<LimitedBegin>>,
    allowed: Allowed,
}

impl<'l> Look<'l> {
    /// A pass for one of the ranks.
    pub(super) fn new(ranks: FlexRanks, limit: Option<&'l EventLimit>, durations: Vec<Regex>) -> Self {
        Self {
            limit,
            durations,
            ranks,
            dialect: TraceDialect::Flex,
            counted: 0,
            open: FxHashMap::default(),
            allowed: Allowed::default(),
        }
    }

    /// Begins a file.
    pub(super) fn begin(&mut self, dialect: TraceDialect) {
        self.dialect = dialect;
        self.ranks.within(None);
    }

    /// Ends a file: begins without ends count with their own time.
    pub(super) fn end(&mut self) {
        let mut left: Vec<LimitedBegin> = self.open.drain().flat_map(|(_, opens)| opens).collect();
        left.sort_by_key(|begin| begin.at);
        for LimitedBegin { at, us, .. } in left {
            if self.counts(us, us) {
                self.allowed.allow(at);
            }
        }
    }

    /// The decisions.
    pub(super) fn finish(self) -> Allowed {
        self.allowed
    }

    /// Counts an event. Returns whether it is read.
    fn counts(&mut self, start_us: f64, end_us: f64) -> bool {
        let Some(limit) = self.limit else { return true };
        if start_us > limit.ts_end || end_us < limit.ts_start {
            return false;
        }
        self.counted += 1;
        self.counted > limit.skip && self.counted - limit.skip <= limit.count
    }

    fn decide(&mut self, at: usize, met: LayerEvent<'_>, ps: Option<i64>) -> bool {
        let phase = met.phase();
        let is_free = |letter: char| phase == letter.encode_utf8(&mut [0; 4]).as_bytes();
        // The reader reports events without times.
        let Some(us) = met.time_us() else { return true };
        if self.limit.is_some_and(|limit| limit.no_count_types.chars().any(is_free)) {
            return true;
        }
        let has_fraction = met.times()[0].contains(&b'.');
        match phase {
            b"B" => {
                self.open.entry(key(met)).or_default().push(LimitedBegin { at, us, ps, has_fraction });
                false
            }
            b"E" => {
                let begin = self.open.get_mut(&key(met)).and_then(Vec::pop);
                let Some(begin) = begin else { return self.limit.is_none() };
                let duration = begin.ps.zip(ps).map(|(start, end)| end.saturating_sub(start));
                let text = duration.map(|ps| written(ps, begin.has_fraction || has_fraction));
                let is_found =
                    text.is_some_and(|text| self.durations.iter().any(|regex| regex.is_match(&text)));
                let is_read = self.counts(begin.us, us) && !is_found;
                if is_read {
                    self.allowed.allow(begin.at);
                }
                is_read
            }
            _ => {
                let duration = met.duration().map_or(0.0, |ps| ps as f64 / 1e6);
                self.counts(us, us + duration)
            }
        }
    }
}

impl Layer for Look<'_> {
    fn event(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> Result<LayerClaim> {
        let is_slice = matches!(met.phase(), b"X" | b"B" | b"E");
        let is_of_first = self.dialect == TraceDialect::Torch && !self.ranks.is_within();
        if is_of_first || self.ranks.of(met.pid(), is_slice) == Whose::Mine {
            let at = self.allowed.push();
            let ps = if self.durations.is_empty() { None } else { below.known_time(met) };
            if self.decide(at, met, ps) {
                self.allowed.allow(at);
            }
        }
        Ok(LayerClaim::ByLayer)
    }

    fn within(&mut self, rank: &[u8]) {
        self.ranks.within(Some(rank));
    }
}

/// A duration in microseconds as acelyzer writes the difference of two times: with a fraction if
/// one of them has one.
fn written(ps: i64, has_fraction: bool) -> String {
    let (sign, ps) = (if ps < 0 { "-" } else { "" }, ps.unsigned_abs());
    let (whole, rest) = (ps / 1_000_000, format!("{:06}", ps % 1_000_000));
    match rest.trim_end_matches('0') {
        "" if !has_fraction => format!("{sign}{whole}"),
        "" => format!("{sign}{whole}.0"),
        rest => format!("{sign}{whole}.{rest}"),
    }
}

/// Process, thread and name: an end closes the last begin that has the same.
pub(super) fn key(met: LayerEvent<'_>) -> Box<[u8]> {
    [met.pid(), b"\0", met.tid(), b"\0", met.name().as_bytes()].concat().into()
}
