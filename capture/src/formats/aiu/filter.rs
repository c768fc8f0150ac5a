//! Events that the settings leave out: by patterns of values, and slices with which the host keeps
//! books.

use std::borrow::Cow;

use nprof_engine::makers::aiu::is_global;
use regex_automata::meta::Regex;
use rustc_hash::FxHashMap;

use super::TraceDialect;
use super::attribute::BYTES;
use super::limit::{Allowed, key};
use super::settings::{AiuSettings, Globals, ValuePattern, unusable};
use crate::error::Error;
use crate::formats::trace_event::layer::{LayerEvent, each_member};

/// Keys under which FLEX and PyTorch write arguments. A path can name any of them.
const ARGUMENTS: [&str; 2] = ["args", "attr"];

/// The key of FLEX's [`BYTES`] in PyTorch's dialect.
const BYTES_KEY: &str = "bytes";

/// Most begins whose end is still to be left out.
const MAX_OPEN: usize = 1 << 16;

/// Events that the settings leave out.
#[derive(Debug, Default)]
pub(super) struct Filter {
    patterns: Vec<(ValuePath, Regex)>,
    /// Patterns that find the name of the file.
    of_files: Vec<Regex>,
    /// Whether such a pattern finds the file that is read.
    drops_file: bool,
    is_flex: bool,
    /// The rank of all events of the file, if it is not their process.
    rank: Option<String>,
    drops_globals: bool,
    /// Begins that were left out, by process, thread and name.
    open: FxHashMap<Box<[u8]>, u32>,
    /// The events within the limit; `None` without a limit.
    allowed: Option<Allowed>,
}

/// Place of a value.
#[derive(Debug)]
enum ValuePath {
    /// A key of the event.
    Event(String),
    /// A key of the arguments.
    Argument(String),
    /// The rank: that of the file, or the process.
    Rank,
    /// The duration of a complete event. Those of begins and ends take a first pass, which
    /// [`super::limit`] makes.
    Duration,
}

/// Arguments that acelyzer adds: the rank, and the name of the file.
const RANK: &str = "rank";
const JOB: &str = "jobname";

/// The patterns that find durations.
///
/// # Errors
/// If one of them is no regular expression.
pub(super) fn of_durations(settings: &AiuSettings) -> Result<Vec<Regex>, Error> {
    settings.left_out.iter().filter(|pattern| pattern.path == DURATION).map(regex).collect()
}

/// Key of durations.
const DURATION: &str = "dur";

fn regex(pattern: &ValuePattern) -> Result<Regex, Error> {
    let wrong = |_| unusable(&format!("`{}` is no regular expression", pattern.regex));
    Regex::new(&pattern.regex).map_err(wrong)
}

impl Filter {
    /// The filter of these settings.
    ///
    /// # Errors
    /// If a pattern is no regular expression, or its path names nothing.
    pub(super) fn new(settings: &AiuSettings) -> Result<Self, Error> {
        let pattern = |pattern: &ValuePattern| {
            let path = match pattern.path.split_once('.') {
                Some((object, RANK)) if ARGUMENTS.contains(&object) => ValuePath::Rank,
                Some((object, key)) if ARGUMENTS.contains(&object) && !key.is_empty() => {
                    ValuePath::Argument(key.to_owned())
                }
                None if pattern.path == DURATION => ValuePath::Duration,
                None if !pattern.path.is_empty() => ValuePath::Event(pattern.path.clone()),
                _ => {
                    let what = format!("`{}` names no value of an event", pattern.path);
                    return Err(unusable(&what));
                }
            };
            Ok((path, regex(pattern)?))
        };
        let all = settings.left_out.iter().map(pattern).collect::<Result<Vec<_>, Error>>()?;
        let is_file = |path: &ValuePath| matches!(path, ValuePath::Argument(key) if key == JOB);
        let (of_files, patterns): (Vec<_>, Vec<_>) = all.into_iter().partition(|(path, _)| is_file(path));
        Ok(Self {
            patterns,
            of_files: of_files.into_iter().map(|(_, regex)| regex).collect(),
            drops_file: false,
            is_flex: true,
            rank: None,
            drops_globals: settings.globals == Globals::Dropped,
            open: FxHashMap::default(),
            allowed: None,
        })
    }

    /// Begins a file of this dialect, and of this rank if its events are not of their processes.
    pub(super) fn begin(&mut self, name: &str, dialect: TraceDialect, rank: Option<u32>) {
        self.drops_file = self.of_files.iter().any(|regex| regex.is_match(name.as_bytes()));
        self.is_flex = dialect == TraceDialect::Flex;
        self.rank = rank.map(|rank| rank.to_string());
    }

