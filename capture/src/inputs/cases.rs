//! Test cases for files that arrive together, with the expected profiles. All entry points for
//! files share this list.

use super::{Candidate, FileHead, Plans, Unplanned, plan};

/// A set of files, with the expected plans and profiles.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The files, each with its kind before a colon. [`sample`] makes the kinds.
    pub files: &'static str,
    /// Expected plans if all files are one profile: rank, format and files of each plan.
    pub plans: &'static str,
    /// Expected profiles if the files are dropped together: the files of each.
    pub profiles: &'static str,
}

const fn case(files: &'static str, plans: &'static str, profiles: &'static str) -> Case {
    Case { files, plans, profiles }
}

/// All cases.
pub static CASES: [Case; 40] = [
    case("json:a.json", "- trace_event a.json", "a.json"),
    case("json:a.json json:b.json", "- trace_event a.json, - trace_event b.json", "a.json | b.json"),
    case(
        "json:rank_1.json json:rank_0.json",
        "0 trace_event rank_0.json, 1 trace_event rank_1.json",
        "rank_1.json rank_0.json",
    ),
    case(
        "json:worker3.pt.trace.json.gz",
        "3 trace_event worker3.pt.trace.json.gz",
        "worker3.pt.trace.json.gz",
    ),
    // A word that only ends like `rank` tells no rank.
    case(
        "json:frank5.json json:rank2.json",
        "2 trace_event rank2.json, - trace_event frank5.json",
        "rank2.json | frank5.json",
    ),
    case(
        "json:ranking.json json:worker.json",
        "- trace_event ranking.json, - trace_event worker.json",
        "ranking.json | worker.json",
    ),
    // Signs between the word and the number, and a dimension alone.
    case(
        "json:a-rank[10].json json:a-rank[2].json json:a-rank[3].json",
        "2 trace_event a-rank[2].json, 3 trace_event a-rank[3].json, 10 trace_event a-rank[10].json",
        "a-rank[10].json a-rank[2].json a-rank[3].json",
    ),
    case(
        "json:17-TP-10.json json:17-TP-2.json",
        "2 trace_event 17-TP-2.json, 10 trace_event 17-TP-10.json",
        "17-TP-10.json 17-TP-2.json",
    ),
    // A size, and two positions of which one is there twice.
    case("json:a_tp4.json", "- trace_event a_tp4.json", "a_tp4.json"),
    case(
        "json:a_tp4.json json:a_tp8.json",
        "- trace_event a_tp4.json, - trace_event a_tp8.json",
        "a_tp4.json | a_tp8.json",
    ),
    case(
        "json:17-TP-3.json json:18-TP-3.json",
        "- trace_event 17-TP-3.json, - trace_event 18-TP-3.json",
        "17-TP-3.json | 18-TP-3.json",
    ),
    // Names without a rank: numbers count as numbers, all else as given.
    case(
        "json:t_10.json json:b.json json:t_9.json json:a.json",
        "- trace_event t_9.json, - trace_event b.json, - trace_event t_10.json, - trace_event a.json",
        "t_10.json | b.json | t_9.json | a.json",
    ),
    case(
        "neuron:rank_0.json json:rank_1.json",
        "0 neuron_json rank_0.json, 1 trace_event rank_1.json",
        "rank_0.json rank_1.json",
    ),
    case("ntff:profile.NTFF neff:file.neff", "- ntff profile.NTFF+file.neff", "profile.NTFF file.neff"),
    // Nothing says that these are of one job.
    case("ntff:b.ntff ntff:a.ntff", "- ntff b.ntff, - ntff a.ntff", "b.ntff | a.ntff"),
    case("ntff:f_0.ntff ntff:f_1.ntff", "- ntff f_0.ntff, - ntff f_1.ntff", "f_0.ntff f_1.ntff"),
    case(
        "ntff:f_128.ntff ntff:f_256.ntff",
        "- ntff f_128.ntff, - ntff f_256.ntff",
        "f_128.ntff | f_256.ntff",
    ),
    case(
        "json:x_rank0.json json:y_rank0.json json:x_rank1.json",
        "0 trace_event x_rank0.json, 0 trace_event y_rank0.json, 1 trace_event x_rank1.json",
        "x_rank0.json x_rank1.json | y_rank0.json",
    ),
    // The contents decide before the names: rank, number of ranks, and times in seconds.
    case("r0of2:b.json r1of2:a.json", "0 trace_event b.json, 1 trace_event a.json", "b.json a.json"),
    case(
        "r0of2:t_rank7.json r1of2:t_rank5.json",
        "0 trace_event t_rank7.json, 1 trace_event t_rank5.json",
        "t_rank7.json t_rank5.json",
    ),
    case(
        "r0of8:control.json r1of2:test.json",
        "0 trace_event control.json, 1 trace_event test.json",
        "control.json | test.json",
    ),
    case(
        "r0of2:e0_rank0.json r0of2:e1_rank1.json",
        "0 trace_event e0_rank0.json, 1 trace_event e1_rank1.json",
        "e0_rank0.json e1_rank1.json",
    ),
    // Cycles of a process are one rank, in the order of time.
    case(
        "r0of2@500:step_20_rank0.json r1of2@500:step_20_rank1.json r0of2@100:step_10_rank0.json \
         r1of2@100:step_10_rank1.json",
        "0 trace_event step_10_rank0.json+step_20_rank0.json, 1 trace_event \
         step_10_rank1.json+step_20_rank1.json",
        "step_20_rank0.json step_20_rank1.json step_10_rank0.json step_10_rank1.json",
    ),
    case(
        "torch@500:n_4000.20.pt.trace.json torch@100:n_4000.10.pt.trace.json",
        "- trace_event n_4000.10.pt.trace.json+n_4000.20.pt.trace.json",
        "n_4000.20.pt.trace.json n_4000.10.pt.trace.json",
    ),
    // Two processes at the same time, and one that ran before.
    case(
        "torch@500:n_40.20.pt.trace.json torch@500:n_41.20.pt.trace.json torch@100:n_42.10.pt.trace.json",
        "- trace_event n_40.20.pt.trace.json, - trace_event n_41.20.pt.trace.json, - trace_event \
         n_42.10.pt.trace.json",
        "n_40.20.pt.trace.json n_41.20.pt.trace.json | n_42.10.pt.trace.json",
    ),
    // Two runs of one job, and two files of one rank at one time.
    case(
        "r0of2@100:run_1_rank0.json r0of2@500:run_2_rank0.json r1of2@500:run_2_rank1.json",
        "0 trace_event run_1_rank0.json, 0 trace_event run_2_rank0.json, 1 trace_event run_2_rank1.json",
        "run_1_rank0.json | run_2_rank0.json run_2_rank1.json",
    ),
    case(
        "r0of1@100:a_step_1.json r0of1@100:a_step_2.json",
        "0 trace_event a_step_1.json, 0 trace_event a_step_2.json",
        "a_step_1.json | a_step_2.json",
    ),
    case(
        "ntff:profile_rank_10.ntff neff:f.neff ntff:profile_rank_2.ntff",
        "2 ntff profile_rank_2.ntff+f.neff, 10 ntff profile_rank_10.ntff+f.neff",
        "profile_rank_10.ntff f.neff profile_rank_2.ntff",
    ),
    case(
        "json:x.json json:rank_1.json ntff:profile_rank_0.ntff json:rank_0.json neff:f.neff",
        "0 ntff profile_rank_0.ntff+f.neff, 0 trace_event rank_0.json, 1 trace_event rank_1.json, \
         - trace_event x.json",
        "profile_rank_0.ntff f.neff | rank_1.json rank_0.json | x.json",
    ),
    // The names are no hints, so the contents decide.
    case("neff:one.bin ntff:two.bin", "- ntff two.bin+one.bin", "one.bin two.bin"),
    case("json:rank_0.ntff", "0 trace_event rank_0.ntff", "rank_0.ntff"),
    case("neff:file.neff", "alone file.neff", "file.neff"),
    // The files of an AIU's rank are its jobs; the process id tells the rank.
    case(
        "flex0:job_b.json flex1:other.json flex0:job_a.json log:compiler.log",
        "0 aiu job_b.json+job_a.json+compiler.log, 1 aiu other.json+compiler.log",
        "job_b.json other.json job_a.json compiler.log",
    ),
    case(
        "flex0:rank_1.json flex0:rank_0.json log:rank_1.log",
        "0 aiu rank_0.json, 1 aiu rank_1.json+rank_1.log",
        "rank_1.json rank_0.json rank_1.log",
    ),
    // PyTorch's trace of the only rank.
    case(
        "flex3:job.json torch:t.pt.trace.json",
        "3 aiu job.json+t.pt.trace.json",
        "job.json t.pt.trace.json",
    ),
    // PyTorch's trace without work on the device: it goes with the runtime's traces, not alone.
    case(
        "flex3:job.json kineto:t.pt.trace.json flex3:other.json",
        "3 aiu job.json+other.json+t.pt.trace.json",
        "job.json t.pt.trace.json other.json",
    ),
    case(
        "kineto:t_worker_1.pt.trace.json flex0:a.json flex1:b.json log:c.log",
        "0 aiu a.json+c.log, 1 aiu t_worker_1.pt.trace.json+b.json+c.log",
        "t_worker_1.pt.trace.json a.json b.json c.log",
    ),
    case("kineto:t.pt.trace.json", "- trace_event t.pt.trace.json", "t.pt.trace.json"),
    case("log:compiler.log", "alone compiler.log", "compiler.log"),
    case("ntff:a.ntff neff:b.neff neff:c.neff", "several b.neff c.neff", "a.ntff b.neff c.neff"),
];

