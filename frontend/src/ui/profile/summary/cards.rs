//! The cards of a summary.

use leptos::prelude::*;

use super::collectives::CollectivesPicture;
use super::heat_map::HeatMapCard;
use super::roofline::RooflinePicture;
use crate::ui::controls::{Explained, Name};
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format::{self, FormattedValue};
use crate::ui::text::label::{explanation, label_in_group};
use crate::view::summary::cards::{CardLine, CardPicture, ShownCard};
use crate::view::text::short_names::told_apart;
use crate::view::{Command, ProfilePlace};

/// The cards beside each other.
#[component]
pub(super) fn Cards(opened: Opened, cards: Vec<ShownCard>) -> impl IntoView {
    let cards = cards.into_iter().map(|card| view! { <Card opened card /> }).collect_view();
    view! { <div class="summary-cards">{cards}</div> }
}

#[component]
fn Card(opened: Opened, card: ShownCard) -> impl IntoView {
    let labels: Vec<String> = card.lines.iter().map(label_of).collect();
    let lines = card.lines.into_iter().zip(told_apart(&labels));
    let lines = lines.map(|(line, label)| view! { <Line opened line label /> }).collect_view();
    let picture = match card.picture {
        Some(CardPicture::Activity) => return view! { <HeatMapCard opened title=card.title /> }.into_any(),
        Some(CardPicture::Roofline(of)) => Some(view! { <RooflinePicture opened of /> }.into_any()),
        Some(CardPicture::Collectives(of)) => Some(view! { <CollectivesPicture opened of /> }.into_any()),
        None => None,
    };
    view! {
        <section class="metric-card summary-card">
            <h3 title=card.title.clone()>{card.title.clone()}</h3>
            <dl class="rows metrics">{lines}</dl>
            {picture}
        </section>
    }
    .into_any()
}

pub(super) fn label_of(line: &CardLine) -> String {
    match (line.label, line.is_name_of_trace) {
        (Some(label), _) => label.to_owned(),
        (None, true) => line.name.clone(),
        (None, false) => label_in_group(&line.group, &line.name),
    }
}

/// A value. Names of the trace lead to the slices of the name, other labels to their place if they
/// have one.
#[component]
fn Line(opened: Opened, line: CardLine, label: String) -> impl IntoView {
    let FormattedValue { text, exact } = format::value(&line.value, &line.unit);
    let share =
        line.of_active.map(|share| view! { <small class="muted">{format::short_percent(share)}</small> });
    let value = match exact {
        Some(exact) => view! { <Explained text doc=exact /> }.into_any(),
        None => text.into_any(),
    };
    let (name, group) = (line.name.clone(), line.group.clone());
    let label = match (line.place.clone(), line.is_name_of_trace) {
        (Some(place), _) => {
            let go = move |_| opened.reveal_place(&group, &place);
            view! { <button class="button-link" type="button" title=line.doc on:click=go>{label}</button> }
                .into_any()
        }
        (None, true) if line.is_searchable() => {
            let go = move |_| {
                opened.act(&Command::GoTo(ProfilePlace::Timeline));
                opened.act(&Command::SearchForText(name.clone()));
            };
            let title = line.name.clone();
            view! { <button class="button-link" type="button" title=title on:click=go>{label}</button> }
                .into_any()
        }
        (None, true) => view! { <Name name=label /> }.into_any(),
        (None, false) => view! { <Explained text=label doc=explanation(&line.name, &line.doc) /> }.into_any(),
    };
    view! {
        <div
            class:has-share=line.bar.is_some()
            class:has-mark=line.mark.is_some()
            style:--share=line.bar.map(|share| share.to_string())
            style:--mark=line.mark.map(|share| share.to_string())
        >
            <dt>{label}</dt>
            <dd>{value} {share}</dd>
        </div>
    }
}
