//! `nprof regions`: steps of real and generated traces without their marks, and what users write.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use axum::body::Body;
use axum::http::StatusCode;
use flate2::read::GzDecoder;
use nprof_engine::exec::Work;
use nprof_engine::wire::bundle::OpenBundle;
use nprof_engine::wire::notes::NotedRegion;
use nprof_engine::wire::questions::{Question, answer};
use nprof_server::export::RanksOf;
use nprof_server::export::html::bundle;
use serde_json::{Value, json};

use crate::ranks::{json_of, nprof, shared, succeed};
use crate::stage::{Stage, request};

/// Name of the marks of steps, before their number.
const STEP: &str = "ProfilerStep#";

/// Last kernel of a generated step.
const OPTIMIZER: &str = "adam_multi_tensor";

/// A trace as JSON.
fn read(path: &Path) -> Value {
    let mut text = Vec::new();
    let file = File::open(path).unwrap();
    match path.extension().is_some_and(|end| end == "gz") {
        true => GzDecoder::new(file).read_to_end(&mut text).unwrap(),
        false => { file }.read_to_end(&mut text).unwrap(),
    };
    serde_json::from_slice(&text).unwrap()
}

fn events(trace: &Value) -> &[Value] {
    trace["traceEvents"].as_array().unwrap()
}

fn is_mark(event: &Value) -> bool {
    event["name"].as_str().is_some_and(|name| name.starts_with(STEP))
}

fn us(event: &Value) -> f64 {
    event["ts"].as_f64().or_else(|| event["ts"].as_str()?.parse().ok()).unwrap()
}

/// The work of a device by start, and the steps that marks tell.
struct MarkedTrace {
    starts_us: Vec<f64>,
    /// Positions of the first work that was launched within each mark.
    bounds: Vec<usize>,
    first_us: f64,
}

impl MarkedTrace {
    fn of(trace: &Value) -> Self {
        let category = |event: &Value| event["cat"].as_str().unwrap_or_default().to_ascii_lowercase();
        let correlation = |event: &Value| event["args"]["correlation"].as_i64();
        let of = |categories: &[&str]| -> Vec<&Value> {
            let is_it = |event: &&Value| event["ph"] == "X" && categories.contains(&category(event).as_str());
            events(trace).iter().filter(is_it).collect()
        };
        let launches: HashMap<i64, f64> = of(&["cuda_runtime", "runtime", "cuda_driver"])
            .iter()
            .filter_map(|event| {
                let external = || event["args"]["External id"].as_i64();
                Some((correlation(event).or_else(external)?, us(event)))
            })
            .collect();
        let mut work: Vec<(f64, Option<f64>, &str)> =
            of(&["kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"])
                .iter()
                .map(|event| {
                    let launch = correlation(event).and_then(|id| launches.get(&id)).copied();
                    (us(event), launch, event["name"].as_str().unwrap())
                })
                .collect();
        work.sort_by(|a, b| a.0.total_cmp(&b.0));
        let marks =
            events(trace).iter().filter(|event| is_mark(event) && category(event) != "gpu_user_annotation");
        let mut marks: Vec<f64> = marks.map(us).collect();
        marks.sort_by(f64::total_cmp);
        let first_launched = |mark: &f64| {
            let launched = work.iter().enumerate().filter(|(_, (_, launch, _))| *launch >= Some(*mark));
            launched.min_by(|a, b| a.1.1.partial_cmp(&b.1.1).unwrap()).map(|(at, _)| at)
        };
        // Marks of the generator are earlier than the launches by a part of a kernel. Its steps end
        // with the optimizer, which it never loses.
        let is_end = |at: usize| work.get(at).is_some_and(|(.., name)| *name == OPTIMIZER);
        let begins = |at: &usize| *at == 0 || is_end(at - 1) && !is_end(*at);
        let has_ends = (0..work.len()).any(is_end);
        let generated: Vec<usize> = (0..work.len()).filter(|at| has_ends && begins(at)).collect();
        Self {
            bounds: match generated.is_empty() {
                true => marks.iter().filter_map(first_launched).collect(),
                false => generated,
            },
            starts_us: work.iter().map(|(start, ..)| *start).collect(),
            first_us: events(trace)
                .iter()
                .filter(|event| event["ph"] == "X" && !is_mark(event))
                .map(us)
                .fold(f64::INFINITY, f64::min),
        }
    }

