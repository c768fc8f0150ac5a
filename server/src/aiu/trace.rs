//! All events of an output: those of each rank, then those about several ranks.

use super::bandwidth;
use super::error::Result;
use super::event::Each;
use super::event::Event;
use super::events::Events;
use super::form::{EventForm, Series};
use super::operations;
use super::source::Source;
use super::steps::MessageSteps;
use super::threads::ThreadNumbers;

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

/// Events that are known only once all ranks have been read, each with its rank: arrows between
/// ranks, and slices of whole collective operations.
pub type JobEvents = Vec<(u32, Event)>;

/// Calls `each` with all events that the form writes, rank by rank. Returns what was met, and the
/// events that the files of single ranks need.
pub fn for_each(ranks: &[Source<'_>], form: &EventForm, each: &mut Each<'_>) -> Result<(Met, JobEvents)> {
    let mut numbers = ThreadNumbers::of(ranks, form)?;
    let mut met = Met::default();
    let mut steps = MessageSteps::default();
    let (mut overlaps, mut beyond, mut last_arrow) = (0, 0, 0);
    let mut shown = |event: &Event| {
        if form.writes(event.phase) {
            met.events += 1;
            each(event)?;
        }
        Ok(())
    };
    let mut kernels = Vec::new();
    for source in ranks {
        let mut events = Events::new(source, form, &mut numbers)?;
        events.for_each(&mut steps, &mut last_arrow, &mut shown)?;
        overlaps += events.lanes.overlaps;
        beyond += events.lanes.beyond;
        kernels.push(events.kernels);
    }
    let mut shared = JobEvents::new();
    if form.has_collectives {
        for (source, kernels) in ranks.iter().zip(kernels) {
            let operations = operations::events(source, form, kernels, &steps)?;
            shared.extend(operations.into_iter().map(|event| (source.rank, event)));
        }
    }
    if form.has_flows {
        shared.extend(steps.arrows(&mut last_arrow).into_iter().flatten());
    }
    shared.iter().try_for_each(|(_, event)| shown(event))?;
    if form.shows(Series::CollBw) {
        bandwidth::samples(ranks)?.iter().try_for_each(&mut shown)?;
    }
    Ok((Met { overlaps, beyond, ..met }, shared))
}

/// Calls `each` with the events of one of the ranks, as they are in the file of all ranks.
pub fn for_rank(
    ranks: &[Source<'_>],
    at: usize,
    form: &EventForm,
    shared: &JobEvents,
    each: &mut Each<'_>,
) -> Result<()> {
    let mut numbers = ThreadNumbers::of(ranks, form)?;
    let mut shown = |event: &Event| if form.writes(event.phase) { each(event) } else { Ok(()) };
    Events::new(&ranks[at], form, &mut numbers)?.for_each(
        &mut MessageSteps::default(),
        &mut 0,
        &mut shown,
    )?;
    let own = shared.iter().filter(|(rank, _)| *rank == ranks[at].rank);
    own.map(|(_, event)| event).try_for_each(shown)
}
