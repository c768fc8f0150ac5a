//! Any text as the address of a question: refused, or the same when written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nprof_engine::wire::question::Question;
use nprof_fuzz::within_reader;

fuzz_target!(|bytes: &[u8]| within_reader(bytes.len(), || check(bytes)));

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
