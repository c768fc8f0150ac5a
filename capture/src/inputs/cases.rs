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
pub static CASES: [Case; 25] = [
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
    case("ntff:b.ntff ntff:a.ntff", "- ntff b.ntff, - ntff a.ntff", "b.ntff a.ntff"),
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
/// `flex0` to `flex3` (the rank), `torch`, `log`; `kineto`, PyTorch's without a device.
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
        "kineto" => {
            br#"{"schemaVersion":1,"traceEvents":[{"name":"aten::add","ph":"X","pid":9,"ts":1}]}"#.to_vec()
        }
        "log" => b"~~~~ Ideal/Total Cycles ~~~~\nadd-opCatScalar  7\n".to_vec(),
        other => other.as_bytes().to_vec(),
    }
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
