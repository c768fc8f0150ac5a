//! The regions of a rank as a list: what they say together, and their table.

use nprof_engine::base::time::{PS_PER_MS, short_duration};
use nprof_engine::base::{Interval, narrow};
use nprof_engine::query::quantity;
use nprof_engine::wire::regions::{RegionEntry, RegionKindEntry, RegionList};
use nprof_engine::wire::rows::ColumnValues;

use super::table::{DataTable, TableColumn, texts};

/// Key of the column of names.
pub const NAME: &str = "name";
/// Key of the column of what can be done with a region.
pub const ACTIONS: &str = "actions";

/// A region of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRegion {
    /// Its name.
    pub name: String,
    /// The meaning.
    pub kind: RegionKindEntry,
    /// Its times on the page.
    pub span: Interval,
    /// Time by which a step is longer than the usual one, in picoseconds. `None` for other regions.
    pub longer_ps: Option<i64>,
    /// Kernels and copies of a step.
    pub kernels: Option<u64>,
}

impl ListedRegion {
    /// A region that a user named.
    #[must_use]
    pub fn named(name: String, span: Interval) -> Self {
        Self { name, kind: RegionKindEntry::User, span, longer_ps: None, kernels: None }
    }

    /// The regions of a list.
    #[must_use]
    pub fn of(list: &RegionList) -> Vec<Self> {
        let longer = |region: &RegionEntry| {
            region.step.as_ref()?;
            Some(region.duration_ps().saturating_sub(list.median_ps?))
        };
        let listed = |region: &RegionEntry| Self {
            name: region.name.clone(),
            kind: region.kind,
            span: Interval::new(region.start_ps, region.end_ps),
            longer_ps: longer(region),
            kernels: region.step.as_ref().map(|step| step.kernels),
        };
        list.regions.iter().map(listed).collect()
    }
}

/// The answer about the regions of a rank: the usual duration of its steps and the slowest one that
/// stands out, or its layers and phases with the reason why no steps are known.
#[must_use]
pub fn regions_in_words(list: &RegionList) -> String {
    let steps = || list.regions.iter().filter(|region| region.step.is_some());
    let (Some(median_ps), count @ 1..) = (list.median_ps, steps().count()) else {
        let kinds = [(RegionKindEntry::Layer, "layer"), (RegionKindEntry::Phase, "phase")];
        let counted = kinds.into_iter().filter_map(|(kind, word)| {
            let count = list.regions.iter().filter(|region| region.kind == kind).count();
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {word}{plural}"))
        });
        let reason = list.no_steps.as_deref().unwrap_or("nothing tells of them");
        return counted.chain([format!("no steps are known: {reason}")]).collect::<Vec<_>>().join(", ");
    };
    let plural = if count == 1 { "step" } else { "steps" };
    let usual = short_duration(median_ps as f64);
    let outliers = steps().filter(|region| region.step.as_ref().is_some_and(|step| step.is_outlier));
    let slowest = outliers.max_by_key(|region| region.duration_ps());
    let slowest = slowest.filter(|region| region.duration_ps() > median_ps).map(|region| {
        format!("; {} stands out, {}", region.name, short_duration(region.duration_ps() as f64))
    });
    format!("{count} {plural}, usually {usual}{}", slowest.unwrap_or_default())
}

/// Regions as a table, with a column of actions if there are any. Starts count from `zero_ps`, as
/// on the ruler.
#[must_use]
pub fn region_table(regions: &[ListedRegion], zero_ps: i64, has_actions: bool) -> DataTable {
    let words = |key: &str, title: &str, doc: &str, of: &dyn Fn(&ListedRegion) -> String| {
        let values = texts(regions.iter().map(of).collect());
        TableColumn::new(key, title, "", values).explained(doc)
    };
    let times = |key: &str, title: &str, doc: &str, of: &dyn Fn(&ListedRegion) -> i64| {
        let values = ColumnValues::Ints(regions.iter().map(of).collect());
        TableColumn::new(key, title, "ps", values).explained(doc)
    };
    let difference = |of: &ListedRegion| match of.longer_ps {
        None => String::new(),
        Some(0) => "as usual".to_owned(),
        Some(ps) if ps < 0 => format!("\u{2212}{}", short_duration(ps.unsigned_abs() as f64)),
        Some(ps) => format!("+{}", short_duration(ps as f64)),
    };
    let kernels = |of: &ListedRegion| of.kernels.map(|kernels| kernels.to_string()).unwrap_or_default();
    let mut columns = vec![
        words(NAME, "Region", "Name of its mark, or that of the user.", &|of| of.name.clone()),
        words("kind", "Kind", "The meaning of the region.", &|of| kind_words(of.kind).to_owned()),
        times("start", "Start", "Start of the region, as on the ruler.", &|of| {
            of.span.start.0.saturating_sub(zero_ps)
        }),
        times("duration", "Duration", "Duration of the region.", &|of| of.span.duration_ps()),
        words("longer", "Beside usual", "Duration less that of the usual step.", &difference),
        words("kernels", "Kernels", "Kernels and copies of the step.", &kernels),
    ];
    if has_actions {
        let doc = "Press it on two regions to compare them. Names of users can be changed.";
        columns.push(words(ACTIONS, "Compare", doc, &|_| String::new()));
    }
    DataTable { columns, rows: narrow(regions.len()) }
}

