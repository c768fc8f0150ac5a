//! The slice on which the pointer rests. The members of an operation are asked for once the pointer
//! has rested, and the question is cancelled when the pointer leaves.

use std::sync::Arc;
use std::time::Duration;

use leptos::leptos_dom::helpers::{TimeoutHandle, set_timeout_with_handle};
use leptos::prelude::*;
use nprof_engine::wire::detail::SliceDetail;
use nprof_engine::wire::questions::SliceQuestion;
use nprof_engine::wire::rank_ref::RankRef;

use super::Tracks;
use crate::fetch::{FetchError, Source};
use crate::ui::shell::QuestionAnswers;
use crate::view::source_id::SourceId;
use crate::view::{Hover, Point, Sheet, View};

/// Length of the pointer's rest.
const REST: Duration = Duration::from_millis(50);

/// The source of a slice, and its row.
type Pointee = (SourceId, u32);
/// A place of the pointer: the slice below, and the position in the viewport.
type PointerPlace = (Pointee, Point);

/// The slice on which the pointer rests.
#[derive(Clone, Copy)]
pub struct Pointed {
    tracks: Tracks,
    /// The slice on which the pointer has rested.
    rested: RwSignal<Option<Pointee>>,
    at: StoredValue<Option<PointerPlace>>,
    rest: StoredValue<Option<TimeoutHandle>>,
    /// The slice among those of all ranks, with the members of its operation, once they are here.
    pub detail: Memo<Option<Arc<SliceDetail>>>,
}

impl Pointed {
    /// Nothing is pointed at.
    #[must_use]
    pub fn new(view: Signal<View>, tracks: Tracks) -> Self {
        let (source, rested) = (Source::of_page(), RwSignal::new(None::<Pointee>));
        // Marks of an operation are drawn among the rows of the current profile.
        let row = Memo::new(move |_| {
            let all = tracks.current.get().sibling(RankRef::All);
            rested.get().filter(|(source, _)| *source == all)
        });
        let asked = QuestionAnswers::new(row, move |(of, row): Pointee, signal| {
            let profile = view.try_with_untracked(|view| view.profiles.at(of.profile).map(str::to_owned));
            let axis = tracks.sheet.try_with_untracked(|sheet| sheet.axis(of));
            async move {
                let (profile, axis) = profile.flatten().zip(axis).ok_or(FetchError::Cancelled)?;
                source.rank(profile, of.rank).on_axis(axis).ask(SliceQuestion { row }, Some(&signal)).await
            }
        });
        let detail = Memo::new(move |_| {
            let row = row.get()?;
            asked.last.get().filter(|(of, _)| *of == row).and_then(|(_, answer)| answer.ok())
        });
        let (at, rest) = (StoredValue::new(None), StoredValue::new(None));
        let pointed = Self { tracks, rested, at, rest, detail };
        on_cleanup(move || pointed.forget());
        pointed
    }

    /// The rank and row of the slice on which the pointer has rested.
    #[must_use]
    pub fn rested(self) -> Option<Pointee> {
        self.rested.get()
    }

    /// Takes over what is under the pointer, and passes it on.
    #[must_use]
    pub fn before(self, next: Callback<Option<Hover>>) -> Callback<Option<Hover>> {
        Callback::new(move |hover: Option<Hover>| {
            self.follow(hover.as_ref());
            next.run(hover);
        })
    }

    fn follow(self, hover: Option<&Hover>) {
        let at = hover.and_then(|hover| {
            let of = |sheet: &Arc<Sheet>| Some(sheet.tracks().get(hover.track)?.source);
            let source = self.tracks.sheet.try_with_untracked(of).flatten()?;
            Some(((source, hover.what.slice_row()?), hover.client))
        });
        let row = at.map(|(row, _)| row);
        let asked = self.rested.try_get_untracked().flatten();
        // Frames report a pointer that rests again and again.
        if self.at.get_value() == at || row.is_some() && row == asked {
            return;
        }
        self.forget();
        self.at.set_value(at);
        if asked.is_some() {
            self.rested.set(None);
        }
        let Some(row) = row else { return };
        let ask = move || {
            self.rested.try_set(Some(row));
        };
        self.rest.set_value(set_timeout_with_handle(ask, REST).ok());
    }

    /// Forgets a rest that has not ended.
    fn forget(self) {
        self.rest.try_update_value(Option::take).flatten().iter().for_each(TimeoutHandle::clear);
    }
}
