//! Regions as JSON: the rows and the steps of the answers of the command line and of the API.

use nprof_engine::insight::finding::Place;
use nprof_engine::insight::region::{RankRegion, WorkSteps};
use nprof_engine::wire::notes::{NotedRegion, Notes};
use nprof_engine::wire::page_link::place_in_page;
use nprof_engine::wire::regions::RegionEntry;
use serde_json::{Value, json};

use super::regions::RegionsOfRank;

/// A row for each region: those that users named, then those of each rank.
#[must_use]
pub fn rows(found: &[RegionsOfRank], notes: &Notes) -> Vec<Value> {
    let of_users = notes.regions.iter().map(of_user);
    let of_ranks = found.iter().flat_map(|of| {
        let steps = of.regions.steps.as_ref().ok();
        of.regions.all.iter().map(move |region| row(of.rank, region, steps))
    });
    of_users.chain(of_ranks).collect()
}

fn of_user(region: &NotedRegion) -> Value {
    let NotedRegion { name, rank, start_ps, end_ps } = region;
    let place = Place { rank: *rank, ..Place::of_span(*start_ps, *end_ps) };
    json!({
        "kind": "user", "name": name, "rank": rank, "start_ps": start_ps, "end_ps": end_ps,
        "source": "user", "link": place_in_page(&place),
    })
}

fn row(rank: u32, region: &RankRegion, steps: Option<&WorkSteps>) -> Value {
    let RegionEntry { kind, name, start_ps, end_ps, source, step } = RegionEntry::of(region, steps);
    let place = Place { rank: Some(rank), ..Place::of_span(start_ps, end_ps) };
    let mut row = json!({
        "kind": kind,
        "name": name,
        "rank": rank,
        "start_ps": start_ps,
        "end_ps": end_ps,
        "source": source,
        "link": place_in_page(&place),
    });
    if let (Some(row), Ok(Value::Object(of_step))) =
        (row.as_object_mut(), step.map_or(Ok(Value::Null), serde_json::to_value))
    {
        row.extend(of_step);
    }
    row
}

/// For each rank how many steps it has and how long they take, or why it has none.
#[must_use]
pub fn steps(found: &[RegionsOfRank]) -> Vec<Value> {
    let of_rank = |of: &RegionsOfRank| match &of.regions.steps {
        Ok(steps) => json!({
            "rank": of.rank,
            "source": steps.origin.name(),
            "count": steps.all.len(),
            "median_ps": steps.median_ps,
            "steady_from": steps.all.get(steps.steady_from).map(|step| &step.name),
            "slow": steps.slow().map(|step| &step.name).collect::<Vec<_>>(),
            "none": null,
        }),
        Err(none) => json!({
            "rank": of.rank, "source": null, "count": 0, "median_ps": null, "steady_from": null, "slow": [],
            "none": none.to_string(),
        }),
    };
    found.iter().map(of_rank).collect()
}
