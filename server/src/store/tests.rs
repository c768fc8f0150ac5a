//! The store's guarantees, each on its own directory.

mod locks;

use std::fs;
use std::time::{Duration, SystemTime};

use nprof_engine::base::ClockFit;
use nprof_engine::wire::clock::Clock;

use super::*;

pub(super) fn id(digit: char) -> String {
    format!("n_{}", digit.to_string().repeat(40))
}

pub(super) fn manifest(id: &str, content: &str) -> Manifest {
    Manifest {
        format: FORMAT,
        id: id.to_owned(),
        name: None,
        aliases: Vec::new(),
        took: Vec::new(),
        display_name: None,
        title: None,
        created: jiff::Timestamp::from_millisecond(1_700_000_000_000).unwrap(),
        written_by: "0.1.0".to_owned(),
        source: "neuron".to_owned(),
        input_bytes: None,
        warnings: 2,
        names: Vec::new(),
        ranks: vec![RankFile {
            active_ps: None,
            rank: 0,
            id: id.to_owned(),
            file: "rank_0.nseg".to_owned(),
            size_bytes: 7,
            content: content.to_owned(),
            inputs: vec!["profile.ntff".to_owned()],
            host: None,
            device: None,
            core: Some(1),
            events: 3,
            start_ps: 0,
            end_ps: 10,
            origin_unix_ns: None,
            clock: None,
            clock_by: None,
            notes: Vec::new(),
            left_out: Vec::new(),
        }],
    }
}

fn named(id: &str, name: &str) -> Manifest {
    Manifest { name: Some(name.parse().unwrap()), ..manifest(id, "c0") }
}

pub(super) fn add(store: &Store, manifest: &Manifest, existing: Existing) -> Result<Profile> {
    let staging = store.stage()?;
    fs::write(staging.profile_dir().join("rank_0.nseg"), &manifest.ranks[0].content).unwrap();
    store.publish(&staging, manifest, existing)
}

fn names(store: &Store) -> Vec<String> {
    store.list().unwrap().iter().map(|profile| profile.manifest.slug().to_owned()).collect()
}

fn open() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("deep/store")).unwrap();
    (dir, store)
}

fn staged(store: &Store) -> usize {
    fs::read_dir(store.root().join(TMP)).unwrap().count()
}

#[test]
fn a_profile_spans_the_events_of_all_its_ranks() {
    let spans = |of_ranks: &[(u64, i64, i64)]| {
        let mut manifest = manifest(&id('a'), "c0");
        let first = manifest.ranks.remove(0);
        manifest.ranks.extend((0..).zip(of_ranks).map(|(rank, &(events, start_ps, end_ps))| RankFile {
            rank,
            events,
            start_ps,
            end_ps,
            ..first.clone()
        }));
        let info = manifest.profile_info();
        (info.start_ps, info.end_ps)
    };
    assert_eq!(spans(&[(3, 7, 10)]), (7, 10));
    assert_eq!(spans(&[(3, 7, 10), (1, -2, 8), (9, 8, 15)]), (-2, 15));
    // A rank without events states zeros, which are not timestamps of the profile.
    assert_eq!(spans(&[(0, 0, 0), (3, 7, 10)]), (7, 10));
    assert_eq!(spans(&[(0, 0, 0)]), (0, 0));
}

/// Bytes of the segment of the first rank.
fn segment_bytes(profile: &Profile) -> Vec<u8> {
    fs::read(profile.segment_path(&profile.manifest.ranks[0])).unwrap()
}

#[test]
fn what_is_published_is_listed_and_found_by_id_and_name() {
    let (_dir, store) = open();
    assert_eq!(store.list().unwrap(), []);
    add(&store, &named(&id('a'), "first run"), Existing::Keep).unwrap();
    add(&store, &manifest(&id('b'), "c1"), Existing::Keep).unwrap();
    let found = store.find("first-run").unwrap();
    assert_eq!(found, store.find(&id('a')).unwrap());
    assert_eq!(segment_bytes(&found), b"c0");
    assert_eq!(names(&store), ["first-run".to_owned(), id('b')]);
    let entry = found.manifest.entry();
    assert_eq!((entry.events, entry.size_bytes, entry.warnings, entry.ranks), (3, 7, 2, 1));
    assert!(matches!(store.find("second"), Err(StoreError::Unknown { .. })));
    assert_eq!(staged(&store), 0);
}

