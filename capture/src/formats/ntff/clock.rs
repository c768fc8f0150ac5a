//! Who ticks how: the clocks of a subgraph, all onto one axis of picoseconds.

use super::proto;
use crate::clock::Clock;
use nprof_engine::vendor::neuron::Engine;

/// DMA engines of a core.
pub const DMA_ENGINES: usize = 16;

/// Moments further from zero are damage: 53 days, and any two may be subtracted.
const MAX_PS: u64 = 1 << 62;

/// The clocks of one subgraph. A clock that the file does not name, or that would stand still, is `None`: its records
/// cannot be placed.
#[derive(Debug, Clone, Default)]
pub struct Clocks {
    engines: [Option<Clock>; Engine::ALL.len()],
    event: Option<Clock>,
    throttle: Option<Clock>,
    dma: [Option<Clock>; DMA_ENGINES],
}

impl Clocks {
    /// From the clock table.
    #[must_use]
    pub fn new(table: &proto::Clocks) -> Self {
        let clock = |rate: &proto::ClockRate| Clock::new(rate.init, rate.actual, rate.expected);
        let optional = |rate: &Option<proto::ClockRate>| rate.as_ref().and_then(clock);
        let mut clocks =
            Self { event: optional(&table.event), throttle: optional(&table.throttle), ..Self::default() };
        for engine in Engine::ALL {
            clocks.engines[engine.index()] = optional(match engine {
                Engine::Tensor => &table.tensor,
                Engine::Scalar => &table.scalar,
                Engine::GpSimd => &table.gpsimd,
                Engine::Vector => &table.vector,
                Engine::Sync => &table.sync,
            });
        }
        for (slot, rate) in clocks.dma.iter_mut().zip(&table.dma) {
            *slot = clock(rate);
        }
        clocks
    }

    /// When an engine wrote a record.
    #[must_use]
    pub fn engine_ps(&self, engine: Engine, ticks: u64) -> Option<i64> {
        placed(self.engines[engine.index()], ticks)
    }

    /// When a DMA engine wrote a record.
    #[must_use]
    pub fn dma_ps(&self, dma_engine: u8, ticks: u64) -> Option<i64> {
        placed(self.dma.get(usize::from(dma_engine)).copied().flatten(), ticks)
    }

    /// When an event was recorded.
    #[must_use]
    pub fn event_ps(&self, ticks: u64) -> Option<i64> {
        placed(self.event, ticks)
    }

    /// When throttling was recorded.
    #[must_use]
    pub fn throttle_ps(&self, ticks: u64) -> Option<i64> {
        placed(self.throttle, ticks)
    }
}

/// A moment on the axis, within a range whose differences fit `i64`.
fn placed(clock: Option<Clock>, ticks: u64) -> Option<i64> {
    clock?.ps_from_ticks(ticks).filter(|ps| ps.unsigned_abs() < MAX_PS)
}
