//! Facts that a trace in Trace Event JSON states about the process that wrote it, and the times of
//! its first and last event. They tell which traces are of one job, and which follow one another.
//!
//! The keys are searched, not parsed, so a part of a trace is enough, and the whole of a large one
//! takes a second per gigabyte. A writer can state its properties before or after the events.

use memchr::memmem::{self, find, rfind};
use nprof_engine::base::order::sort_by;

/// Facts about the process that wrote a trace. `None` if the trace does not state them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessFacts {
    /// Number of the rank.
    pub rank: Option<u32>,
    /// Number of ranks of the job.
    pub world_size: Option<u32>,
    /// Id of the job.
    pub job: Option<String>,
    /// Name of the host.
    pub host: Option<String>,
    /// Id of the only process of the host.
    pub process: Option<u64>,
    /// Wall clock at the zero of the trace's clock, in Unix nanoseconds.
    pub base_ns: Option<i64>,
    /// Times of the events.
    pub span: Option<EventSpan>,
}

/// Starts of the first and of the last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSpan {
    /// Earliest start in nanoseconds.
    pub first_ns: i64,
    /// Latest start in nanoseconds.
    pub last_ns: i64,
    /// The clock.
    pub clock: ClockKind,
}

/// Kind of the clock of a span, by its zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClockKind {
    /// Unix time.
    Wall,
    /// A clock with an unknown zero, such as the time since a machine was started.
    Own,
    /// A clock that starts with the trace or the program, so all programs have the same times.
    NearZero,
}

impl EventSpan {
    /// Whether the other span is on the same clock and begins after this one has ended.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        self.clock == other.clock && self.last_ns <= other.first_ns && self.first_ns < other.first_ns
    }

    /// Whether both spans are on one clock that tells programs apart, and share a time.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let is_telling = self.clock == other.clock && self.clock != ClockKind::NearZero;
        is_telling && self.first_ns <= other.last_ns && other.first_ns <= self.last_ns
    }

    /// The span from the start of the earlier to the end of the later span.
    #[must_use]
    pub fn cover(self, other: Self) -> Self {
        let (first_ns, last_ns) = (self.first_ns.min(other.first_ns), self.last_ns.max(other.last_ns));
        Self { first_ns, last_ns, ..self }
    }
}

/// Process ids up to this one are those of devices.
const MAX_DEVICE: u64 = 63;
/// Microseconds from which on a time is one since 1970 (2001), and to which (2128).
const EPOCH_US: std::ops::Range<f64> = 1e15..5e15;
/// A clock that starts within a minute of zero starts with the program.
const NEAR_ZERO_US: f64 = 60e6;
/// Times further than a day from the median of the first ones are strays.
const MAX_STRAY_US: f64 = 86_400e6;
/// Times of which the median is taken.
const SAMPLE: usize = 1_024;
/// Bytes behind `distributedInfo` that are searched for its members.
const MEMBERS_LEN: usize = 4 << 10;

/// Keys of the name of a host, and of the id of a job.
const HOST_KEYS: [&str; 3] = ["\"host_name\"", "\"hostname\"", "\"node_name\""];
const JOB_KEYS: [&str; 5] = ["\"job_id\"", "\"jobId\"", "\"slurm_job_id\"", "\"SLURM_JOB_ID\"", "\"run_id\""];

/// Bytes of a part that must be searched again with the part that follows.
pub const OVERLAP_LEN: usize = MEMBERS_LEN;

/// Facts of the parts so far.
#[derive(Debug, Default)]
pub struct ProcessSurvey {
    facts: ProcessFacts,
    /// The only process so far, and whether there are several.
    process: Option<u64>,
    has_several: bool,
    /// First times in microseconds, until there are enough for their median.
    sample: Vec<f64>,
    median_us: Option<f64>,
    /// Earliest and latest time in microseconds.
    span_us: Option<(f64, f64)>,
    is_past_head: bool,
}

