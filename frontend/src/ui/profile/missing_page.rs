//! Page for a missing profile or rank: the reason, and a link to a profile with a similar name.

use leptos::prelude::*;
use nprof_engine::wire::questions::ProfilesQuestion;
use nprof_engine::wire::refusal::RefusalKind;

use super::open_profile::Opened;
use crate::fetch::Source;
use crate::fetch::page_bundle::Embedded;
use crate::ui::controls::Failure;
use crate::ui::shell::{Link, QuestionAnswers};
use crate::view::View;
use crate::view::text::similar_name::nearest;
use crate::view::url::page::PagePlace;

/// Reason why there is no timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    title: String,
    reason: String,
    /// The name of which the store has no profile.
    unknown: Option<String>,
}

/// The reason why there is no timeline, or `None` if there is one.
#[must_use]
pub fn failure(opened: Opened) -> Option<Missing> {
    let known = |title: &str, reason: String| Missing { title: title.to_owned(), reason, unknown: None };
    let held = Source::of_page().embedded().map(Embedded::slugs);
    let is_missing =
        |held: &Vec<String>| opened.names().iter().any(|name| !held.iter().any(|slug| slug == name));
    if opened.names().are_several() && held.as_ref().is_some_and(is_missing) {
        let reason = "This page has no server: open the profiles of a comparison with `nprof serve`.";
        return Some(known("This file lacks a profile of the comparison", reason.to_owned()));
    }
    if let Some((name, error)) = opened.failed() {
        return Some(match error.is_refusal(RefusalKind::NotFound) {
            true => Missing {
                title: format!("No profile named “{name}”"),
                reason: "It may have been deleted or renamed, or the link has a typing mistake.".to_owned(),
                unknown: Some(name),
            },
            false => known(&format!("“{name}” could not be loaded"), error.to_string()),
        });
    }
    let of_profile = opened.profile.info.with(|answer| match answer {
        Some(Ok(profile)) if profile.ranks.is_empty() => {
            Some(known("This profile is empty", "It has no ranks: ingest the trace again".to_owned()))
        }
        _ => None,
    });
    of_profile.or_else(|| {
        opened.current.rank.with(|answer| match answer {
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
    let Missing { title, reason, unknown } = failure;
    view! {
        <main class="profile-failure">
            <Failure title reason on_retry=opened.session.retry />
            <p class="profile-failure-links">
                {unknown.map(|name| view! { <Nearest opened name /> })}
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
        <Link place=PagePlace::list() class>
            {text}
        </Link>
    }
}

/// A link to the profile whose name is nearest to a mistyped one. Nothing if no name is near.
#[component]
fn Nearest(opened: Opened, name: String) -> impl IntoView {
    let source = Source::of_page();
    let profiles = QuestionAnswers::new(Memo::new(|_| Some(())), move |(), _| source.ask(ProfilesQuestion));
    move || {
        let list = profiles.answer()?.ok()?;
        let known = list.profiles.iter().map(|profile| profile.slug.as_str());
        let near = nearest(&name, known)?.to_owned();
        let profiles = opened.names().with(&name, &near);
        let place = PagePlace::Profile(View::of_profiles(profiles));
        Some(view! {
            <span class="with-links">
                "Did you mean "
                <Link place>{near}</Link>
                "?"
            </span>
        })
    }
}