#[test]
fn newest_first() {
    let (_dir, store) = open();
    for (digit, second) in [('a', 1), ('b', 3), ('c', 2)] {
        let created = jiff::Timestamp::from_second(second).unwrap();
        add(&store, &Manifest { created, ..manifest(&id(digit), "c") }, Existing::Keep).unwrap();
    }
    assert_eq!(names(&store), [id('b'), id('c'), id('a')]);
}

#[test]
fn an_existing_profile_is_kept_or_replaced_as_told() {
    let (_dir, store) = open();
    let content = |store: &Store| segment_bytes(&store.find(&id('a')).unwrap());
    add(&store, &manifest(&id('a'), "old"), Existing::Keep).unwrap();
    add(&store, &manifest(&id('a'), "new"), Existing::Keep).unwrap();
    assert_eq!(content(&store), b"old");
    let replaced = add(&store, &manifest(&id('a'), "new"), Existing::Replace).unwrap();
    assert_eq!(
        (content(&store).as_slice(), replaced.manifest.ranks[0].content.as_str()),
        (&b"new"[..], "new")
    );
    assert_eq!((store.list().unwrap().len(), staged(&store)), (1, 0));
}

#[test]
fn a_name_belongs_to_one_profile() {
    let (_dir, store) = open();
    add(&store, &named(&id('a'), "run"), Existing::Keep).unwrap();
    let taken = add(&store, &named(&id('b'), "run"), Existing::Keep);
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })), "{taken:?}");
    assert_eq!((names(&store), staged(&store)), (vec!["run".to_owned()], 0));
    add(&store, &named(&id('b'), "run"), Existing::Replace).unwrap();
    assert_eq!(store.find("run").unwrap().manifest.id, id('b'));
    assert_eq!(store.list().unwrap().len(), 1);
}

#[test]
fn a_profile_keeps_all_names_that_it_is_given() {
    let (_dir, store) = open();
    let slug = |name: &str| Some(name.parse::<Slug>().unwrap());
    add(&store, &manifest(&id('a'), "c0"), Existing::Keep).unwrap();
    add(&store, &named(&id('b'), "two"), Existing::Keep).unwrap();
    let first = store.rename(&id('a'), slug("one"), Some("One".to_owned())).unwrap();
    assert_eq!((first.manifest.slug(), first.manifest.shown_name()), ("one", "One"));
    let second = store.rename("one", slug("three"), None).unwrap();
    assert_eq!(store.rename("one", slug("three"), None).unwrap(), second, "it has this name already");
    assert_eq!((second.manifest.slug(), second.manifest.entry().aliases), ("one", vec!["three".to_owned()]));
    for name in ["one", "three", &id('a')] {
        assert_eq!(store.find(name).unwrap().manifest.id, id('a'), "{name}");
        // An empty cache gives the same answer.
        assert_eq!(Store::open(store.root()).unwrap().find(name).unwrap().manifest.id, id('a'), "{name}");
    }
    let taken = store.rename(&id('b'), slug("three"), None);
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })));
    store.remove("three").unwrap();
    for name in ["one", "three", &id('a')] {
        assert!(matches!(store.find(name), Err(StoreError::Unknown { .. })), "{name}");
    }
    assert_eq!((names(&store), staged(&store)), (vec!["two".to_owned()], 0));
}