    /// The position of the work that starts at about this time after the first event.
    fn position(&self, since_first_us: f64) -> usize {
        let apart = |at: &usize| (self.starts_us[*at] - self.first_us - since_first_us).abs();
        (0..self.starts_us.len()).min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap()
    }
}

/// Ingests a trace without its marks of steps as the profile `run`.
fn ingest_without_marks(trace: &mut Value, dir: &Path) -> PathBuf {
    trace["traceEvents"].as_array_mut().unwrap().retain(|event| !is_mark(event));
    let file = dir.join("trace.json");
    fs::write(&file, serde_json::to_vec(trace).unwrap()).unwrap();
    let store = dir.join("store");
    succeed(&store, &["ingest", file.to_str().unwrap(), "--db-bucket", "run"]);
    store
}

fn iterations(answer: &Value) -> Vec<&Value> {
    answer["regions"].as_array().unwrap().iter().filter(|region| region["kind"] == "iteration").collect()
}

fn regions(store: &Path, more: &[&str]) -> Value {
    json_of(store, &[&["regions", "run", "--limit", "all", "--output-format", "json"], more].concat())
}

/// Bounds that the marks tell, those that are found within one kernel without marks, and all that
/// are found.
fn found_without_marks(path: &Path) -> (usize, usize, usize) {
    let mut trace = read(path);
    let marked = MarkedTrace::of(&trace);
    let dir = tempfile::tempdir().unwrap();
    let store = ingest_without_marks(&mut trace, dir.path());
    let answer = regions(&store, &[]);
    let first_ps = answer["first_event_ps"].as_f64().unwrap();
    let found: Vec<usize> = iterations(&answer)
        .iter()
        .map(|region| marked.position((region["start_ps"].as_f64().unwrap() - first_ps) / 1e6))
        .collect();
    let is_found = |bound: &&usize| found.iter().any(|at| at.abs_diff(**bound) <= 1);
    let right = marked.bounds.iter().filter(is_found).count();
    println!("{}: {right} of {:?}, found {found:?}", path.display(), marked.bounds);
    (marked.bounds.len(), right, found.len())
}

#[test]
fn steps_of_real_traces_are_found_without_their_marks() {
    let Some(folder) = shared("data/kineto") else { return };
    for (file, steps) in [
        ("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 5),
        ("resnet50_num_workers_0_worker0.1623143089861.pt.trace.json.gz", 6),
        ("trace_diff/control/control.json.gz", 6),
        ("trace_diff/test/test.json.gz", 6),
    ] {
        let (marked, right, found) = found_without_marks(&folder.join(file));
        assert_eq!((marked, right), (steps, steps), "{file}");
        // The rest of a step at the begin of the recording can be one more.
        assert!(found <= steps + 1, "{file}: {found}");
    }
}

#[test]
fn traces_without_loops_have_no_steps() {
    let Some(folder) = shared("data/kineto") else { return };
    for file in [
        "dlrm_8_ranks/worker0_step_12.1694128201545.pt.trace.json",
        "h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "mi300_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "mi250_minitoy_train_ROCm6_2_kineto.json.gz",
        "torch_compile_triton_trace.json.gz",
        "distributed_info_not_found.json.gz",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = ingest_without_marks(&mut read(&folder.join(file)), dir.path());
        let answer = regions(&store, &[]);
        assert!(iterations(&answer).is_empty(), "{file}: {answer}");
        let text = succeed(&store, &["regions", "run"]);
        assert!(text.starts_with("no steps: the trace has "), "{file}: {text}");
    }
}

/// Jobs with losses, late ranks and planted faults, rank by rank.
#[test]
fn steps_of_generated_jobs_are_found_without_their_marks() {
    let Some(generator) = shared("bench/multirank/gen.py") else { return };
    let (mut marked, mut right) = (0, 0);
    for (seed, steps) in [("31", "4"), ("32", "6"), ("33", "9")] {
        let dir = tempfile::tempdir().unwrap();
        let made = Command::new("python3")
            .arg(&generator)
            .arg(dir.path())
            .args(["--ranks", "4", "--seed", seed, "--steps", steps])
            .output();
        let Ok(made) = made else {
            println!("skipped: python3 cannot be run");
            return;
        };
        assert!(made.status.success());
        let files = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|file| file.file_name().is_some_and(|name| name != "truth.json")) {
            let (of_file, found, all) = found_without_marks(&file);
            (marked, right) = (marked + of_file, right + found);
            assert!(all <= of_file, "{}", file.display());
        }
    }
    assert!(right as f64 >= 0.99 * marked as f64, "{right} of {marked}");
}

