//! The table of profiles.

use leptos::prelude::*;
use nprof_engine::wire::catalog::ProfileEntry;

use super::list_state::ListState;
use crate::ui::controls::{Glyph, Icon, If, keyed};
use crate::ui::shell::{Address, Link};
use crate::ui::text::format;
use crate::view::View;
use crate::view::profile_order::{Direction, ProfileColumn};
use crate::view::state::profile_names::ProfileNames;
use crate::view::url::page::PagePlace;

/// All columns with their headings.
const COLUMNS: [(ProfileColumn, &str); 6] = [
    (ProfileColumn::Name, "Name"),
    (ProfileColumn::Source, "Source"),
    (ProfileColumn::Ingested, "Ingested"),
    (ProfileColumn::Ranks, "Ranks"),
    (ProfileColumn::Events, "Events"),
    (ProfileColumn::Size, "Size"),
];

fn is_number(column: ProfileColumn) -> bool {
    match column {
        ProfileColumn::Ranks | ProfileColumn::Events | ProfileColumn::Size => true,
        ProfileColumn::Name | ProfileColumn::Source | ProfileColumn::Ingested => false,
    }
}

/// Returns true if a narrow screen has no room for the column. Its values are then below the name.
fn is_extra(column: ProfileColumn) -> bool {
    match column {
        ProfileColumn::Source | ProfileColumn::Ingested | ProfileColumn::Ranks => true,
        ProfileColumn::Name | ProfileColumn::Events | ProfileColumn::Size => false,
    }
}

/// The profiles of the dialogs of the list. `None` while a dialog is closed.
#[derive(Debug, Clone, Copy)]
pub struct DialogProfiles {
    /// The profile whose deletion must be confirmed.
    pub deleting: RwSignal<Option<ProfileEntry>>,
    /// The profile to download.
    pub downloading: RwSignal<Option<ProfileEntry>>,
    /// Name of the first profile of a comparison, until the second one is chosen.
    pub comparing: RwSignal<Option<String>>,
}

/// The table of profiles, one row each.
#[component]
pub fn ProfileTable(
    /// Profiles, filtered and sorted.
    shown: Memo<Vec<ProfileEntry>>,
    /// Filter and order.
    looked: ListState,
    /// The profiles of the open dialogs.
    chosen: DialogProfiles,
    /// The current time, for ages.
    now_unix_ms: RwSignal<i64>,
) -> impl IntoView {
    let nothing = move || shown.with(Vec::is_empty);
    view! {
        <div class="profiles">
            <table>
                <thead>
                    <tr>
                        {COLUMNS.map(|(column, title)| view! { <Heading column title looked /> }).collect_view()}
                        <th scope="col" class="row-actions">
                            <span class="unseen">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {keyed(
                        move || shown.get(),
                        key,
                        move |profile| view! { <Row profile chosen now_unix_ms /> }.into_any(),
                    )}
                </tbody>
            </table>
            <If is=nothing>
                <div class="notice">
                    <p>{move || format!("No profile matches “{}”.", looked.view().filter.trim())}</p>
                    <button
                        class="button"
                        type="button"
                        on:click=move |_| looked.change(|view| view.filter.clear())
                    >
                        "Show all"
                    </button>
                </div>
            </If>
        </div>
    }
}

/// Key of a row. A row is rendered again when any part of the key changes.
fn key(profile: &ProfileEntry) -> String {
    let ProfileEntry { id, slug, display_name, created_unix_ms, events, size_bytes, .. } = profile;
    // Names can hold any character, so their lengths belong to the key.
    let (slug_len, name_len) = (slug.len(), display_name.len());
    format!("{id} {slug_len} {slug} {name_len} {display_name} {created_unix_ms} {events} {size_bytes}")
}

#[component]
fn Heading(column: ProfileColumn, title: &'static str, looked: ListState) -> impl IntoView {
    let state = move || {
        let sort = looked.view().sort;
        (sort.column == column).then_some(match sort.direction {
            Direction::Ascending => "ascending",
            Direction::Descending => "descending",
        })
    };
    view! {
        <th scope="col" class:number=is_number(column) class:wide-only=is_extra(column) aria-sort=state>
            <button type="button" on:click=move |_| looked.change(|view| view.sort = view.sort.clicked(column))>
                {title}
                <Icon glyph=Glyph::Down />
            </button>
        </th>
    }
}

