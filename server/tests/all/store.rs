//! The store as a user meets it when something is wrong: damaged manifests, two profiles of one
//! name, stores that may only be read, full disks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nprof_server::ingest::{self, IngestSettings, NamedInputs};
use nprof_server::store::Store;
use nprof_server::work::Meter;
use serde_json::Value;

use crate::cli::{fail, nprof, run, stage, succeed};
use crate::stage::TRACE;

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The directory of the only profile.
fn only_profile(store: &Path) -> PathBuf {
    let mut profiles = fs::read_dir(store.join("profiles")).unwrap();
    profiles.next().unwrap().unwrap().path()
}

#[test]
fn a_profile_that_cannot_be_read_is_listed_and_removed_and_noticed_by_an_ingest() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    let newer = r#"{"format": 99, "id": 1}"#;
    for manifest in ["{", newer, ""] {
        succeed(&store, &["ingest", &trace]);
        let profile = only_profile(&store);
        let id = profile.file_name().unwrap().to_str().unwrap();
        match manifest {
            "" => fs::remove_file(profile.join("manifest.json")).unwrap(),
            text => fs::write(profile.join("manifest.json"), text).unwrap(),
        }
        let output = run(&store, &["list"]);
        let list = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!((output.status.code(), list.lines().count()), (Some(1), 2), "{list}");
        assert!(list.lines().last().unwrap().starts_with(id) && list.contains("cannot be read"), "{list}");
        assert!(err(&output).contains(&format!("`nprof rm {id}`")), "{}", err(&output));
        let output = run(&store, &["list", "--json"]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &json["unreadable"][0]["directory"]), (Some(1), &Value::from(id)));

        let said = fail(&store, &["ingest", &trace], 1);
        assert!(said.contains(&format!("`nprof rm {id}`")) && said.contains("--force"), "{said}");
        let events = events_before_a_refusal(&store, &trace, IngestSettings::default());
        assert_eq!(events, 0, "it is noticed before the trace is read");
        assert!(succeed(&store, &["view", &trace, "--output-format", "json", "-o", "-"]).contains("outer"));
        let said = fail(&store, &["summary", id], 1);
        assert!(said.contains("manifest.json"), "{said}");

        assert!(succeed(&store, &["rm", id]).contains("could not be read"));
        assert!(succeed(&store, &["list"]).contains("no profiles"));
    }
    succeed(&store, &["ingest", &trace]);
    fs::write(only_profile(&store).join("manifest.json"), "{").unwrap();
    succeed(&store, &["ingest", "--force", &trace]);
    assert_eq!(succeed(&store, &["list"]).lines().count(), 2);
}

/// Events that are read before an ingest is refused.
fn events_before_a_refusal(store: &Path, trace: &str, settings: IngestSettings) -> u64 {
    let (meter, named) =
        (Meter::default(), NamedInputs { files: vec![trace.into()], ..NamedInputs::default() });
    let refused = ingest::run(&Store::open(store).unwrap(), &named, &settings, &meter);
    assert!(refused.is_err(), "{refused:?}");
    meter.events()
}

#[test]
fn a_name_that_is_taken_is_noticed_before_the_trace_is_read() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "x"]);
    let other = dir.path().join("other.json");
    fs::write(&other, TRACE.replace("outer", "other")).unwrap();
    let settings = IngestSettings { slug: Some("x".parse().unwrap()), ..IngestSettings::default() };
    assert_eq!(events_before_a_refusal(&store, other.to_str().unwrap(), settings), 0);
    assert_eq!(succeed(&store, &["list"]).lines().count(), 2);
}

#[test]
fn rm_takes_no_path() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace]);
    for name in ["..", ".", "", "../tmp", "/", "n_"] {
        assert!(fail(&store, &["rm", name], 1).contains("no profile"), "{name}");
    }
    assert_eq!(succeed(&store, &["list"]).lines().count(), 2);
}

#[test]
fn two_profiles_of_one_name_are_reported_and_one_can_be_removed() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "x"]);
    let other = dir.path().join("other.json");
    fs::write(&other, TRACE.replace("outer", "other")).unwrap();
    succeed(&store, &["ingest", other.to_str().unwrap(), "--db-bucket", "y"]);
    // By hand, or by an older nprof that was killed.
    for profile in fs::read_dir(store.join("profiles")).unwrap() {
        let path = profile.unwrap().path().join("manifest.json");
        let text = fs::read_to_string(&path).unwrap().replace("\"name\": \"y\"", "\"name\": \"x\"");
        fs::write(&path, text).unwrap();
    }
    let output = run(&store, &["list"]);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).lines().count()), (Some(1), 3));
    assert!(err(&output).contains("several profiles have the name x"), "{}", err(&output));
    let output = run(&store, &["verify"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("1 name, which several profiles have"), "{}", err(&output));
    let said = fail(&store, &["rm", "x"], 1);
    let id = said.split(['"', ':', ',', ';', ' ']).find(|word| word.starts_with("n_")).unwrap();
    succeed(&store, &["rm", id]);
    succeed(&store, &["verify"]);
    succeed(&store, &["rm", "x"]);
}

