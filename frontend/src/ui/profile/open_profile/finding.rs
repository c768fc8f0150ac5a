//! The way to the places of findings.

use leptos::prelude::*;
use nprof_engine::wire::detail::SliceEntry;
use nprof_engine::wire::questions::{DetailQuestion, SliceQuestion};

use super::Opened;
use super::run_findings::ShownFinding;
use crate::view::finding_place::FindingPlace;
use crate::view::source_id::SourceId;
use crate::view::{Command, ProfilePlace};

impl Opened {
    /// Leads to the place of a finding: opens its rank, shows its span and selects its slice. For a
    /// late rank, shows what it did when the others waited longest.
    pub fn reveal_finding(self, finding: &ShownFinding) {
        let ShownFinding { at, entry, place } = finding;
        let Some(place) = place.clone() else { return };
        if self.findings.followed.get_untracked().is_none() {
            self.findings.left.set(Some(self.session.view.get_untracked()));
        }
        self.findings.followed.set(Some(*at));
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
        // Ranks are shown in any place.
        if self.session.view.with_untracked(|view| view.place) != ProfilePlace::Timeline {
            self.act(&Command::GoTo(ProfilePlace::Timeline));
        }
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