#[test]
fn marks_of_the_program_come_first() {
    let Some(folder) = shared("data/kineto") else { return };
    let dir = tempfile::tempdir().unwrap();
    let trace = folder.join("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz");
    succeed(dir.path(), &["ingest", trace.to_str().unwrap(), "--db-bucket", "run"]);
    let answer = regions(dir.path(), &["--rank", "0"]);
    let steps = iterations(&answer);
    let names: Vec<&str> = steps.iter().map(|step| step["name"].as_str().unwrap()).collect();
    let expected: Vec<String> = (101..=105).map(|number| format!("{STEP}{number}")).collect();
    assert_eq!(names, expected);
    assert!(steps.iter().all(|step| step["source"] == "marks" && step["kernels"] == 1219), "{steps:?}");
    // The host is two steps ahead of its device.
    let ps = |step: &Value, key: &str| step[key].as_i64().unwrap();
    assert!(ps(steps[2], "start_ps") - ps(steps[2], "mark_start_ps") > 50_000_000_000);
    let phase = |region: &&Value| region["kind"] == "phase" && region["name"] == "## backward ##";
    assert_eq!(answer["regions"].as_array().unwrap().iter().filter(phase).count(), 5);
    let text = succeed(dir.path(), &["regions", "run"]);
    assert!(text.starts_with("5 iterations of rank 0, 95.7 ms (median)"), "{text}");
    assert_eq!(nprof(dir.path(), &["regions", "run", "--rank", "7"]).0, Some(1));
}

/// A stage's profile `small`, for commands.
fn small() -> (Stage, PathBuf) {
    let stage = Stage::new();
    let root = stage.store.root().to_owned();
    (stage, root)
}

fn users(answer: &Value) -> Vec<Value> {
    let all = answer["regions"].as_array().unwrap().iter().filter(|region| region["kind"] == "user");
    all.map(|region| region["name"].clone()).collect()
}

#[test]
fn users_add_rename_and_delete_regions() {
    let (_stage, store) = small();
    let regions = |more: &[&str]| nprof(&store, &[&["regions", "small"], more].concat());
    assert_eq!(regions(&["--add", "warm up=10ms..12ms", "--add", "it's=0us..1us"]).0, Some(0));
    let answer = json_of(&store, &["regions", "small", "--output-format", "json"]);
    assert_eq!(users(&answer), ["it's", "warm up"]);
    let added = &answer["regions"][1];
    let first_ps = answer["first_event_ps"].as_i64().unwrap();
    assert_eq!(added["start_ps"], first_ps + 10_000_000_000);
    assert_eq!((&added["end_ps"], &added["rank"]), (&json!(first_ps + 12_000_000_000_i64), &Value::Null));
    assert_eq!(regions(&["--rename", "warm up=compile"]).0, Some(0));
    let (_, deleted, _) = regions(&["--delete", "it's", "--delete", "compile"]);
    assert!(deleted.contains("--add 'compile=10ms..12ms'"), "{deleted}");
    assert!(deleted.contains(r"--add 'it'\''s=0ps..1µs'"), "{deleted}");
    assert_eq!(regions(&["--add", "compile=10ms..12ms"]).0, Some(0), "what the deletion printed");
    assert_eq!(regions(&["--add", "µ=0ps..1µs", "--rank", "0"]).0, Some(0));
    for (wrong, code, says) in [
        (&["--add", "compile=1ms..2ms"][..], 1, "has the name \"compile\" already"),
        (&["--delete", "gone"], 1, "no user added a region \"gone\""),
        (&["--rename", "compile=µ"], 1, "has the name \"µ\" already"),
        (&["--add", "=1ms..2ms"], 1, "cannot be the name of a region"),
        (&["--add", "late=2ms..1ms"], 2, "ends before it begins"),
        (&["--add", "late"], 2, "write a name and two times"),
        (&["--delete", "compile", "--delete", "gone"], 1, "no user added"),
    ] {
        let (found, _, error) = regions(wrong);
        assert_eq!(found, Some(code), "{wrong:?}: {error}");
        assert!(error.contains(says), "{wrong:?}: {error}");
    }
    let left = users(&json_of(&store, &["regions", "small", "--output-format", "json"]));
    assert_eq!(left, ["µ", "compile"], "a refused change changes nothing");
}