/// The facts that the first bytes of a trace state.
#[must_use]
pub fn facts(head: &[u8]) -> ProcessFacts {
    let mut survey = ProcessSurvey::default();
    survey.take(head);
    survey.finish()
}

impl ProcessSurvey {
    /// Takes the next part, which begins with the last [`OVERLAP_LEN`] bytes of the part before.
    pub fn take(&mut self, part: &[u8]) {
        let is_known = self.facts.rank.is_some() && self.facts.world_size.is_some();
        if let Some(at) = find(part, b"\"distributedInfo\"").filter(|_| !is_known) {
            let members = &part[at..part.len().min(at + MEMBERS_LEN)];
            self.facts.rank = integer(members, b"\"rank\"");
            self.facts.world_size = integer(members, b"\"world_size\"");
        }
        if let Some(at) = rfind(part, b"\"baseTimeNanoseconds\"") {
            self.facts.base_ns = number_after(&part[at + 21..]).and_then(|text| text.parse().ok());
        }
        if !self.is_past_head {
            // Events can have arguments of these names.
            let is_list = part.trim_ascii_start().starts_with(b"[");
            let end = if is_list { Some(0) } else { find(part, b"\"traceEvents\"") };
            let head = &part[..end.unwrap_or(part.len())];
            self.facts.host = HOST_KEYS.iter().find_map(|key| text(head, key));
            self.facts.job = JOB_KEYS.iter().find_map(|key| text(head, key));
            self.is_past_head = true;
        }
        for at in memmem::find_iter(part, b"\"pid\"") {
            let pid = number_after(&part[at + 5..]).and_then(|pid| pid.parse().ok());
            if let Some(pid) = pid.filter(|&pid| pid > MAX_DEVICE) {
                self.has_several |= *self.process.get_or_insert(pid) != pid;
            }
        }
        for at in memmem::find_iter(part, b"\"ts\"") {
            let time = number_after(&part[at + 4..]).and_then(|time| time.parse::<f64>().ok());
            // Events of metadata have zeros.
            if let Some(us) = time.filter(|us| us.is_finite() && *us != 0.0) {
                self.time(us);
            }
        }
    }

    fn time(&mut self, us: f64) {
        let Some(median) = self.median_us else {
            self.sample.push(us);
            if self.sample.len() == SAMPLE {
                self.settle();
            }
            return;
        };
        if (us - median).abs() <= MAX_STRAY_US {
            let (first, last) = self.span_us.get_or_insert((us, us));
            (*first, *last) = (first.min(us), last.max(us));
        }
    }

    /// Takes the median of the first times.
    fn settle(&mut self) {
        let mut sample = std::mem::take(&mut self.sample);
        sort_by(&mut sample, f64::total_cmp);
        self.median_us = sample.len().checked_sub(1).map(|last| sample[last / 2]);
        sample.into_iter().for_each(|us| self.time(us));
    }

    /// All facts.
    #[must_use]
    pub fn finish(mut self) -> ProcessFacts {
        if self.median_us.is_none() && !self.sample.is_empty() {
            self.settle();
        }
        let span = self.span_us.map(|(first, last)| span(first, last, self.facts.base_ns));
        ProcessFacts { process: self.process.filter(|_| !self.has_several), span, ..self.facts }
    }
}

/// A span of times in microseconds.
#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn span(first_us: f64, last_us: f64, base_ns: Option<i64>) -> EventSpan {
    let clock = match base_ns {
        Some(_) => ClockKind::Wall,
        None if EPOCH_US.contains(&first_us) => ClockKind::Wall,
        None if first_us < NEAR_ZERO_US => ClockKind::NearZero,
        None => ClockKind::Own,
    };
    let ns = |us: f64| base_ns.unwrap_or(0).saturating_add((us * 1e3) as i64);
    EventSpan { first_ns: ns(first_us), last_ns: ns(last_us), clock }
}

