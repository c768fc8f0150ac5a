//! The view of all ranks of a job: a segment of its own beside the ranks'.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nprof_engine::exec::{Cancel, Work};
use nprof_engine::wire::ask::RankId;
use nprof_engine::wire::catalog::{ProfileInfo, RankDetail};
use nprof_engine::wire::detail::{FieldContent, SliceDetail};
use nprof_engine::wire::questions::{Answer, Question, answer};
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::summary::Summary;
use nprof_server::app::App;
use nprof_server::child::IngestProcess;
use nprof_server::export::RanksOf;
use nprof_server::export::html::{EmbeddedRanks, bundle};
use nprof_server::store::{ClockBy, Store};
use nprof_server::work::Meter;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::cli::{fail, succeed};
use crate::stage::{process, segment_path};

const STRAGGLER: &str = "2";

/// A store with the simulated job "job", whose rank 2 is late.
fn job(dir: &Path, ranks: &str) -> PathBuf {
    let store = dir.join("store");
    let args = ["demo", "--ingest-only", "--ranks", ranks, "--straggler", STRAGGLER, "--collectives", "60"];
    succeed(&store, &[&args[..], &["--db-bucket", "job"]].concat());
    store
}

fn app(store: &Path) -> App {
    App::new(Arc::new(Store::open(store).unwrap()), process())
}

fn ask(app: &App, path: &str) -> Answer {
    let question = Question::parse(path, "").unwrap();
    if let Question::OfRank(rank, _) = &question {
        Runtime::new().unwrap().block_on(app.compare(rank)).unwrap();
    }
    answer(app, &question, Work::IN_PLACE).unwrap()
}

fn profile(app: &App) -> ProfileInfo {
    match ask(app, "/api/profiles/job") {
        Answer::Profile(info) => info,
        other => panic!("{other:?}"),
    }
}

fn detail(app: &App) -> RankDetail {
    match ask(app, "/api/profiles/job/ranks/all") {
        Answer::Detail(detail) => detail,
        other => panic!("{other:?}"),
    }
}

fn summary(app: &App) -> Summary {
    match ask(app, "/api/profiles/job/ranks/all/summary") {
        Answer::Summary(summary) => summary,
        other => panic!("{other:?}"),
    }
}

/// The kept job segments of the only profile.
fn kept(store: &Path) -> Vec<PathBuf> {
    let profile = fs::read_dir(store.join("profiles")).unwrap().next().unwrap().unwrap().path();
    let files = fs::read_dir(profile).unwrap().map(|file| file.unwrap().path());
    files
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("job-") && name.ends_with(".nseg")
        })
        .collect()
}

#[test]
fn an_ingest_compares_its_ranks() {
    let dir = tempfile::tempdir().unwrap();
    let store = job(dir.path(), "4");
    assert_eq!(kept(&store).len(), 1);
    let app = app(&store);
    let info = profile(&app);
    let ranks: Vec<RankRef> = info.ranks.iter().map(|rank| rank.rank).collect();
    assert_eq!(ranks, [RankRef::All, 0.into(), 1.into(), 2.into(), 3.into()]);
    assert_eq!(info.entry.ranks, 4, "it is no rank of the job");
    let detail = detail(&app);
    assert_eq!(detail.entry, info.ranks[0]);
    let tracks: Vec<&str> = detail.tracks.iter().map(|track| track.name.as_str()).collect();
    for track in ["Collectives", "Ranks", "Rank 0", "Rank 3"] {
        assert!(tracks.contains(&track), "{track} is not in {tracks:?}");
    }
    let rows = |table: &str| detail.tables.iter().find(|of| of.name == table).unwrap().rows;
    assert_eq!((rows("rank"), rows("job")), (4, 1));
    assert!(rows("call") >= 4 * 60 && rows("operation") >= 60);
    // A reader first sees the rank where the waiting began.
    let first = &summary(&app).groups[0];
    assert_eq!((first.key.as_str(), first.metrics[0].name.as_str()), ("job_causes", "rank 2"));
}

#[test]
fn one_rank_has_nothing_to_compare_with() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    succeed(&store, &["demo", "--ingest-only", "--ranks", "1", "--events", "2000", "--db-bucket", "job"]);
    assert!(kept(&store).is_empty());
    let app = app(&store);
    assert_eq!(profile(&app).ranks.len(), 1);
    let question = Question::parse("/api/profiles/job/ranks/all", "").unwrap();
    let refusal = answer(&app, &question, Work::IN_PLACE).unwrap_err();
    assert!(refusal.to_string().contains("has no rank all"), "{refusal}");
}