fn kind_words(kind: RegionKindEntry) -> &'static str {
    match kind {
        RegionKindEntry::Iteration => "step",
        RegionKindEntry::Layer => "layer",
        RegionKindEntry::Phase => "phase",
        RegionKindEntry::User => "named",
    }
}

/// The span between two times that a user typed, such as `1.5ms`, counted from `zero_ps`. `None`
/// if one is no time, or if the second is not the later one. A number alone is in milliseconds.
#[must_use]
pub fn typed_span(from: &str, to: &str, zero_ps: i64) -> Option<Interval> {
    let (from, to) = (typed_moment(from, zero_ps)?, typed_moment(to, zero_ps)?);
    (from < to).then(|| Interval::new(from, to))
}

/// The time that a user typed, such as `1.5ms`, counted from `zero_ps`. `None` if it is none. A
/// number alone is in milliseconds.
#[must_use]
pub fn typed_moment(text: &str, zero_ps: i64) -> Option<i64> {
    let number = quantity(text, "ms").filter(|number| number.is_finite())?;
    Some(zero_ps.saturating_add((number * PS_PER_MS as f64).round() as i64))
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::regions::StepEntry;

    use super::*;

    fn step(name: &str, start_ps: i64, end_ps: i64, is_outlier: bool) -> RegionEntry {
        let step = StepEntry {
            kernels: 7,
            pace: None,
            shape: "usual".to_owned(),
            is_outlier,
            mark_start_ps: None,
            mark_end_ps: None,
        };
        RegionEntry {
            kind: RegionKindEntry::Iteration,
            name: name.to_owned(),
            start_ps,
            end_ps,
            source: "marks".to_owned(),
            step: Some(step),
        }
    }

    #[test]
    fn a_list_says_what_is_usual_and_what_stands_out() {
        let regions = vec![step("a", 100, 200, false), step("b", 200, 500, true)];
        let list = RegionList { median_ps: Some(100), no_steps: None, regions };
        assert_eq!(regions_in_words(&list), "2 steps, usually 100 ps; b stands out, 300 ps");
        let unknown = RegionList { no_steps: Some("no marks".to_owned()), ..RegionList::default() };
        assert_eq!(regions_in_words(&unknown), "no steps are known: no marks");
        let layer = RegionEntry { kind: RegionKindEntry::Layer, step: None, ..step("l", 0, 1, false) };
        let layers = RegionList { regions: vec![layer], ..unknown };
        assert_eq!(regions_in_words(&layers), "1 layer, no steps are known: no marks");
        let listed = ListedRegion::of(&list);
        assert_eq!(listed.iter().map(|of| of.longer_ps).collect::<Vec<_>>(), [Some(0), Some(200)]);
        let own = ListedRegion::named("mine".to_owned(), Interval::new(150, 250));
        let table = region_table(&[own, listed[1].clone()], 100, false);
        let texts = |row: u32| table.columns.iter().map(|column| column.text(row)).collect::<Vec<_>>();
        assert_eq!(texts(0)[..2], ["mine", "named"]);
        assert_eq!((texts(1)[4].as_str(), texts(1)[5].as_str()), ("+200 ps", "7"));
    }

    #[test]
    fn a_span_can_be_typed() {
        assert_eq!(typed_span("1.5us", "2 us", 1_000), Some(Interval::new(1_501_000, 2_001_000)));
        assert_eq!(typed_span("1", "2", 0), Some(Interval::new(1_000_000_000, 2_000_000_000)));
        for (from, to) in [("2us", "1us"), ("", "1us"), ("1us", "x"), ("1us", "1us")] {
            assert_eq!(typed_span(from, to, 0), None, "{from} {to}");
        }
    }
}
