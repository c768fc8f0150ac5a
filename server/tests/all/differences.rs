//! `nprof diff` on runs whose difference is known.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use nprof_engine::exec::Work;
use nprof_engine::insight::difference::WorkKey;
use nprof_engine::wire::questions::{ComparisonQuestion, PairedTracksQuestion, answer};
use serde_json::Value;

use crate::finding_answers::{app, json};
use crate::ranks::{json_of, nprof, shared, succeed};
use crate::stage::Stage;

const STEPS: usize = 8;

/// The kernels of a step, with the operators that launch them and their times in nanoseconds.
const KERNELS: [(&str, &str, i64); 6] = [
    ("void gemm<64>(float*)", "aten::mm", 90_000),
    ("add", "aten::add", 30_000),
    ("void gemm<64>(float*)", "aten::mm", 90_000),
    ("softmax", "aten::softmax", 50_000),
    ("copy", "aten::copy_", 12_000),
    ("adam", "adam", 40_000),
];

/// The trace of a rank: steps of kernels, each a little longer or shorter than stated. `factor`
/// multiplies the time of a kernel in a step.
fn trace(seed: u64, rank: usize, factor: impl Fn(&str, usize) -> f64) -> String {
    let mut events = Vec::new();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(rank as u64);
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f64 / f64::from(1 << 24) - 0.5) * 0.01
    };
    let event = |category: &str, name: &str, thread: usize, start: i64, length: i64, more: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{thread},"tid":7,"ts":{}.{:03},"dur":{}.{:03},"args":{{{more}}}}}"#,
            start / 1000,
            start % 1000,
            length / 1000,
            length % 1000
        )
    };
    let (mut host, mut device, mut correlation) = (1_000_000_i64, 1_100_000_i64, 1);
    for step in 0..STEPS {
        let begin = host;
        for (name, operator, length) in KERNELS {
            let length = (length as f64 * factor(name, step) * (1.0 + noise())) as i64;
            let launch = format!(r#""correlation":{correlation}"#);
            events.push(event("cpu_op", operator, 100, host, 9_000, ""));
            events.push(event("cuda_runtime", "cudaLaunchKernel", 100, host + 2_000, 5_000, &launch));
            let start = device.max(host + 8_000) + 1_000;
            let of_device = format!(r#""correlation":{correlation},"stream":7,"device":0"#);
            events.push(event("kernel", name, 0, start, length, &of_device));
            (host, device, correlation) = (host + 10_000, start + length, correlation + 1);
        }
        // The host waits for the device, then loads the next input.
        host = device + 20_000;
        events.push(event(
            "user_annotation",
            &format!("ProfilerStep#{step}"),
            100,
            begin,
            host - begin - 1_000,
            "",
        ));
    }
    let mut text = String::new();
    let head = format!(
        r#"{{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"X"}}],"distributedInfo":{{"rank":{rank},"world_size":2}},"traceEvents":["#
    );
    write!(text, "{head}{}]}}", events.join(",\n")).unwrap();
    text
}

/// Stores a run of two ranks under a name.
fn store_run(store: &Path, name: &str, seed: u64, factor: impl Fn(&str, usize) -> f64 + Copy) {
    let dir = tempfile::tempdir().unwrap();
    let files: Vec<String> = (0..2)
        .map(|rank| {
            let path = dir.path().join(format!("{name}_rank{rank}.json"));
            fs::write(&path, trace(seed, rank, factor)).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    succeed(store, &[&["ingest", "--as-ranks", "--db-bucket", name], &files[..]].concat());
}

/// A store with two runs of one program, one with a slow softmax in every second step, and one with
/// another kernel for products.
fn runs() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    store_run(&store, "a", 1, |_, _| 1.0);
    store_run(&store, "again", 2, |_, _| 1.0);
    store_run(&store, "slow", 3, |name, step| if name == "softmax" && step % 2 == 1 { 1.2 } else { 1.0 });
    (dir, store)
}

fn diff(store: &Path, arguments: &[&str]) -> Value {
    json_of(store, &[&["diff", "--output-format", "json"], arguments].concat())
}

fn of(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap_or_else(|| panic!("{key}: {row}"))
}

fn difference(of_time: &Value) -> i64 {
    of(of_time, "b_ps") - of(of_time, "a_ps")
}

#[test]
fn an_operator_that_is_slower_in_every_second_step_comes_first() {
    let (_dir, store) = runs();
    let found = diff(&store, &["a", "slow"]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows[0]["name"], "softmax", "{found}");
    assert!((difference(&rows[0]) as f64 / of(&rows[0], "a_ps") as f64 - 0.1).abs() < 0.01, "{found}");
    let by_operator = diff(&store, &["a", "slow", "--by", "operator"]);
    assert_eq!(by_operator["rows"][0]["name"], "aten::softmax");
    for of_runs in [&found, &by_operator] {
        let sum: i64 = of_runs["rows"].as_array().unwrap().iter().map(difference).sum();
        assert_eq!(sum, difference(&of_runs["total"]), "{of_runs}");
        assert_eq!((&of_runs["a"]["repetitions"], &of_runs["a"]["ranks"]), (&8.into(), &2.into()));
    }
}

#[test]
fn the_answer_does_not_depend_on_the_subject_of_rows() {
    let (_dir, store) = runs();
    // Each profile has one rank, with another number.
    let pairs: [&[&str]; 2] = [&["a", "slow"], &["a", "slow", "--ranks", "0", "--b-ranks", "1"]];
    for pair in pairs {
        let by_name = diff(&store, pair);
        for by in ["track", "layer", "hlo", "operator", "line", "rank"] {
            let found = diff(&store, &[pair, &["--by", by]].concat());
            for key in ["verdict", "answer", "total", "doubts"] {
                assert_eq!(found[key], by_name[key], "{by}");
            }
            let rows = found["rows"].as_array().unwrap();
            let sum: i64 = rows.iter().map(difference).sum();
            assert_eq!(sum, difference(&found["total"]), "{by}");
            let is_absent = ["layer", "hlo", "line"].contains(&by);
            let shown = if is_absent { "name" } else { by };
            assert_eq!((found["note"].is_string(), found["by"].as_str()), (is_absent, Some(shown)));
            assert!(rows.iter().all(|row| row["name"] != "(none)"), "{found}");
        }
    }
    let (_, text, _) = nprof(&store, &["diff", "a", "slow", "--by", "layer"]);
    assert!(text.contains("no work of these runs has a known layer: rows are by name\n"), "{text}");
    let found = diff(&store, &["a", "slow", "--ranks", "0", "--b-ranks", "1", "--by", "rank"]);
    assert_eq!(
        (&found["rows"][0]["name"], &found["rows"][0]["renamed"]),
        (&"rank 0".into(), &"rank 1".into())
    );
}

#[test]
fn another_amount_of_work_is_not_faster_or_slower() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let demo = |name: &str, more: &[&str]| {
        let fixed = ["demo", "--ingest-only", "--fault", "none", "--db-bucket", name];
        succeed(&store, &[&fixed, more].concat());
    };
    demo("whole", &["--events", "20000"]);
    demo("again", &["--events", "20000", "--seed", "2"]);
    demo("half", &["--events", "10000"]);
    let found = diff(&store, &["whole", "half"]);
    assert_eq!(found["verdict"], "inconclusive", "{}", found["answer"]);
    let doubt = found["doubts"][0].as_str().unwrap();
    assert!(doubt.starts_with("the runs do another amount of work: "), "{doubt}");
    assert_eq!(diff(&store, &["whole", "again"])["verdict"], "same");
    let (code, ..) = nprof(&store, &["diff", "half", "whole", "--fail-on", "total_time > +2%"]);
    assert_eq!(code, Some(4));
}

#[test]
fn unrelated_traces_are_not_compared_because_of_a_name() {
    let Some(dir) = shared("data/chrome") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("store");
    for (name, file) in [("flow", "flow.json"), ("webview", "webview.json.gz")] {
        succeed(&store, &["ingest", dir.join(file).to_str().unwrap(), "--db-bucket", name]);
    }
    assert_eq!(diff(&store, &["flow", "webview"])["verdict"], "inconclusive");
}

#[test]
fn two_runs_of_one_program_are_the_same() {
    let (_dir, store) = runs();
    for pair in [["a", "again"], ["a", "a"]] {
        let found = diff(&store, &pair);
        assert_eq!(found["verdict"], "same", "{found}");
        let certain = found["rows"].as_array().unwrap().iter().filter(|row| row["is_certain"] == true);
        assert_eq!(certain.count(), 0, "{found}");
    }
    let (one, other) = (diff(&store, &["a", "slow"]), diff(&store, &["slow", "a"]));
    assert_eq!(difference(&one["total"]), -difference(&other["total"]));
    assert_eq!((of(&one["total"], "low"), of(&one["total"], "high")), {
        (-of(&other["total"], "high"), -of(&other["total"], "low"))
    });
}

#[test]
fn parts_of_a_profile_are_compared_with_each_other() {
    let (_dir, store) = runs();
    let ranks = diff(&store, &["a", "--ranks", "0", "--b-ranks", "1"]);
    assert_eq!((&ranks["a"]["title"], &ranks["b"]["title"]), (&"a rank 0".into(), &"a rank 1".into()));
    let steps = diff(&store, &["slow", "--region", "ProfilerStep#2", "--b-region", "ProfilerStep#3"]);
    assert_eq!((&steps["rows"][0]["name"], &steps["a"]["repetitions"]), (&"softmax".into(), &1.into()));
    assert_eq!(steps["total"]["low"], Value::Null, "one repetition has no bounds");
    let of_ranks = diff(&store, &["a", "slow", "--by", "rank"]);
    let names: Vec<&str> =
        of_ranks["rows"].as_array().unwrap()[..2].iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"rank 0") && names.contains(&"rank 1"), "{of_ranks}");
    let (code, _, error) = nprof(&store, &["diff", "a"]);
    assert!(code == Some(1) && error.contains("--b-region"), "{error}");
    let (code, _, error) = nprof(&store, &["diff", "a", "again", "--region", "nowhere"]);
    assert!(code == Some(1) && error.contains("no region of a is named `nowhere`"), "{error}");
}

