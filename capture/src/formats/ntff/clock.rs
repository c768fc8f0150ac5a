//! The clocks of a subgraph, converted to one axis of picoseconds.

use super::proto;
use crate::clock::DeviceClock;
use nprof_engine::makers::neuron::Engine;

/// Number of DMA engines of a core.
pub const DMA_ENGINES: usize = 16;

/// Times further from zero (53 days) are damage. The difference of any two allowed times fits
/// `i64`.
const MAX_PS: u64 = 1 << 62;

/// The clocks of one subgraph. A clock is `None` if the file does not name it or it would stand
/// still. Records of such a clock cannot be placed.
#[derive(Debug, Clone, Default)]
pub struct CoreClocks {
    engines: [Option<DeviceClock>; Engine::ALL.len()],
    event: Option<DeviceClock>,
    throttle: Option<DeviceClock>,
    dma: [Option<DeviceClock>; DMA_ENGINES],
}

impl CoreClocks {
    /// Reads the clock table.
    #[must_use]
    pub fn new(table: &proto::SubgraphClocks) -> Self {
        let clock = |rate: &proto::ClockRate| DeviceClock::new(rate.init, rate.actual, rate.expected);
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

    /// Time of an engine's record in picoseconds on the common axis.
    #[must_use]
    pub fn engine_ps(&self, engine: Engine, ticks: u64) -> Option<i64> {
        placed(self.engines[engine.index()].as_ref(), ticks)
    }

    /// Time of a DMA engine's record in picoseconds on the common axis.
    #[must_use]
    pub fn dma_ps(&self, dma_engine: u8, ticks: u64) -> Option<i64> {
        placed(self.dma.get(usize::from(dma_engine))?.as_ref(), ticks)
    }

    /// Time of an event in picoseconds on the common axis.
    #[must_use]
    pub fn event_ps(&self, ticks: u64) -> Option<i64> {
        placed(self.event.as_ref(), ticks)
    }

    /// Time of a throttle record in picoseconds on the common axis.
    #[must_use]
    pub fn throttle_ps(&self, ticks: u64) -> Option<i64> {
        placed(self.throttle.as_ref(), ticks)
    }
}

/// A time on the axis, within a range whose differences fit `i64`.
#[inline]
fn placed(clock: Option<&DeviceClock>, ticks: u64) -> Option<i64> {
    clock?.ps_from_ticks(ticks).filter(|ps| ps.unsigned_abs() < MAX_PS)
}
