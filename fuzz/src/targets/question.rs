//! Any text as the address of a question: refused, or the same when written again.

use crate::bound::within_reader;
use nprof_engine::wire::questions::Question;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || check(bytes));
}

fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = |address: &str| {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        Question::parse(path, query)
    };
    if let Ok(question) = read(text) {
        assert_eq!(read(&question.path()), Ok(question));
    }
}