#[test]
fn conditions_fail_a_change_that_is_more_than_chance() {
    let (_dir, store) = runs();
    let code = |arguments: &[&str]| nprof(&store, &[&["diff"], arguments].concat());
    let (passed, ..) = code(&["a", "again", "--fail-on", "total_time > +1%"]);
    assert_eq!(passed, Some(0));
    let (failed, _, error) = code(&["a", "slow", "--fail-on", "work:softmax > 5%", "--even-if-noise"]);
    assert!(failed == Some(3) && error.contains("softmax changed by +"), "{error}");
    let (misspelt, _, error) = code(&["a", "again", "--fail-on", "work:softmaks > 5%"]);
    assert!(misspelt == Some(4) && error.contains("no row has this name"), "{error}");
    let (gain, ..) = code(&["slow", "a", "--fail-on", "total_time < -0.1%", "--even-if-noise"]);
    assert_eq!(gain, Some(3));
    // One step of each has no bounds, and the difference is not much.
    let steps = ["a", "slow", "--region", "ProfilerStep#3", "--fail-on", "total_time > +2%"];
    let (undecided, _, error) = code(&steps);
    assert!(undecided == Some(4) && error.contains("cannot tell"), "{error}");
    let (wrong, _, error) = code(&["a", "again", "--fail-on", "total_tim > 2 ms"]);
    assert!(wrong == Some(2) && error.contains("the nearest is `total_time`"), "{error}");
}

