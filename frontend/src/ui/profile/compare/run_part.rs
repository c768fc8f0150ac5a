//! The part of a run that is compared: its ranks and its region.

use leptos::prelude::*;
use nprof_engine::wire::questions::RegionsQuestion;
use nprof_engine::wire::rank_ref::RankRef;

use crate::ui::profile::open_profile::{MOST_EVENTS_UNASKED, Opened};
use crate::ui::profile::region_choice::MOST_OPTIONS;
use crate::ui::shell::QuestionAnswers;
use crate::view::Command;
use crate::view::source_id::SourceId;
use crate::view::state::compare::{CompareChange, in_address};

/// One of the two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunSide {
    /// The first one.
    A,
    /// The second one.
    B,
}

impl RunSide {
    fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// Position of its profile: both runs can be of one.
    fn profile(self, opened: Opened) -> u8 {
        u8::from(self == Self::B && opened.names().at(1).is_some())
    }

    fn ranks(self, opened: Opened) -> Option<Vec<u32>> {
        opened.session.view.with(|view| match self {
            Self::A => view.compare.ranks.clone(),
            Self::B => view.compare.with_ranks.clone(),
        })
    }

    fn region(self, opened: Opened) -> Option<String> {
        opened.session.view.with(|view| match self {
            Self::A => view.region.clone(),
            Self::B => view.compare.with_region.clone(),
        })
    }

    /// The command that chooses ranks.
    fn take_ranks(self, ranks: Option<Vec<u32>>) -> Command {
        Command::Compare(match self {
            Self::A => CompareChange::Ranks(ranks),
            Self::B => CompareChange::WithRanks(ranks),
        })
    }

    /// The command that chooses a region.
    fn take_region(self, region: Option<String>) -> Command {
        match self {
            Self::A => Command::LimitTo(region),
            Self::B => Command::Compare(CompareChange::WithRegion(region)),
        }
    }
}

/// A rank of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RankSize {
    number: u32,
    events: u64,
}

/// The ranks of the profile of a run. Empty until they are known.
fn ranks_of(opened: Opened, side: RunSide) -> Memo<Vec<RankSize>> {
    Memo::new(move |_| {
        let at = usize::from(side.profile(opened));
        opened.session.profiles.with(|profiles| {
            let profile = profiles.as_ref().and_then(|answer| answer.as_ref().ok()?.get(at));
            let ranks = profile.iter().flat_map(|profile| &profile.ranks);
            let of =
                ranks.filter_map(|rank| Some(RankSize { number: rank.rank.number()?, events: rank.events }));
            of.collect()
        })
    })
}

/// The profile of a run, with the choice of its ranks and its region.
#[component]
pub(super) fn RunPart(
    /// The opened profiles.
    opened: Opened,
    /// The run.
    side: RunSide,
) -> impl IntoView {
    let ranks = ranks_of(opened, side);
    let name = opened.names().at(side.profile(opened)).unwrap_or_default().to_owned();
    let are_several = Memo::new(move |_| {
        let is_choice = ranks.with(|ranks| ranks.len() > 1) || side.ranks(opened).is_some();
        is_choice && opened.can_compare_parts()
    });
    view! {
        <fieldset class="compare-part">
            <legend>
                <b>{side.letter()}</b>
                <span class="compare-title" title=name.clone()>{name.clone()}</span>
            </legend>
            {move || (!opened.can_compare_parts()).then(|| view! { <span class="muted">{part_in_words(opened, side)}</span> })}
            {move || are_several.get().then(|| view! { <RankChoice opened side ranks /> })}
            {opened.can_compare_parts().then(|| view! { <RegionChoice opened side ranks /> })}
        </fieldset>
    }
}

/// The part of a run in a page that offers no other one. Empty for the whole.
fn part_in_words(opened: Opened, side: RunSide) -> String {
    let ranks = side.ranks(opened).map(|ranks| format!("rank {}", ranks_in_words(&ranks)));
    let region = side.region(opened);
    ranks.into_iter().chain(region).collect::<Vec<_>>().join(", ")
}

fn ranks_in_words(ranks: &[u32]) -> String {
    ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

#[component]
fn RankChoice(opened: Opened, side: RunSide, ranks: Memo<Vec<RankSize>>) -> impl IntoView {
    let chosen = Memo::new(move |_| side.ranks(opened).map_or_else(String::new, |ranks| in_address(&ranks)));
    let choose = move |event| {
        let value = event_target_value(&event);
        let ranks = value.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>().ok();
        opened.act(&side.take_ranks(ranks));
    };
    let options = move || {
        let one = |rank: &RankSize| (rank.number.to_string(), format!("rank {}", rank.number));
        let mut options: Vec<(String, String)> =
            ranks.with(|ranks| ranks.iter().take(MOST_OPTIONS).map(one).collect());
        let now = chosen.get();
        if !now.is_empty() && options.iter().all(|(value, _)| *value != now) {
            options.insert(0, (now.clone(), format!("ranks {}", now.replace(',', ", "))));
        }
        let option = |(value, words): (String, String)| {
            let own = value.clone();
            view! { <option value=value prop:selected=move || chosen.with(|now| *now == own)>{words}</option> }
        };
        options.into_iter().map(option).collect_view()
    };
    view! {
        <select class="select" aria-label=format!("Ranks of {}", side.letter()) on:change=choose>
            <option value="" prop:selected=move || chosen.with(String::is_empty)>"all ranks"</option>
            {options}
        </select>
    }
}

#[component]
fn RegionChoice(opened: Opened, side: RunSide, ranks: Memo<Vec<RankSize>>) -> impl IntoView {
    let is_wanted = RwSignal::new(false);
    let rank = Memo::new(move |_| {
        let chosen = side.ranks(opened).and_then(|ranks| ranks.first().copied());
        let rank = ranks.with(|ranks| {
            ranks.iter().find(|rank| chosen.is_none_or(|number| rank.number == number)).copied()
        })?;
        let source = SourceId { rank: RankRef::from(rank.number), profile: side.profile(opened) };
        (is_wanted.get() || rank.events <= MOST_EVENTS_UNASKED).then_some(source)
    });
    let found = QuestionAnswers::new(rank, move |source: SourceId, cancel| async move {
        opened.ask(source, RegionsQuestion, Some(&cancel)).await
    });
    let list = format!("compare-regions-{}", side.letter());
    let options = move || {
        let answer = found.answer().and_then(Result::ok);
        let regions = answer.iter().flat_map(|answer| &answer.regions).take(MOST_OPTIONS);
        regions.map(|region| view! { <option value=region.name.clone()></option> }).collect_view()
    };
    let chosen = Memo::new(move |_| side.region(opened));
    let choose = move |event| {
        let name = Some(event_target_value(&event).trim().to_owned()).filter(|name| !name.is_empty());
        opened.act(&side.take_region(name));
    };
    let all = move || match side {
        RunSide::A => "all of the run",
        RunSide::B if RunSide::A.region(opened).is_some() => "region of A",
        RunSide::B => "all of the run",
    };
    view! {
        <input
            class="compare-region"
            type="text"
            list=list.clone()
            spellcheck="false"
            autocomplete="off"
            aria-label=format!("Region of {}", side.letter())
            placeholder=all
            title="Name of a step, layer or phase"
            prop:value=move || chosen.get().unwrap_or_default()
            on:focus=move |_| is_wanted.set(true)
            on:change=choose
        />
        <datalist id=list>{options}</datalist>
    }
}