#[test]
fn what_is_lost_damaged_or_out_of_date_is_computed_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = job(dir.path(), "3");
    let before = detail(&app(&store));
    let [first] = &kept(&store)[..] else { panic!("one job segment") };
    let whole = fs::read(first).unwrap();

    fs::remove_file(first).unwrap();
    // It is offered before it is computed.
    assert_eq!(profile(&app(&store)).ranks[0].rank, RankRef::All);
    assert_eq!(detail(&app(&store)), before);
    assert_eq!(fs::read(first).unwrap(), whole);

    fs::write(first, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(detail(&app(&store)), before);
    assert_eq!(fs::read(first).unwrap(), whole);

    // A clock by hand moves a rank, and its arrivals with it.
    succeed(&store, &["clock", "job", "--rank", "1", "--offset", "3ms"]);
    assert_ne!(detail(&app(&store)).entry.content, before.entry.content);
    let now = kept(&store);
    assert!(now.len() == 1 && now[0] != *first, "{now:?}");
}

/// A server whose comparisons run this script, and a profile without a job segment.
fn app_with(dir: &Path, script: &str) -> App {
    let store = job(dir, "3");
    kept(&store).iter().for_each(|job| fs::remove_file(job).unwrap());
    let program = dir.join("program");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    App::new(Arc::new(Store::open(&store).unwrap()), IngestProcess { program, ..process() })
}

fn all_ranks() -> RankId {
    RankId { profile: "job".to_owned(), rank: RankRef::All }
}

#[test]
fn a_comparison_ends_when_nobody_waits_for_it_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let app = app_with(dir.path(), &format!("echo $$ > {}; exec sleep 600", pid.display()));
    Runtime::new().unwrap().block_on(async {
        let asked = app.clone();
        let waiting = tokio::spawn(async move { asked.compare(&all_ranks()).await });
        let number = loop {
            match fs::read_to_string(&pid) {
                Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        waiting.abort();
        let state = || fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        while !state().is_empty() && !state().contains(") Z ") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        while app.store().tmp().read_dir().unwrap().count() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}

/// The answer does not wait for the comparison, which would take ten minutes.
#[test]
fn a_comparison_ends_when_the_server_ends() {
    let dir = tempfile::tempdir().unwrap();
    let begun = dir.path().join("begun");
    let app = app_with(dir.path(), &format!("echo > {}; exec sleep 600", begun.display()));
    Runtime::new().unwrap().block_on(async {
        let asked = app.clone();
        let waiting = tokio::spawn(async move { asked.compare(&all_ranks()).await });
        while !begun.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        app.end();
        assert!(waiting.await.unwrap().is_err());
        assert!(app.compare(&all_ranks()).await.is_err(), "none begins later");
    });
}

#[test]
fn a_comparison_that_its_limits_end_is_a_named_refusal_and_is_not_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("runs");
    let app = app_with(dir.path(), &format!("echo run >> {}; kill -ABRT $$", runs.display()));
    let runtime = Runtime::new().unwrap();
    for _ in 0..2 {
        let said = runtime.block_on(app.compare(&all_ranks())).unwrap_err().to_string();
        assert!(
            said.contains("needs more memory than the limit") && said.contains("`nprof ranks job`"),
            "{said}"
        );
    }
    assert_eq!(fs::read_to_string(&runs).unwrap().lines().count(), 1);
    // The ranks are there all the same.
    assert!(matches!(ask(&app, "/api/profiles/job/ranks/0"), Answer::Detail(_)));
}

/// Each run of the program is a line at its begin and one at its end, for which it waits.
#[test]
fn one_comparison_runs_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let [log, go] = ["log", "go"].map(|name| dir.path().join(name));
    let (said, may_go) = (log.display(), go.display());
    let script = format!(
        "echo begin >> {said}; while [ ! -e {may_go} ]; do sleep 0.02; done; echo end >> {said}; exit 3"
    );
    let app = app_with(dir.path(), &script);
    let traces = ["demo", "--ingest-only", "--ranks", "2", "--straggler", "1", "--collectives", "20"];
    succeed(&dir.path().join("store"), &[&traces[..], &["--db-bucket", "other"]].concat());
    let other = app.store().find("other").unwrap();
    fs::remove_file(nprof_server::analysis::job_segment::path_of(&other)).unwrap();
    let lines = || fs::read_to_string(&log).unwrap_or_default();
    Runtime::new().unwrap().block_on(async {
        let compared = ["job", "other"].map(|name| {
            let (app, id) = (app.clone(), RankId { profile: name.to_owned(), rank: RankRef::All });
            tokio::spawn(async move { app.compare(&id).await })
        });
        while lines().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Time for a second run that must not begin. A slow machine only sees less.
        tokio::time::sleep(Duration::from_millis(300)).await;
        fs::write(&go, "").unwrap();
        for compared in compared {
            assert!(compared.await.unwrap().is_err());
        }
    });
    assert_eq!(lines(), "begin\nend\nbegin\nend\n");
}

#[test]
fn a_comparison_that_fails_names_no_path_of_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let store = job(dir.path(), "3");
    kept(&store).iter().for_each(|job| fs::remove_file(job).unwrap());
    let app = app(&store);
    let segment = segment_path(&app.store().find("job").unwrap(), 1);
    fs::File::options().write(true).open(&segment).unwrap().set_len(100).unwrap();
    let said = Runtime::new().unwrap().block_on(app.compare(&all_ranks())).unwrap_err().to_string();
    assert!(said.contains("\"job\" cannot be compared"), "{said}");
    assert!(!said.contains(store.to_str().unwrap()), "{said}");
}