#[test]
fn one_grammar_of_conditions_has_both_numbers_and_the_words_of_the_user() {
    let (dir, store) = runs();
    let code = |arguments: &[&str]| nprof(&store, arguments);
    let of_change = ["diff", "a", "slow", "--even-if-noise", "--fail-on", "work:softmax > 5%"];
    let (failed, _, error) = code(&of_change);
    assert!(failed == Some(3) && error.contains("softmax changed by +"), "{error}");
    assert!(error.contains("work:softmax > 5%: ") && error.contains(" %), more than 5% ("), "{error}");
    // Conditions about one profile are those of the second one.
    for (command, profiles) in [("diff", &["a", "slow"][..]), ("summary", &["slow"]), ("ranks", &["slow"])] {
        let with = |condition: &str, expected: Option<i32>, part: &str| {
            let (found, _, error) = code(&[&[command], profiles, &["--fail-on", condition]].concat());
            assert!(found == expected && error.contains(part), "{command} {condition}: {found:?} {error}");
        };
        with("idle_time > 1 us", Some(3), ", more than 1 us");
        with("idle_time > 1 s", Some(0), "");
        with("wait > 90%", Some(0), "");
        with("finding:errors > 90%", Some(0), "");
        with("idle_time > 3%", Some(2), "idle_time is a time");
        with("idel_time > 3 ms", Some(2), "the nearest is `idle_time`");
        with("finding:spil > 1%", Some(2), "the nearest is spill");
    }
    let (wrong, _, error) = code(&["diff", "a", "slow", "--ranks", "0", "--fail-on", "wait > 10%"]);
    assert!(wrong == Some(2) && error.contains("leave out ranks and regions"), "{error}");
    let (wrong, _, error) = code(&["summary", "a", "--fail-on", "total_time > +2%"]);
    assert!(wrong == Some(2) && error.contains("`nprof diff` checks"), "{error}");
    // A report names the condition as it was written, and goes to a file.
    let file = dir.path().join("report.xml");
    let to_file = ["--output-format", "junit", "-o", file.to_str().unwrap()];
    let conditions = ["diff", "a", "slow", "--fail-on", "finding:errors>90%", "--fail-on", "wait>90%"];
    let (kept, out, error) = code(&[&conditions[..], &to_file].concat());
    assert!(kept == Some(0) && out.is_empty() && error.contains("wrote "), "{error}");
    let report = fs::read_to_string(&file).unwrap();
    for name in ["finding:errors&gt;90%", "wait&gt;90%"] {
        assert!(report.contains(&format!("name=\"{name}\"")), "{report}");
    }
}

