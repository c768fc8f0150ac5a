//! The page's frame: selects the page to show, and holds the state that all pages share.

use leptos::prelude::*;

use super::controls::{Explanation, ExplanationView, Glyph, Icon};
use super::list::{ListPage, ListScroll};
use super::profile::{HomeLink, ProfilePage};
use super::shell::{
    Address, Brand, Commands, CurrentTheme, Handler, Help, HelpOpen, MessageList, Messages, Palette,
};
use super::timeline::ChosenWheel;
use super::upload::Uploads;
use crate::fetch::Source;
use crate::fetch::page_bundle::Embedded;
use crate::view::Act;
use crate::view::act::Need;
use crate::view::state::profile_names::ProfileNames;
use crate::view::url::page::PagePlace;
use crate::view::url::single_profile::Only;

/// The part of the address that selects the components. The rest of the address only changes their
/// content.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Page {
    List,
    Profile(ProfileNames),
    Broken(String),
}

/// The whole page.
#[component]
pub fn App() -> impl IntoView {
    let source = Source::find();
    provide_context(source);
    let address = Address::new(source.embedded().map(only));
    let (help, palette) = (HelpOpen(RwSignal::new(false)), RwSignal::new(false));
    let (commands, theme) = (Commands::new(), CurrentTheme::new());
    provide_context(address);
    provide_context(help);
    provide_context(commands);
    provide_context(theme);
    let messages = Messages::new();
    provide_context(messages);
    let wheel = ChosenWheel::new();
    provide_context(wheel);
    provide_context(Explanation::new());
    provide_context(Uploads::new());
    provide_context(ListScroll::default());
    let place = address.place();
    let page = Memo::new(move |_| {
        place.with(|place| match place {
            PagePlace::List(_) => Page::List,
            PagePlace::Profile(view) => Page::Profile(view.profiles.clone()),
            PagePlace::Broken(error) => Page::Broken(error.to_string()),
        })
    });
    let run = move |act: Act| {
        match act {
            Act::ShowKeys => help.0.set(true),
            Act::OpenPalette => palette.set(true),
            Act::SwitchTheme => theme.switch(),
            Act::SwitchWheel => messages.confirm(wheel.switch().words()),
            Act::OpenList => address.open(PagePlace::list()),
            _ => return false,
        }
        true
    };
    let has_list = source.server().is_ok();
    let given = move |()| has_list.then_some(Need::List).into_iter().collect();
    commands.handle(Handler { run: Callback::new(run), given: Callback::new(given), find: None });
    view! {
        {move || match page.get() {
            Page::List => view! { <ListPage /> }.into_any(),
            Page::Profile(names) => view! { <ProfilePage names /> }.into_any(),
            Page::Broken(error) => view! { <BrokenPage error /> }.into_any(),
        }}
        <Help open=help.0 />
        <Palette open=palette />
        <ExplanationView />
        <MessageList />
    }
}

/// The only profile of a page without a server.
fn only(embedded: Embedded) -> Only {
    Only::new(embedded.slugs(), embedded.view().as_deref())
}

#[component]
fn BrokenPage(error: String) -> impl IntoView {
    view! {
        <header class="bar">
            <Brand />
        </header>
        <main class="notice notice-error">
            <Icon glyph=Glyph::Warning />
            <h1>"This link cannot be read"</h1>
            <p>{error}</p>
            <HomeLink class="button button-primary" />
        </main>
    }
}