#[test]
fn damaged_notes_are_told_and_lose_nothing() {
    let (stage, store) = small();
    succeed(&store, &["regions", "small", "--add", "a=1ms..2ms"]);
    let path = stage.store.find("small").unwrap().dir.join("notes.json");
    fs::write(&path, "{\"format\": 1, \"regions\": [{").unwrap();
    for command in [&["regions", "small"][..], &["regions", "small", "--add", "b=1ms..2ms"]] {
        let (code, _, error) = nprof(&store, command);
        assert_eq!(code, Some(1));
        assert!(error.contains("notes.json: these notes cannot be used"), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"format\": 1, \"regions\": [{");
    succeed(&store, &["summary", "small"]);
    bundle(RanksOf::all(&stage.store.find("small").unwrap()).into(), Work::IN_PLACE).unwrap();
}

#[tokio::test]
async fn the_api_changes_what_the_page_and_its_file_show() {
    let (stage, path) = (Stage::new(), "/api/profiles/small/notes");
    let ask = async |method: &str, more: &str, body: Value| {
        let request = request(method, &format!("{path}{more}")).body(Body::from(body.to_string())).unwrap();
        let answer = stage.ask(request).await;
        (answer.status, answer.json())
    };
    assert_eq!(stage.json(path).await, json!({"regions": []}));
    let region = json!({"name": "a b", "rank": null, "start_ps": 5, "end_ps": 9});
    let (status, notes) = ask("POST", "/regions", region.clone()).await;
    assert_eq!((status, &notes["regions"][0]), (StatusCode::CREATED, &region));
    assert_eq!(ask("POST", "/regions", region).await.0, StatusCode::CONFLICT);
    assert_eq!(ask("POST", "/regions", json!({"name": "x"})).await.0, StatusCode::BAD_REQUEST);
    let wrong = json!({"name": "x", "rank": null, "start_ps": 9, "end_ps": 5});
    assert_eq!(ask("POST", "/regions", wrong).await.0, StatusCode::BAD_REQUEST);
    let (status, notes) = ask("PATCH", "/regions/a%20b", json!({"name": "c"})).await;
    assert_eq!((status, &notes["regions"][0]["name"]), (StatusCode::OK, &json!("c")));
    let all = stage.json("/api/profiles/small/regions").await;
    assert_eq!(users(&all), ["c"]);
    let question = Question::parse(path, "").unwrap();
    let of_file = bundle(RanksOf::all(&stage.store.find("small").unwrap()).into(), Work::IN_PLACE).unwrap();
    assert_eq!(
        of_file.notes.regions,
        [NotedRegion { name: "c".to_owned(), rank: None, start_ps: 5, end_ps: 9 }]
    );
    let opened = OpenBundle::<Vec<u8>>::new(of_file).unwrap();
    let answered = serde_json::to_value(answer(&&opened, &question, Work::IN_PLACE).unwrap()).unwrap();
    assert_eq!(answered, stage.json(path).await);
    assert_eq!(ask("DELETE", "/regions/c", Value::Null).await, (StatusCode::OK, json!({"regions": []})));
    assert_eq!(ask("DELETE", "/regions/c", Value::Null).await.0, StatusCode::NOT_FOUND);
}