#[test]
fn a_baseline_stands_for_its_profile() {
    let (_dir, store) = runs();
    let (_, none, _) = nprof(&store, &["baseline"]);
    assert!(none.contains("no baselines"), "{none}");
    succeed(&store, &["baseline", "set", "main", "a"]);
    assert_eq!(diff(&store, &["main", "slow"])["a"]["profile"], "a");
    let (_, moved, _) = nprof(&store, &["baseline", "set", "main", "again"]);
    assert_eq!(moved.trim(), "main is again now; it was a");
    let listed = json_of(&store, &["baseline", "--output-format", "json"]);
    assert_eq!(
        (&listed["baselines"][0]["name"], &listed["baselines"][0]["profile"]),
        (&"main".into(), &"again".into())
    );
    succeed(&store, &["baseline", "remove", "main"]);
    let (code, _, error) = nprof(&store, &["diff", "main", "slow"]);
    assert!(code == Some(1) && error.contains("no profile \"main\""), "{error}");
}

#[test]
fn all_forms_have_the_same_numbers() {
    let (_dir, store) = runs();
    let found = diff(&store, &["a", "slow"]);
    let said = found["answer"].as_str().unwrap();
    let (_, text, _) = nprof(&store, &["diff", "a", "slow"]);
    let (_, markdown, _) = nprof(&store, &["diff", "a", "slow", "--output-format", "markdown"]);
    assert!(text.replace("\n  ", " ").starts_with(said), "{text}");
    assert!(markdown.starts_with("**slow is ") || markdown.starts_with("**no difference"), "{markdown}");
    assert!(markdown.contains("`softmax`"), "{markdown}");
    let (_, csv, _) = nprof(&store, &["diff", "a", "slow", "--output-format", "csv"]);
    let first =
        format!("softmax,\"\",work,{},{},", of(&found["rows"][0], "a_ps"), of(&found["rows"][0], "b_ps"));
    assert!(csv.lines().nth(1).unwrap().starts_with(&first), "{csv}");
    let (_, short, _) = nprof(&store, &["diff", "a", "slow", "--limit", "2", "--output-format", "csv"]);
    assert_eq!(short.lines().count(), 6, "{short}");
    let question = ComparisonQuestion::about("a", "slow", WorkKey::Name);
    let asked = json(&answer(&app(&store), &question.into(), Work::IN_PLACE).unwrap());
    for (key, value) in asked.as_object().unwrap() {
        assert_eq!(&found[key], value, "{key}");
    }
}