#[test]
fn an_export_of_all_ranks_takes_it_along() {
    let dir = tempfile::tempdir().unwrap();
    let store = job(dir.path(), "3");
    let app = app(&store);
    let found = app.store().find("job").unwrap();
    let job = nprof_server::analysis::job_segment::of_profile(&found, Cancel::NEVER).unwrap();
    let embedded = EmbeddedRanks { of: RanksOf::all(&found), job: Some(&job), has_graph: false };
    let bundle = bundle(embedded, Work::IN_PLACE).unwrap();
    assert_eq!(bundle.profile, profile(&app));
    assert_eq!(bundle.ranks[0].summary.as_ref().unwrap(), &summary(&app));
}

/// A store with the job "job" of two ranks that reduce 20 times; the clock of rank 1 is 5 ms ahead.
fn shifted_job(dir: &Path) -> PathBuf {
    let traces = dir.join("traces");
    fs::create_dir(&traces).unwrap();
    for (rank, ahead_us) in [(0_u32, 0), (1, 5_000)] {
        let call = |number: u64| {
            let arrival = 1_000 * number + 7 * u64::from(rank) * (number % 5);
            json!({
                "ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": rank, "tid": 20,
                "ts": arrival + ahead_us, "dur": 1_000 * number + 100 - arrival,
                "args": {
                    "device": rank, "stream": 20, "Collective name": "allreduce", "In msg nelems": 8,
                    "Group size": 2, "dtype": "Float", "Process Group Name": "0",
                    "Process Group Ranks": "[0, 1]", "Seq": number,
                },
            })
        };
        let group = json!({"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]});
        let trace = json!({
            "schemaVersion": 1,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2, "pg_count": 1, "pg_config": [group]},
            "traceEvents": (1..=20).map(call).collect::<Vec<_>>(),
        });
        fs::write(traces.join(format!("rank_{rank}.json")), trace.to_string()).unwrap();
    }
    let store = dir.join("store");
    succeed(&store, &["ingest", traces.to_str().unwrap(), "--db-bucket", "job"]);
    store
}

#[test]
fn all_ranks_have_the_warnings_of_each() {
    let dir = tempfile::tempdir().unwrap();
    let store = shifted_job(dir.path());
    let traces = dir.path().join("traces");
    let trace = traces.join("rank_1.json");
    let len = fs::metadata(&trace).unwrap().len();
    fs::File::options().write(true).open(&trace).unwrap().set_len(len - 4).unwrap();
    succeed(&store, &["ingest", traces.to_str().unwrap(), "--db-bucket", "cut"]);
    let warnings = |slug: &str| match ask(&app(&store), &format!("/api/profiles/{slug}/ranks/all")) {
        Answer::Detail(all) => all.warnings,
        _ => panic!("a detail"),
    };
    assert_eq!(warnings("job"), []);
    let [cut] = &warnings("cut")[..] else { panic!("one kind of warning") };
    assert!(cut.what.contains("the trace ends in the middle") && cut.first_place.contains("rank_1.json"));
}

#[test]
fn ranks_have_the_clocks_that_their_calls_show_beside_those_of_the_user() {
    let dir = tempfile::tempdir().unwrap();
    let store = shifted_job(dir.path());
    let rank = |number: u32| {
        let info = profile(&app(&store));
        info.ranks.into_iter().find(|rank| rank.rank == number.into()).unwrap()
    };
    let found = rank(1).found.unwrap().0;
    let bound_ps = found.bound_ps().unwrap();
    assert!(found.offset_ps().abs_diff(-5_000_000_000) <= bound_ps && bound_ps < 200_000_000, "{found:?}");
    assert_eq!((rank(1).clock, rank(0).found.unwrap().0.offset_ps()), (None, 0));
    // The detail of the rank says the same.
    let Answer::Detail(of_rank) = ask(&app(&store), "/api/profiles/job/ranks/1") else { panic!("a detail") };
    assert_eq!(of_rank.entry, rank(1));
    // A bundle has them too, without what all ranks show.
    let opened = Store::open(&store).unwrap().find("job").unwrap();
    let bundle = bundle(RanksOf::all(&opened).into(), Work::IN_PLACE).unwrap();
    assert_eq!(bundle.profile.ranks[1].found, rank(1).found);
    // Nothing is compared for a list of ranks.
    for path in kept(&store) {
        fs::remove_file(path).unwrap();
    }
    assert_eq!((rank(1).found, kept(&store).len()), (None, 0));
    // The user's clock is the one that the job segment uses.
    succeed(&store, &["clock", "job", "--rank", "1", "--offset", "-4ms"]);
    assert_eq!(rank(1).clock_by, Some(ClockBy::Hand));
    detail(&app(&store));
    assert_eq!(rank(1).found, rank(1).clock);
}

#[test]
fn a_check_finds_damage_in_what_all_ranks_show() {
    let dir = tempfile::tempdir().unwrap();
    let store = job(dir.path(), "3");
    let opened = Store::open(&store).unwrap();
    let damages = || {
        let verified = nprof_server::verify::verify(&opened, &[], &Meter::default()).unwrap();
        verified.damages.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(damages(), [""; 0]);
    let [job] = &kept(&store)[..] else { panic!("one job segment") };
    let overlay = job.with_file_name("collectives.overlay");
    for (path, name) in [(job.as_path(), "job-"), (&overlay, "collectives.overlay")] {
        let whole = fs::read(path).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 40 + 1) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(path, bytes).unwrap();
            let found = damages();
            assert!(!found.is_empty(), "{name} byte {at} of {}", whole.len());
            assert!(found.iter().all(|what| what.contains(name) && what.starts_with("job")), "{found:?}");
        }
        fs::write(path, &whole).unwrap();
    }
    fs::write(&overlay, "").unwrap();
    let said = fail(&store, &["verify"], 1);
    assert!(said.contains("only in what nprof computes"), "{said}");
    fs::remove_file(&overlay).unwrap();
    assert_eq!(damages(), [""; 0], "a lost overlay costs only time");
}

