//! Recognising and grouping: contents decide, names hint.

use super::cases::{CASES, candidates, described, files, listed, sample};
use super::directory::Why;
use super::*;
use crate::error::Error;
use crate::formats::neff::fixture as neff;
use crate::formats::ntff::fixture as ntff;
use crate::formats::perfetto::fixture as perfetto;
use crate::probe::Confidence;

#[test]
fn files_that_come_together_make_these_plans_and_profiles() {
    for case in CASES {
        let candidates = candidates(case.files);
        assert_eq!(described(&candidates), case.plans, "{}", case.files);
        assert_eq!(listed(&profiles(&candidates), &candidates), case.profiles, "{}", case.files);
    }
}

#[test]
fn a_dropped_profile_alone_plans_the_ranks_that_it_has_in_the_whole_list() {
    for case in CASES {
        let candidates = candidates(case.files);
        for profile in profiles(&candidates) {
            let alone: Vec<Candidate> = profile.iter().map(|&file| candidates[file].clone()).collect();
            for plan in described(&alone).split(", ") {
                assert!(case.plans.split(", ").any(|of_all| of_all == plan), "{plan}: {}", case.files);
            }
        }
    }
}

/// Small files of each format, with the format's name and the file's role.
fn samples() -> Vec<(&'static str, FileRole, Vec<u8>)> {
    let trace = |name, bytes: &[u8]| (name, FileRole::Trace, bytes.to_vec());
    let model = |bytes| ("ntff", FileRole::Model, bytes);
    let (header, members) = (neff::header(), neff::members());
    vec![
        trace("ntff", &ntff::varied().bytes()),
        trace("ntff", b"\x05\x10\0\0\0\0\0\0\0"),
        model([&header[..], &neff::gzip(&members)].concat()),
        model([&header[..], &members].concat()),
        model(members),
        model(neff::tar(&[("readme.txt", b""), ("kelf-0.json", b"{}")])),
        trace("neuron_json", br#"{"semaphore_update":[{"id":"2""#),
        trace("neuron_json", br#"{"metadata":[{}],"summary":[{"#),
        trace("aiu", &sample("flex0")),
        trace("aiu", &sample("torch")),
        ("aiu", FileRole::Compiler, sample("log")),
        ("aiu", FileRole::Compiler, br#"[{"ideal_cycles": 1, "op_category": "x"}]"#.to_vec()),
        trace("trace_event", b"[]"),
        trace("trace_event", b"\xef\xbb\xbf\n // why\n[{"),
        trace("trace_event", br#"[{"name":"a","ph":"X","ts":1}]"#),
        trace("trace_event", b"\n{\n \"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}], \"traceEv"),
        trace("trace_event", br#"{"traceEvents":[], "summary": [{}]}"#),
        trace("trace_event", br#"{"metadata": {"instruction": 1}, "traceEvents": ["#),
        trace("trace_event", br#"{"ph":"X"}"#),
        trace("perfetto", &perfetto::varied()),
        trace("perfetto", b"\x0a\x10\x12\x05\x0a\x03\x08\x01\x10"),
    ]
}

#[test]
fn each_sample_is_claimed_by_its_format_alone_whatever_its_name() {
    let samples = samples();
    for importer in &TABLE {
        for takes in importer.takes {
            let has = samples.iter().any(|(name, role, _)| *name == importer.name && *role == takes.role);
            assert!(has, "{} {:?} has no sample", importer.name, takes.role);
        }
    }
    for (name, role, head) in samples {
        for called in ["x.ntff", "x.neff", "x.json", "notes.txt", ""] {
            let candidate = Candidate::of(FileHead { name: called, head: &head });
            let claim =
                candidate.claim(role).unwrap_or_else(|| panic!("{name} is not recognised: {candidate:?}"));
            assert_eq!(claim.importer.name, name);
        }
        assert_eq!(claims(&head).len(), 1, "{:?}", claims(&head));
    }
}

#[test]
fn any_cut_of_a_sample_is_recognised_without_a_panic() {
    for (.., head) in samples() {
        for end in 0..head.len().min(2_000) {
            let _ = recognise(&head[..end]);
        }
    }
}

#[test]
fn json_of_unknown_keys_is_a_trace_only_where_nothing_better_is_there() {
    let confidence = |head: &[u8]| claims(head).first().map(|claim| claim.confidence);
    assert_eq!(confidence(br#"{"ranks": 8}"#), Some(Confidence::Possible));
    assert_eq!(confidence(b"[1, 2]"), Some(Confidence::Possible));
    assert_eq!(confidence(b"[INFO] begin"), Some(Confidence::Possible));
    assert_eq!(confidence(b"[{\"ph\":\"B\""), Some(Confidence::Likely));
    assert_eq!(confidence(b"\x05"), Some(Confidence::Possible));
}

#[track_caller]
fn check_refused(head: &[u8], expected: &str) {
    let FileKind::Refused(refusal) = recognise(head) else { panic!("{expected}: it is not refused") };
    let message = Error::from(refusal).to_string();
    assert!(message.contains(expected), "{message}");
}

#[test]
fn everything_else_says_what_it_seems_to_be() {
    check_refused(b"", "the file is empty");
    check_refused(b"\n", "the file is empty");
    check_refused(b" \r\n\t\n", "the file is empty");
    check_refused(b"\x04\0\0\0", "NTFF version 4 is not supported");
    check_refused(b"\x0a\x03abc", "Perfetto");
    check_refused(b"\x0a\x80\x02\x08\x01\x12\x09/host:CPU\x1a", "XPlane");
    check_refused(b"\x0a\x10\x12\x0d/device:TPU:0\x1a", "XPlane");
    check_refused(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "Perfetto");
    check_refused(b"\x04\x22\x4d\x18", "lz4");
    check_refused(b"SQLite format 3\0", "SQLite");
    check_refused(b"<!doctype html>", "web page");
    check_refused(b"hello", "not a trace that nprof can read");
    check_refused(b"\x82\x01", "ntrace.pb");
    check_refused(b"NPROF\r\n\x1a\x01\0", "segment of nprof's own store");
    check_refused(b"\xff\xfe[\0", "UTF-16");
}

#[test]
fn packings_are_told_by_their_first_bytes() {
    let packing = |head: &[u8]| match recognise(head) {
        FileKind::Packed(packing) => Some(packing),
        _ => None,
    };
    assert_eq!(packing(b"\x1f\x8b\x08"), Some(PackingKind::Gzip));
    assert_eq!(packing(b"\x28\xb5\x2f\xfd"), Some(PackingKind::Zstd));
    assert_eq!(packing(b"PK\x03\x04"), Some(PackingKind::Zip));
    assert_eq!(packing(&neff::tar(&[("dlrm_8_ranks/rank-0.json", b"{}")])), Some(PackingKind::Tar));
    assert_eq!(packing(&neff::members()), None, "a program, and a tar only besides");
}

/// Checks a directory's traces, the files beside them, and those that are left out.
#[track_caller]
fn check_directory(directory: &str, expected: &str) {
    let candidates = candidates(directory);
    let choice = choose(&candidates);
    let of = |files: &[usize]| listed(&[files.to_vec()], &candidates);
    let left_out: Vec<usize> = choice.left_out.iter().map(|left_out| left_out.file).collect();
    let said = [of(&choice.traces), of(&choice.beside), of(&left_out)].join(" / ");
    assert_eq!(said, expected, "{directory}");
}

#[test]
fn a_directory_gives_the_traces_of_one_format() {
    check_directory("json:t.json no:notes.txt", "t.json /  / ");
    check_directory(
        "ntff:profile_rank_10.ntff ntff:profile_rank_2.ntff ntff:profile.ntff neff:file.neff json:a.json",
        "profile_rank_10.ntff profile_rank_2.ntff / file.neff / profile.ntff a.json",
    );
    check_directory("ntff:b.ntff ntff:a.ntff json:x.json", "b.ntff a.ntff /  / x.json");
    check_directory("neuron:n.json json:t.json", "n.json /  / t.json");
    // A trace is chosen whatever its name. A file with the name of a trace needs a reason to be
    // left out.
    check_directory("json:t.txt no:bad.json", "t.txt /  / bad.json");
    check_directory("flex0:a.json log:run.log json:x.json no:notes.log", "a.json / run.log / x.json");
    check_directory("no:notes.txt no:a.bin", " /  / ");
    check_directory("no:notes.ntff.gz", " /  / notes.ntff.gz");
}

#[test]
fn what_hardly_looks_like_a_trace_counts_by_its_name() {
    let log = FileHead { name: "run.log", head: b"[INFO] begin" };
    let config = FileHead { name: "config.json", head: br#"{"ranks": 8}"# };
    assert_eq!(choose(&[log, config].map(Candidate::of)).traces, [1]);
}

#[test]
fn what_is_left_out_has_its_reason() {
    let choice = choose(&candidates("ntff:profile_rank_0.ntff ntff:b.ntff no:c.json"));
    let reasons: Vec<String> = choice
        .left_out
        .into_iter()
        .map(|left_out| match left_out.why {
            Why::Others(kind) => kind,
            Why::Refused(refusal) => refusal.what.into_owned(),
        })
        .collect();
    assert_eq!(reasons, ["profile_rank_<i>.ntff", "this is not a trace that nprof can read"]);
}

#[test]
fn archives_that_were_not_opened_go_by_their_names() {
    let zip = |name| Candidate::new(name, FileKind::Packed(PackingKind::Zip));
    let files = [zip("rank_0.zip"), zip("all.zip"), zip("rank_1.zip")];
    assert_eq!(profiles(&files), [vec![0, 2], vec![1]]);
    let plans = plan(&files).unwrap();
    assert_eq!((plans.plans.len(), plans.refused.len()), (0, 3));
}

#[test]
fn a_file_that_no_trace_takes_is_not_used() {
    let plans = plan(&candidates("json:a.json neff:b.neff")).unwrap();
    assert_eq!((plans.plans.len(), plans.unused), (1, vec![1]));
    assert_eq!(plan(&[]), Err(Unplanned::Nothing));
    assert_eq!(files("json:a b:c").len(), 2);
    assert_eq!(sample("neff").len(), 16);
}

/// Checks the profiles of files of one directory, and those of the same files alone.
#[track_caller]
fn check_whole(files: &str, whole: &str, alone: &str) {
    let mut candidates = candidates(files);
    assert_eq!(listed(&profiles(&candidates), &candidates), alone, "{files}");
    candidates.iter_mut().for_each(|candidate| candidate.whole = Some(0));
    assert_eq!(listed(&profiles(&candidates), &candidates), whole, "{files}");
}

#[test]
fn files_of_a_directory_are_one_job_unless_something_contradicts() {
    check_whole("json:x.json json:y.json", "x.json y.json", "x.json | y.json");
    check_whole("r0of2:x.json r0of8:y.json", "x.json | y.json", "x.json | y.json");
    // The same rank again is another run, but each machine can count its own ranks.
    check_whole(
        "torch@1:a_rank0.json torch@9:b_rank0.json",
        "a_rank0.json | b_rank0.json",
        "a_rank0.json | b_rank0.json",
    );
    let nodes = "torch@1:node0_rank3.json torch@9:node1_rank3.json";
    check_whole(nodes, "node0_rank3.json node1_rank3.json", "node0_rank3.json | node1_rank3.json");
    // A clock can be wrong by years.
    check_whole("r0of2@1:x.json r1of2@90000000:y.json", "x.json y.json", "x.json | y.json");
    check_whole("torch@1:x.json torch@90000000:y.json", "x.json | y.json", "x.json | y.json");
}

#[test]
fn reasons_are_told() {
    let reasons = |files: &str| {
        let groups = groups(&candidates(files));
        (groups.groups.iter().map(|group| group.why).collect::<Vec<_>>(), groups.apart)
    };
    assert_eq!(reasons("json:x.json"), (vec![GroupReason::Alone], None));
    assert_eq!(reasons("json:x.json json:y.json"), (vec![GroupReason::Alone; 2], Some(Apart::Nothing)));
    assert_eq!(reasons("json:rank_0.json json:rank_1.json"), (vec![GroupReason::Names], None));
    assert_eq!(reasons("r0of2:x.json r1of2:y.json"), (vec![GroupReason::WorldSize(2)], None));
    assert_eq!(reasons("r0of2:x.json r1of8:y.json").1, Some(Apart::Jobs));
    assert_eq!(reasons("r0of2@1:step_1.json r0of2@9:step_2.json"), (vec![GroupReason::Cycles], None));
    assert_eq!(reasons("r0of2@1:step_1.json r0of2@1:step_2.json").1, Some(Apart::SameRank(0)));
    assert_eq!(reasons("torch@1:x.json torch@1:y.json"), (vec![GroupReason::Times], None));
    assert_eq!(reasons("flex0:a.json flex1:b.json"), (vec![GroupReason::Format], None));
}