#[test]
fn rows_stand_by_size_and_findings_that_came_are_named() {
    let (_dir, store) = runs();
    let found = diff(&store, &["a", "slow"]);
    let rows = found["rows"].as_array().unwrap();
    let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[kinds.len() - 2..], ["beside", "idle"], "{found}");
    let keys = rows[..rows.len() - 2].iter().map(|row| (row["is_certain"] == true, difference(row).abs()));
    assert!(keys.collect::<Vec<_>>().is_sorted_by(|one, next| one >= next), "{found}");
    assert_eq!(found["findings"], Value::Array(Vec::new()), "{found}");
    let (_, text, _) = nprof(&store, &["diff", "a", "slow"]);
    assert!(text.contains("\nboth runs have the same findings\n"), "{text}");
    // One sign is a minus, and zero has none.
    assert!(!text.contains(" -0") && text.contains('−'), "{text}");

    for (name, fault) in [("cool", "none"), ("hot", "throttle")] {
        let demo = ["demo", "--ingest-only", "--events", "40000", "--db-bucket", name, "--fault", fault];
        succeed(&store, &demo);
    }
    let found = diff(&store, &["cool", "hot"]);
    let came = found["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "throttled");
    assert_eq!(came.map(|one| &one["kind"]), Some(&"came".into()), "{}", found["findings"]);
    for form in ["text", "markdown"] {
        let (_, text, _) = nprof(&store, &["diff", "cool", "hot", "--output-format", form]);
        assert!(text.contains("new finding throttled, "), "{text}");
    }
    // Findings are those of whole runs.
    assert_eq!(diff(&store, &["cool", "hot", "--ranks", "0"])["findings"], Value::Null);
}

/// The tracks of two runs, as the API and a page with both give them.
fn tracks(store: &Path, a: &str, b: &str, region: Option<&str>) -> Value {
    let question = PairedTracksQuestion {
        profile: a.to_owned(),
        with: b.to_owned(),
        ranks: None,
        with_ranks: None,
        region: region.map(str::to_owned),
        with_region: region.map(str::to_owned),
    };
    json(&answer(&app(store), &question.into(), Work::IN_PLACE).unwrap())
}

#[test]
fn the_tracks_of_two_runs_name_where_time_is_lost() {
    let (_dir, store) = runs();
    let found = tracks(&store, "a", "slow", Some("ProfilerStep#3"));
    let [track] = &found["tracks"].as_array().unwrap()[..] else { panic!("{found}") };
    let count = KERNELS.len() as u64;
    let counts =
        ["/a/count", "/b/count", "/matched"].map(|key| track.pointer(key).unwrap().as_u64().unwrap());
    assert_eq!(counts, [count; 3], "{track}");
    let answer = found["answer"].as_str().unwrap();
    assert!(answer.starts_with("B loses most, ") && answer.contains("softmax"), "{answer}");
    let stretches = track["stretches"].as_array().unwrap();
    let sum = |key: &str| stretches.iter().map(|stretch| of(stretch, key)).sum::<i64>();
    assert_eq!(sum("a_length_ps"), of(&found["a"], "length_ps"));
    assert_eq!(sum("b_length_ps"), of(&found["b"], "length_ps"));

    // A swapped pair has the swapped stretches, and a run beside itself none that differ.
    let swapped = tracks(&store, "slow", "a", Some("ProfilerStep#3"));
    let ends = |found: &Value, key: &str| -> Vec<i64> {
        let stretches = found.pointer("/tracks/0/stretches").unwrap().as_array().unwrap();
        stretches.iter().map(|stretch| of(stretch, key)).collect()
    };
    assert_eq!(ends(&found, "a_ps"), ends(&swapped, "b_ps"));
    let same = tracks(&store, "a", "a", None);
    assert_eq!(same["answer"], "no part of the program takes longer in one of the runs");
    assert_eq!(ends(&same, "a_ps"), ends(&same, "b_ps"));
}

