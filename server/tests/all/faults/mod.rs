//! Kills and failures at each call that changes files, of each command that changes a store.
//!
//! A kill is simulated in this process: the call and all later ones, also those of destructors,
//! change nothing and fail. Locks end with the command. A write that is hit by the kill writes half
//! of its bytes. `killed.rs` kills processes at any time.
//!
//! After each run the store is read without writing, opened, verified and emptied. It must have the
//! profiles from before the command or those from after it, each of them whole.

mod power;
mod scene;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nprof_engine::native::disk::DiskCall;
use nprof_engine::native::disk::watch::{CallVerdict, Watching};
use rustix::io::Errno;

use scene::{COMMANDS, Command, Scene, check_whole, copy};

/// Fault from the nth call on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// No call is made any more.
    Kill,
    /// One call fails.
    Once(Errno),
    /// Calls that take space fail from now on.
    FullDisk,
}

const FAULTS: [Fault; 5] = [
    Fault::Kill,
    Fault::Once(Errno::NOSPC),
    Fault::Once(Errno::IO),
    Fault::Once(Errno::INTR),
    Fault::FullDisk,
];

/// A file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    /// Exchanges names, and has files without a name and with two, as Linux's own file systems.
    Local,
    /// Does none of it, as some file systems of a network.
    Network,
}

/// Returns true if this file system cannot do that at all.
fn is_unknown(disk: Disk, call: &DiskCall<'_>) -> bool {
    let is_special = matches!(
        call,
        DiskCall::Exchange { .. } | DiskCall::CreateUnnamed { .. } | DiskCall::SecondName { .. }
    );
    disk == Disk::Network && is_special
}

fn takes_space(call: &DiskCall<'_>) -> bool {
    !matches!(
        call,
        DiskCall::SyncFile(_) | DiskCall::SyncDir(_) | DiskCall::RemoveFile(_) | DiskCall::RemoveDir(_)
    )
}

fn verdict(disk: Disk, fault: Fault, call: &DiskCall<'_>, (number, nth): (usize, usize)) -> CallVerdict {
    let is_sync = matches!(call, DiskCall::SyncFile(_) | DiskCall::SyncDir(_));
    match fault {
        Fault::Kill if number == nth => CallVerdict::Tear(Errno::IO),
        Fault::Kill if number > nth => CallVerdict::Fail(Errno::IO),
        Fault::Once(errno) if number == nth => CallVerdict::Fail(errno),
        Fault::FullDisk if number >= nth && takes_space(call) => CallVerdict::Fail(Errno::NOSPC),
        _ if is_unknown(disk, call) => CallVerdict::Fail(Errno::OPNOTSUPP),
        // Tests of power failures judge the syncs. Here they only cost time.
        _ if is_sync => CallVerdict::Skip,
        _ => CallVerdict::Make,
    }
}

/// Runs a command with a fault at its nth call. Returns false if it has fewer calls.
fn run_with(scene: &Scene, command: &Command, disk: Disk, fault: Fault, nth: usize) -> bool {
    let work = scene.dir();
    let root = work.path().join("store");
    copy(&scene.before, &root);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let watching = Watching::below(&root, move |call| {
        verdict(disk, fault, call, (counted.fetch_add(1, Ordering::Relaxed), nth))
    });
    let done = (command.run)(&root, scene);
    drop(watching);
    let what = format!("{} on a {disk:?} disk, {fault:?} at call {nth}: {done:?}", command.name);
    let is_hit = calls.load(Ordering::Relaxed) > nth;

    let found = check_whole(&root, &what);
    let is_after = found == scene.after;
    assert!(is_after || found == scene.before_picture, "{what}: {found:#?}");
    match fault {
        _ if !is_hit => assert!(done.is_ok() && is_after, "{what}: {found:#?}"),
        Fault::Once(Errno::INTR) => assert!(done.is_ok() && is_after, "{what}: {found:#?}"),
        Fault::FullDisk if command.frees_space => assert!(done.is_ok() && is_after, "{what}: {found:#?}"),
        _ => assert!(done.is_err() || is_after, "{what}: {found:#?}"),
    }
    is_hit
}

fn check(command: &Command) {
    let scene = Scene::of(command);
    for disk in [Disk::Local, Disk::Network] {
        for fault in FAULTS {
            let mut nth = 0;
            while run_with(&scene, command, disk, fault, nth) {
                nth += 1;
            }
            assert!(nth >= command.least_calls, "{} has only {nth} calls", command.name);
        }
    }
}

#[test]
fn every_command_survives_a_fault_at_each_call() {
    // Each command has a store of its own, so they run at once.
    std::thread::scope(|scope| {
        let running: Vec<_> = COMMANDS.iter().map(|command| scope.spawn(move || check(command))).collect();
        running.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn reading_changes_nothing() {
    let scene = Scene::of(&COMMANDS[0]);
    let root = scene.before.as_path();
    let _watching = Watching::below(root, |call| panic!("{call:?}"));
    let store = nprof_server::store::Store::read(root);
    let profile = store.find("other").unwrap();
    assert_eq!(store.list().unwrap(), [profile]);
    let meter = nprof_server::work::Meter::default();
    let verified = nprof_server::verify::verify(&store, &[], &meter).unwrap();
    assert_eq!((verified.profiles, verified.damages.len()), (1, 0));
    assert!(!nprof_server::store::Store::read(Path::new("/nowhere/at/all")).is_read_only());
}
