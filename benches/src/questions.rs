//! Questions to every store: the same windows, spans and texts for all.

use serde::{Deserialize, Serialize};

use crate::generate::Meta;
use crate::generate::random::{Purpose, RandomStream};
use crate::generate::text::ENGINES;

/// Number of results of a window.
const WINDOW_RESULTS: f64 = 2000.0;
const WINDOWS: usize = 100;
const SPANS: usize = 20;
/// Share of the profile that a group-by covers.
const SPAN_SHARE: f64 = 0.1;
/// Time that W1 looks back for slices that reach into the window. Longer slices are missed. This
/// makes W1 easier than W2 for stores without an interval index.
const LOOKBACK_NS: u64 = 10_000;
/// Cells of a view that is 1,000 pixels wide.
const CELLS: u64 = 1000;
/// Search texts: in operands of some engines, in names of operations, in neither.
const NEEDLES: [&str; 8] = [
    "0x5600",
    "dst=0x2045180",
    "row_grp=q3",
    "custom-call.44",
    "%fusion.120 ",
    "func=gelu",
    "no_such_text",
    "S[17]>=",
];

/// All questions to one profile.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Questions {
    /// Start of the first layer.
    pub start_ns: u64,
    /// End of the last layer.
    pub end_ns: u64,
    /// Duration of the longest instruction.
    pub longest_ns: u64,
    /// Number of rows of all tables.
    pub rows: u64,
    /// W1, W2: the instructions of one engine in a window, with all their fields.
    pub windows: Vec<EngineWindow>,
    /// Time that W1 looks back.
    pub lookback_ns: u64,
    /// Z1: all engines' time by cells of this width, over the whole profile.
    pub cell_ns: u64,
    /// G1: number and time of instructions by opcode in these spans.
    pub spans: Vec<(u64, u64)>,
    /// S1: the instructions with one of these texts in their operands or operation.
    pub needles: Vec<String>,
}

/// A window on one engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EngineWindow {
    /// The engine's name.
    pub engine: String,
    /// Position of the engine.
    pub engine_index: usize,
    /// First time inside the window.
    pub start_ns: u64,
    /// First time after the window.
    pub end_ns: u64,
}

/// Creates the questions to the profile that `meta` describes.
#[must_use]
pub fn questions(meta: &Meta) -> Questions {
    let length = meta.end_ns - meta.start_ns;
    let mut random = RandomStream::stream(meta.settings.seed, Purpose::Questions, 0, 0);
    let mut start = |width: u64| meta.start_ns + (random.unit() * length.saturating_sub(width) as f64) as u64;
    let windows = (0..WINDOWS)
        .map(|at| {
            let engine = at % ENGINES.len();
            let rate = meta.instructions[engine] as f64 / length as f64;
            let width = (WINDOW_RESULTS / rate) as u64;
            let start_ns = start(width);
            EngineWindow {
                engine: ENGINES[engine].to_owned(),
                engine_index: engine,
                start_ns,
                end_ns: start_ns + width,
            }
        })
        .collect();
    let width = (length as f64 * SPAN_SHARE) as u64;
    let spans = (0..SPANS).map(|_| start(width)).map(|start| (start, start + width)).collect();
    Questions {
        start_ns: meta.start_ns,
        end_ns: meta.end_ns,
        longest_ns: meta.longest_instruction_ns,
        rows: meta.rows(),
        windows,
        lookback_ns: LOOKBACK_NS,
        cell_ns: length.div_ceil(CELLS),
        spans,
        needles: NEEDLES.map(str::to_owned).to_vec(),
    }
}
