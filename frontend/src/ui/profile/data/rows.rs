//! The rows of the open table: asked for once a table, shown in the order and with the filter of
//! the address.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::model::TableKind;
use nprof_engine::wire::questions::RowsQuestion;

use super::content::{Content, content};
use super::entry::{EntryKind, TableEntry};
use super::lead::{Lead, has_waits, is_wait, without_waits};
use super::warnings::{warning_cells, warnings_table};
use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::open_profile::{Answer, Opened};
use crate::ui::shell::QuestionAnswers;
use crate::ui::table::{DrawCell, TableSource, TableTools, TableToolsState, VirtualTable, cell_title};
use crate::ui::text::format;
use crate::view::source_id::SourceId;
use crate::view::table::{Sorting, TableColumn, TableFilter, sorted};
use crate::view::{Command, DataChange};

/// Key of a request for rows.
#[derive(Debug, Clone, PartialEq)]
struct RowsKey {
    source: SourceId,
    table: String,
    span: Option<Interval>,
}

/// The open table with its tools.
#[component]
pub fn TableRowsView(
    /// The opened profile.
    opened: Opened,
    /// The open table.
    entry: TableEntry,
) -> impl IntoView {
    let kind = entry.kind;
    let (answer, retry) = answer(opened, &entry);
    let has_answer = Memo::new(move |_| {
        answer.with(|answer| match answer {
            None => None,
            Some(Ok(_)) => Some(Ok(())),
            Some(Err(error)) => Some(Err(error.to_string())),
        })
    });
    let content = Memo::new(move |before: Option<&Arc<Content>>| match answer.get() {
        Some(Ok(content)) => content,
        _ => before.cloned().unwrap_or_default(),
    });
    let name = StoredValue::new(entry.name.clone());
    let file = format!("{}-{}.csv", opened.slug(), entry.name.trim_start_matches('~'));
    move || match has_answer.get() {
        None => view! { <Loading what="Loading rows …" /> }.into_any(),
        Some(Err(reason)) => {
            view! { <Failure title="The rows did not arrive" reason on_retry=retry /> }.into_any()
        }
        Some(Ok(())) => {
            let (file, title) = (file.clone(), entry.title.clone());
            view! { <ToolsAndRows opened kind name content file title /> }.into_any()
        }
    }
}

/// The content of a table, and the way to ask again. Warnings are here already.
fn answer(opened: Opened, entry: &TableEntry) -> (Signal<Answer<Content>>, Callback<()>) {
    if entry.kind == EntryKind::Warnings {
        let warnings = Signal::derive(move || {
            let rank = opened.rank_detail()?;
            let total = rank.warnings.len() as u64;
            Some(Ok(Arc::new(Content { table: warnings_table(&rank.warnings), numbers: Vec::new(), total })))
        });
        return (warnings, opened.session.retry);
    }
    let (table, has_time, most) = (entry.name.clone(), entry.kind.has_time(), entry.most_rows());
    let wanted = Memo::new(move |_| {
        let source = opened.current.source.get()?;
        let in_window = opened.session.view.with(|view| view.data.in_window);
        let span = (has_time && in_window)
            .then(|| opened.session.view.with(|view| view.window_in(opened.times.reach.get())));
        Some(RowsKey { source, table: table.clone(), span })
    });
    let asked = QuestionAnswers::new(wanted, move |wanted: RowsKey, signal| async move {
        let RowsKey { source, table, span } = wanted;
        let question = RowsQuestion { span, ..RowsQuestion::of_table(table, most) };
        let rows = opened.ask(source, question, Some(&signal)).await?;
        let zero_ps = opened.times.zero.try_get_untracked().unwrap_or_default().0;
        let titles = opened.tracks.sheet.with_untracked(|sheet| sheet.titles_of(source));
        Ok(content(rows, zero_ps, &titles))
    });
    let answer = Signal::derive(move || {
        let wanted = wanted.get()?;
        asked.last.get().filter(|(of, _)| *of == wanted).map(|(_, answer)| answer)
    });
    (answer, asked.retry)
}