/// First bytes of a small file of this kind: `ntff`, `neff`, `json`, `neuron`, `object`; of an AIU
/// `flex0` to `flex3` (the rank), `torch`, `log`; `kineto`, PyTorch's without a device; of PyTorch
/// with a GPU `r0of2` (rank 0 of 2 ranks), also `r0of2@100` and `torch@100` (the time in seconds).
#[must_use]
pub fn sample(kind: &str) -> Vec<u8> {
    match kind {
        "ntff" => b"\x05\x10\0\0\0\0\0\0\0".to_vec(),
        "neff" => b"\x02\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0".to_vec(),
        "json" => br#"{"traceEvents":[]}"#.to_vec(),
        "object" => br#"{"a":1}"#.to_vec(),
        "neuron" => br#"{"summary":[{}]}"#.to_vec(),
        "flex0" | "flex1" | "flex3" => {
            let rank = &kind["flex".len()..];
            format!(r#"[{{"ph":"X","pid":{rank},"tid":1,"ts":1,"attr":{{"TS1":"1"}}}}]"#).into_bytes()
        }
        "torch" => {
            br#"{"schemaVersion":1,"traceEvents":[{"name":"aiuLaunch","ph":"X","pid":9,"ts":1}]}"#.to_vec()
        }
        kind if kind.starts_with('r') || kind.starts_with("torch@") => placed(kind),
        "kineto" => {
            br#"{"schemaVersion":1,"traceEvents":[{"name":"aten::add","ph":"X","pid":9,"ts":1}]}"#.to_vec()
        }
        "log" => b"~~~~ Ideal/Total Cycles ~~~~\nadd-opCatScalar  7\n".to_vec(),
        other => other.as_bytes().to_vec(),
    }
}

/// A trace of PyTorch, such as `r0of2@100`: rank, number of ranks, and seconds since 2017 of its
/// events, which take a second.
fn placed(kind: &str) -> Vec<u8> {
    let (process, time) = kind.split_once('@').unwrap_or((kind, ""));
    let stated = process.strip_prefix('r').and_then(|stated| stated.split_once("of"));
    let stated = stated.map_or_else(String::new, |(rank, size)| {
        format!(r#""distributedInfo":{{"rank":{rank},"world_size":{size}}},"#)
    });
    let event = |us: u64| format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{us},"dur":5}}"#);
    let first_us = time.parse().map_or(1_000, |seconds: u64| 1_500_000_000_000_000 + seconds * 1_000_000);
    let events = [event(first_us), event(first_us + 1_000_000)].join(",");
    format!(r#"{{"schemaVersion":1,{stated}"traceEvents":[{events}]}}"#).into_bytes()
}

/// The files of a case: name and bytes.
#[must_use]
pub fn files(case: &str) -> Vec<(&str, Vec<u8>)> {
    case.split(' ').filter_map(|file| file.split_once(':')).map(|(kind, name)| (name, sample(kind))).collect()
}

/// The files of a case, recognised.
#[must_use]
pub fn candidates(case: &str) -> Vec<Candidate> {
    files(case).iter().map(|(name, head)| Candidate::of(FileHead { name, head })).collect()
}

/// The plans of these files as one profile, written as in [`Case::plans`].
#[must_use]
pub fn described(candidates: &[Candidate]) -> String {
    let name = |file: usize| candidates[file].name.as_str();
    match plan(candidates) {
        Ok(Plans { plans, .. }) => {
            let line = |plan: &super::Plan| {
                let rank = plan.rank.map_or("-".to_owned(), |rank| rank.to_string());
                let files: Vec<&str> = plan.files.iter().map(|part| name(part.file)).collect();
                format!("{rank} {} {}", plan.importer.name, files.join("+"))
            };
            plans.iter().map(line).collect::<Vec<_>>().join(", ")
        }
        Err(Unplanned::Nothing) => "nothing".to_owned(),
        Err(Unplanned::Alone(file)) => format!("alone {}", name(file)),
        Err(Unplanned::Several(first, second)) => format!("several {} {}", name(first), name(second)),
    }
}

/// The profiles, written as in [`Case::profiles`].
#[must_use]
pub fn listed(profiles: &[Vec<usize>], candidates: &[Candidate]) -> String {
    let names = |files: &Vec<usize>| {
        files.iter().map(|&file| candidates[file].name.as_str()).collect::<Vec<_>>().join(" ")
    };
    profiles.iter().map(names).collect::<Vec<_>>().join(" | ")
}
