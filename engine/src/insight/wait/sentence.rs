//! Waits in words.

use super::{WaitKind, WaitRow};
use crate::insight::JobGraph;

/// A row in a sentence, without its time.
#[must_use]
pub fn wait_sentence(graph: &JobGraph, row: &WaitRow) -> String {
    let Some(waiter) = row.waiter.map(|party| party.name(graph)) else {
        return "idle, and nothing is known that it waited for".to_owned();
    };
    let awaited = row.awaited.map_or_else(|| "nobody known".to_owned(), |party| party.name(graph));
    let how = match row.kind {
        WaitKind::Stream => format!("{waiter} waited for {awaited}"),
        WaitKind::Launch => format!("{waiter} waited for a launch by {awaited}"),
        WaitKind::Operation => format!("{waiter} waited in operations for {awaited}"),
        WaitKind::Synchronization => format!("{waiter} waited until {awaited} was done"),
        WaitKind::Semaphore | WaitKind::Transfer => match row.semaphore(graph) {
            Some(semaphore) => format!("{waiter} waited for {awaited} to change {semaphore}"),
            None => format!("{waiter} waited for {awaited}"),
        },
        WaitKind::Trigger => format!("{waiter} waited for a trigger by {awaited}"),
        WaitKind::Unknown => format!("{waiter} was idle"),
    };
    match row.root.map(|party| party.name(graph)) {
        Some(root) if root != awaited => format!("{how}, which {root} held back"),
        Some(_) => how,
        None if row.awaited.is_none() => how,
        None => format!("{how}, which did nothing meanwhile"),
    }
}
