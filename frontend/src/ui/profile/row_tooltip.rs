//! The tooltip of the timeline.

use leptos::prelude::*;
use nprof_engine::base::clamped;
use nprof_engine::makers::job::schema::ALGORITHM;
use nprof_engine::wire::detail::{FieldContent, SliceDetail};
use nprof_engine::wire::questions::SlackQuestion;

use super::open_profile::Opened;
use super::panels::details::{call_of, field};
use crate::ui::controls::Tooltip;
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::ui::timeline::Pointed;
use crate::view::{Clock, Hover, Hovered};

/// The tooltip for the item under the pointer.
#[component]
pub fn HoverTip(
    /// The opened profile.
    opened: Opened,
    /// The item under the pointer.
    hover: RwSignal<Option<Hover>>,
    /// The operation on which the pointer rests.
    pointed: Pointed,
) -> impl IntoView {
    let at = Signal::derive(move || hover.with(|hover| hover.as_ref().map(|hover| hover.client)));
    // The pointer moves more often than the item under it changes.
    let what =
        Memo::new(move |_| hover.with(|hover| hover.as_ref().map(|hover| (hover.track, hover.what.clone()))));
    let slack = slack(opened, what, pointed);
    let content = move || {
        let (track, what) = what.get()?;
        let sheet = opened.tracks.sheet.get();
        let of = sheet.tracks().get(track)?;
        let clock = opened.times.clock.get();
        let (title, mut lines) = describe(&what, &of.unit, &clock);
        lines.extend(pointed.detail.with(|detail| algorithm(detail.as_deref()?, what.slice_row()?)));
        lines.extend(slack.get().map(|answer| ("Slack", answer)));
        // A counter is named by its track. The groups around the track are below.
        let path = match (&title, of.parent) {
            (Some(_), _) => sheet.title(track),
            (None, Some(group)) => sheet.title(group),
            (None, None) => String::new(),
        };
        let title = title.unwrap_or_else(|| of.name.clone());
        let lines = lines.into_iter().map(|(name, value)| {
            view! {
                <dt>{name}</dt>
                <dd>{value}</dd>
            }
        });
        Some(view! {
            <p class="tip-title">{title}</p>
            <dl class="tip-rows">{lines.collect_view()}</dl>
            {(!path.is_empty()).then(|| view! { <p class="muted">{path}</p> })}
        })
    };
    view! { <Tooltip at>{move || content()}</Tooltip> }
}

fn named(name: &str) -> String {
    if name.trim().is_empty() { "(no name)".to_owned() } else { name.to_owned() }
}

