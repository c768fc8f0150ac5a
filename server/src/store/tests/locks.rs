//! Changes under the store's lock, and names that a dead process did not hand over completely.

use std::fs::File;
use std::sync::{Arc, Mutex};

use nprof_engine::native::disk::watch::{CallVerdict, Watching};

use super::*;

#[test]
fn profiles_change_only_under_the_lock() {
    let (_dir, store) = open();
    let lock = store.root().join(LOCK);
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let watching = Watching::below(&store.root().join(PROFILES), move |call| {
        // The lock belongs to a handle, so this one finds what another process would find.
        let is_free = File::open(&lock).unwrap().try_lock().is_ok();
        seen.lock().unwrap().push((is_free, format!("{call:?}")));
        CallVerdict::Make
    });
    add(&store, &named(&id('a'), "run"), Existing::Keep).unwrap();
    store.rename(&id('a'), Some("more".parse().unwrap()), None).unwrap();
    store.set_clock("run", 0, None).unwrap();
    add(&store, &named(&id('b'), "run"), Existing::Replace).unwrap();
    store.remove("more").unwrap();
    store.clear().unwrap();
    drop(watching);
    let calls = calls.lock().unwrap();
    assert!(calls.len() >= 5, "each change is seen: {calls:?}");
    let unlocked: Vec<&String> = calls.iter().filter(|(is_free, _)| *is_free).map(|(_, call)| call).collect();
    assert!(unlocked.is_empty(), "{unlocked:?}");
}

/// Another process has published the new owner of "x" and died before the old one lost the name.
/// The new owner is then replaced by a profile that took the name from nobody.
#[test]
fn a_name_that_a_dead_process_handed_over_does_not_come_back() {
    let (_dir, store) = open();
    published(&store, &named(&id('b'), "x"));
    let took = vec![TakenName { name: "x".parse().unwrap(), from: id('b') }];
    published(&store, &Manifest { took, ..named(&id('a'), "x") });
    add(&store, &named(&id('a'), "x"), Existing::Replace).unwrap();
    assert_eq!(slugs(&store), [(id('a'), vec!["x".to_owned()])]);
    assert_eq!(store.survey().unwrap().shared, []);
}