#[test]
fn the_list_has_ids_and_clocks() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "x"]);
    let id = only_profile(&store).file_name().unwrap().to_str().unwrap().to_owned();
    let words = || -> Vec<String> {
        let list = succeed(&store, &["list"]);
        assert!(list.starts_with("NAME  ID "), "{list}");
        list.lines()
            .nth(1)
            .unwrap()
            .split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let before = words();
    assert_eq!((before[0].as_str(), before[1].as_str(), before[4].as_str()), ("x", id.as_str(), "-"));
    succeed(&store, &["clock", "x", "--rank", "0", "--offset", "1us"]);
    assert_eq!(words()[4], "1 of 1");
}

/// Runs a script in a file system of its own, or skips. `$1` is nprof, `$2` the directory.
fn in_mount(mount: &str, script: &str, dir: &Path, args: &[&str]) -> Option<Output> {
    let shell = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_nprof")]).arg(dir).args(args);
        command.env_remove("NPROF_LOG").env_remove("NPROF_STORE").stdin(Stdio::null()).output()
    };
    if !shell(mount).is_ok_and(|probe| probe.status.success()) {
        println!("skipped: nothing can be mounted here");
        return None;
    }
    Some(shell(&format!("{mount} || exit 9\n{script}")).unwrap())
}

#[test]
fn a_store_that_may_only_be_read_is_shown_and_not_changed() {
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "x"]);
    fs::write(dir.path().join("flex.json"), include_str!("../../../fuzz/seeds/aiu/flex.json")).unwrap();
    let mount = "mount --bind \"$2\" \"$2\" && mount -o remount,ro,bind \"$2\"";
    let script = r#"
        n() { "$nprof" --store "$store" "$@"; }
        nprof=$1 store=$2 trace=$3 out=$4
        touch "$store/x" 2>/dev/null && exit 8
        n list && n list --json >/dev/null && n summary x >/dev/null && n verify && n clock x || exit 1
        n ranks x && n collectives x || exit 7
        n export x -o "$out/whole.json" || exit 2
        # The part lies beside the output while it is written, not in the system's directory.
        (export TMPDIR=/none; n export x --from 0us --to 20us -o "$out/part.json") || exit 9
        n aiu -i "$out/flex.json" -o "$out/aiu.json" || exit 10
        n view "$trace" --output-format json -o "$out/view.json" || exit 3
        timeout 3 "$nprof" --store "$store" serve --port 0 >"$out/said" || [ $? = 124 ] || exit 5
        grep -q "View a list of profiles" "$out/said" || exit 6
        for change in "ranks x --align" "rm x" "ingest $trace" "clock x --rank 0 --offset 1us" "view $trace --ingest-only"; do
            n $change >"$out/said" 2>&1; [ $? = 1 ] && grep -q "this store is read only" "$out/said" || exit 4
        done"#;
    let out = dir.path().to_str().unwrap();
    let Some(output) = in_mount(mount, script, &store, &[&trace, out]) else { return };
    assert!(output.status.success(), "{:?}: {}", output.status, err(&output));
    assert!(err(&output).matches("this store is read only").count() >= 8, "{}", err(&output));
    for file in ["whole.json", "part.json", "aiu.json", "view.json"] {
        assert!(dir.path().join(file).metadata().unwrap().len() > 0, "{file}");
    }
    assert_eq!(fs::read_dir(store.join("tmp")).unwrap().count(), 0);
    let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.filter(|name| name.to_string_lossy().starts_with('.')).count(), 0);
}

#[test]
fn a_full_disk_can_be_emptied() {
    let (dir, trace) = stage();
    let place = dir.path().join("place");
    fs::create_dir(&place).unwrap();
    // No bytes, files or directories are left.
    let script = r#"
        nprof=$1 store=$2/store trace=$3
        "$nprof" --store "$store" ingest "$trace" --db-bucket x 2>/dev/null || exit 1
        cat /dev/zero >"$2/filler" 2>/dev/null
        at=0; while mkdir "$2/more$at" 2>/dev/null; do at=$((at + 1)); done
        mkdir "$2/other" 2>/dev/null && exit 2
        "$nprof" --store "$store" list && "$nprof" --store "$store" rm x && "$nprof" --store "$store" list"#;
    let mount = "mount -t tmpfs -o size=2m,nr_inodes=100 tmpfs \"$2\"";
    let Some(output) = in_mount(mount, script, &place, &[&trace]) else { return };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("removed x"), "{said}{}", err(&output));
    assert!(said.contains("no profiles"), "{said}");
}