/// The number after a key, as written, with or without quotes. A number that can go on behind the
/// bytes does not count.
fn number_after(bytes: &[u8]) -> Option<&str> {
    let value = bytes.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let len =
        value.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))?;
    str::from_utf8(&value[..len]).ok()
}

fn integer(bytes: &[u8], key: &[u8]) -> Option<u32> {
    number_after(&bytes[find(bytes, key)? + key.len()..])?.parse().ok()
}

/// The value of a key, if it is a text or a number.
fn text(bytes: &[u8], key: &str) -> Option<String> {
    let after = &bytes[find(bytes, key.as_bytes())? + key.len()..];
    let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let value = match value.strip_prefix(b"\"") {
        Some(text) => &text[..text.iter().position(|&byte| byte == b'"')?],
        None => number_after(after)?.as_bytes(),
    };
    let text = str::from_utf8(value).ok()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"{"schemaVersion":1,"host_name":"n1","job_id":77,
        "distributedInfo":{"backend":"nccl","pg_config":[{"ranks":[0,1]}],"rank": 3,"world_size":"8"},
        "traceEvents":[{"ph":"M","pid":0,"ts":0},{"ph":"X","pid":4711,"ts":1000.5,"args":{"hostname":"x"}},
        {"ph":"X","pid":"Spans","ts": "2000"},{"ph":"X","pid":3,"ts":7e20}],"baseTimeNanoseconds":1000000}"#;

    #[test]
    fn facts_are_found_before_and_after_the_events() {
        let facts = facts(TRACE.as_bytes());
        assert_eq!((facts.rank, facts.world_size, facts.process), (Some(3), Some(8), Some(4711)));
        assert_eq!((facts.host.as_deref(), facts.job.as_deref()), (Some("n1"), Some("77")));
        let span = EventSpan { first_ns: 2_000_500, last_ns: 3_000_000, clock: ClockKind::Wall };
        assert_eq!((facts.base_ns, facts.span), (Some(1_000_000), Some(span)));
    }

    #[test]
    fn parts_tell_what_the_whole_tells() {
        let whole = facts(TRACE.as_bytes());
        for cut in 0..TRACE.len() {
            let mut survey = ProcessSurvey::default();
            survey.take(&TRACE.as_bytes()[..cut]);
            survey.take(TRACE.as_bytes());
            let facts = survey.finish();
            assert_eq!((facts.rank, facts.process), (whole.rank, whole.process), "{cut}");
            assert_eq!(facts.span, whole.span, "{cut}");
        }
    }

    #[test]
    fn several_processes_are_not_one() {
        assert_eq!(facts(br#"{"pid":100,"x":1},{"pid":100 },{"pid":2}"#).process, Some(100));
        assert_eq!(facts(br#"{"pid":100,"x":1},{"pid":101 }"#).process, None);
        assert_eq!(facts(br#"{"pid":10"#).process, None, "the number can go on");
    }

    #[test]
    fn clocks_differ_in_their_zero() {
        let clock = |ts: &str| facts(format!("{{\"ts\":{ts} }}").as_bytes()).span.map(|span| span.clock);
        let found = ["1712195495520833.3", "86400000000", "12.5", "null", "nan"].map(clock);
        assert_eq!(
            found,
            [Some(ClockKind::Wall), Some(ClockKind::Own), Some(ClockKind::NearZero), None, None]
        );
        let at = |first_ns, last_ns, clock| EventSpan { first_ns, last_ns, clock };
        assert!(at(1, 5, ClockKind::Wall).overlaps(&at(5, 6, ClockKind::Wall)));
        assert!(!at(1, 5, ClockKind::Wall).overlaps(&at(5, 6, ClockKind::Own)));
        assert!(!at(1, 5, ClockKind::NearZero).overlaps(&at(1, 5, ClockKind::NearZero)));
        assert!(at(1, 5, ClockKind::NearZero).is_before(&at(5, 6, ClockKind::NearZero)));
        assert!(!at(1, 1, ClockKind::Wall).is_before(&at(1, 1, ClockKind::Wall)));
    }
}