#[test]
fn a_replaced_profile_keeps_its_names_and_one_that_loses_a_name_keeps_the_others() {
    let (_dir, store) = open();
    add(&store, &named(&id('a'), "one"), Existing::Keep).unwrap();
    store.rename("one", Some("two".parse().unwrap()), Some("Title".to_owned())).unwrap();
    // Ingested again with --force under a new name: all links still work.
    let again = add(&store, &named(&id('a'), "three"), Existing::Replace).unwrap();
    assert_eq!(again.manifest.slugs().map(Slug::as_str).collect::<Vec<_>>(), ["three", "one", "two"]);
    assert_eq!(again.manifest.shown_name(), "Title");
    // --force gives a name to another trace.
    add(&store, &named(&id('b'), "three"), Existing::Replace).unwrap();
    assert_eq!(store.find("three").unwrap().manifest.id, id('b'));
    let left = store.find("one").unwrap();
    assert_eq!(left.manifest.slugs().map(Slug::as_str).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!((store.list().unwrap().len(), staged(&store)), (2, 0));
}

#[test]
fn another_process_sees_changes_at_once() {
    let (_dir, store) = open();
    let other = Store::open(store.root()).unwrap();
    add(&store, &named(&id('a'), "run"), Existing::Keep).unwrap();
    assert_eq!(names(&other), ["run"]);
    store.rename(&id('a'), Some("a longer name".parse().unwrap()), None).unwrap();
    assert_eq!(other.list().unwrap()[0].manifest.entry().aliases, ["a-longer-name"]);
    store.remove("a-longer-name").unwrap();
    assert!(names(&other).is_empty());
}

#[test]
fn opening_clears_what_the_dead_left_and_spares_the_living() {
    let (_dir, store) = open();
    let tmp = store.root().join(TMP);
    let alive = store.stage().unwrap();
    for (dead, file) in [("dead", Some("owner")), ("unborn", None)] {
        fs::create_dir_all(tmp.join(dead).join(PROFILES)).unwrap();
        if let Some(file) = file {
            fs::write(tmp.join(dead).join(file), "").unwrap();
        }
    }
    Store::open(store.root()).unwrap();
    assert!(alive.profile_dir().is_dir());
    assert_eq!(staged(&store), 1);
    drop(alive);
    assert_eq!(staged(&store), 0);
}

#[test]
fn a_replacement_that_was_cut_short_is_undone() {
    let (_dir, store) = open();
    let profile = add(&store, &manifest(&id('a'), "old"), Existing::Keep).unwrap();
    let dead = store.root().join(TMP).join("dead");
    fs::create_dir(&dead).unwrap();
    fs::rename(&profile.dir, dead.join("replaced")).unwrap();
    assert_eq!(store.list().unwrap(), []);
    let store = Store::open(store.root()).unwrap();
    assert_eq!(store.find(&id('a')).unwrap().manifest, profile.manifest);
    assert_eq!(staged(&store), 0);
}

#[test]
fn a_damaged_manifest_hides_its_profile_only() {
    let (_dir, store) = open();
    add(&store, &manifest(&id('a'), "c"), Existing::Keep).unwrap();
    let good = serde_json::to_value(manifest(&id('b'), "c")).unwrap();
    let mut cases = vec!["".to_owned(), "{".to_owned(), "[]".to_owned(), "{\"format\":1}".to_owned()];
    for (pointer, value) in
        [("/ranks/0/file", "../../secret".into()), ("/format", 2.into()), ("/ranks", serde_json::json!([]))]
    {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        cases.push(bad.to_string());
    }
    let dir = store.root().join(PROFILES).join(id('b'));
    fs::create_dir(&dir).unwrap();
    for text in cases {
        fs::write(dir.join("manifest.json"), &text).unwrap();
        assert!(Manifest::read(&dir).is_err(), "{text}");
        assert_eq!(names(&store), [id('a')], "{text}");
    }
    fs::write(dir.join("manifest.json"), good.to_string()).unwrap();
    assert_eq!(store.list().unwrap().len(), 2);
}

fn clock(offset_ps: i64) -> Clock {
    Clock(ClockFit::new(-5, offset_ps, -500, Some(u64::MAX)).unwrap())
}

#[test]
fn a_clock_is_kept_in_the_manifest_and_other_processes_see_it() {
    let (_dir, store) = open();
    let other = Store::open(store.root()).unwrap();
    let profile = add(&store, &named(&id('a'), "run"), Existing::Keep).unwrap();
    let text = fs::read_to_string(profile.dir.join("manifest.json")).unwrap();
    assert!(!text.contains("clock"), "a manifest without clocks is that of older versions");
    assert_eq!(other.find("run").unwrap().manifest.ranks[0].clock, None);

    let set = store.set_clock("run", 0, Some(clock(i64::MIN))).unwrap();
    assert_eq!(set.manifest.ranks[0].clock, Some(clock(i64::MIN)));
    assert_eq!(set.manifest.profile_info().ranks[0].clock, Some(clock(i64::MIN)));
    assert_eq!(other.find("run").unwrap().manifest, set.manifest);
    assert_eq!(Store::open(store.root()).unwrap().find("run").unwrap().manifest, set.manifest);
    assert_eq!(set.manifest.ranks[0].tile_content(), profile.manifest.ranks[0].tile_content());

    let error = store.set_clock("run", 7, None).unwrap_err();
    assert_eq!(error.to_string(), "profile \"run\" has no rank 7; it has 0");
    let cleared = store.set_clock("run", 0, None).unwrap();
    assert_eq!(cleared.manifest, profile.manifest);
    assert_eq!(fs::read_to_string(profile.dir.join("manifest.json")).unwrap(), text);
}

#[test]
fn a_clock_stays_with_the_content_of_its_rank() {
    let (_dir, store) = open();
    add(&store, &named(&id('a'), "run"), Existing::Keep).unwrap();
    store.set_clock("run", 0, Some(clock(12))).unwrap();
    let again = add(&store, &named(&id('a'), "run"), Existing::Replace).unwrap();
    assert_eq!(again.manifest.ranks[0].clock, Some(clock(12)));
    let other = add(&store, &manifest(&id('a'), "c1"), Existing::Replace).unwrap();
    assert_eq!(other.manifest.ranks[0].clock, None, "the events have other times now");
}

#[test]
fn clocks_written_by_hand_are_checked() {
    let (_dir, store) = open();
    let dir = store.root().join(PROFILES).join(id('a'));
    fs::create_dir(&dir).unwrap();
    let write = |clock: serde_json::Value| {
        let mut text = serde_json::to_value(manifest(&id('a'), "c")).unwrap();
        text["ranks"][0]["clock"] = clock;
        fs::write(dir.join("manifest.json"), text.to_string()).unwrap();
        Manifest::read(&dir)
    };
    let short = write(serde_json::json!({"offset_ps": 12, "of_a_later_version": 1})).unwrap();
    assert_eq!(short.ranks[0].clock, Some(Clock(ClockFit::new(0, 12, 0, None).unwrap())));
    assert_eq!(short.shared_start().0, 12);
    let aligned = ClockFit::new(0, 5, 0, None).unwrap();
    assert_eq!(short.start_on(|_| aligned).0, 5, "of the analysis, not the stated one");
    let error = write(serde_json::json!({"offset_ps": 0, "drift_ppb": -1_000_000_000})).unwrap_err();
    assert!(error.to_string().contains("the drift of a clock is at most 10 %"), "{error}");
    for wrong in [serde_json::json!({}), 5.into(), serde_json::json!({"offset_ps": 1e30})] {
        assert!(write(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn the_wall_clock_of_shared_time_is_that_of_an_uncorrected_rank() {
    let wall_clock = |of_ranks: &[(Option<i64>, Option<i64>)]| {
        let mut manifest = manifest(&id('a'), "c0");
        let first = manifest.ranks.remove(0);
        let clock = |offset_ps| Clock(ClockFit::new(0, offset_ps, 0, None).unwrap());
        manifest.ranks.extend((0..).zip(of_ranks).map(|(rank, &(origin_unix_ns, offset_ps))| RankFile {
            rank,
            origin_unix_ns,
            clock: offset_ps.map(clock),
            ..first.clone()
        }));
        manifest.shared_origin_unix_ns()
    };
    assert_eq!(wall_clock(&[(None, None)]), None);
    assert_eq!(wall_clock(&[(Some(7), None), (Some(9), Some(2_000))]), Some(7));
    assert_eq!(wall_clock(&[(Some(9), Some(12_000_000)), (None, None), (Some(8), None)]), Some(8));
    assert_eq!(wall_clock(&[(Some(9), Some(2_000))]), Some(7), "two nanoseconds before");
    assert_eq!(wall_clock(&[(Some(i64::MIN), Some(i64::MAX))]), Some(i64::MIN));
}

/// Puts a profile into the store as a process leaves it that dies after it has published.
fn published(store: &Store, manifest: &Manifest) {
    let dir = store.root().join(PROFILES).join(&manifest.id);
    fs::create_dir_all(&dir).unwrap();
    manifest.write(&dir).unwrap();
}

fn slugs(store: &Store) -> Vec<(String, Vec<String>)> {
    let of = |profile: Profile| {
        let names = profile.manifest.slugs().map(Slug::to_string).collect();
        (profile.manifest.id.clone(), names)
    };
    let mut all: Vec<_> = store.list().unwrap().into_iter().map(of).collect();
    all.sort();
    all
}

#[test]
fn names_that_were_handed_over_and_on_have_one_owner_before_and_after_the_completion() {
    let (_dir, store) = open();
    let taken = |name: &str, from: char| TakenName { name: name.parse().unwrap(), from: id(from) };
    let at = |second, manifest: Manifest| Manifest {
        created: jiff::Timestamp::from_second(second).unwrap(),
        ..manifest
    };
    let mut loser = named(&id('b'), "x");
    for name in ["y", "z"] {
        loser.add_name(name.parse().unwrap());
    }
    published(&store, &at(1, loser));
    published(&store, &at(2, Manifest { took: vec![taken("x", 'b')], ..named(&id('a'), "x") }));
    published(&store, &at(3, Manifest { took: vec![taken("y", 'b')], ..named(&id('c'), "y") }));
    // Takes the only name of a profile that has just taken it.
    published(&store, &at(4, Manifest { took: vec![taken("x", 'a')], ..named(&id('d'), "x") }));
    let expected = [('b', "z"), ('c', "y"), ('d', "x")].map(|(of, name)| (id(of), vec![name.to_owned()]));
    assert_eq!(slugs(&store), expected);
    assert_eq!(Store::read(store.root()).find("x").unwrap().manifest.id, id('d'));
    store.clear().unwrap();
    assert_eq!(slugs(&store), expected);
    let text = fs::read_to_string(store.find("x").unwrap().dir.join("manifest.json")).unwrap();
    assert!(!text.contains("took"), "{text}");
    assert_eq!(fs::read_dir(store.root().join(PROFILES)).unwrap().count(), 3);
    assert!(store.survey().unwrap().shared.is_empty());
}

#[test]
fn a_store_that_may_only_be_read_is_shown_and_refuses_changes() {
    let (_dir, store) = open();
    let profile = add(&store, &named(&id('a'), "run"), Existing::Keep).unwrap();
    let store = Store { refused: Some(Errno::ROFS), ..Store::read(store.root()) };
    assert_eq!(store.find("run").unwrap(), profile);
    let staging = store.stage_anywhere().unwrap();
    assert!(!staging.profile_dir().starts_with(store.root()) && staging.profile_dir().is_dir());
    let refused = [
        store.stage().err(),
        store.publish(&staging, &profile.manifest, Existing::Replace).err(),
        store.rename("run", None, Some("other".to_owned())).err(),
        store.set_clock("run", 0, None).err(),
        store.remove("run").err(),
        store.clear().err(),
    ];
    for error in refused {
        let error = error.unwrap();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
        assert!(error.to_string().contains("this store is read only"), "{error}");
    }
    let outside = staging.scratch_path("");
    drop(staging);
    assert!(!outside.exists());
    let folder = tempfile::tempdir().unwrap();
    let living = store.stage_beside(folder.path()).unwrap();
    assert!(living.profile_dir().starts_with(folder.path()));
    // A process that was killed leaves its directory.
    let dead = folder.path().join(format!("{BESIDE}dead"));
    fs::create_dir(&dead).unwrap();
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    fs::File::open(&dead).unwrap().set_modified(hour_ago).unwrap();
    fs::File::open(living.scratch_path("")).unwrap().set_modified(hour_ago).unwrap();
    drop(store.stage_beside(folder.path()).unwrap());
    assert!(!dead.exists() && living.profile_dir().exists());
    drop(living);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn leftovers_of_an_older_version_that_cannot_be_read_do_not_stop_a_command() {
    let (_dir, store) = open();
    let profile = add(&store, &manifest(&id('a'), "c"), Existing::Keep).unwrap();
    let tmp = store.root().join(TMP);
    for (dead, manifest) in [("a", None), ("b", Some("{")), ("c", Some("{\"format\": 9}"))] {
        fs::create_dir_all(tmp.join(dead).join("replaced")).unwrap();
        if let Some(text) = manifest {
            fs::write(tmp.join(dead).join("replaced/manifest.json"), text).unwrap();
        }
    }
    let store = Store::open(store.root()).unwrap();
    assert_eq!((store.list().unwrap(), staged(&store)), (vec![profile], 0));
}

#[test]
fn a_replaced_profile_stays_in_the_directory_that_somebody_renamed() {
    let (_dir, store) = open();
    let mine = named(&id('a'), "run");
    add(&store, &mine, Existing::Keep).unwrap();
    let profiles = store.profiles_dir();
    fs::rename(profiles.join(&mine.id), profiles.join("renamed")).unwrap();
    let again = Manifest { name: None, ..manifest(&mine.id, "c1") };
    let replaced = add(&store, &again, Existing::Replace).unwrap();
    assert_eq!((replaced.directory_name().as_str(), replaced.manifest.slug()), ("renamed", "run"));
    let survey = store.survey().unwrap();
    assert_eq!((survey.profiles.len(), survey.shared), (1, vec![]));
    assert_eq!(survey.profiles[0].manifest.ranks[0].content, "c1");
}

#[test]
fn a_file_beside_the_profiles_is_nobodys_profile() {
    let (_dir, store) = open();
    add(&store, &named(&id('a'), "run"), Existing::Keep).unwrap();
    for name in ["notes.txt", ".removed-x", ".replaced-n_x"] {
        fs::write(store.profiles_dir().join(name), "mine").unwrap();
    }
    store.clear().unwrap();
    let survey = store.survey().unwrap();
    assert_eq!((survey.profiles.len(), survey.unreadable.len()), (1, 0), "{:?}", survey.unreadable);
    assert_eq!(fs::read_dir(store.profiles_dir()).unwrap().count(), 4, "nothing of it is touched");
}

/// A store can come from anybody.
#[test]
fn what_is_no_regular_file_ends_no_command() {
    let (_dir, store) = open();
    let profile = add(&store, &named(&id('a'), "run"), Existing::Keep).unwrap();
    let pipe = |name: &str| {
        let path = profile.dir.join(name);
        drop(fs::remove_file(&path));
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    };
    pipe("rank_0.nseg");
    let error = profile.open_rank(&profile.manifest.ranks[0]).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    pipe("manifest.json");
    let survey = Store::read(store.root()).survey().unwrap();
    let [(_, error)] = &survey.unreadable[..] else { panic!("{survey:?}") };
    assert!(error.to_string().contains("not a regular file"), "{error}");
    store.remove(&profile.directory_name()).unwrap();
}
