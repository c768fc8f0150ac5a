//! Page for a missing profile or rank: the reason, and a link to a profile with a similar name.

use leptos::prelude::*;
use nprof_engine::wire::questions::ProfilesQuestion;
use nprof_engine::wire::refusal::RefusalKind;

use super::opened::Opened;
use crate::fetch::Source;
use crate::ui::controls::Failure;
use crate::ui::shell::{Asked, Link};
use crate::view::View;
use crate::view::text::nearest::nearest;
use crate::view::url::page::Place;

/// Reason why there is no timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    title: String,
    reason: String,
    /// True if the store has no profile of this name.
    is_unknown: bool,
}

/// The reason why there is no timeline, or `None` if there is one.
#[must_use]
pub fn failure(opened: Opened) -> Option<Missing> {
    let known = |title: &str, reason: String| Missing { title: title.to_owned(), reason, is_unknown: false };
    let of_profile = opened.profile.with(|answer| match answer {
        Some(Err(error)) if error.is_refusal(RefusalKind::NotFound) => Some(Missing {
            title: format!("No profile named “{}”", opened.slug()),
            reason: "It may have been deleted or renamed, or the link has a typing mistake.".to_owned(),
            is_unknown: true,
        }),
        Some(Err(error)) => Some(known("The profile could not be loaded", error.to_string())),
        Some(Ok(profile)) if profile.ranks.is_empty() => {
            Some(known("This profile is empty", "It has no ranks: ingest the trace again".to_owned()))
        }
        _ => None,
    });
    of_profile.or_else(|| {
        opened.rank.with(|answer| match answer {
            Some(Err(error)) => Some(known("The rank could not be loaded", error.to_string())),
            _ => None,
        })
    })
}

/// Shows why there is no timeline, with links to continue.
#[component]
pub fn Failed(
    /// The opened profile.
    opened: Opened,
    /// The reason.
    failure: Missing,
) -> impl IntoView {
    let Missing { title, reason, is_unknown } = failure;
    view! {
        <main class="profile-failure">
            <Failure title reason on_retry=opened.retry />
            <p class="profile-failure-links">
                {is_unknown.then(|| view! { <Nearest slug=opened.slug() /> })}
                <HomeLink />
            </p>
        </main>
    }
}

/// A link to all profiles: to the list, or on a page without a server to its only profile.
#[component]
pub fn HomeLink(
    /// CSS class.
    #[prop(default = "")]
    class: &'static str,
) -> impl IntoView {
    let text =
        if Source::of_page().embedded().is_some() { "The profile of this file" } else { "All profiles" };
    view! {
        <Link place=Place::list() class>
            {text}
        </Link>
    }
}

/// A link to the profile whose name is nearest to a mistyped one. Nothing if no name is near.
#[component]
fn Nearest(slug: String) -> impl IntoView {
    let source = Source::of_page();
    let profiles = Asked::new(Memo::new(|_| Some(())), move |(), _| source.ask(ProfilesQuestion));
    move || {
        let list = profiles.answer()?.ok()?;
        let known = list.profiles.iter().map(|profile| profile.slug.as_str());
        let name = nearest(&slug, known)?.to_owned();
        let place = Place::Profile(View::of_profile(&name));
        Some(view! {
            <span class="with-links">
                "Did you mean "
                <Link place>{name}</Link>
                "?"
            </span>
        })
    }
}
