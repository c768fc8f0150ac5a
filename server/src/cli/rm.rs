//! `nprof rm`

use std::io::Write;

use clap::Args;

use super::{StorePlace, size};
use crate::store::Removed;
use crate::terminal::visible;

const EXAMPLES: &str = "\
Examples:
  nprof rm run-7
  nprof rm n_0123456789abcdef0123456789abcdef01234567";

/// Remove profiles and all of their names from the store
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RmArgs {
    /// Names or ids of profiles, as `nprof list` shows them; for a profile that cannot be read, the
    /// name of its directory
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<String>,
}

impl RmArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.open()?;
        for name in &self.profiles {
            let removed = match store.remove(name)? {
                Removed::Profile(profile) => profile,
                Removed::Unreadable(_) => {
                    writeln!(out, "removed {}, which could not be read", visible(name))?;
                    continue;
                }
            };
            let entry = removed.manifest.entry();
            let also = match entry.aliases.as_slice() {
                [] => String::new(),
                others => format!(", also called {}", others.join(", ")),
            };
            writeln!(out, "removed {}{also} ({})", entry.slug, size::bytes(entry.size_bytes))?;
        }
        Ok(())
    }
}