#[component]
fn Row(profile: ProfileEntry, chosen: DialogProfiles, now_unix_ms: RwSignal<i64>) -> impl IntoView {
    let created = profile.created_unix_ms;
    let warnings = (profile.warnings > 0).then(|| {
        let text = format::counted(profile.warnings, "kind of warning", "kinds of warnings");
        view! {
            <span class="chip chip-warning" title=text.clone()>
                <Icon glyph=Glyph::Warning />
                {format::count(profile.warnings)}
                <span class="unseen">{text.clone()}</span>
            </span>
        }
    });
    let slug = (profile.slug != profile.display_name)
        .then(|| view! { <small class="wide-only">{profile.slug.clone()}</small> });
    let age = move || format::ago(created, now_unix_ms.get()).unwrap_or_else(|| local_date(created));
    let size = format::bytes(profile.size_bytes as f64);
    let exact_size = format!("{} B", format::count(profile.size_bytes));
    let place = PagePlace::Profile(View::of_profile(&profile.slug));
    let name = profile.display_name.clone();
    let (source, ranks, events) = (profile.source.clone(), profile.ranks, profile.events);
    view! {
        <tr>
            <td class="profile-name">
                <Link place>{name}</Link>
                {slug}
                <small class="narrow-only">
                    {source.clone()} " · " {format::counted(ranks.into(), "rank", "ranks")} " · " {age}
                </small>
            </td>
            <td class="wide-only">
                <span class="chip">{source}</span>
                " "
                {warnings}
            </td>
            <td class="date wide-only" title=local_date(created)>
                {age}
            </td>
            <td class="number wide-only">{format::count(ranks.into())}</td>
            <td class="number">{format::count(events)}</td>
            <td class="number" title=exact_size>
                {size}
            </td>
            <td class="row-actions">
                <CompareAction profile=profile.clone() first=chosen.comparing />
                <RowAction verb="Download" glyph=Glyph::Download profile=profile.clone() of=chosen.downloading />
                <RowAction verb="Delete" glyph=Glyph::Trash profile of=chosen.deleting />
            </td>
        </tr>
    }
}

/// A button that chooses a profile for a comparison. The second one opens it.
#[component]
fn CompareAction(profile: ProfileEntry, first: RwSignal<Option<String>>) -> impl IntoView {
    let address = expect_context::<Address>();
    let slug = StoredValue::new(profile.slug);
    let is_first = move || slug.with_value(|slug| first.with(|first| first.as_ref() == Some(slug)));
    let title = move || match first.get() {
        None => "Compare with another profile".to_owned(),
        Some(_) if is_first() => "Choose no profile for a comparison".to_owned(),
        Some(name) => format!("Compare with {name}"),
    };
    let choose = move |_| {
        let (own, chosen) = (slug.get_value(), first.get_untracked());
        match chosen {
            None => first.set(Some(own)),
            Some(before) if before == own => first.set(None),
            Some(before) => {
                let both = ProfileNames::of([before, own]);
                both.into_iter().for_each(|both| address.open(PagePlace::Profile(View::of_profiles(both))));
            }
        }
    };
    view! {
        <button
            class="button button-icon wide-only"
            type="button"
            aria-label=format!("Compare {}", profile.display_name)
            aria-pressed=move || is_first().to_string()
            title=title
            on:click=choose
        >
            <Icon glyph=Glyph::Compare />
        </button>
    }
}

/// A button that opens the dialog of a profile.
#[component]
fn RowAction(
    verb: &'static str,
    glyph: Glyph,
    profile: ProfileEntry,
    of: RwSignal<Option<ProfileEntry>>,
) -> impl IntoView {
    view! {
        <button
            class="button button-icon"
            type="button"
            aria-label=format!("{verb} {}", profile.display_name)
            title=verb
            on:click=move |_| of.set(Some(profile.clone()))
        >
            <Icon glyph />
        </button>
    }
}

fn local_date(unix_ms: i64) -> String {
    let date = js_sys::Date::new(&(unix_ms as f64).into());
    format::date(unix_ms, -(date.get_timezone_offset() as i64))
}