#[test]
fn a_call_tells_who_it_waited_for_and_who_waited() {
    let dir = tempfile::tempdir().unwrap();
    let app = app(&job(dir.path(), "4"));
    let track = |name: &str| detail(&app).tracks.into_iter().find(|track| track.name == name).unwrap().id;
    let slice = |row: u32| match ask(&app, &format!("/api/profiles/job/ranks/all/slices/{row}")) {
        Answer::Slice(slice) => slice,
        other => panic!("{other:?}"),
    };
    let field = |slice: &SliceDetail, name: &str| match slice
        .fields
        .iter()
        .find(|field| field.name == name)
        .unwrap()
        .value
    {
        FieldContent::Int(value) => value,
        ref other => panic!("{other:?}"),
    };
    // The last wait on the row of rank 0 whose end another rank decided.
    let first = detail(&app).tables.iter().find(|table| table.name == "operation").unwrap().rows;
    let row = u32::try_from(first).unwrap();
    let wait = (row..).map(slice).find(|slice| !slice.successors.is_empty()).unwrap();
    assert_eq!(wait.slice.track, track("Rank 0"));
    let [cause] = &wait.successors[..] else { panic!("{:?}", wait.successors) };
    assert_eq!(cause.slice.start_ps, wait.slice.start_ps + wait.slice.duration_ps);
    assert_eq!(field(&wait, "wait"), wait.slice.duration_ps);
    let cause = slice(cause.slice.row);
    assert!(wait.slice.name.ends_with(&format!(" {}", field(&cause, "rank"))), "{}", wait.slice.name);
    assert!(cause.predecessors.iter().any(|other| other.slice.row == wait.slice.row));
    assert_eq!(cause.predecessors.len(), 3, "all others wait");
    assert!(field(&cause, "blame") > 0 && field(&cause, "wait") == 0);
    assert_eq!(field(&cause, "late"), field(&wait, "late") + field(&wait, "wait"));
}
