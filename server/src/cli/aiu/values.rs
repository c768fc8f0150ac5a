//! Values of the options of `nprof aiu`.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use nprof_capture::formats::aiu::{EventLimit, ValuePattern};

use crate::aiu::form::{Series, TimeUnit};
use crate::aiu::lanes::Overlap;
use crate::aiu::profile::Stages;

/// A value of `--overlap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OverlapArg {
    /// Further thread numbers
    Tid,
    /// Leave such slices out
    Drop,
    /// Pairs of asynchronous events
    Async,
    /// Only a message
    Warn,
    /// A later start, if they overlap by less than 5 ns
    Shift,
}

impl From<OverlapArg> for Overlap {
    fn from(arg: OverlapArg) -> Self {
        match arg {
            OverlapArg::Tid => Self::Tid,
            OverlapArg::Drop => Self::Drop,
            OverlapArg::Async => Self::Async,
            OverlapArg::Warn => Self::Warn,
            OverlapArg::Shift => Self::Shift,
        }
    }
}

/// A value of `--counter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum CounterArg {
    /// Watts by the time of the host
    #[value(name = "power_ts4")]
    PowerTs4,
    /// Charge per cycle, by kind of slices
    #[value(name = "power_ts3")]
    PowerTs3,
    /// Bandwidth of collective operations
    CollBw,
    /// Bytes per microsecond of transfers
    Bandwidth,
    /// Preparations that run
    PrepQueue,
    /// Use of the PT arrays
    RcuUtil,
}

impl From<CounterArg> for Series {
    fn from(arg: CounterArg) -> Self {
        match arg {
            CounterArg::PowerTs4 => Self::PowerTs4,
            CounterArg::PowerTs3 => Self::PowerTs3,
            CounterArg::CollBw => Self::CollBw,
            CounterArg::Bandwidth => Self::Bandwidth,
            CounterArg::PrepQueue => Self::PrepQueue,
            CounterArg::RcuUtil => Self::RcuUtil,
        }
    }
}

/// A value of `--time_unit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum UnitArg {
    /// Nanoseconds
    Ns,
    /// Milliseconds
    Ms,
}

impl From<UnitArg> for TimeUnit {
    fn from(arg: UnitArg) -> Self {
        match arg {
            UnitArg::Ns => Self::Ns,
            UnitArg::Ms => Self::Ms,
        }
    }
}

/// Reads a list of `path:regex`, with commas between them.
pub(super) fn patterns(text: &str) -> Result<Vec<ValuePattern>, String> {
    let pattern = |word: &str| {
        let (path, regex) =
            word.split_once(':').ok_or_else(|| format!("`{word}` has no `:` between path and pattern"))?;
        Ok(ValuePattern { path: path.trim().to_owned(), regex: regex.to_owned() })
    };
    text.split(',').filter(|word| !word.trim().is_empty()).map(pattern).collect()
}

/// Reads a limit: a JSON object with `skip`, `count`, `ts_start`, `ts_end`, `no_count_types`.
pub(super) fn limit(text: &str) -> Result<EventLimit, String> {
    serde_json::from_str(text).map_err(|error| {
        format!("a limit is JSON such as {{\"skip\":10,\"count\":40,\"ts_start\":0.5}}: {error}")
    })
}

/// Reads a stage profile, or takes the one of acelyzer that has this name.
pub(super) fn stages(path: &Path) -> Result<Stages, String> {
    let known = path.file_name().and_then(|name| Stages::known(&name.to_string_lossy()));
    if let Some(known) = known.filter(|_| !path.exists()) {
        return Ok(known);
    }
    let wrong = |what: String| format!("-P {}: {what}", path.display());
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Stages::parse(&text).map_err(|what| wrong(format!("{what}; check the stage profile")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_json() {
        let of = limit(r#"{"skip":10,"count":40}"#).unwrap();
        assert_eq!(of, EventLimit { skip: 10, count: 40, ..EventLimit::default() });
        assert!(limit("10").is_err() && limit(r#"{"other":1}"#).is_err());
    }

    #[test]
    fn filters_are_lists_of_paths_and_patterns() {
        let pattern =
            |path: &str, regex: &str| ValuePattern { path: path.to_owned(), regex: regex.to_owned() };
        let expected = vec![pattern("name", "^relu"), pattern("args.Bytes", "^4096$")];
        assert_eq!(patterns("name:^relu,args.Bytes:^4096$"), Ok(expected));
        assert_eq!(patterns(""), Ok(vec![]));
        assert!(patterns("name").is_err());
    }
}