/// Two captures of one kernel with more and less work, of which nearly all is start-up.
#[test]
fn captures_that_are_mostly_start_up_are_compared_by_their_active_part() {
    let Some(dir) = shared("data/neuron") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("store");
    for size in ["152", "1000"] {
        let file = dir.join(format!("profile_128x128x{size}.ntff"));
        succeed(&store, &["ingest", file.to_str().unwrap(), "--db-bucket", &format!("k{size}")]);
    }
    let found = diff(&store, &["k152", "k1000"]);
    assert_eq!(found["verdict"], "slower", "{}", found["answer"]);
    assert!(of(&found["total"], "a_ps") < 20_000_000, "{}", found["total"]);
    assert!(found["times_are"].as_str().unwrap().contains("active part"), "{}", found["times_are"]);
    let sum: i64 = found["rows"].as_array().unwrap().iter().map(difference).sum();
    assert_eq!(sum, difference(&found["total"]));
    let tracks = tracks(&store, "k152", "k1000", None);
    assert_eq!(of(&tracks["a"], "length_ps"), of(&found["total"], "a_ps"));
    assert_eq!(tracks["a"]["repetition"], "active part");
}

#[tokio::test]
async fn a_server_answers_and_refuses() {
    let stage = Stage::new();
    // A trace without devices: the outermost slices of its threads are its work.
    let found = stage.json("/api/profiles/small/comparison?with=small").await;
    assert_eq!((&found["verdict"], &found["rows"][0]["name"]), (&"same".into(), &"outer".into()), "{found}");
    let refused = stage.get("/api/profiles/small/comparison?with=nobody").await;
    assert!(refused.status == 404 && refused.text().contains("nobody"), "{}", refused.text());
    let region = "/api/profiles/small/comparison/tracks?with=small&region=nowhere";
    let refused = stage.get(region).await;
    assert!(refused.status == 404 && refused.text().contains("nowhere"), "{}", refused.text());
}

/// A step of a real trace beside the same one after a change: figures of HTA's TraceDiff.
#[test]
fn the_causes_of_a_slower_step_of_a_real_trace_are_named() {
    let Some(dir) = shared("data/kineto/trace_diff") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("store");
    for name in ["control", "test"] {
        let file = dir.join(name).join(format!("{name}.json.gz"));
        succeed(&store, &["ingest", file.to_str().unwrap(), "--db-bucket", name]);
    }
    let step = diff(&store, &["control", "test", "--region", "ProfilerStep#1010"]);
    assert_eq!(step["verdict"], "slower", "{step}");
    let ms = |ps: i64| ps as f64 / 1e9;
    let total = (ms(of(&step["total"], "a_ps")), ms(of(&step["total"], "b_ps")));
    assert!((total.0 - 76.94).abs() < 0.1 && (total.1 - 122.149).abs() < 0.1, "{total:?}");
    let rows = step["rows"].as_array().unwrap();
    for (at, name, by_ms) in
        [(0, "Memcpy DtoD", 14.71), (1, "ncclKernel_AllReduce", 8.61), (2, "ncclKernel_SendRecv", 8.43)]
    {
        let row = &rows[at];
        assert!(row["name"].as_str().unwrap().starts_with(name), "{row}");
        assert!((ms(difference(row)) - by_ms).abs() < 0.01, "{row}");
    }
    assert_eq!((of(&rows[0], "a_count"), of(&rows[0], "b_count")), (3, 768));
    assert_eq!(diff(&store, &["control", "test"])["verdict"], "slower");
}
