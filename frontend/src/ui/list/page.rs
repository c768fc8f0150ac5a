//! The page around the table.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::wire::catalog::{ProfileEntry, ProfileList};

use super::delete::ConfirmDelete;
use super::drop::DropZone;
use super::order::{self, Sort};
use super::table::ProfileTable;
use crate::fetch::{Client, FetchError};
use crate::ui::app::{Brand, HelpButton};
use crate::ui::failure::{Failure, Loading};
use crate::ui::icon::{Glyph, Icon};
use crate::ui::theme::ThemeButton;
use crate::ui::upload::{UploadList, Uploads};

/// Another process may ingest at any time; the answer to an unchanged list is small.
const REFRESH_EVERY: Duration = Duration::from_millis(2_500);

/// The profiles as last heard of. A failure leaves the last list standing.
#[derive(Debug, Clone, Copy)]
pub struct Profiles {
    list: RwSignal<Option<ProfileList>>,
    failure: RwSignal<Option<FetchError>>,
    now_unix_ms: RwSignal<i64>,
}

impl Profiles {
    fn new() -> Self {
        Self {
            list: RwSignal::new(None),
            failure: RwSignal::new(None),
            now_unix_ms: RwSignal::new(now_unix_ms()),
        }
    }

    /// Asks the server again.
    pub fn refresh(self) {
        spawn_local(async move {
            let answer = Client.profiles().await;
            // The page may have been left while the answer was on its way.
            match answer {
                Ok(list) => {
                    let changed =
                        self.list.try_with_untracked(|old| old.as_ref() != Some(&list)).unwrap_or(false);
                    if changed {
                        self.list.try_set(Some(list));
                    }
                    if self.failure.try_with_untracked(Option::is_some).unwrap_or(false) {
                        self.failure.try_set(None);
                    }
                }
                Err(error) => drop(self.failure.try_set(Some(error))),
            }
            self.now_unix_ms.try_set(now_unix_ms());
        });
    }

    fn keep_fresh(self) {
        self.refresh();
        let tick = move || {
            if !document().hidden() {
                self.refresh();
            }
        };
        if let Ok(timer) = set_interval_with_handle(tick, REFRESH_EVERY) {
            on_cleanup(move || timer.clear());
        }
    }
}

fn now_unix_ms() -> i64 {
    js_sys::Date::now() as i64
}

/// The list of profiles.
#[component]
pub fn ListPage() -> impl IntoView {
    let profiles = Profiles::new();
    let filter = RwSignal::new(String::new());
    let sort = RwSignal::new(Sort::INITIAL);
    let deleting = RwSignal::new(None::<ProfileEntry>);
    let uploads = expect_context::<Uploads>();
    uploads.on_done(Callback::new(move |()| profiles.refresh()));
    profiles.keep_fresh();
    document().set_title("Profiles · nprof");
    let shown = Memo::new(move |_| {
        profiles.list.with(|list| match list {
            Some(list) => order::shown(&list.profiles, &filter.read(), sort.get()),
            None => Vec::new(),
        })
    });
    let total = Memo::new(move |_| profiles.list.with(|list| list.as_ref().map(|list| list.profiles.len())));
    let body = move || match total.get() {
        None => view! { <NotYet profiles /> }.into_any(),
        Some(0) => view! { <NoProfiles uploads /> }.into_any(),
        Some(_) => {
            view! { <ProfileTable shown sort deleting filter now_unix_ms=profiles.now_unix_ms /> }.into_any()
        }
    };
    view! {
        <DropZone uploads>
            <header class="bar">
                <Brand />
                <div class="bar-title"></div>
                <div class="bar-actions">
                    <ThemeButton />
                    <HelpButton />
                </div>
            </header>
            <Stale profiles />
            <main class="list-scroll">
                <div class="list">
                    <ListHead total filter uploads />
                    <UploadList uploads />
                    <section class="card" aria-label="Profiles">
                        {body}
                    </section>
                    <Show when=move || total.get() != Some(0)>
                        <p class="list-hint">{HINT}</p>
                    </Show>
                </div>
            </main>
        </DropZone>
        <ConfirmDelete deleting profiles />
    }
}

const HINT: &str = "Drop trace files anywhere on this page to ingest them: NTFF (with its NEFF), neuron-profile JSON, or Chrome Trace JSON, plain or .gz.";

/// The list is there, but the server stopped answering.
#[component]
fn Stale(profiles: Profiles) -> impl IntoView {
    let failure = move || profiles.failure.get().filter(|_| profiles.list.with(Option::is_some));
    move || {
        failure().map(|error| {
            view! {
                <div class="banner" role="alert">
                    <Icon glyph=Glyph::Warning />
                    <span>{error.to_string()}</span>
                    <button class="button" type="button" on:click=move |_| profiles.refresh()>
                        "Try again"
                    </button>
                </div>
            }
        })
    }
}

#[component]
fn NotYet(profiles: Profiles) -> impl IntoView {
    move || match profiles.failure.get() {
        Some(error) => {
            let retry = move |()| profiles.refresh();
            view! { <Failure title="The list did not arrive" reason=error.to_string() on_retry=retry /> }
                .into_any()
        }
        None => view! { <Loading what="Loading profiles …" /> }.into_any(),
    }
}

#[component]
fn ListHead(total: Memo<Option<usize>>, filter: RwSignal<String>, uploads: Uploads) -> impl IntoView {
    let count = move || total.get().filter(|total| *total > 0);
    view! {
        <div class="list-head">
            <h1>"Profiles" {move || count().map(|count| view! { <span class="muted">{count}</span> })}</h1>
            <Show when=move || count().is_some()>
                <label class="field">
                    <Icon glyph=Glyph::Search />
                    <span class="unseen">"Filter profiles"</span>
                    <input type="search" placeholder="Filter by name or source" bind:value=filter />
                </label>
            </Show>
            <Show when=move || total.get() != Some(0)>
                <ChooseFiles uploads />
            </Show>
        </div>
    }
}

/// Opens the browser's dialog to choose files.
#[component]
fn ChooseFiles(uploads: Uploads) -> impl IntoView {
    let input = NodeRef::<leptos::html::Input>::new();
    let choose = move |_| {
        if let Some(input) = input.get_untracked() {
            input.click();
        }
    };
    let chosen = move |_| {
        if let Some(input) = input.get_untracked() {
            uploads.add(input.files());
            // So that choosing the same file again is a change.
            input.set_value("");
        }
    };
    view! {
        <input node_ref=input type="file" multiple hidden aria-hidden="true" tabindex="-1" on:change=chosen />
        <button class="button button-primary" type="button" on:click=choose>
            <Icon glyph=Glyph::Upload />
            "Ingest files"
        </button>
    }
}

#[component]
fn NoProfiles(uploads: Uploads) -> impl IntoView {
    view! {
        <div class="notice">
            <Icon glyph=Glyph::Empty />
            <h2>"No profiles yet"</h2>
            <p>"Three ways to the first one:"</p>
            <dl class="ways">
                <dt>"Simulate a device"</dt>
                <dd>
                    <code>"nprof demo"</code>
                </dd>
                <dt>"Read a device trace"</dt>
                <dd>
                    <code>"nprof view -n file.neff -s profile.ntff"</code>
                </dd>
                <dt>"Any supported file"</dt>
                <dd>"drop it on this page, or choose it"</dd>
            </dl>
            <ChooseFiles uploads />
        </div>
    }
}
