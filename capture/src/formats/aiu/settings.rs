//! Settings of the reader as a file: the inputs of a profile say how they are read, so profiles of
//! other settings are other profiles. `nprof aiu` writes such a file.

use nprof_engine::makers::aiu::{CORE_MHZ, MAX_WATTS, POWER_SCALE, SETTINGS};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files::Fault;

/// Settings of the reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AiuSettings {
    /// Frequency of the cycle counters in megahertz; `None` to use the one that the slices tell.
    pub soc_mhz: Option<f64>,
    /// Frequency of the cores in megahertz, which ideal cycles count at.
    pub core_mhz: f64,
    /// Work on the device that lies outside of the round trips on the host.
    pub outside: OutsideWork,
    /// Events with a value that a pattern finds are left out.
    pub left_out: Vec<ValuePattern>,
    /// Slices with which the host keeps books.
    pub globals: Globals,
    /// The clock that durations of work on the device are taken from.
    pub durations: DurationClock,
    /// The part of the events that is read.
    pub limit: EventLimit,
    /// Watts of one step of the charge counter in a microsecond.
    pub power_scale: f64,
    /// Highest plausible power in watts. Higher ones are shown as 0 W.
    pub max_watts: f64,
}

/// Treatment of work on the device that lies outside of the round trips of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutsideWork {
    /// The work stays where the host saw it.
    #[default]
    Kept,
    /// The work of the job is shifted to the start of its round trips.
    Shifted,
}

/// Treatment of slices with which the host keeps books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Globals {
    /// They are read.
    #[default]
    Kept,
    /// They are left out.
    Dropped,
}

/// The clock of the durations of work on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DurationClock {
    /// The counters of the device.
    #[default]
    Device,
    /// The clock of the host.
    Host,
}

/// A pattern of values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValuePattern {
    /// Key of an event, or keys with dots between them, such as `args.Type`.
    pub path: String,
    /// Regular expression that finds the value, in any place of it.
    pub regex: String,
}

/// A part of the events of a rank, in the order of time. An event counts if a part of it lies
/// between the two times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventLimit {
    /// Events that are left out first.
    pub skip: u64,
    /// Events that are read after them.
    pub count: u64,
    /// First time in microseconds, as the trace states times.
    pub ts_start: f64,
    /// Last time in microseconds.
    pub ts_end: f64,
    /// Phases that are always read and do not count.
    pub no_count_types: String,
}

impl Default for AiuSettings {
    fn default() -> Self {
        Self {
            soc_mhz: None,
            core_mhz: CORE_MHZ,
            outside: OutsideWork::Kept,
            left_out: Vec::new(),
            globals: Globals::Kept,
            durations: DurationClock::Device,
            limit: EventLimit::default(),
            power_scale: POWER_SCALE,
            max_watts: MAX_WATTS,
        }
    }
}

impl Default for EventLimit {
    fn default() -> Self {
        Self { skip: 0, count: u64::MAX, ts_start: 0.0, ts_end: f64::MAX, no_count_types: "M".to_owned() }
    }
}

/// A file of settings: the key tells what it is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    aiu_settings: AiuSettings,
}

impl AiuSettings {
    /// The file with these settings.
    ///
    /// # Errors
    /// If a frequency is no finite number.
    pub fn to_file(&self) -> Result<String, Error> {
        let file = SettingsFile { aiu_settings: self.clone() };
        serde_json::to_string(&file).map_err(|error| unusable(&error.to_string()))
    }

    /// The settings of a file, or `None` if it is another kind of file.
    ///
    /// # Errors
    /// If a setting is unknown or has no meaning.
    pub fn of_file(bytes: &[u8]) -> Result<Option<Self>, Error> {
        if !bytes.starts_with(SETTINGS.as_bytes()) {
            return Ok(None);
        }
        let file: SettingsFile =
            serde_json::from_slice(bytes).map_err(|error| unusable(&error.to_string()))?;
        file.aiu_settings.check()?;
        Ok(Some(file.aiu_settings))
    }
}

/// Settings of the plan of a job: those of the first file that has some, else the given ones.
pub(super) fn of_job(
    job: &crate::files::ImportJob<'_>,
    files: impl Iterator<Item = usize>,
    given: AiuSettings,
) -> Result<AiuSettings, Fault> {
    for file in files {
        let bytes = job.files.whole(file).map_err(|source| Fault { file, source })?;
        if let Some(settings) = AiuSettings::of_file(&bytes).map_err(|source| Fault { file, source })? {
            return Ok(settings);
        }
    }
    Ok(given)
}

pub(super) fn unusable(what: &str) -> Error {
    Error::format(what, "settings of the AIU reader", "correct the setting")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_all_settings() {
        let settings = AiuSettings {
            soc_mhz: Some(560.25),
            core_mhz: 800.0,
            outside: OutsideWork::Shifted,
            left_out: vec![ValuePattern { path: "args.Type".to_owned(), regex: "^\"ph\"$".to_owned() }],
            globals: Globals::Dropped,
            durations: DurationClock::Host,
            limit: EventLimit { skip: 10, count: 40, ..EventLimit::default() },
            power_scale: 0.5,
            max_watts: 75.0,
        };
        let file = settings.to_file().unwrap();
        assert_eq!(AiuSettings::of_file(file.as_bytes()).unwrap(), Some(settings));
        assert!(crate::probe::aiu::probe_compiler(file.as_bytes()).is_some());
        assert_eq!(AiuSettings::of_file(b"[]").unwrap(), None);
    }

    #[test]
    fn settings_without_a_meaning_are_refused() {
        for wrong in [
            r#"{"aiu_settings":{"soc_mhz":0}}"#,
            r#"{"aiu_settings":{"power_scale":0}}"#,
            r#"{"aiu_settings":{"max_watts":-1}}"#,
            r#"{"aiu_settings":{"other":1}}"#,
            r#"{"aiu_settings":{"left_out":[{"path":"name","regex":"("}]}}"#,
            r#"{"aiu_settings":{"left_out":[{"path":"","regex":"a"}]}}"#,
            r#"{"aiu_settings":"#,
        ] {
            assert!(AiuSettings::of_file(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
