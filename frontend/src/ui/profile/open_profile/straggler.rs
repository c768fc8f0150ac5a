//! Leads to the rank for which others waited, at the time when they did, with what it did instead
//! selected.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::order::gathered;
use nprof_engine::makers::job::metrics::WAITS;
use nprof_engine::makers::job::schema::{CALLS, CallRow, OPERATIONS, OperationRow};
use nprof_engine::model::is_wait;
use nprof_engine::wire::catalog::{RankDetail, Track, TrackKind};
use nprof_engine::wire::detail::SliceEntry;
use nprof_engine::wire::questions::{DetailQuestion, EventsQuestion, RowsQuestion, SliceQuestion};
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::rows::{ColumnValues, RowColumn, RowColumnRole, TableRows};
use nprof_engine::wire::selection::Side;
use nprof_engine::wire::summary::MetricPlaceEntry;

use super::Opened;
use crate::fetch::FetchError;
use crate::ui::shell::spawn_while_shown;
use crate::view::ranks::spread::Operations;
use crate::view::ranks::straggler::{WorkPart, instead};
use crate::view::rows::track_path::TrackPath;
use crate::view::source_id::SourceId;
use crate::view::{Command, Late, Sheet, Tab};

/// Most slices of a rank that are compared. If there are more, only the last part counts.
const MOST_SLICES: u32 = 20_000;
/// Most calls of a rank that are left out.
const MOST_CALLS: u32 = 10_000;
/// Most operations that are compared.
const MOST_OPERATIONS: u32 = 100_000;

/// Message about missing operations.
const NO_OPERATIONS: &str = "The operations did not arrive";

