//! The page's frame: selects the page to show, and holds the state that all pages share.

use leptos::prelude::*;

use super::actions::Action;
use super::address::{Address, Link};
use super::commands::{Commands, Handler};
use super::explain::{Explanation, ExplanationView};
use super::help::Help;
use super::icon::{Glyph, Icon};
use super::list::{ListPage, ListScroll};
use super::message::{MessageList, Messages};
use super::palette::Palette;
use super::place::Place;
use super::profile::{HomeLink, ProfilePage};
use super::theme::CurrentTheme;
use super::upload::Uploads;
use crate::fetch::Source;
use crate::fetch::embedded::Embedded;
use crate::view::Act;
use crate::view::act::Need;

/// True while the dialog with all keys is shown; a context.
#[derive(Debug, Clone, Copy)]
pub struct HelpOpen(pub RwSignal<bool>);

/// The part of the address that selects the components. The rest of the address only changes their
/// content.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Page {
    List,
    Profile(String),
    Broken(String),
}

/// The whole page.
#[component]
pub fn App() -> impl IntoView {
    let source = Source::find();
    provide_context(source);
    let address = Address::new(source.embedded().map(Embedded::slug));
    let (help, palette) = (HelpOpen(RwSignal::new(false)), RwSignal::new(false));
    let (commands, theme) = (Commands::new(), CurrentTheme::new());
    provide_context(address);
    provide_context(help);
    provide_context(commands);
    provide_context(theme);
    provide_context(Messages::new());
    provide_context(Explanation::new());
    provide_context(Uploads::new());
    provide_context(ListScroll::default());
    let place = address.place();
    let page = Memo::new(move |_| {
        place.with(|place| match place {
            Place::List(_) => Page::List,
            Place::Profile(view) => Page::Profile(view.profile.clone()),
            Place::Broken(error) => Page::Broken(error.to_string()),
        })
    });
    let run = move |act: Act| {
        match act {
            Act::ShowKeys => help.0.set(true),
            Act::OpenPalette => palette.set(true),
            Act::SwitchTheme => theme.switch(),
            Act::OpenList => address.open(Place::list()),
            _ => return false,
        }
        true
    };
    let has_list = source.server().is_ok();
    let given = move |()| has_list.then_some(Need::List).into_iter().collect();
    commands.handle(Handler { run: Callback::new(run), given: Callback::new(given) });
    view! {
        {move || match page.get() {
            Page::List => view! { <ListPage /> }.into_any(),
            Page::Profile(slug) => view! { <ProfilePage slug /> }.into_any(),
            Page::Broken(error) => view! { <BrokenPage error /> }.into_any(),
        }}
        <Help open=help.0 />
        <Palette open=palette />
        <ExplanationView />
        <MessageList />
    }
}

/// The program's name as a link to the list.
#[component]
pub fn Brand() -> impl IntoView {
    view! {
        <Link place=Place::list() class="brand">
            <svg viewBox="0 0 16 16" aria-hidden="true">
                <rect width="16" height="16" rx="3.5" fill="#3b5bdb" />
                <path d="M3 4.75h6M6 8h7M4.5 11.25h4.5" stroke="#fff" stroke-width="2" stroke-linecap="round" />
            </svg>
            "nprof"
        </Link>
    }
}

/// The button that opens the dialog with all keys.
#[component]
pub fn HelpButton() -> impl IntoView {
    let help = expect_context::<HelpOpen>();
    let show = Callback::new(move |()| help.0.set(true));
    view! { <Action label="Show all keys" act=Act::ShowKeys glyph=Glyph::Keyboard on_press=show /> }
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
