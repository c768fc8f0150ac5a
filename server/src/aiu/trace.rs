//! All events of an output: those of each rank, then those about several ranks.

use super::bandwidth;
use super::error::Result;
use super::event::Event;
use super::events::{Each, Events};
use super::form::{Form, Series};
use super::source::Source;
use super::steps::Steps;

/// Facts about the events of an output, for messages.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Met {
    /// Events that were written.
    pub events: u64,
    /// Slices that overlap others.
    pub overlaps: u64,
    /// Slices that needed more thread numbers than allowed.
    pub beyond: u64,
}

/// Calls `each` with all events that the form writes, rank by rank.
///
/// # Errors
/// If bytes are missing or damaged, or if `each` fails.
pub fn for_each(ranks: &[Source<'_>], form: &Form, each: &mut Each<'_>) -> Result<Met> {
    let mut met = Met::default();
    let mut steps = Steps::default();
    let mut shown = |event: &Event| {
        if form.writes(event.phase) {
            met.events += 1;
            each(event)?;
        }
        Ok(())
    };
    let (mut overlaps, mut beyond, mut last_arrow) = (0, 0, 0);
    for source in ranks {
        let mut events = Events::new(source, form);
        events.for_each(&mut steps, &mut shown)?;
        events.launches.arrows(&mut last_arrow).iter().flatten().try_for_each(&mut shown)?;
        overlaps += events.lanes.overlaps;
        beyond += events.lanes.beyond;
    }
    if form.has_flows {
        steps.arrows().iter().flatten().try_for_each(&mut shown)?;
    }
    if form.shows(Series::CollBw) {
        bandwidth::samples(ranks)?.iter().try_for_each(&mut shown)?;
    }
    Ok(Met { overlaps, beyond, ..met })
}
