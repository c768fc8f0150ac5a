//! Spans that a user names, and drops again.

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::notes::NotedRegion;
use nprof_engine::wire::page_link::window_around;

use super::Opened;
use crate::ui::shell::spawn_while_shown;
use crate::view::{Command, View};

impl Opened {
    /// Whether this page can keep regions: one without a server cannot.
    #[must_use]
    pub fn can_name_regions(self) -> bool {
        self.of.source.embedded().is_none()
    }

    /// Shows a region and marks it, so that its totals and its name are at hand.
    pub fn show_region(self, span: Interval) {
        self.act(&Command::Show(window_around(span)));
        self.act(&Command::Mark(Some(span)));
    }

    /// Keeps a span of the current rank under a name.
    pub fn name_region(self, name: String, span: Interval) {
        let Some(source) = self.current.source.get_untracked() else { return };
        let span = self.regions.kept_span(span);
        let region =
            NotedRegion { name, rank: source.rank.number(), start_ps: span.start.0, end_ps: span.end.0 };
        let profile = self.names().at(source.profile).unwrap_or_default().to_owned();
        spawn_while_shown(self.profile.info, async move {
            let done = async { self.of.source.server()?.add_region(&profile, &region).await };
            match done.await {
                Ok(()) => self.session.messages.confirm(format!("Region {} is kept", region.name)),
                Err(error) => self.session.messages.fail(format!("The region was not kept: {error}"), None),
            }
            self.regions.refresh.run(());
        });
    }

    /// Gives a region another name. A scope of that name follows it.
    pub fn rename_region(self, name: String, new: String) {
        let Some(source) = self.current.source.get_untracked() else { return };
        let profile = self.names().at(source.profile).unwrap_or_default().to_owned();
        spawn_while_shown(self.profile.info, async move {
            let done = async { self.of.source.server()?.rename_region(&profile, &name, &new).await };
            match done.await {
                Ok(()) => {
                    self.session.messages.confirm(format!("Region {name} is now {new}"));
                    let is_scope = |view: &View| view.region.as_deref() == Some(name.as_str());
                    if self.session.view.with_untracked(is_scope) {
                        self.act(&Command::LimitTo(Some(new.clone())));
                    }
                    let mut beside = self.session.view.with_untracked(|view| view.beside.clone());
                    if let Some(of) = beside.iter_mut().find(|of| **of == name) {
                        *of = new;
                        self.act(&Command::Beside(beside));
                    }
                }
                Err(error) => {
                    self.session.messages.fail(format!("The region was not renamed: {error}"), None)
                }
            }
            self.regions.refresh.run(());
        });
    }

    /// Drops a region that a user named.
    pub fn drop_region(self, name: String) {
        let Some(source) = self.current.source.get_untracked() else { return };
        let profile = self.names().at(source.profile).unwrap_or_default().to_owned();
        spawn_while_shown(self.profile.info, async move {
            let done = async { self.of.source.server()?.delete_region(&profile, &name).await };
            match done.await {
                Ok(()) => self.session.messages.confirm(format!("Region {name} deleted")),
                Err(error) => {
                    self.session.messages.fail(format!("The region was not deleted: {error}"), None)
                }
            }
            self.regions.refresh.run(());
        });
    }
}
