//! The commands that change a store, with the store before each of them, and what a store shows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nprof_engine::base::ClockFit;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::wire::clock::Clock;
use nprof_server::export::cut::PartOf;
use nprof_server::export::{ExportChoices, RanksOf, Scope, find};
use nprof_server::ingest::{IngestSettings, NamedInputs, add, run};
use nprof_server::store::{Existing, Store};
use nprof_server::verify::verify;
use nprof_server::work::Meter;
use tempfile::TempDir;

/// No lock is held this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A command that changes a store.
pub struct Command {
    pub name: &'static str,
    /// Makes the store before the command.
    pub prepare: fn(&Path, &Scene),
    /// Runs the command like a process: it opens the store first.
    pub run: fn(&Path, &Scene) -> Result<(), String>,
    /// The command needs no free space.
    pub frees_space: bool,
    /// The command has at least so many calls; else the test watches nothing.
    pub least_calls: usize,
}

/// A profile as a store shows it: names, and clock and content of each rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    names: Vec<String>,
    ranks: Vec<(Option<Clock>, String)>,
}

/// Profiles by id.
pub type Picture = BTreeMap<String, Shown>;

/// A command's store before and after it, and traces to ingest.
pub struct Scene {
    base: TempDir,
    pub before: PathBuf,
    pub before_picture: Picture,
    pub after: Picture,
}

pub const COMMANDS: &[Command] = &[
    Command {
        name: "ingest",
        prepare: |root, scene| scene.ingest(root, "other", "other", Existing::Keep).unwrap(),
        run: |root, scene| scene.ingest(root, "mine", "run", Existing::Keep),
        frees_space: false,
        least_calls: 15,
    },
    Command {
        name: "first ingest",
        prepare: |_, _| {},
        run: |root, scene| scene.ingest(root, "mine", "run", Existing::Keep),
        frees_space: false,
        least_calls: 15,
    },
    Command {
        name: "ingest --force over itself",
        prepare: |root, scene| {
            scene.ingest(root, "mine", "run", Existing::Keep).unwrap();
            scene.ingest(root, "other", "other", Existing::Keep).unwrap();
        },
        run: |root, scene| scene.ingest(root, "mine", "again", Existing::Replace),
        frees_space: false,
        least_calls: 20,
    },
    Command {
        name: "ingest --force onto another's only name",
        prepare: |root, scene| scene.ingest(root, "other", "run", Existing::Keep).unwrap(),
        run: |root, scene| scene.ingest(root, "mine", "run", Existing::Replace),
        frees_space: false,
        least_calls: 20,
    },
    Command {
        name: "ingest --force of an old profile onto another's second name",
        prepare: |root, scene| {
            scene.ingest(root, "mine", "mine", Existing::Keep).unwrap();
            scene.ingest(root, "other", "other", Existing::Keep).unwrap();
            scene.ingest(root, "other", "run", Existing::Keep).unwrap();
        },
        run: |root, scene| scene.ingest(root, "mine", "run", Existing::Replace),
        frees_space: false,
        least_calls: 20,
    },
    Command {
        name: "ingest --into",
        prepare: |root, scene| {
            scene.ingest(root, "mine", "run", Existing::Keep).unwrap();
            let clock = ClockFit::new(0, 12, 0, None).map(Clock).ok();
            changed(root, |store| store.set_clock("run", 0, clock).map(drop)).unwrap();
        },
        run: |root, scene| scene.add(root, "other", "run"),
        frees_space: false,
        least_calls: 20,
    },
    Command {
        name: "rm",
        prepare: |root, scene| {
            scene.ingest(root, "mine", "run", Existing::Keep).unwrap();
            scene.ingest(root, "other", "other", Existing::Keep).unwrap();
        },
        run: |root, _| changed(root, |store| store.remove("run").map(drop)),
        frees_space: true,
        least_calls: 5,
    },
    Command {
        name: "clock",
        prepare: |root, scene| scene.ingest(root, "mine", "run", Existing::Keep).unwrap(),
        run: |root, _| {
            let clock = ClockFit::new(0, 12, 0, None).map(Clock).ok();
            changed(root, |store| store.set_clock("run", 0, clock).map(drop))
        },
        frees_space: false,
        least_calls: 5,
    },
    Command {
        name: "ranks --align",
        prepare: |root, scene| scene.ingest(root, "mine", "run", Existing::Keep).unwrap(),
        run: |root, _| {
            let clock = ClockFit::new(0, 12, 0, None).map(Clock).ok();
            changed(root, |store| store.align("run", &[(0, clock)]).map(drop))
        },
        frees_space: false,
        least_calls: 5,
    },
    Command {
        name: "export of a part",
        prepare: |root, scene| scene.ingest(root, "mine", "run", Existing::Keep).unwrap(),
        run: |root, _| export_part(root),
        frees_space: false,
        least_calls: 5,
    },
    Command {
        name: "ingest of a known trace under a new name",
        prepare: |root, scene| scene.ingest(root, "mine", "run", Existing::Keep).unwrap(),
        run: |root, scene| scene.ingest(root, "mine", "again", Existing::Keep),
        frees_space: false,
        least_calls: 5,
    },
    Command {
        name: "clearing at the start",
        prepare: |root, scene| {
            scene.ingest(root, "mine", "run", Existing::Keep).unwrap();
            scene.ingest(root, "other", "other", Existing::Keep).unwrap();
            leave_rubbish(root);
        },
        run: |root, _| changed(root, |_| Ok(())),
        frees_space: true,
        least_calls: 10,
    },
];

