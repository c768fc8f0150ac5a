//! Power cuts, simulated. The calls of a command are recorded. For each prefix of them, what the
//! disk can hold after a power cut is made as a new directory and checked.
//!
//! The model of the disk:
//! - Names: each directory keeps a prefix of the changes of its entries, at least up to its last
//!   sync. A rename between two directories is one change of both, kept in both or in neither.
//!   Different directories are independent. (Linux's file systems with a journal keep one order of
//!   all changes, so they lose less.)
//! - Contents: a file has at least what it had at its last sync. Bytes after that are kept, lost,
//!   cut or zero.
//! - A call is made as a whole or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use nprof_engine::native::disk::DiskCall;
use nprof_engine::native::disk::watch::{CallVerdict, Watching};

use super::scene::{COMMANDS, Command, Scene, check_whole, copy};

/// States that are tried for each prefix of the calls.
const STATES: u64 = 4;

/// Number of a file or a directory. The root is 0.
type Node = usize;

/// A step as the disk sees it.
#[derive(Debug, Clone)]
enum Step {
    /// Entries of directories that change together: directory, name, new content.
    Names(Vec<(Node, String, Option<Node>)>),
    Write(Node, Vec<u8>),
    SyncFile(Node),
    SyncDir(Node),
}

#[derive(Debug, Clone, Default)]
struct Tree {
    /// Entries of each directory.
    dirs: BTreeMap<Node, BTreeMap<String, Node>>,
    /// Contents of files.
    files: BTreeMap<Node, Vec<u8>>,
}

/// The tree as the command sees it, and the steps that led there.
#[derive(Debug)]
struct Recorder {
    root: PathBuf,
    tree: Tree,
    /// Files by their number in the calls.
    numbered: BTreeMap<u64, Node>,
    next: Node,
    steps: Vec<Step>,
}

impl Recorder {
    /// Starts with the content of a directory, which is on the disk.
    fn of(root: &Path) -> Self {
        let mut recorder = Self {
            root: root.to_owned(),
            tree: Tree::default(),
            numbered: BTreeMap::new(),
            next: 1,
            steps: Vec::new(),
        };
        recorder.load(root, 0);
        recorder
    }

    fn load(&mut self, path: &Path, dir: Node) {
        self.tree.dirs.insert(dir, BTreeMap::new());
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            let node = self.new_node();
            let name = entry.file_name().into_string().unwrap();
            self.tree.dirs.get_mut(&dir).unwrap().insert(name, node);
            if entry.file_type().unwrap().is_dir() {
                self.load(&entry.path(), node);
            } else {
                self.tree.files.insert(node, fs::read(entry.path()).unwrap());
            }
        }
    }

    fn new_node(&mut self) -> Node {
        self.next += 1;
        self.next - 1
    }

    /// The directory of a path and its name there.
    fn place(&self, path: &Path) -> Option<(Node, String)> {
        let name = path.file_name()?.to_str()?.to_owned();
        Some((self.node(path.parent()?)?, name))
    }

    fn node(&self, path: &Path) -> Option<Node> {
        let path = path.strip_prefix(&self.root).ok()?;
        path.iter().try_fold(0, |dir, name| self.tree.dirs.get(&dir)?.get(name.to_str()?).copied())
    }

    /// Adds a call. A call that fails, such as the creation of what exists, is no step.
    fn record(&mut self, call: &DiskCall<'_>) {
        if let Some(step) = self.step(call) {
            self.tree.apply(&step);
            self.steps.push(step);
        }
    }

    fn step(&mut self, call: &DiskCall<'_>) -> Option<Step> {
        let set = |(dir, name): (Node, String), node| (dir, name, node);
        Some(match *call {
            DiskCall::CreateDir(path) => {
                let place = self.place(path).filter(|_| self.node(path).is_none())?;
                let node = self.new_node();
                self.tree.dirs.insert(node, BTreeMap::new());
                Step::Names(vec![set(place, Some(node))])
            }
            DiskCall::CreateFile { file, path } => {
                let place = self.place(path).filter(|_| self.node(path).is_none())?;
                let node = self.new_file(file);
                Step::Names(vec![set(place, Some(node))])
            }
            DiskCall::CreateUnnamed { file, .. } => {
                self.new_file(file);
                return None;
            }
            DiskCall::Link { file, to } => {
                let place = self.place(to).filter(|_| self.node(to).is_none())?;
                Step::Names(vec![set(place, Some(*self.numbered.get(&file)?))])
            }
            DiskCall::SecondName { of, to } => {
                let place = self.place(to).filter(|_| self.node(to).is_none())?;
                Step::Names(vec![set(place, Some(self.node(of)?))])
            }
            DiskCall::Write { file, bytes } => Step::Write(*self.numbered.get(&file)?, bytes.to_vec()),
            DiskCall::SyncFile(file) => Step::SyncFile(*self.numbered.get(&file)?),
            DiskCall::SyncDir(path) => Step::SyncDir(self.node(path)?),
            DiskCall::Rename { from, to } => {
                let node = self.node(from)?;
                let is_full = |node| self.tree.dirs.get(&node).is_some_and(|entries| !entries.is_empty());
                if self.node(to).is_some_and(is_full) {
                    return None;
                }
                Step::Names(vec![set(self.place(from)?, None), set(self.place(to)?, Some(node))])
            }
            DiskCall::Exchange { one, other } => {
                let (first, second) = (self.node(one)?, self.node(other)?);
                Step::Names(vec![set(self.place(one)?, Some(second)), set(self.place(other)?, Some(first))])
            }
            DiskCall::RemoveFile(path) | DiskCall::RemoveDir(path) => {
                self.node(path)?;
                Step::Names(vec![set(self.place(path)?, None)])
            }
        })
    }

    fn new_file(&mut self, number: u64) -> Node {
        let node = self.new_node();
        self.tree.files.insert(node, Vec::new());
        self.numbered.insert(number, node);
        node
    }
}