#[test]
fn texts_from_files_neither_move_the_cursor_nor_break_a_table() {
    let (dir, _) = stage();
    let store = dir.path().join("store");
    let long = "x".repeat(70_000);
    let trace = dir.path().join("a\u{1b}[2J\u{202e}b.json");
    let events = format!(
        r#"[{{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"{long}","args":{{"{long}":1}}}},
            {{"ph":"C","pid":1,"ts":0,"name":"{long}","args":{{"v":1}}}}]"#
    );
    fs::write(&trace, events).unwrap();
    let trace = trace.to_str().unwrap();
    let acts = |text: &str| text.chars().any(|sign| sign.is_control() && sign != '\n' || sign == '\u{202e}');
    let segment = |store: &Path| only_profile(store).join("rank_0.nseg").to_str().unwrap().to_owned();
    for title in [vec![], vec!["--display-name", long.as_str()]] {
        let args = [&["ingest", "--force", trace, "--db-bucket", "x"][..], &title].concat();
        assert!(!acts(&err(&run(&store, &args))));
        for args in [&["list"][..], &["summary", "x"], &["inspect", &segment(&store)], &["verify"]] {
            let output = run(&store, args);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && !acts(&text) && !acts(&err(&output)), "{args:?}");
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest < 1_000, "{args:?}: {longest}");
        }
    }
    fs::write(only_profile(&store).join("manifest.json"), "{").unwrap();
    let odd = store.join("profiles").join("\u{1b}[2J\u{202e}");
    fs::create_dir(&odd).unwrap();
    for args in [
        &["list"][..],
        &["verify"],
        &["ingest", "--\u{1b}[2J\u{202e}"],
        &["ingest", "\u{1b}[2J\u{202e}"],
        &["summary", "\u{1b}[2J"],
    ] {
        let output = run(&store, args);
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), err(&output));
        assert!(!output.status.success() && !acts(&said) && said.contains("\\u{"), "{args:?}: {said:?}");
    }
    assert!(!acts(&succeed(&store, &["rm", "\u{1b}[2J\u{202e}"])));
    assert!(!odd.exists());
}

#[test]
fn exports_have_the_permissions_of_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, trace) = stage();
    let store = dir.path().join("store");
    succeed(&store, &["ingest", &trace, "--db-bucket", "x"]);
    let script = r#"umask "$3"; exec "$1" export x -o "$2""#;
    for (mask, mode) in [("077", 0o600), ("022", 0o644), ("002", 0o664)] {
        let out = dir.path().join(format!("{mask}.json"));
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_nprof")]).arg(&out).arg(mask);
        // The second time, the file is replaced.
        for _ in 0..2 {
            assert!(command.env("NPROF_STORE", &store).output().unwrap().status.success());
            assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, mode, "{mask}");
        }
    }
    assert!(
        nprof(&store).args(["export", "x", "-o", "/nowhere/out.json"]).output().unwrap().status.code()
            == Some(1)
    );
}

#[test]
fn no_manifest_ends_more_than_its_own_profile() {
    let (dir, trace) = stage();
    let other = dir.path().join("other.json");
    fs::write(&other, TRACE.replace("outer", "other")).unwrap();
    let root = dir.path().join("store");
    succeed(&root, &["ingest", "--as-ranks", &trace, other.to_str().unwrap()]);
    let manifest = only_profile(&root).join("manifest.json");
    let whole = fs::read(&manifest).unwrap();
    let store = Store::read(&root);
    // The store can be listed with any content of the file.
    let look = |bytes: &[u8]| {
        fs::write(&manifest, bytes).unwrap();
        let survey = store.survey().unwrap();
        assert_eq!(survey.profiles.len() + survey.unreadable.len(), 1);
        survey.profiles.iter().for_each(|profile| drop(profile.manifest.profile_info()));
        survey
    };
    let signs = [b'9', b'"', b'-', b'{', b'[', b'e', 0xff];
    for at in 0..whole.len() {
        look(&whole[..at]);
        let mut changed = whole.clone();
        changed[at] = signs[at % signs.len()];
        look(&changed);
    }
    // Numbers that no sum holds.
    let mut json: Value = serde_json::from_slice(&whole).unwrap();
    for rank in json["ranks"].as_array_mut().unwrap() {
        (rank["events"], rank["size_bytes"]) = (u64::MAX.into(), u64::MAX.into());
        (rank["start_ps"], rank["end_ps"]) = (i64::MAX.into(), i64::MIN.into());
    }
    let survey = look(&serde_json::to_vec(&json).unwrap());
    assert_eq!(survey.profiles[0].manifest.entry().events, u64::MAX);
    // A file without an end, as far as a reader can tell. It takes no space.
    fs::File::create(&manifest).unwrap().set_len(1 << 30).unwrap();
    let survey = store.survey().unwrap();
    let said = survey.unreadable[0].1.to_string();
    assert!(said.contains("longer than any manifest"), "{said}");
    look(&whole);
}