    /// Leaves out all other events, too. They are asked about in the order of the first pass.
    pub(super) fn within(self, allowed: Option<Allowed>) -> Self {
        Self { allowed, ..self }
    }

    /// Whether the settings leave an event out. If a begin is filtered out, its end is filtered out
    /// too.
    pub(super) fn leaves_out(&mut self, met: LayerEvent<'_>) -> bool {
        if self.allowed.as_mut().is_some_and(|allowed| !allowed.next()) {
            return true;
        }
        let phase = met.phase();
        if !matches!(phase, b"X" | b"B" | b"E") {
            return false;
        }
        if self.drops_file {
            return true;
        }
        if self.patterns.is_empty() && !self.drops_globals {
            return false;
        }
        if phase == b"E" {
            return self.take_open(met);
        }
        let found = (self.drops_globals && is_global(&met.name()))
            || self.patterns.iter().any(|(path, regex)| self.is_found(met, path, regex));
        if found && phase == b"B" && self.open.len() < MAX_OPEN {
            *self.open.entry(key(met)).or_default() += 1;
        }
        found
    }

    fn take_open(&mut self, met: LayerEvent<'_>) -> bool {
        if self.open.is_empty() {
            return false;
        }
        let key = key(met);
        let Some(count) = self.open.get_mut(&key) else { return false };
        *count -= 1;
        if *count == 0 {
            self.open.remove(&key);
        }
        true
    }

    /// Whether the expression finds the value in this place. Names of FLEX are in acelyzer's words.
    fn is_found(&self, met: LayerEvent<'_>, path: &ValuePath, regex: &Regex) -> bool {
        match path {
            ValuePath::Rank => regex.is_match(self.rank.as_ref().map_or(met.pid(), |rank| rank.as_bytes())),
            ValuePath::Duration => {
                let duration = met.times()[1];
                met.phase() == b"X" && !duration.is_empty() && regex.is_match(duration)
            }
            ValuePath::Event(key) => {
                let value = match key.as_str() {
                    "name" if self.is_flex => normalised(met.name()),
                    "name" => met.name(),
                    "ts" => String::from_utf8_lossy(met.times()[0]),
                    "id" => String::from_utf8_lossy(met.id()),
                    // A begin and its end are one complete event.
                    "ph" => Cow::Borrowed("X"),
                    "cat" => Cow::Owned(String::from_utf8_lossy(&met.cat()).into_owned()),
                    "pid" => String::from_utf8_lossy(met.pid()),
                    "tid" => String::from_utf8_lossy(met.tid()),
                    _ => return is_in_extras(met, key, regex),
                };
                regex.is_match(value.as_bytes())
            }
            ValuePath::Argument(key) => {
                let mut is_found = false;
                let mut look = |of: &[u8], value: crate::formats::trace_event::value::WrittenValue<'_>| {
                    // Filters know the bytes of a transfer as `bytes`, in any dialect.
                    let of = if of == BYTES.as_bytes() { BYTES_KEY.as_bytes() } else { of };
                    is_found |= of == key.as_bytes() && regex.is_match(value.text().as_bytes());
                };
                met.each_argument(&mut look);
                if let Some((_, inside)) = met.object("attr") {
                    each_member(inside, &mut look);
                }
                is_found
            }
        }
    }
}

/// Looks among the keys that Trace Event does not define.
fn is_in_extras(met: LayerEvent<'_>, key: &str, regex: &Regex) -> bool {
    let mut is_found = false;
    met.each_extra(|of, value| {
        is_found |= of == key.as_bytes() && regex.is_match(value.text().as_bytes());
    });
    is_found
}

/// A name of FLEX in acelyzer's words.
fn normalised(name: Cow<'_, str>) -> Cow<'_, str> {
    if name.contains("RDMA") || name.contains("Receive") {
        return Cow::Owned(name.replace("RDMA", "Rdma").replace("Receive", "Recv"));
    }
    name
}

impl AiuSettings {
    /// Checks that the settings have a meaning.
    ///
    /// # Errors
    /// If a frequency or a power is not positive, or a pattern is no regular expression.
    pub fn check(&self) -> Result<(), Error> {
        let mhz = self.soc_mhz.into_iter().chain([self.core_mhz]);
        if let Some(wrong) = mhz.into_iter().find(|mhz| !(mhz.is_finite() && *mhz > 0.0)) {
            return Err(unusable(&format!("a frequency of {wrong} MHz")));
        }
        for (what, value) in [("a power scale", self.power_scale), ("a highest power", self.max_watts)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(unusable(&format!("{what} of {value}")));
            }
        }
        Filter::new(self).map(|_| ())
    }
}
