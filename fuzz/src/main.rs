//! libFuzzer's program for all targets. The variable `NPROF_FUZZ_TARGET` names the one to run.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use nprof_fuzz::targets::{Target, target};

fn chosen() -> Target {
    static CHOSEN: OnceLock<Target> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let name = std::env::var("NPROF_FUZZ_TARGET").expect("scripts/fuzz.sh names the target");
        target(&name).expect("the target is one of the table")
    })
}

fuzz_target!(|bytes: &[u8]| (chosen().run)(bytes));
