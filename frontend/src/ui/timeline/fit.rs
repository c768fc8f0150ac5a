//! Zoom to the selected slice; then, step by step, to the slices around it.

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::query::StepDirection;
use nprof_engine::wire::answer::StepTo;
use nprof_engine::wire::questions::StepQuestion;

use super::pointer::around;
use super::step::Steps;
use crate::view::Command;
use crate::view::pointing::fitted_slice::{FittedSlice, TrackSlice};

impl Steps {
    /// Zooms to the selected slice, or to the one around the slice that fills the window already.
    pub(super) fn fit(self) {
        let Some(detail) = self.stage.with(|stage| stage.shown().selected.clone()).flatten() else { return };
        let own = TrackSlice::of(&detail);
        let window = self.view.with_untracked(|view| view.window);
        let fitted = self.fitted.get_value();
        match fitted.filter(|fitted| fitted.selected == own.row && fitted.window == window) {
            Some(fitted) => self.fit_around(own.row, fitted.slice),
            None => self.fit_to(own.row, own),
        }
    }

    fn fit_to(self, selected: u32, slice: TrackSlice) {
        self.on_command.run(Command::Focus(around(slice.start_ps, slice.duration_ps)));
        let Some(window) = self.view.try_with_untracked(|view| view.window) else { return };
        self.fitted.set_value(Some(FittedSlice { selected, slice, window }));
    }

    /// Zooms to the slice in the lane above that holds this one.
    fn fit_around(self, selected: u32, inner: TrackSlice) {
        let source = self.stage.with(|stage| stage.shown().current_source()).flatten();
        let Some(source) = source.filter(|_| !self.is_stepping.get_value()) else { return };
        self.is_stepping.set_value(true);
        spawn_local(async move {
            let to = StepTo::Slice(StepDirection::Up);
            let answer = source.ask(StepQuestion { row: inner.row, to, closed: Vec::new() }, None).await;
            self.is_stepping.try_set_value(false);
            let is_still = self.view.try_with_untracked(|view| view.selection.row) == Some(Some(selected));
            match answer {
                _ if !is_still => {}
                Ok(found) => {
                    let outer = found.map(|detail| TrackSlice::of(&detail));
                    match outer.filter(|outer| outer.holds(inner)) {
                        Some(outer) => self.fit_to(selected, outer),
                        None => self.say("There is no slice around this one"),
                    }
                }
                Err(error) => {
                    self.problem.try_set(Some(error.to_string()));
                }
            }
        });
    }
}
