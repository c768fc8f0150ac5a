//! Makes the events that the benches run on: one core's profile of a transformer in training, the same for a seed on
//! every machine.
//!
//! Five engines execute a program of loops once a layer, layer after layer; sixteen queues move its tensors; two counters
//! follow from the transfers. What is written is what a reader of traces has decoded: times, numbers and texts. Nothing
//! grows with the number of events but the counters' samples (8 bytes a microsecond of the profile), so a hundred
//! million take as little memory as one.
//!
//! The directory holds, for the tables `instruction`, `dma` and `counter`, one file a column ([`files`]), and
//! `meta.json` ([`Meta`]). Rows are sorted by engine or queue and then by start; times are nanoseconds.

pub mod files;
mod instructions;
pub mod program;
pub mod random;
pub mod text;
pub mod timing;
pub mod transfers;

use std::io::{Error, Result};
use std::path::Path;

pub use timing::Jitter;

/// Changes whenever the same settings give other events.
const VERSION: u32 = 2;
/// The part of the events that are instructions; the others are transfers. Counters come on top.
const INSTRUCTION_SHARE: f64 = 0.73;
/// A layer has at least so many transfers.
const FEWEST_TRANSFERS: u64 = 16;
const META_FILE: &str = "meta.json";

/// What to make.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Instructions and transfers; the last layer is whole, so it may be some thousand more or less.
    pub events: u64,
    /// Another one is another program.
    pub seed: u64,
    /// How much durations differ from run to run.
    pub jitter: Jitter,
}

impl Settings {
    /// What the published figures are measured on.
    #[must_use]
    pub fn standard(events: u64) -> Self {
        Self { events, seed: 7, jitter: Jitter::Narrow }
    }
}

/// What was made.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Meta {
    version: u32,
    /// From which settings.
    pub settings: Settings,
    /// The first layer's start.
    pub start_ns: u64,
    /// The last layer's end; a few transfers and waits end after it.
    pub end_ns: u64,
    /// Instructions of each engine, in the order of their rows.
    pub instructions: Vec<u64>,
    /// Transfers of each queue, in the order of their rows.
    pub dmas: Vec<u64>,
    /// Samples of each counter.
    pub samples: u64,
    /// Texts in the operands' dictionary.
    pub distinct_operands: u32,
    /// No instruction lasts longer.
    pub longest_instruction_ns: u64,
}

impl Meta {
    /// Rows of all tables: what figures for each event are divided by.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.instructions.iter().sum::<u64>() + self.dmas.iter().sum::<u64>() + self.samples
    }

    /// Reads it from a directory.
    ///
    /// # Errors
    /// Where it is missing or not of this version.
    pub fn read(directory: &Path) -> Result<Self> {
        let text = std::fs::read(directory.join(META_FILE))?;
        let meta: Self = serde_json::from_slice(&text).map_err(Error::other)?;
        if meta.version == VERSION {
            Ok(meta)
        } else {
            Err(Error::other(format!("made by version {} of the generator, not {VERSION}", meta.version)))
        }
    }
}

