//! The findings of a profile, and the way to their places.

use leptos::prelude::*;
use nprof_engine::wire::detail::SliceEntry;
use nprof_engine::wire::findings::{FindingEntry, Findings};
use nprof_engine::wire::questions::{DetailQuestion, FindingsQuestion, SliceQuestion};
use web_sys::AbortSignal;

use super::Opened;
use super::profile_source::known;
use crate::fetch::FetchError;
use crate::view::Command;
use crate::view::finding_place::FindingPlace;
use crate::view::run_times::RunTimes;
use crate::view::source_id::SourceId;

impl Opened {
    /// The findings about the run of the profile at this position.
    pub async fn findings(self, profile: u8, cancel: AbortSignal) -> Result<Findings, FetchError> {
        let name = self.names().at(profile).unwrap_or_default().to_owned();
        let found = self.of.source.ask_until(FindingsQuestion::about(&name), Some(&cancel)).await?;
        // The page can be gone by now.
        self.are_findings_known.try_set(true);
        Ok(found)
    }

    /// Whether findings are known, so that asking for them again costs nothing. The signal is read.
    #[must_use]
    pub fn are_findings_known(self) -> bool {
        self.are_findings_known.get()
    }

    /// The times of answers about the run of the profile at this position.
    #[must_use]
    pub fn run_times(self, profile: u8) -> RunTimes {
        let base = self.session.view.with(|view| view.timebase);
        known(self.session.profiles, |profiles| RunTimes::of(profiles, profile, base)).unwrap_or_default()
    }

    /// Leads to the place of a finding: opens its rank, shows its span and selects its slice. For a
    /// late rank, shows what it did when the others waited longest.
    pub fn reveal_finding(self, entry: &FindingEntry, times: &RunTimes) {
        let Some(place) = FindingPlace::of(entry, times) else { return };
        match (&place, entry.rank) {
            (FindingPlace { source: Some(source), row: Some(row), .. }, _) => {
                self.reveal_slice_of(*source, *row, place);
            }
            (FindingPlace { span: None, .. }, Some(rank)) if entry.is_late_rank() => self.reveal_worst(rank),
            _ => self.go_to(&place),
        }
    }

    fn go_to(self, place: &FindingPlace) {
        let current = self.current.source.get_untracked().unwrap_or_default();
        place.commands(current).iter().for_each(|command| self.act(command));
    }

    /// Selects a slice of a rank within the span of a place.
    fn reveal_slice_of(self, source: SourceId, row: u32, place: FindingPlace) {
        let again = {
            let place = place.clone();
            move || self.reveal_slice_of(source, row, place.clone())
        };
        let asked = async move {
            let slice = self.ask(source, SliceQuestion { row }, None).await?.slice;
            let rank = self.ask(source, DetailQuestion, None).await?;
            Ok((slice, rank))
        };
        let go = move |(slice, rank): (SliceEntry, _)| {
            let SliceEntry { row, start_ps, duration_ps, track, .. } = slice;
            let hidden_by = self.hidden_by(rank, track);
            let reveal = Command::Reveal { row, start_ps, duration_ps, hidden_by };
            let current = self.current.source.get_untracked().unwrap_or_default();
            self.act(&reveal.in_rank(source, current));
            place.window().into_iter().for_each(|window| self.act(&Command::Focus(window)));
        };
        self.lead(asked, go, "The place of the finding was not found", again);
    }
}
