//! Puts the page together, for `scripts/page.sh`: binds its two programs to JavaScript, and copies
//! what `frontend/index.html` links to beside them.
//!
//! The page is a project of trunk, which `trunk serve` serves while it is worked on. A build takes
//! this program instead: trunk is 420 crates that no other part of nprof needs.

mod bundle;
mod link;

use anyhow::{Context as _, bail};
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let [index, programs, dist] = &arguments[..] else {
        bail!("usage: nprof-bundler INDEX.html FOLDER_OF_PROGRAMS FOLDER_OF_THE_PAGE");
    };
    bundle::write(Path::new(index), Path::new(programs), Path::new(dist))
        .with_context(|| format!("{index} could not be put together"))
}