impl Opened {
    /// Waits for an answer and passes it to `go`. Without an answer, shows the message `failed`
    /// with the reason, and a button that does it `again`.
    pub(super) fn lead<T: 'static>(
        self,
        answer: impl Future<Output = Result<T, FetchError>> + 'static,
        go: impl FnOnce(T) + 'static,
        failed: &'static str,
        again: impl Fn() + Send + Sync + 'static,
    ) {
        spawn_while_shown(self.profile.info, async move {
            match answer.await {
                Ok(answer) => go(answer),
                Err(error) => {
                    let again = Callback::new(move |()| again());
                    self.session.messages.fail(format!("{failed}: {error}"), Some(again));
                }
            }
        });
    }

    /// Opens the rank for which others waited in an operation of all ranks, and selects what it did
    /// from the first arrival to its own. `row` is a slice of the operation or of a call. A rank
    /// that did nothing that was recorded has the span marked.
    pub fn reveal_late(self, row: u32) {
        let again = move || self.reveal_late(row);
        self.lead(self.go_to_late(row), |()| {}, "The late rank was not found", again);
    }

    /// Like [`Opened::reveal_late`], for the operation in which the others waited longest for a
    /// rank. If it was never the last one, only opens the rank.
    pub fn reveal_worst(self, rank: u32) {
        let go = move |all: Operations| match all.worst_of_rank(rank) {
            Some(row) => self.reveal_late(row),
            None => {
                self.act(&Command::OpenRank(self.beside(rank)));
                let text = format!("Rank {rank} never came last. Other ranks passed its delays on.");
                self.session.messages.confirm(text);
            }
        };
        self.lead(self.operations(), go, NO_OPERATIONS, move || self.reveal_worst(rank));
    }

    /// Leads to the place of a metric of all ranks. `key` is the key of its group.
    pub fn reveal_place(self, key: &str, place: &MetricPlaceEntry) {
        match (key, place.operation, place.at_ps) {
            (_, Some(operation), Some(at_ps)) => self.reveal_operation(operation.into(), at_ps),
            (WAITS, ..) => self.reveal_longest_wait(place.rank),
            _ => self.reveal_worst(place.rank),
        }
    }

    /// Selects the longest wait of a rank among the calls of all ranks.
    pub fn reveal_longest_wait(self, rank: u32) {
        let go = move |row: Option<u32>| match row {
            Some(row) => self.reveal_in(self.beside(RankRef::All), row),
            None => self.session.messages.fail(format!("No wait of rank {rank} was found"), None),
        };
        let again = move || self.reveal_longest_wait(rank);
        self.lead(self.longest_wait(rank), go, "The wait was not found", again);
    }

    async fn longest_wait(self, rank: u32) -> Result<Option<u32>, FetchError> {
        let detail = self.ask(self.beside(RankRef::All), DetailQuestion, None).await?;
        let calls = |track: &&Track| track.rank == Some(rank) && track.kind == TrackKind::Slices;
        let Some(track) = detail.tracks.iter().find(calls) else { return Ok(None) };
        let span = Interval::new(detail.entry.start_ps, detail.entry.end_ps.saturating_add(1));
        let question = EventsQuestion { span, tracks: Some(vec![track.id]), limit: MOST_SLICES };
        let slices = self.ask(self.beside(RankRef::All), question, None).await?.slices;
        let waits = slices.iter().filter(|slice| is_wait(&slice.name));
        Ok(waits.max_by_key(|slice| (slice.duration_ps, Reverse(slice.row))).map(|slice| slice.row))
    }

    /// Like [`Opened::reveal_late`], for the operation of a kind and size in which ranks waited
    /// longest.
    pub fn reveal_worst_of_size(self, kind: String, bytes: Option<i64>, ranks: Option<i64>) {
        let of_kind = kind.clone();
        let go = move |all: Operations| match all.worst_of_size(&of_kind, bytes, ranks) {
            Some(row) => self.reveal_late(row),
            None => self.session.messages.fail("The operation was not found".to_owned(), None),
        };
        let again = move || self.reveal_worst_of_size(kind.clone(), bytes, ranks);
        self.lead(self.operations(), go, NO_OPERATIONS, again);
    }

    /// Selects the slice of the operation with this number, of which a slice has this time.
    pub fn reveal_operation(self, number: i64, at_ps: i64) {
        let span = Interval::new(at_ps.saturating_sub(1), at_ps.saturating_add(1));
        let of_table = RowsQuestion::of_table(OPERATIONS.name, MOST_OPERATIONS);
        let rows = self.ask(self.beside(RankRef::All), RowsQuestion { span: Some(span), ..of_table }, None);
        let go = move |rows: TableRows| match row_of(&rows, number) {
            Some(row) => self.reveal_in(self.beside(RankRef::All), row),
            None => self.session.messages.fail(format!("Operation {number} was not found"), None),
        };
        self.lead(rows, go, "The operation was not found", move || self.reveal_operation(number, at_ps));
    }

    async fn operations(self) -> Result<Operations, FetchError> {
        let question = RowsQuestion::of_table(OPERATIONS.name, MOST_OPERATIONS);
        let rows = self.ask(self.beside(RankRef::All), question, None).await?;
        Ok(Operations::read(&rows))
    }

    async fn go_to_late(self, row: u32) -> Result<(), FetchError> {
        let members = self.ask(self.beside(RankRef::All), SliceQuestion { row }, None).await?.members;
        let Some(late) = Late::of(&members) else { return Ok(()) };
        let rank = self.ask(self.beside(late.rank), DetailQuestion, None).await?;
        let slice = match late.span.duration_ps() {
            // Nobody waited: only its call is there to show.
            0 => Some(self.ask(self.beside(late.rank), SliceQuestion { row: late.call }, None).await?.slice),
            _ => self.done_instead(&late, &rank).await?,
        };
        let shown = late.window(self.window());
        let in_rank = |then| Command::InRank { source: self.beside(late.rank), then: Box::new(then) };
        let Some(slice) = slice else {
            self.act(&in_rank(Command::Show(shown)));
            self.act(&Command::Mark(Some(late.span)));
            return Ok(());
        };
        // The rest of a long slice can stay out of sight.
        let end_ps = slice.start_ps.saturating_add(slice.duration_ps);
        let (start_ps, end_ps) = match late.span.duration_ps() {
            0 => (slice.start_ps, end_ps),
            _ => (slice.start_ps.max(late.span.start.0), end_ps.min(late.span.end.0)),
        };
        let (row, duration_ps) = (slice.row, end_ps.saturating_sub(start_ps));
        let hidden_by = self.hidden_by(rank, slice.track);
        self.act(&in_rank(Command::Reveal { row, start_ps, duration_ps, hidden_by }));
        if late.span.duration_ps() > 0 {
            self.act(&Command::Focus(shown));
        }
        self.show_details();
        Ok(())
    }

    /// The slice that took most of the time until the rank came, beside its calls.
    async fn done_instead(self, late: &Late, rank: &RankDetail) -> Result<Option<SliceEntry>, FetchError> {
        let of_call = SliceQuestion { row: late.row };
        let tracks = Some(vec![self.ask(self.beside(RankRef::All), of_call, None).await?.slice.track]);
        let of_table = RowsQuestion::of_table(CALLS.name, MOST_CALLS);
        let question = RowsQuestion { span: Some(late.span), tracks, ..of_table };
        let calls = self.ask(self.beside(RankRef::All), question, None).await?;
        let of = CallRow::by(|field| calls.field(field.name));
        let calls: BTreeSet<u32> = gathered(ints(of.row).filter_map(|row| u32::try_from(row).ok()));
        let parts: HashMap<u32, WorkPart> = rank.tracks.iter().map(|track| (track.id, part(track))).collect();
        let mut span = late.span;
        let slices = loop {
            let question = EventsQuestion { span, tracks: None, limit: MOST_SLICES };
            let events = self.ask(self.beside(late.rank), question, None).await?;
            if !events.truncated || span.duration_ps() < 2 {
                break events.slices;
            }
            span.start.0 = span.end.0.saturating_sub(span.duration_ps() / 2);
        };
        let part_of = |slice: &SliceEntry| match calls.contains(&slice.row) {
            true => WorkPart::Nothing,
            false => parts.get(&slice.track).copied().unwrap_or(WorkPart::Host),
        };
        Ok(instead(&slices, span, part_of).cloned())
    }

    /// Shows the details of what was just selected, unless the list stays in sight from which the
    /// user came: beside it, the details have a place of their own.
    pub(super) fn show_details(self) {
        let keeps_list =
            self.session.view.with_untracked(|view| view.panels.tab.is_some_and(Tab::is_about_run));
        if !keeps_list {
            self.act(&Command::ShowTab(Tab::Details));
        }
    }

    /// The closed groups that hide a track of a rank.
    pub(super) fn hidden_by(self, rank: RankDetail, track: u32) -> Vec<TrackPath> {
        let source = SourceId::of_first(rank.entry.rank);
        let sheet = Sheet::of(vec![Arc::new(rank)]);
        let hidden_by = |at| self.session.view.with_untracked(|view| view.tracks.hidden_by(&sheet, at));
        sheet.position(source, track).map_or_else(Vec::new, hidden_by)
    }
}

/// The part of the slices of a track in a search for the work of a rank.
fn part(track: &Track) -> WorkPart {
    match track.side {
        _ if track.is_auxiliary => WorkPart::Nothing,
        Some(Side::Device) => WorkPart::Device,
        Some(Side::Host) | None => WorkPart::Host,
    }
}

/// The integers of a field that all rows have.
fn ints(column: Option<&RowColumn>) -> impl Iterator<Item = i64> {
    let values = match column.map(|column| &column.values) {
        Some(ColumnValues::Ints(values)) => values.as_slice(),
        _ => &[],
    };
    values.iter().copied()
}

/// The last row of an operation: its transfer, if that is in the answer.
fn row_of(rows: &TableRows, number: i64) -> Option<u32> {
    let numbers = rows.columns.iter().find(|column| column.role == RowColumnRole::Row)?;
    let ColumnValues::Ints(numbers) = &numbers.values else { return None };
    let of = OperationRow::by(|field| rows.field(field.name));
    let of_number = ints(of.operation).zip(numbers).filter(|(of, _)| *of == number);
    of_number.last().and_then(|(_, row)| u32::try_from(*row).ok())
}
