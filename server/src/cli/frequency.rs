//! `--freq`: the frequencies of an AIU, for every command that reads traces.

use std::path::PathBuf;

use clap::Args;
use nprof_capture::formats::aiu::AiuSettings;
use tempfile::TempDir;

/// Name of the file with the settings, as messages show it.
const FILE: &str = "--freq";

/// The frequencies of an AIU.
#[derive(Debug, Clone, Args)]
pub(super) struct FrequencyArgs {
    /// Frequencies of an AIU in MHz: of the cycle counters, and of the cores [default: the
    /// frequency that the slices tell, and 1100]
    #[arg(long, value_name = "SOC[:CORE]", value_parser = Frequencies::parse)]
    freq: Option<Frequencies>,
}

impl FrequencyArgs {
    /// A file with the frequencies, if they are stated. It is an input like a file of the compiler,
    /// and exists as long as its folder does.
    pub(super) fn file(&self) -> anyhow::Result<Option<(TempDir, PathBuf)>> {
        let Some(Frequencies { soc_mhz, core_mhz }) = self.freq else { return Ok(None) };
        let mut settings = AiuSettings { soc_mhz: Some(soc_mhz), ..AiuSettings::default() };
        settings.core_mhz = core_mhz.unwrap_or(settings.core_mhz);
        let dir = tempfile::tempdir()?;
        let path = dir.path().join(FILE);
        std::fs::write(&path, settings.to_file()?)?;
        Ok(Some((dir, path)))
    }
}

/// Frequencies in megahertz: of the cycle counters, and of the cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frequencies {
    pub(super) soc_mhz: f64,
    pub(super) core_mhz: Option<f64>,
}

impl Frequencies {
    /// Reads `SOC` or `SOC:CORE`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mhz = |text: &str| {
            let mhz = text.trim().parse::<f64>().ok().filter(|mhz| mhz.is_finite() && *mhz > 0.0);
            mhz.ok_or_else(|| format!("`{text}` is no frequency above 0 in MHz"))
        };
        match text.split_once(':') {
            Some((soc, core)) => Ok(Self { soc_mhz: mhz(soc)?, core_mhz: Some(mhz(core)?) }),
            None => Ok(Self { soc_mhz: mhz(text)?, core_mhz: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_have_one_or_two_parts() {
        let of = |soc_mhz, core_mhz| Ok(Frequencies { soc_mhz, core_mhz });
        assert_eq!(Frequencies::parse("560"), of(560.0, None));
        assert_eq!(Frequencies::parse("557.05:800"), of(557.05, Some(800.0)));
        for wrong in ["0", "-1", "a", "560:", "inf", ""] {
            assert!(Frequencies::parse(wrong).is_err(), "{wrong}");
        }
    }
}