impl Tree {
    fn apply(&mut self, step: &Step) {
        match step {
            Step::Names(changes) => {
                for (dir, name, node) in changes {
                    let entries = self.dirs.entry(*dir).or_default();
                    match node {
                        Some(node) => drop(entries.insert(name.clone(), *node)),
                        None => drop(entries.remove(name)),
                    }
                }
            }
            Step::Write(node, bytes) => self.files.entry(*node).or_default().extend(bytes),
            Step::SyncFile(_) | Step::SyncDir(_) => {}
        }
    }

    /// Writes the tree as a directory.
    fn make(&self, node: Node, path: &Path) {
        fs::create_dir_all(path).unwrap();
        for (name, entry) in self.dirs.get(&node).into_iter().flatten() {
            match self.files.get(entry) {
                Some(bytes) => fs::write(path.join(name), bytes).unwrap(),
                None => self.make(*entry, &path.join(name)),
            }
        }
    }
}

/// A sequence of numbers that looks random.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

fn directories(step: &Step) -> Vec<Node> {
    match step {
        Step::Names(changes) => changes.iter().map(|(dir, ..)| *dir).collect(),
        _ => Vec::new(),
    }
}

/// The steps that must be on the disk: those before a sync of their directory, and those that came
/// before such a step in one of its directories.
fn durable(steps: &[Step]) -> BTreeSet<usize> {
    let mut until = BTreeMap::<Node, usize>::new();
    for (at, step) in steps.iter().enumerate() {
        if let Step::SyncDir(dir) = step {
            until.insert(*dir, at);
        }
    }
    let mut kept = BTreeSet::new();
    for (at, step) in steps.iter().enumerate().rev() {
        let dirs = directories(step);
        if dirs.iter().any(|dir| until.get(dir).is_some_and(|&until| at < until)) {
            kept.insert(at);
            for dir in dirs {
                let until = until.entry(dir).or_insert(at);
                *until = (*until).max(at);
            }
        }
    }
    kept
}

/// The disk after a power cut that followed these steps. `files` are all files that the steps name.
fn after_power_cut(before: &Tree, files: &[Node], steps: &[Step], dice: &mut Dice) -> Tree {
    let durable = durable(steps);
    let mut tree = before.clone();
    // Directories that have lost a change lose all later ones.
    let mut ended = BTreeSet::new();
    for (at, step) in steps.iter().enumerate() {
        let Step::Names(_) = step else { continue };
        let dirs = directories(step);
        let is_kept =
            durable.contains(&at) || (dirs.iter().all(|dir| !ended.contains(dir)) && dice.roll(4) > 0);
        if is_kept {
            tree.apply(step);
        } else {
            ended.extend(dirs);
        }
    }
    for &node in files {
        let mut bytes = before.files.get(&node).cloned().unwrap_or_default();
        let mut synced = bytes.len();
        for step in steps {
            match step {
                Step::Write(of, more) if *of == node => bytes.extend(more),
                Step::SyncFile(of) if *of == node => synced = bytes.len(),
                _ => {}
            }
        }
        match dice.roll(4) {
            0 => bytes.truncate(synced),
            1 => bytes.truncate(synced + dice.roll(bytes.len() - synced + 1)),
            2 => bytes[synced..].fill(0),
            _ => {}
        }
        tree.files.insert(node, bytes);
    }
    tree
}

fn check(command: &Command) {
    let scene = Scene::of(command);
    let work = scene.dir();
    let root = work.path().join("store");
    copy(&scene.before, &root);
    let recorder = Arc::new(Mutex::new(Recorder::of(&root)));
    let before = recorder.lock().unwrap().tree.clone();
    let recording = Arc::clone(&recorder);
    let watching = Watching::below(&root, move |call| {
        recording.lock().unwrap().record(call);
        match call {
            DiskCall::SyncFile(_) | DiskCall::SyncDir(_) => CallVerdict::Skip,
            _ => CallVerdict::Make,
        }
    });
    (command.run)(&root, &scene).unwrap();
    drop(watching);
    let recorder = recorder.lock().unwrap();
    let made = scene.dir();
    recorder.tree.make(0, &made.path().join("recorded"));
    assert_eq!(check_whole(&made.path().join("recorded"), command.name), scene.after, "the record is right");

    let steps = &recorder.steps;
    let files: Vec<Node> = recorder.tree.files.keys().copied().collect();
    for count in 0..=steps.len() {
        for seed in 0..STATES {
            let what = format!("{}, power cut after {count} steps, state {seed}", command.name);
            let tree =
                after_power_cut(&before, &files, &steps[..count], &mut Dice(seed * 1_000 + count as u64));
            let disk = scene.dir();
            let root = disk.path().join("store");
            tree.make(0, &root);
            let found = check_whole(&root, &what);
            let is_after = found == scene.after;
            assert!(is_after || found == scene.before_picture, "{what}: {found:#?}");
            assert!(is_after || count < steps.len(), "{what}: what is done survives");
        }
    }
}

#[test]
fn every_command_survives_a_power_cut_after_each_call() {
    std::thread::scope(|scope| {
        let running: Vec<_> = COMMANDS.iter().map(|command| scope.spawn(move || check(command))).collect();
        running.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
