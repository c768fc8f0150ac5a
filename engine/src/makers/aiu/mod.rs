//! Profiles of IBM AIU devices.

mod array_use;
mod class;
pub mod collectives;
mod exposed_time;
mod kernel_cycles;
pub mod metrics;
mod phase;
mod power;
pub mod schema;
mod sync;
mod tracks;
mod transfers;
mod work;

pub(in crate::makers) use array_use::array_use;

use super::{Maker, MakerFacts};
use crate::metrics::RankMeasures;
use crate::segment::Bytes;

pub use class::AiuClass;
pub use phase::{EXEC_SUFFIX, PREP_SUFFIX, Phase, PhaseStamps};
pub use sync::Sync;
pub use tracks::{AiuTracks, CounterKind, LaneKind, rank_of_devices};

/// Value of [`crate::model::RankInfo::source`] for an AIU profile.
pub const SOURCE: &str = "aiu";

pub(super) const FACTS: MakerFacts =
    MakerFacts { heading: schema::heading_of, layout: super::summary_layout::AIU, ..MakerFacts::any(SOURCE) };

pub(super) const fn maker<B: Bytes>() -> Maker<B> {
    Maker {
        metrics: metrics::read,
        calls: collectives::read,
        work: work::read,
        power: power::read,
        measures: |segment, rank, cancel| {
            let arrays = Some(array_use(segment, rank, cancel)?);
            Ok(RankMeasures { arrays, ..RankMeasures::default() })
        },
        // No trace of the maker tells generations apart.
        device: |_, _| Ok(Some("IBM AIU".to_owned())),
        ..Maker::any()
    }
}

/// Frequency of the cores in megahertz, unless stated: the peak that ideal cycles count at.
pub const CORE_MHZ: f64 = 1100.0;

/// Watts of one step of the charge counter in a microsecond, unless stated: 12 V, and 512 steps for
/// an ampere in a microsecond.
pub const POWER_SCALE: f64 = 12.0 / 512.0;
/// Highest plausible power in watts, unless stated.
pub const MAX_WATTS: f64 = 100.0;

/// Number of cycle counters of a slice on the device, called `TS1` to `TS5`.
pub const STAMPS: usize = 5;

/// Texts by which a trace of an AIU is recognised: counters and names of the runtime (FLEX), and
/// calls and devices in PyTorch's dialect.
pub const TELLING: [&str; 9] = [
    "\"TS1\"",
    " Cmpt Exec\"",
    " Cmpt Prep\"",
    "\"AIU Roundtrip\"",
    "\"Flex RoundTrip\"",
    "SenFusedDeviceNode",
    "\"aiuLaunch",
    "\"aiuScheduleWait\"",
    "\"AIU",
];

/// Texts by which a log of the AIU compiler is recognised.
pub const LOG_TELLING: [&str; 3] = ["Ideal/Total Cycles", "[DeepRT]", "DSM-AutoPilot"];

/// Values of the field `part` of the statistics of the power.
pub const WITH_KERNELS: &str = "with kernels";
/// See [`WITH_KERNELS`].
pub const WITHOUT_KERNELS: &str = "without kernels";

/// Word in the names of the steps of collective operations of PyTorch's dialect, and name of these
/// operations.
pub const HCOLL: &str = "HCOLL";

/// Key of a kernel's cycles in a file of the PyTorch compiler for AIUs.
pub const IDEAL_CYCLES: &str = "ideal_cycles";
/// Key of a kernel's category in such a file.
pub const OP_CATEGORY: &str = "op_category";
/// Begin of a file with settings of the reader.
pub const SETTINGS: &str = "{\"aiu_settings\":";

/// Parts of the names of slices with which the host keeps books.
const GLOBALS: [&str; 10] = [
    "Execute graph",
    "SenFusedDeviceNode",
    "AIU Roundtrip",
    "Flex RoundTrip",
    "PostKeys",
    "FetchKeys",
    "Callback",
    "HostPrep",
    "AllocateFrame of",
    "Update CBs",
];

/// Whether the host keeps books with the slices of this name.
#[must_use]
pub fn is_global(name: &str) -> bool {
    GLOBALS.iter().any(|part| name.contains(part))
}