/// The tools and the rows.
#[component]
fn ToolsAndRows(
    opened: Opened,
    kind: EntryKind,
    name: StoredValue<String>,
    content: Memo<Arc<Content>>,
    file: String,
    title: String,
) -> impl IntoView {
    let change = Callback::new(move |change: DataChange| opened.act(&Command::Data(change)));
    let hidden = Memo::new(move |_| opened.session.view.with(|view| view.data.hidden.clone()));
    let filter = Memo::new(move |_| opened.session.view.with(|view| view.data.filter.clone()));
    let leads = Leads { opened, name, content };
    let source = table_source(leads, kind, hidden, filter, change);
    let (table, rows) = (source.table, source.rows);
    let mistake = Memo::new(move |_| {
        filter.with(|filter| table.with(|table| TableFilter::parse(filter).mistake(table)))
    });
    let tools = TableToolsState::new(source);
    let on_open = Signal::stored(leads.opening(kind));
    view! {
        <TableTools
            tools
            filter
            on_filter=Callback::new(move |text| change.run(DataChange::Filter(text)))
            mistake
            is_hidden=Callback::new(move |key: String| hidden.with(|hidden| hidden.contains(&key)))
            on_toggle=Callback::new(move |key| change.run(DataChange::Toggle(key)))
            file
        >
            {leads.can_hide_waits().then(|| view! { <WaitsSwitch opened /> })}
            {kind.has_time().then(|| view! { <WindowSwitch opened /> })}
        </TableTools>
        <Truncated opened kind content />
        <Show
            when=move || rows.with(|rows| !rows.is_empty())
            fallback=move || view! { <NoRows opened content change /> }
        >
            <VirtualTable source tools label=title.clone() on_open />
        </Show>
    }
}

/// The columns that are not hidden, and the rows that pass the filter, in order.
fn table_source(
    leads: Leads,
    kind: EntryKind,
    hidden: Memo<BTreeSet<String>>,
    filter: Memo<String>,
    change: Callback<DataChange>,
) -> TableSource {
    let Leads { opened, content, .. } = leads;
    let table = Memo::new(move |_| content.with(|content| Arc::new(content.table.clone())));
    let columns = Memo::new(move |_| {
        let is_shown =
            |column: &TableColumn| !column.is_empty() && !hidden.with(|hidden| hidden.contains(&column.key));
        table.with(|table| {
            let columns = table.columns.iter().enumerate();
            columns.filter(|(_, column)| is_shown(column)).map(|(at, _)| at).collect::<Vec<usize>>()
        })
    });
    let hides_waits =
        Memo::new(move |_| leads.can_hide_waits() && !opened.session.view.with(|view| view.data.with_waits));
    let unfiltered = Memo::new(move |_| match hides_waits.get() {
        true => content.with(|content| without_waits(content)),
        false => table.with(|table| table.rows.into()),
    });
    let passing = Memo::new(move |_| {
        let filter = filter.with(|filter| TableFilter::parse(filter));
        let mut rows = table.with(|table| columns.with(|columns| filter.rows(table, columns)));
        if hides_waits.get() {
            content.with(|content| rows.retain(|row| !is_wait(content, *row)));
        }
        Arc::new(rows)
    });
    let sorting = Memo::new(move |_| opened.session.view.with(|view| view.data.sorting.clone()));
    let rows = Memo::new(move |_| {
        let passing = passing.get();
        let in_order =
            |sorting: &Option<Sorting>| table.with(|table| sorted(table, passing.to_vec(), sorting.as_ref()));
        Arc::new(sorting.with(in_order))
    });
    let draw: DrawCell = match kind {
        EntryKind::Warnings => warning_cells(opened),
        _ => leads.cells(),
    };
    TableSource {
        table: table.into(),
        columns: columns.into(),
        rows: rows.into(),
        unfiltered: unfiltered.into(),
        sorting: sorting.into(),
        on_sort: Callback::new(move |sorting| change.run(DataChange::Sort(sorting))),
        draw: StoredValue::new(draw),
    }
}

/// Stands for the rows if there are none, and offers to show all.
#[component]
fn NoRows(opened: Opened, content: Memo<Arc<Content>>, change: Callback<DataChange>) -> impl IntoView {
    let text = move || {
        if content.with(|content| content.table.rows == 0) {
            "The timeline's window has no rows of this table."
        } else {
            "No row matches the filter."
        }
    };
    let show_all = move |_| {
        change.run(DataChange::Filter(String::new()));
        if opened.session.view.with(|view| view.data.in_window) {
            change.run(DataChange::InWindow(false));
        }
    };
    view! {
        <div class="notice">
            <p>{text}</p>
            <button class="button" type="button" on:click=show_all>
                "Show all rows"
            </button>
        </div>
    }
}

/// Targets of the rows of a table.
#[derive(Clone, Copy)]
struct Leads {
    opened: Opened,
    /// Name of the table.
    name: StoredValue<String>,
    content: Memo<Arc<Content>>,
}

impl Leads {
    /// Whether the table has rows of waits, which can be hidden.
    fn can_hide_waits(self) -> bool {
        self.is_of_all() && self.name.with_value(|name| has_waits(name))
    }

    fn is_of_all(self) -> bool {
        self.opened.current.source.get_untracked().is_some_and(|source| source.rank.is_all())
    }

    /// Whether the first row leads somewhere.
    fn has_any(self) -> bool {
        self.of_row(0).is_some()
    }

    fn of_row(self, row: u32) -> Option<Lead> {
        let zero_ps = self.opened.times.zero.get_untracked().0;
        let of =
            |content: &Arc<Content>| self.name.with_value(|name| Lead::of_row(name, content, row, zero_ps));
        self.content.with_untracked(of).filter(|_| self.is_of_all())
    }

