//! The page of the list of profiles, around the table.

use leptos::prelude::*;
use nprof_engine::wire::catalog::ProfileEntry;

use super::delete::ConfirmDelete;
use super::drop::DropZone;
use super::list_state::ListState;
use super::profiles::Profiles;
use super::table::{DialogProfiles, ProfileTable};
use crate::ui::controls::{BarActions, Failure, Glyph, Icon, If, Loading, scrolled_px};
use crate::ui::shell::{Brand, DownloadDialog, HelpButton, ThemeButton};
use crate::ui::text::format;
use crate::ui::upload::{UploadList, Uploads};
use crate::view::profile_order;

/// Scroll position of the list when the user left it; a context.
#[derive(Debug, Clone, Copy)]
pub struct ListScroll(StoredValue<i32>);

impl Default for ListScroll {
    fn default() -> Self {
        Self(StoredValue::new(0))
    }
}

/// Restores the scroll position of the list when its rows are present.
fn keep_scroll(list: NodeRef<leptos::html::Main>, has_rows: Memo<bool>) {
    let kept = expect_context::<ListScroll>().0;
    Effect::new(move |is_done: Option<bool>| {
        let (true, false, Some(list)) = (has_rows.get(), is_done.unwrap_or(false), list.get()) else {
            return is_done.unwrap_or(false);
        };
        // The rows are created by this change. They have their height in the next frame.
        request_animation_frame(move || list.set_scroll_top(kept.get_value()));
        true
    });
}

/// The list of profiles.
#[component]
pub fn ListPage() -> impl IntoView {
    let profiles = Profiles::new();
    let looked = ListState::new();
    let (list, kept) = (NodeRef::<leptos::html::Main>::new(), expect_context::<ListScroll>().0);
    let chosen = DialogProfiles {
        deleting: RwSignal::new(None),
        downloading: RwSignal::new(None),
        comparing: RwSignal::new(None),
    };
    let uploads = expect_context::<Uploads>();
    uploads.on_done(Callback::new(move |()| profiles.refresh()));
    profiles.keep_fresh();
    document().set_title("Profiles · nprof");
    let server = profiles.source().server().ok();
    let shown = Memo::new(move |_| {
        profiles.list.with(|list| match list {
            Some(list) => profile_order::shown(&list.profiles, &looked.view().filter, looked.view().sort),
            None => Vec::new(),
        })
    });
    let total = Memo::new(move |_| profiles.list.with(|list| list.as_ref().map(|list| list.profiles.len())));
    keep_scroll(list, Memo::new(move |_| total.get().is_some_and(|total| total > 0)));
    let scrolled =
        move |event| scrolled_px(&event).into_iter().for_each(|now_px| kept.set_value(now_px as i32));
    let body = move || match total.get() {
        None => view! { <NotYet profiles /> }.into_any(),
        Some(0) => view! { <NoProfiles uploads /> }.into_any(),
        Some(_) => view! { <ProfileTable shown looked chosen now_unix_ms=profiles.now_unix_ms /> }.into_any(),
    };
    view! {
        <DropZone uploads>
            <header class="bar">
                <Brand />
                <div class="bar-title"></div>
                <BarActions>
                    <ThemeButton />
                    <HelpButton />
                </BarActions>
            </header>
            <Stale profiles />
            <main class="list-scroll" node_ref=list on:scroll=scrolled>
                <div class="list">
                    <ListHead total shown looked uploads />
                    <UploadList uploads />
                    <section class="card" aria-label="Profiles">
                        {body}
                    </section>
                    <If is=move || total.get() != Some(0)>
                        <p class="list-hint">{HINT}</p>
                    </If>
                </div>
            </main>
        </DropZone>
        <ConfirmDelete deleting=chosen.deleting profiles />
        {server.map(|server| view! { <DownloadDialog of=chosen.downloading server /> })}
    }
}

const HINT: &str = "Drop trace files anywhere on this page to ingest them: NTFF (with its NEFF), neuron-profile JSON, AIU traces, PyTorch and Chrome traces; plain, compressed or in archives.";

/// Notice that the server stopped answering while a list is shown.
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
fn ListHead(
    total: Memo<Option<usize>>,
    shown: Memo<Vec<ProfileEntry>>,
    looked: ListState,
    uploads: Uploads,
) -> impl IntoView {
    let count = move || total.get().filter(|total| *total > 0);
    let counted = move || {
        let (shown, total) = (shown.with(Vec::len), format::count(count()? as u64));
        let is_filtered = !looked.view().filter.trim().is_empty();
        Some(if is_filtered { format!("{} of {total}", format::count(shown as u64)) } else { total })
    };
    view! {
        <div class="list-head">
            <h1>"Profiles" {move || counted().map(|count| view! { <span class="muted" aria-live="polite">{count}</span> })}</h1>
            <If is=move || count().is_some()>
                <label class="field">
                    <Icon glyph=Glyph::Search />
                    <span class="unseen">"Filter profiles"</span>
                    <input
                        type="search"
                        placeholder="Filter by name or source"
                        prop:value=move || looked.view().filter
                        on:input:target=move |event| {
                            looked.change(|view| view.filter = event.target().value());
                        }
                    />
                </label>
            </If>
            <If is=move || total.get() != Some(0)>
                <ChooseFiles uploads />
            </If>
        </div>
    }
}

/// The button that opens the browser's file dialog.
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
            // Reset the value, so that choosing the same file again is a change.
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