fn changed(
    root: &Path,
    change: impl FnOnce(&Store) -> nprof_server::store::Result<()>,
) -> Result<(), String> {
    Store::open(root).and_then(|store| change(&store)).map_err(|error| error.to_string())
}

/// `nprof export run --from 0ps`, which changes nothing in the end.
fn export_part(root: &Path) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let store = Store::read(root);
    let profile = store.find("run").map_err(|error| text(&error))?;
    let part = PartOf { from_ps: Some(0), ..PartOf::default() };
    let taken = part
        .take(|| store.stage_anywhere(), RanksOf::all(&profile), Cancel::NEVER)
        .map_err(|error| text(&error))?;
    let Some(Scope::Rank(prepare)) = find("json").map(|export| export.scope) else { panic!("a table") };
    let choices = ExportChoices::default();
    let prepared = prepare(taken.ranks(), &choices, Work::IN_PLACE).map_err(|error| text(&error))?;
    prepared.write(&mut Vec::new()).map_err(|error| text(&error))
}

/// Leaves what processes of this and of older versions leave when they are killed.
fn leave_rubbish(root: &Path) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("tmp/ingest/owner", "");
    write("tmp/ingest/profile/rank_0.nseg", "half");
    write("tmp/unborn/x", "");
    // A replacement of an older version, killed while it deleted the old profile.
    write("tmp/replacing/owner", "");
    write("tmp/replacing/replaced/rank_0.nseg", "old");
    fs::create_dir_all(root.join("tmp/empty/replaced")).unwrap();
    write("profiles/n_dead/removed", "{}");
    write("profiles/n_dead/rank_0.nseg", "old");
    write("profiles/.removed-n_dead/rank_0.nseg", "old");
    fs::create_dir_all(root.join("profiles/.removed-n_empty")).unwrap();
    let profiles = root.join("profiles");
    let [mine, other] =
        ["run", "other"].map(|name| Store::read(root).find(name).unwrap().manifest.id.clone());
    // A replacement in two steps, killed between them and after them.
    fs::rename(profiles.join(&mine), profiles.join(format!(".replaced-{mine}"))).unwrap();
    write(&format!("profiles/.replaced-{other}/manifest.json"), "{}");
    write(&format!("profiles/{other}/.nprof-1"), "half a manifest");
}