    fn of_cell(self, key: &str, row: u32) -> Option<Lead> {
        let zero_ps = self.opened.times.zero.get_untracked().0;
        let of =
            |content: &Arc<Content>| self.name.with_value(|name| Lead::of(name, content, key, row, zero_ps));
        self.content.with_untracked(of).filter(|_| self.is_of_all())
    }

    /// Draws cells that lead somewhere as links.
    fn cells(self) -> DrawCell {
        Arc::new(move |column, row| {
            let lead = self.of_cell(&column.key, row)?;
            let (text, title) = (cell_title(column, row), lead.words());
            let follow = move |event: web_sys::MouseEvent| {
                event.stop_propagation();
                self.follow(lead.clone());
            };
            let link = view! {
                <button class="button-link" type="button" title=title on:click=follow>
                    {text}
                </button>
            };
            Some(link.into_any())
        })
    }

    /// Opens a row. `None` if no row leads anywhere.
    fn opening(self, kind: EntryKind) -> Option<Callback<u32>> {
        let open = Callback::new(move |row: u32| match kind {
            EntryKind::Table(TableKind::Slices) => {
                let number =
                    self.content.with_untracked(|content| content.numbers.get(row as usize).copied());
                number.into_iter().for_each(|number| self.opened.reveal_row(number));
            }
            _ => self.follow_row(row),
        });
        (kind == EntryKind::Table(TableKind::Slices) || self.has_any()).then_some(open)
    }

    fn follow_row(self, row: u32) {
        self.of_row(row).into_iter().for_each(|lead| self.follow(lead));
    }

    fn follow(self, lead: Lead) {
        let opened = self.opened;
        match lead {
            Lead::Operation { number, at_ps } => opened.reveal_operation(number, at_ps),
            Lead::Late(row) => opened.reveal_late(row),
            Lead::Worst(rank) => opened.reveal_worst(rank),
            Lead::WorstOfSize { kind, bytes, ranks } => opened.reveal_worst_of_size(kind, bytes, ranks),
            Lead::RankAt { rank, at_ps } => {
                let then = Box::new(Command::Show(opened.around(at_ps)));
                opened.act(&Command::InRank { source: opened.beside(rank), then });
            }
            Lead::Slice { rank, row } => opened.reveal_in(opened.beside(rank), row),
        }
    }
}

/// Hides rows of waits, so that each operation has one row, or shows them.
#[component]
fn WaitsSwitch(opened: Opened) -> impl IntoView {
    let with_waits = Memo::new(move |_| opened.session.view.with(|view| view.data.with_waits));
    let button = move |value: bool, text: &'static str, title: &'static str| {
        view! {
            <button
                class="button"
                type="button"
                aria-pressed=move || (with_waits.get() == value).to_string()
                title=title
                on:click=move |_| opened.act(&Command::Data(DataChange::WithWaits(value)))
            >
                {text}
            </button>
        }
    };
    view! {
        <div class="switch" role="group" aria-label="Waits">
            {button(false, "Without waits", "One row for each operation")}
            {button(true, "With waits", "Rows for the slices of waits, too")}
        </div>
    }
}

/// Switches between all rows and those in the timeline's window.
#[component]
fn WindowSwitch(opened: Opened) -> impl IntoView {
    let in_window = Memo::new(move |_| opened.session.view.with(|view| view.data.in_window));
    let span = move || {
        let span = opened.session.view.with(|view| view.window_in(opened.times.reach.get()));
        format!("Only rows in the timeline's window of {}", format::duration(span.duration_ps()))
    };
    let button = move |value: bool, text: &'static str| {
        view! {
            <button
                class="button"
                type="button"
                aria-pressed=move || (in_window.get() == value).to_string()
                title=move || if value { span() } else { "All rows of the rank".to_owned() }
                on:click=move |_| opened.act(&Command::Data(DataChange::InWindow(value)))
            >
                {text}
            </button>
        }
    };
    view! {
        <div class="switch" role="group" aria-label="Rows">
            {button(false, "Whole")}
            {button(true, "Window")}
        </div>
    }
}

/// Says that there are more rows than the page holds.
#[component]
fn Truncated(opened: Opened, kind: EntryKind, content: Memo<Arc<Content>>) -> impl IntoView {
    move || {
        let (here, total) = content.with(|content| (u64::from(content.table.rows), content.total));
        let is_cut = here < total;
        is_cut.then(|| {
            let in_window = opened.session.view.with(|view| view.data.in_window);
            let advice = match (kind.has_time(), in_window) {
                (true, true) => "zoom in to see later ones",
                (true, false) => "zoom in and choose Window to see later ones",
                (false, _) => "export the profile to see all",
            };
            let (here, total) = (format::count(here), format::count(total));
            view! {
                <p class="table-cut" role="status">
                    {format!("The first {here} of {total} rows: {advice}. The filter looks at these rows.")}
                </p>
            }
        })
    }
}
