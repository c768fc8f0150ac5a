//! Plans from files on a disk, including archives.

use std::fs;

use nprof_capture::archive::InMemory;
use nprof_capture::importer::FileRole;
use nprof_capture::inputs::cases::{CASES, candidates, described, files, listed, sample};
use nprof_capture::inputs::{Candidate, plan, profiles};

use super::*;
use crate::ingest::{DiskSpool, IngestSettings, stage};
use crate::store::Store;
use crate::work::Meter;

/// Creates a directory with these files, each with its kind before a colon.
fn tree(names: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files(names) {
        let bytes = if name.ends_with(".gz") { gzip(&bytes) } else { bytes };
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn inputs(dir: &Path, names: &[&str]) -> Result<Inputs> {
    let files = names.iter().map(|name| dir.join(name)).collect();
    NamedInputs { files, ..NamedInputs::default() }.inputs(&InMemory)
}

/// Formats plans in the notation of the test cases.
fn said(inputs: Result<Inputs>) -> String {
    let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    match inputs {
        Ok(inputs) => {
            let candidates: Vec<Candidate> =
                inputs.files.iter().map(|file| file.leaf.candidate.clone()).collect();
            assert_eq!(inputs.plans, plan(&candidates).unwrap().plans);
            described(&candidates)
        }
        Err(IngestError::NeffAlone { path } | IngestError::CompilerAlone { path }) => {
            format!("alone {}", name(path))
        }
        Err(IngestError::SeveralNeffs { first, second }) => {
            format!("several {} {}", name(first), name(second))
        }
        Err(other) => other.to_string(),
    }
}

#[test]
fn the_command_line_plans_what_the_page_plans() {
    for case in CASES {
        let dir = tree(case.files);
        let names: Vec<&str> = files(case.files).iter().map(|(name, _)| *name).collect();
        assert_eq!(said(inputs(dir.path(), &names)), case.plans, "{}", case.files);
        // The files of one profile, as an upload by the page sends them.
        let seen = candidates(case.files);
        for profile in profiles(&seen) {
            let alone: Vec<Candidate> = profile.iter().map(|&file| seen[file].clone()).collect();
            let names: Vec<&str> = alone.iter().map(|file| file.name.as_str()).collect();
            assert_eq!(said(inputs(dir.path(), &names)), described(&alone), "{}", listed(&[profile], &seen));
        }
    }
}

#[track_caller]
fn check_dir(names: &str, expected: &str, left_out: &[&str]) {
    let dir = tree(names);
    let named = NamedInputs { session_dir: Some(dir.path().to_owned()), ..NamedInputs::default() };
    let inputs = named.inputs(&InMemory).unwrap();
    assert!(inputs.files.iter().all(|file| file.chosen == FileOrigin::ByDirectory));
    let name = file_name(&dir.path().canonicalize().unwrap());
    assert_eq!(inputs.title, Some(name), "{names:?}");
    let reasons: Vec<&str> = inputs.left_out.iter().filter_map(|said| said.split(':').next()).collect();
    assert_eq!(reasons, left_out, "{names:?}");
    assert_eq!(said(Ok(inputs)), expected, "{names:?}");
}

#[test]
fn a_directory_gives_one_trace_a_rank_and_says_what_it_leaves_out() {
    check_dir(
        "ntff:profile_rank_10.ntff ntff:profile_rank_2.ntff ntff:profile.ntff neff:file.neff json:a.json",
        "2 ntff profile_rank_2.ntff+file.neff, 10 ntff profile_rank_10.ntff+file.neff",
        &["a.json", "profile.ntff"],
    );
    check_dir("ntff:b.ntff ntff:a.ntff json:x.json", "- ntff a.ntff, - ntff b.ntff", &["x.json"]);
    check_dir("json:t.json no:notes.txt", "- trace_event t.json", &[]);
    check_dir("json:t.json.gz no:b.json", "- trace_event t.json.gz", &["b.json"]);
}

/// Moves a file into a folder below the directory.
fn put_below(dir: &Path, file: &str, folder: &str, name: &str) {
    fs::create_dir_all(dir.join(folder)).unwrap();
    fs::copy(dir.join(file), dir.join(folder).join(name)).unwrap();
}

#[test]
fn captures_of_several_nodes_have_a_folder_each() {
    let dir = tree("ntff:a.ntff neff:file.neff");
    for node in ["node0", "node1/capture"] {
        put_below(dir.path(), "a.ntff", node, "profile_rank_0.ntff");
        put_below(dir.path(), "a.ntff", node, "profile_rank_1.ntff");
        put_below(dir.path(), "file.neff", node, "file.neff");
    }
    std::os::unix::fs::symlink(dir.path(), dir.path().join("node0/above")).unwrap();
    // A trace of the directory itself is one of the job too.
    let all = inputs(dir.path(), &["."]).unwrap();
    let hosts = [Some("node0"), Some("node1"), Some("node0"), Some("node1")];
    // The directory itself is not a host.
    assert_eq!(all.hosts()[..4], hosts.map(|host| host.map(str::to_owned)));
    assert_eq!(
        all.left_out,
        ["a.ntff: not read, because profile_rank_<i>.ntff files are present and take precedence"]
    );
    fs::remove_file(dir.path().join("a.ntff")).unwrap();
    // The nodes have their captures at different depths.
    let all = inputs(dir.path(), &["."]).unwrap();
    assert_eq!((all.plans.len(), all.left_out.len()), (4, 0));
    assert_eq!(all.place(&all.plans[1]), dir.path().join("./node1/capture/profile_rank_0.ntff"));
    let models = |file: &&InputFile| file.leaf.candidate.claim(FileRole::Model).is_some();
    assert_eq!(all.files.iter().filter(models).count(), 1, "the copies of a program are one");
}

#[test]
fn folders_are_searched_down_to_a_limit_and_a_deeper_one_is_named() {
    let dir = tree("json:rank_0.json");
    put_below(dir.path(), "rank_0.json", "1/2/3/4", "rank_1.json");
    let said_of = |inputs: Inputs| (inputs.plans.len(), inputs.left_out);
    assert_eq!(said_of(inputs(dir.path(), &["."]).unwrap()), (2, vec![]));
    put_below(dir.path(), "rank_0.json", "1/2/3/4/5", "rank_2.json");
    let (plans, said) = said_of(inputs(dir.path(), &["."]).unwrap());
    assert_eq!(plans, 2);
    assert_eq!(said, ["1/2/3/4/5/: not searched, because more than 4 levels below the directory"]);
    // A document that only could be a trace does not hide the traces below.
    let dir = tree("ntff:a.ntff object:config.json");
    put_below(dir.path(), "a.ntff", "node0", "profile_rank_0.ntff");
    fs::remove_file(dir.path().join("a.ntff")).unwrap();
    let (plans, said) = said_of(inputs(dir.path(), &["."]).unwrap());
    assert_eq!((plans, said.len()), (1, 1), "{said:?}");
}

#[test]
fn a_program_that_no_trace_takes_is_named() {
    let dir = tree("json:a.json neff:b.neff log:c.log");
    let named = inputs(dir.path(), &["a.json", "b.neff", "c.log"]).unwrap();
    let unused = |name: &str| format!("{name}: not used, because no trace of the profile goes with it");
    assert_eq!(named.left_out, [unused("b.neff"), unused("c.log")]);
    let by_option = NamedInputs {
        neff: Some(dir.path().join("b.neff")),
        files: vec![dir.path().join("a.json")],
        ..NamedInputs::default()
    };
    assert_eq!(by_option.inputs(&InMemory).unwrap().left_out, [unused("b.neff")]);
}

#[test]
fn an_archive_is_a_directory() {
    let dir = tree("json:t.json");
    let tar = tar(&[("job/rank_1.json", "json"), ("job/rank_0.json", "json"), ("job/notes.txt", "no")]);
    fs::write(dir.path().join("job.tar"), &tar).unwrap();
    fs::write(dir.path().join("job.tgz"), gzip(&tar)).unwrap();
    for name in ["job.tar", "job.tgz"] {
        let inputs = inputs(dir.path(), &[name]).unwrap();
        assert_eq!(inputs.title.as_deref(), Some(name));
        let place = inputs.place(&inputs.plans[1]);
        assert_eq!(place, dir.path().join(name).join("job/rank_1.json"));
        let expected = format!("0 trace_event {name}/job/rank_0.json, 1 trace_event {name}/job/rank_1.json");
        assert_eq!(said(Ok(inputs)), expected);
    }
    let with_file = inputs(dir.path(), &["job.tar", "t.json"]).unwrap();
    assert_eq!((with_file.plans.len(), with_file.title), (3, None));
    // The archives of a directory count as part of it.
    assert_eq!(inputs(dir.path(), &["."]).unwrap().plans.len(), 5);
    let empty = tree("no:a.txt");
    fs::write(empty.path().join("x.tar"), self::tar(&[("notes.txt", "no")])).unwrap();
    let refused = inputs(empty.path(), &["x.tar"]).err().unwrap();
    assert!(matches!(refused, IngestError::EmptyArchive { .. }), "{refused}");
}

/// A tar of files of these kinds.
fn tar(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, kind) in entries {
        let content = sample(kind);
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        bytes.extend(header);
        bytes.extend(&content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

#[test]
fn several_traces_have_a_name_together() {
    let dir = tree("json:a.json json:b.json neff:c.neff");
    let title = |names: &[&str]| inputs(dir.path(), names).unwrap().title;
    assert_eq!(title(&["a.json", "c.neff"]), None, "one has its own name");
    assert_eq!(title(&["a.json", "b.json"]).as_deref(), Some("a.json and 1 more"));
}

#[test]
fn a_rank_of_several_traces_has_the_name_of_all() {
    let dir = tree("flex0:a.json flex0:b.json flex1:c.json log:compiler.log");
    let title = |names: &[&str]| inputs(dir.path(), names).unwrap().title;
    assert_eq!(title(&["a.json", "compiler.log"]), None, "a log is no trace");
    assert_eq!(title(&["a.json", "b.json", "compiler.log"]).as_deref(), Some("a.json and 1 more"));
    assert_eq!(title(&["a.json", "b.json", "c.json"]).as_deref(), Some("a.json and 2 more"));
}

#[test]
fn a_file_of_a_directory_that_is_no_trace_is_left_out_and_one_that_was_named_is_not() {
    let refuse = |inputs: &Inputs| {
        let bad = inputs.plans.iter().find(|plan| inputs.place(plan).ends_with("bad.json"));
        let source = nprof_capture::error::Error::format("no trace", "byte 0", "leave it out");
        bad.map_or_else(
            || Ok(inputs.clone()),
            |bad| {
                let path = inputs.place(bad).to_owned();
                Err(inputs.spared(bad, IngestError::Format { path, source }))
            },
        )
    };
    let dir = tree("json:a.json json:bad.json");
    let read = inputs(dir.path(), &["."]).unwrap().reading(refuse).unwrap();
    assert_eq!(read.left_out, ["bad.json: no trace (byte 0); leave it out"]);
    assert_eq!(
        read.plans.iter().map(|plan| read.place(plan)).collect::<Vec<_>>(),
        [dir.path().join("./a.json")]
    );
    let named = inputs(dir.path(), &["a.json", "bad.json"]).unwrap();
    assert!(matches!(named.reading(refuse), Err(IngestError::Format { .. })));
    let dir = tree("json:bad.json");
    let alone = inputs(dir.path(), &["."]).unwrap();
    assert!(matches!(alone.reading(refuse), Err(IngestError::Format { .. })));
}

#[test]
fn opening_is_cancelled() {
    let dir = tree("json:a.json json:b.json");
    let (spool, meter) = (tempfile::tempdir().unwrap(), Meter::default());
    let named = NamedInputs { files: vec![dir.path().to_owned()], ..NamedInputs::default() };
    assert!(named.inputs(&DiskSpool::new(spool.path(), &meter)).is_ok());
    meter.cancel();
    let cancelled = named.inputs(&DiskSpool::new(spool.path(), &meter));
    assert!(matches!(cancelled, Err(IngestError::Cancelled)));
}

/// A repetition for each of them would cost the square of their number.
#[test]
fn files_that_are_no_traces_are_left_out_together() {
    let dir = tempfile::tempdir().unwrap();
    for at in 0..40 {
        fs::write(dir.path().join(format!("bad_{at}.json")), "[1]").unwrap();
    }
    fs::write(dir.path().join("good.json"), r#"[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"a"}]"#)
        .unwrap();
    let store = Store::open(&dir.path().join("store")).unwrap();
    let (settings, meter) = (IngestSettings::default(), Meter::default());
    let mut readings = 0;
    let staged = inputs(dir.path(), &["."]).unwrap().reading(|inputs| {
        readings += 1;
        stage(store.stage()?, inputs, None, &settings, &meter)
    });
    let manifest = staged.unwrap().manifest;
    assert_eq!((readings, manifest.ranks.len(), manifest.ranks[0].left_out.len()), (2, 1, 40));
}

#[test]
fn what_cannot_be_a_profile_is_refused() {
    let dir = tree("no:notes.txt neff:a.neff neff:b.NEFF ntff:c.ntff");
    let refused = |named: &NamedInputs| named.inputs(&InMemory).err().unwrap();
    let only_notes = tree("no:notes.txt");
    let empty = NamedInputs { session_dir: Some(only_notes.path().to_owned()), ..NamedInputs::default() };
    assert!(matches!(refused(&empty), IngestError::EmptyDirectory { .. }));
    assert!(matches!(refused(&NamedInputs::default()), IngestError::NoInput));
    let neff = NamedInputs { neff: Some(dir.path().join("a.neff")), ..NamedInputs::default() };
    assert!(matches!(refused(&neff), IngestError::NeffAlone { .. }));
    let several = inputs(dir.path(), &["a.neff", "b.NEFF", "c.ntff"]).err().unwrap();
    assert!(matches!(several, IngestError::SeveralNeffs { .. }));
    let notes = inputs(dir.path(), &["c.ntff", "notes.txt"]).err().unwrap().to_string();
    assert!(notes.contains("notes.txt: this is not a trace that nprof can read"), "{notes}");
}

#[test]
fn a_named_program_goes_before_those_of_the_directory() {
    let dir = tree("ntff:a.ntff neff:b.neff neff:c.neff");
    let named = NamedInputs {
        neff: Some(dir.path().join("b.neff")),
        session_dir: Some(dir.path().to_owned()),
        ..NamedInputs::default()
    };
    assert_eq!(said(named.inputs(&InMemory)), "- ntff a.ntff+b.neff");
    // A file that the user named as the program is read as one. The reader reports that it is not a
    // program.
    let other = NamedInputs {
        neff: Some(dir.path().join("a.ntff")),
        files: vec![dir.path().join("a.ntff")],
        ..NamedInputs::default()
    };
    assert_eq!(said(other.inputs(&InMemory)), "- ntff a.ntff+a.ntff");
}