/// Makes the events in `directory`, unless they are there.
///
/// # Errors
/// Where the directory cannot be written.
pub fn generate(directory: &Path, settings: &Settings) -> Result<Meta> {
    if let Some(meta) = Meta::read(directory).ok().filter(|meta| meta.settings == *settings) {
        return Ok(meta);
    }
    std::fs::create_dir_all(directory)?;
    let meta_path = directory.join(META_FILE);
    // It is written last and says that the rest is whole.
    if meta_path.exists() {
        std::fs::remove_file(&meta_path)?;
    }
    let layers = timing::layers_of((settings.events as f64 * INSTRUCTION_SHARE) as u64);
    let programs = program::programs(settings.seed);
    let starts = timing::layer_starts(&programs, settings.seed, layers, settings.jitter);
    let mut meta = Meta {
        version: VERSION,
        settings: settings.clone(),
        start_ns: starts[0] as u64,
        end_ns: starts[layers] as u64,
        instructions: Vec::new(),
        dmas: Vec::new(),
        samples: 0,
        distinct_operands: 0,
        longest_instruction_ns: 0,
    };
    instructions::write(directory, settings, &programs, &starts, &mut meta)?;
    let transfers = settings.events.saturating_sub((layers * program::EXECUTED_PER_LAYER) as u64);
    let per_layer = (transfers as f64 / layers as f64).round().max(FEWEST_TRANSFERS as f64);
    transfers::write(directory, settings, per_layer as usize, &starts, &mut meta)?;
    files::write_texts(directory, "instruction.opcode", &text::opcodes())?;
    files::write_texts(directory, "instruction.hlo_name", &text::hlo_names())?;
    files::write_texts(directory, "instruction.layer_path", &text::layer_paths())?;
    files::write_texts(directory, "instruction.nki_source_location", &text::source_lines())?;
    files::write_texts(directory, "dma.tensor", &text::tensors())?;
    files::write_texts(directory, "dma.src", &text::MEMORIES.map(str::to_owned))?;
    files::write_texts(directory, "dma.dst", &text::MEMORIES.map(str::to_owned))?;
    std::fs::write(&meta_path, serde_json::to_vec_pretty(&meta).map_err(Error::other)?)?;
    Ok(meta)
}

/// Where the benches keep the events of these settings: under `target/`, or where `CARGO_TARGET_DIR` says.
#[must_use]
pub fn cache(settings: &Settings) -> std::path::PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), std::path::PathBuf::from);
    let jitter = match settings.jitter {
        Jitter::Narrow => "",
        Jitter::Wide => "-wide",
    };
    target.join("bench-events").join(format!("{}-{}{jitter}", settings.events, settings.seed))
}

#[cfg(test)]
mod tests {
    use super::files::{ColumnReader, read_texts};
    use super::*;

    fn column(directory: &Path, name: &str, rows: u64) -> Vec<u32> {
        let mut values = Vec::new();
        let mut file = ColumnReader::<u32>::open(directory, name).unwrap();
        file.read(rows as usize, &mut values).unwrap();
        assert!(file.read(1, &mut Vec::new()).is_err(), "{name} is longer than its table");
        values
    }

    #[test]
    fn events_have_the_shape_that_was_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings::standard(200_000);
        let meta = generate(directory.path(), &settings).unwrap();
        let instructions: u64 = meta.instructions.iter().sum();
        let transfers: u64 = meta.dmas.iter().sum();
        assert!((instructions + transfers).abs_diff(settings.events) < 5000, "{meta:?}");
        let codes = column(directory.path(), "instruction.operands", instructions);
        assert_eq!(codes.iter().max(), Some(&(meta.distinct_operands - 1)));
        let texts = read_texts(directory.path(), "instruction.operands").unwrap();
        assert_eq!(texts.lines().count(), meta.distinct_operands as usize);
        // Engines and queues are sorted on their own.
        let mut starts = ColumnReader::<u64>::open(directory.path(), "dma.start").unwrap();
        let mut of_queue = Vec::new();
        for rows in &meta.dmas {
            starts.read(*rows as usize, &mut of_queue).unwrap();
            assert!(of_queue.is_sorted_by(|a, b| a < b));
        }
        let ids = column(directory.path(), "dma.dma_id", transfers);
        assert!(ids.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn the_same_settings_are_not_made_twice_and_others_are() {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings::standard(10_000);
        let meta = generate(directory.path(), &settings).unwrap();
        let opcodes = directory.path().join("instruction.opcode.bin");
        std::fs::remove_file(&opcodes).unwrap();
        assert_eq!(generate(directory.path(), &settings).unwrap(), meta);
        assert!(!opcodes.exists());
        let other = generate(directory.path(), &Settings { seed: 8, ..settings }).unwrap();
        assert!(opcodes.exists());
        assert_ne!(other, meta);
    }
}
