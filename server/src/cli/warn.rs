//! The warnings of a profile, for every command that reads one.

use std::io::{self, Write};

use super::size;
use crate::store::Profile;
use crate::terminal::visible;
use crate::warnings;

/// Number of kinds of warnings shown. The page and exports show all of them.
const SHOWN: usize = 5;

/// Prints the most frequent kinds of warnings over all ranks. Prints nothing if there are none.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn tell(profile: &Profile, err: &mut dyn Write) -> io::Result<()> {
    let kinds = warnings::of_profile(profile);
    if kinds.is_empty() {
        return Ok(());
    }
    let plural = if kinds.len() == 1 { "" } else { "s" };
    writeln!(err, "{} of warning{plural}:", size::counted(kinds.len() as u64, "kind"))?;
    for warning in kinds.iter().take(SHOWN) {
        let (what, place) = (visible(&warning.what), visible(&warning.first_place));
        let (count, title) = (size::count(warning.count), warning.kind.title());
        writeln!(err, "  {count} × {title}: {what} (first: {place})")?;
    }
    if kinds.len() > SHOWN {
        let others = size::counted((kinds.len() - SHOWN) as u64, "other kind");
        writeln!(err, "  and {others}; the page of the profile shows all warnings")?;
    }
    Ok(())
}