type TooltipLine = (&'static str, String);

/// The algorithm of the operation of a row, if `detail` is that of the row.
fn algorithm(detail: &SliceDetail, row: u32) -> Option<TooltipLine> {
    let field = detail.fields.iter().find(|field| field.name == ALGORITHM.name)?;
    let is_of_row = detail.slice.row == row;
    is_of_row.then(|| ("Algorithm", format::value(&field.value, &field.unit).text))
}

/// The slack of the slice on which the pointer rests, in words, while the critical path is shown.
fn slack(opened: Opened, what: Memo<Option<(usize, Hovered)>>, pointed: Pointed) -> Memo<Option<String>> {
    let question = Memo::new(move |_| {
        let (source, row) = pointed.rested().filter(|_| opened.path.is_shown.get())?;
        // A cell stands for many slices.
        let is_it =
            |(_, what): &(usize, Hovered)| matches!(what, Hovered::Slice { row: of, .. } if *of == row);
        what.with(|what| what.as_ref().is_some_and(is_it)).then_some(())?;
        let call = || pointed.detail.with(|detail| call_of(detail.as_deref()?));
        let (rank, row) = source.rank.number().map(|rank| (rank, row)).or_else(call)?;
        Some(SlackQuestion { profile: opened.names().at(source.profile)?.to_owned(), rank, row })
    });
    let asked = QuestionAnswers::new(question, move |question, cancel| opened.ask_store(question, cancel));
    Memo::new(move |_| {
        let of = question.get()?;
        let (answered, answer) = asked.last.get()?;
        let slack = answer.ok().filter(|_| answered == of)?;
        Some(slack.as_ref().as_ref()?.answer.clone())
    })
}

/// The height of a limit, and the part of the time in which it holds if that is not all.
fn limit(share: f32, part: f32) -> impl Iterator<Item = TooltipLine> {
    let percent = |share: f32| format::percent(f64::from(share));
    let holds = (part < 1.0).then(|| ("Limited", format!("{} of this time", percent(part))));
    std::iter::once(("Limit", format!("{} of the peak", percent(share)))).chain(holds)
}

/// The item's name, if it has one, and the facts that need no question to the server.
fn describe(what: &Hovered, unit: &str, clock: &Clock) -> (Option<String>, Vec<TooltipLine>) {
    let value = |value: f64| format::value(&FieldContent::Float(value), unit).text;
    match what {
        Hovered::Slice { name, start_ps, duration_ps, form, .. } => {
            let duration = || format::duration(*duration_ps);
            let length = match field::form_name(*form) {
                Some("instant") => ("Kind", "instant".to_owned()),
                Some(form) => ("Duration", format!("{} ({form})", duration())),
                None => ("Duration", duration()),
            };
            (Some(named(name)), vec![("Start", clock.text(*start_ps)), length])
        }
        Hovered::Limit { name, start_ps, duration_ps, share, part, .. } => {
            let span = [("Start", clock.text(*start_ps)), ("Duration", format::duration(*duration_ps))];
            (Some(named(name)), span.into_iter().chain(limit(*share, *part)).collect())
        }
        Hovered::Cell { span, busy_ps, wait_ps, count, name, longest_ps, .. } => {
            let width = u64::try_from(span.duration_ps()).unwrap_or(0);
            let longest = clamped(*longest_ps);
            let longest = format::duration(longest);
            // No slice starts here: the cell lies within one slice.
            if *count == 0 && *busy_ps == width {
                return (Some(named(name)), vec![("Duration", longest), ("Here", "a part of it".to_owned())]);
            }
            let share = |ps: u64| format::percent(format::share(ps, width));
            let mut lines = vec![
                ("Here", format::counted(u64::from(*count), "slice starts", "slices start")),
                ("Busy", share(busy_ps.saturating_sub(*wait_ps))),
            ];
            lines.extend((*wait_ps > 0).then(|| ("Waiting", share(*wait_ps))));
            lines.extend([("Longest", longest), ("Span", format::duration(span.duration_ps()))]);
            (Some(format!("mostly {}", named(name))), lines)
        }
        Hovered::Group { span, busy_lanes, lanes, names, .. } => {
            let share = busy_lanes / f64::from((*lanes).max(1));
            let lanes = format::counted(u64::from(*lanes), "lane", "lanes");
            let mut lines = vec![("Busy", format!("{busy_lanes:.1} of {lanes}, {}", format::percent(share)))];
            let name = |(name, lanes): &(String, f64)| format!("{name} ({lanes:.1})");
            lines.extend(names.iter().zip(["Mostly", "then", "then"]).map(|(of, term)| (term, name(of))));
            lines.extend([("Span", format::duration(span.duration_ps())), ("Click", "opens it".to_owned())]);
            (None, lines)
        }
        Hovered::Sample { time_ps, value: sample, .. } => {
            (None, vec![("Value", value(*sample)), ("Since", clock.text(*time_ps))])
        }
        Hovered::Finding(mark) => (Some(mark.title.clone()), vec![("Click", "goes there".to_owned())]),
        Hovered::Range { span, min, max, last } => {
            let range = format!("{} to {}", value(*min), value(*max));
            (
                None,
                vec![
                    ("Range", range),
                    ("Last", value(*last)),
                    ("Span", format::duration(span.duration_ps())),
                ],
            )
        }
    }
}
