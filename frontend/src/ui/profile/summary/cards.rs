//! The cards of a summary.

use leptos::prelude::*;
use nprof_engine::base::time::{PS_PER_S, short_duration};

use super::collectives::CollectivesPicture;
use super::heat_map::HeatMapCard;
use super::number_link::NumberLink;
use super::roofline::RooflinePicture;
use crate::ui::controls::{Explained, Name};
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format::{self, FormattedValue};
use crate::ui::text::label::{explanation, label_in_group};
use crate::view::summary::cards::{CardLine, CardPicture, ShownCard};
use crate::view::text::short_names::told_apart;

/// The cards beside each other. `whole_s` is the length of the whole in seconds, 0 if it is not
/// known.
#[component]
pub(super) fn Cards(opened: Opened, cards: Vec<ShownCard>, whole_s: f64) -> impl IntoView {
    let cards = cards.into_iter().map(|card| view! { <Card opened card whole_s /> }).collect_view();
    view! { <div class="summary-cards">{cards}</div> }
}

#[component]
fn Card(opened: Opened, card: ShownCard, whole_s: f64) -> impl IntoView {
    let labels: Vec<String> = card.lines.iter().map(label_of).collect();
    let lines = card.lines.into_iter().zip(told_apart(&labels));
    let lines = lines.map(|(line, label)| view! { <Line opened line label whole_s /> }).collect_view();
    let picture = match card.picture {
        Some(CardPicture::Activity) => return view! { <HeatMapCard opened title=card.title /> }.into_any(),
        Some(CardPicture::Roofline(of)) => Some(view! { <RooflinePicture opened of /> }.into_any()),
        Some(CardPicture::Collectives(of)) => Some(view! { <CollectivesPicture opened of /> }.into_any()),
        None => None,
    };
    let is_wide = card.width > 1;
    view! {
        <section class="metric-card summary-card" class:is-wide=is_wide>
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

/// A value, which leads to the place that shows it.
#[component]
fn Line(opened: Opened, line: CardLine, label: String, whole_s: f64) -> impl IntoView {
    let FormattedValue { text, exact } = format::value(&line.value, &line.unit);
    let share =
        line.of_active.map(|share| view! { <small class="muted">{format::short_percent(share)}</small> });
    let target = line.target();
    let is_link = target.is_some();
    let (label, value) = match target {
        Some(target) => {
            let shares = line.share_of(whole_s).map(|whole| share_words(line.of_active, whole, whole_s));
            let said = [explanation(&line.name, &line.doc)].into_iter().chain(shares).chain(exact);
            let title = said.collect::<Vec<_>>().join("\n");
            let link = view! { <NumberLink opened target stretch=None label title /> };
            (link.into_any(), text.into_any())
        }
        None => {
            let value = match exact {
                Some(exact) => view! { <Explained text doc=exact /> }.into_any(),
                None => text.into_any(),
            };
            let label = match line.is_name_of_trace {
                true => view! { <Name name=label /> }.into_any(),
                false => view! { <Explained text=label doc=explanation(&line.name, &line.doc) /> }.into_any(),
            };
            (label, value)
        }
    };
    view! {
        <div
            class:has-share=line.bar.is_some()
            class:has-mark=line.mark.is_some()
            class:is-link=is_link
            class:is-name=line.is_name_of_trace
            style:--share=line.bar.map(|share| share.to_string())
            style:--mark=line.mark.map(|share| share.to_string())
        >
            <dt>{label}</dt>
            <dd>{value} {share}</dd>
        </div>
    }
}

/// The shares of a time of the active stretch and of the whole.
fn share_words(of_active: Option<f64>, of_whole: f64, whole_s: f64) -> String {
    let whole = short_duration(whole_s * PS_PER_S as f64);
    let of_whole = format!("{} of the whole {whole}", format::short_percent(of_whole));
    match of_active {
        Some(share) => format!("{} of the active stretch, {of_whole}", format::short_percent(share)),
        None => of_whole,
    }
}
