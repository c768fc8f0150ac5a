//! Generates the events for the benches: one core's profile of a transformer in training. A seed
//! gives the same events on every machine.
//!
//! Five engines execute a program of loops once per layer. Sixteen queues move its tensors. Two
//! counters follow from the transfers. The output is decoded data: times, numbers and texts. Only
//! the counters' samples grow with the number of events (8 bytes per microsecond of profile), so a
//! hundred million events take as little memory as one.
//!
//! The directory has one file per column ([`files`]) for the tables `instruction`, `dma` and
//! `counter`, and `meta.json` ([`Meta`]). Rows are sorted by engine or queue, then by start. Times
//! are nanoseconds.

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

/// Increases whenever the same settings produce other events.
const VERSION: u32 = 2;
/// Share of instructions among the events. The others are transfers. Counters come on top.
const INSTRUCTION_SHARE: f64 = 0.73;
/// Minimum number of transfers per layer.
const FEWEST_TRANSFERS: u64 = 16;
const META_FILE: &str = "meta.json";

/// Settings of the generator.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GeneratorSettings {
    /// Number of instructions and transfers. The last layer is complete, so the count can differ by
    /// some thousand.
    pub events: u64,
    /// Seed of the program.
    pub seed: u64,
    /// Variation of durations between runs.
    pub jitter: Jitter,
}

impl GeneratorSettings {
    /// Settings of the published figures.
    #[must_use]
    pub fn standard(events: u64) -> Self {
        Self { events, seed: 7, jitter: Jitter::Narrow }
    }
}

/// Description of the generated events.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Meta {
    version: u32,
    /// Settings that produced the events.
    pub settings: GeneratorSettings,
    /// Start of the first layer.
    pub start_ns: u64,
    /// End of the last layer. A few transfers and waits end after it.
    pub end_ns: u64,
    /// Number of instructions per engine, in the order of their rows.
    pub instructions: Vec<u64>,
    /// Number of transfers per queue, in the order of their rows.
    pub dmas: Vec<u64>,
    /// Number of samples per counter.
    pub samples: u64,
    /// Number of texts in the operands' dictionary.
    pub distinct_operands: u32,
    /// Duration of the longest instruction.
    pub longest_instruction_ns: u64,
}

impl Meta {
    /// Number of rows of all tables, the divisor of per-event figures.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.instructions.iter().sum::<u64>() + self.dmas.iter().sum::<u64>() + self.samples
    }

    /// Reads the description from a directory.
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

/// Generates the events in `directory`, unless they are already there.
pub fn generate(directory: &Path, settings: &GeneratorSettings) -> Result<Meta> {
    if let Some(meta) = Meta::read(directory).ok().filter(|meta| meta.settings == *settings) {
        return Ok(meta);
    }
    std::fs::create_dir_all(directory)?;
    let meta_path = directory.join(META_FILE);
    // Written last: its presence shows that the other files are complete.
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

/// Cache directory for events with these settings: under `target/`, or under `CARGO_TARGET_DIR`.
#[must_use]
pub fn cache(settings: &GeneratorSettings) -> std::path::PathBuf {
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
        let settings = GeneratorSettings::standard(200_000);
        let meta = generate(directory.path(), &settings).unwrap();
        let instructions: u64 = meta.instructions.iter().sum();
        let transfers: u64 = meta.dmas.iter().sum();
        assert!((instructions + transfers).abs_diff(settings.events) < 5000, "{meta:?}");
        let codes = column(directory.path(), "instruction.operands", instructions);
        assert_eq!(codes.iter().max(), Some(&(meta.distinct_operands - 1)));
        let texts = read_texts(directory.path(), "instruction.operands").unwrap();
        assert_eq!(texts.lines().count(), meta.distinct_operands as usize);
        // Each engine and each queue is sorted separately.
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
        let settings = GeneratorSettings::standard(10_000);
        let meta = generate(directory.path(), &settings).unwrap();
        let opcodes = directory.path().join("instruction.opcode.bin");
        std::fs::remove_file(&opcodes).unwrap();
        assert_eq!(generate(directory.path(), &settings).unwrap(), meta);
        assert!(!opcodes.exists());
        let other = generate(directory.path(), &GeneratorSettings { seed: 8, ..settings }).unwrap();
        assert!(opcodes.exists());
        assert_ne!(other, meta);
    }
}
