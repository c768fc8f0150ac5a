//! The ranks of a job beside each other: a planted slow rank comes first, and all ways of asking
//! give the same rows.

use nprof_engine::exec::Work;
use nprof_engine::wire::questions::{Question, RankBalanceQuestion, answer};
use nprof_server::export::RanksOf;
use serde_json::{Value, json};

use crate::finding_answers::{app, bundled, job, json};
use crate::ranks::{json_of, shared, succeed};
use crate::truth::Truth;

#[test]
fn the_planted_rank_and_its_work_come_first_with_the_planted_time() {
    let Some(made) = Truth::make(&["--ranks", "8", "--seed", "3"]) else { return };
    let truth = made.facts();
    let planted = truth["planted"].as_array().unwrap();
    let slow = planted.iter().find(|fault| fault["kind"] == "slow_compute").unwrap();
    let (rank, factor) = (slow["rank"].as_u64().unwrap(), slow["factor"].as_f64().unwrap());
    let found = json_of(&made.store(), &["ranks", "job", "--output-format", "json"]);
    let rows = found["differences"].as_array().unwrap();
    for row in &rows[..4] {
        assert_eq!(row["rank"], rank, "{row}");
        // Work without other work beside takes the planted part longer.
        let (difference, median) =
            (row["difference_ns"].as_f64().unwrap(), row["median_ns"].as_f64().unwrap());
        assert!((difference / median / (factor - 1.0) - 1.0).abs() < 0.1, "{row}");
    }
    let of_rank = rows.iter().filter(|row| row["rank"] == rank);
    let sum: f64 = of_rank.map(|row| row["difference_ns"].as_f64().unwrap()).sum();
    let compute = truth["per_rank"][rank as usize]["compute"].as_f64().unwrap();
    let planted = compute * (1.0 - 1.0 / factor);
    assert!((sum / planted - 1.0).abs() < 0.1, "{sum} instead of {planted}");
    let regions = found["regions"].as_array().unwrap();
    assert!(!regions.is_empty() && regions.iter().all(|region| region["most_rank"] == rank), "{regions:?}");
    let text = succeed(&made.store(), &["ranks", "job"]);
    assert!(text.contains("work by name, beside the median of the other ranks"), "{text}");
}

#[test]
fn all_ways_give_the_same_rows() {
    let (_dir, store) = job();
    let app = app(&store);
    let profile = app.store().find("job").unwrap();
    let question: Question = RankBalanceQuestion::about("job").into();
    let of_server = json(&answer(&app, &question, Work::IN_PLACE).unwrap());
    assert_eq!(bundled(RanksOf::all(&profile), &question), of_server);
    let found = json_of(&store, &["ranks", "job", "--output-format", "json"]);
    for (key, total) in [("names", "total_differences"), ("regions", "total_regions")] {
        assert_eq!(found[total], of_server[format!("total_{key}")]);
    }
    let cut = |row: &Value| json!([row["rank"], row["name"], row["count"]]);
    let shown = of_server["names"].as_array().unwrap();
    let listed = found["differences"].as_array().unwrap();
    for (one, other) in shown.iter().zip(listed) {
        assert_eq!(cut(one), cut(other));
        let ps = one["difference_ps"].as_f64().unwrap();
        assert!((ps / 1e3 - other["difference_ns"].as_f64().unwrap()).abs() < 1e-6);
    }
}

/// The begin of a step is that of its mark.
#[test]
fn a_rank_that_began_late_is_compared_with_the_median_rank() {
    let Some(traces) = shared("data/kineto/dlrm_8_ranks") else { return };
    let dir = tempfile::tempdir().unwrap();
    succeed(dir.path(), &["ingest", traces.to_str().unwrap(), "--db-bucket", "dlrm"]);
    let found = json_of(dir.path(), &["findings", "dlrm", "--output-format", "json"]);
    let all = found["findings"].as_array().unwrap();
    let late = all.iter().find(|one| one["rule"] == "late-rank").unwrap();
    let text = late["text"].as_str().unwrap();
    let expected = "after rank 1, its own work took as long as on the median rank";
    assert!(
        text.starts_with("rank 7 is late: it began its step 7.51 ms ") && text.contains(expected),
        "{text}"
    );
    assert_eq!((&late["rank"], &late["usual_rank"]), (&json!(7), &json!(5)));
    let ranks = succeed(dir.path(), &["ranks", "dlrm"]);
    assert!(ranks.contains(text), "{ranks}");
}