impl Scene {
    pub fn of(command: &Command) -> Self {
        // Memory if possible: thousands of stores are made.
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        for name in ["mine", "other"] {
            let trace = format!(r#"[{{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"{name}"}}]"#);
            fs::write(base.path().join(format!("{name}.json")), trace).unwrap();
        }
        let before = base.path().join("before");
        fs::create_dir(&before).unwrap();
        let mut scene = Self { base, before, before_picture: Picture::new(), after: Picture::new() };
        (command.prepare)(&scene.before, &scene);
        scene.before_picture = picture(&Store::read(&scene.before));
        let after = scene.base.path().join("after");
        copy(&scene.before, &after);
        (command.run)(&after, &scene).unwrap();
        scene.after = check_whole(&after, command.name);
        scene
    }

    /// A directory of its own for a run.
    pub fn dir(&self) -> TempDir {
        tempfile::tempdir_in(self.base.path()).unwrap()
    }

    /// `nprof ingest TRACE --db-bucket NAME`
    fn ingest(&self, root: &Path, trace: &str, name: &str, existing: Existing) -> Result<(), String> {
        let store = Store::open(root).map_err(|error| error.to_string())?;
        let named = NamedInputs {
            files: vec![self.base.path().join(format!("{trace}.json"))],
            ..NamedInputs::default()
        };
        let settings =
            IngestSettings { existing, slug: Some(name.parse().unwrap()), ..IngestSettings::default() };
        let ingested = run(&store, &named, &settings, &Meter::default());
        ingested.map(drop).map_err(|error| error.to_string())
    }

    /// `nprof ingest TRACE --into NAME`
    fn add(&self, root: &Path, trace: &str, name: &str) -> Result<(), String> {
        let store = Store::open(root).map_err(|error| error.to_string())?;
        let named = NamedInputs {
            files: vec![self.base.path().join(format!("{trace}.json"))],
            ..NamedInputs::default()
        };
        let added = add(&store, &named, name, &Meter::default());
        added.map(drop).map_err(|error| error.to_string())
    }
}

fn picture(store: &Store) -> Picture {
    let survey = store.survey().unwrap();
    assert!(survey.unreadable.is_empty() && survey.shared.is_empty(), "{survey:?}");
    let shown = survey.profiles.iter().map(|profile| {
        let manifest = &profile.manifest;
        let names = manifest.slugs().map(ToString::to_string).collect();
        let ranks = manifest.ranks.iter().map(|rank| (rank.clock, rank.content.clone())).collect();
        (manifest.id.clone(), Shown { names, ranks })
    });
    shown.collect()
}

/// Checks the store as other commands find it: nothing fails, no two profiles have one name,
/// everything is whole, leftovers go, profiles can be removed. Empties the store. Returns what it
/// showed.
#[track_caller]
pub fn check_whole(root: &Path, what: &str) -> Picture {
    let found = picture(&Store::read(root));
    let store = Store::open(root).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(picture(&store), found, "{what}: readers and writers see the same");
    let verified = verify(&store, &[], &Meter::default()).unwrap();
    assert!(verified.damages.is_empty(), "{what}: {:?}", verified.damages);
    // A process that another test starts holds all locks of this process for a moment.
    let staged = || fs::read_dir(root.join("tmp")).unwrap().count();
    let start = Instant::now();
    while staged() > 0 && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
        store.clear().unwrap();
    }
    assert_eq!(staged(), 0, "{what}");
    let directories = fs::read_dir(root.join("profiles")).unwrap();
    let mut names = Vec::new();
    for directory in directories.map(|entry| entry.unwrap().path()) {
        let files: Vec<_> =
            fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(files.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{what}: {files:?}");
        // The files themselves, as another program or an older nprof reads them.
        let text = fs::read(directory.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let aliases = manifest["aliases"].as_array().into_iter().flatten();
        names.extend(aliases.chain([&manifest["name"]]).map(|name| name.as_str().unwrap().to_owned()));
        assert!(manifest["took"].is_null(), "{what}");
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!((names.len(), directories_count(root)), (count, found.len()), "{what}: {names:?}");
    for id in found.keys() {
        store.remove(id).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
    assert_eq!(directories_count(root), 0, "{what}");
    found
}

fn directories_count(root: &Path) -> usize {
    fs::read_dir(root.join("profiles")).unwrap().count()
}

/// Copies a directory.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
