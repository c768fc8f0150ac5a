//! Names of semaphores, from the queues that `def.json` declares.

use serde_json::Value as Json;

/// Number and name of each queue's semaphore. Queues are a list with names or an object by name;
/// both are read.
#[must_use]
pub fn names(def: &Json) -> Vec<(u8, String)> {
    let entry = |name: &str, queue: &Json| {
        let number = queue.get("semaphore").and_then(Json::as_u64)?;
        Some((u8::try_from(number).ok()?, name.to_owned()))
    };
    match def.get("dma_queue") {
        Some(Json::Object(queues)) => queues.iter().filter_map(|(name, queue)| entry(name, queue)).collect(),
        Some(Json::Array(queues)) => queues
            .iter()
            .filter_map(|queue| entry(queue.get("name").and_then(Json::as_str)?, queue))
            .collect(),
        _ => Vec::new(),
    }
}
