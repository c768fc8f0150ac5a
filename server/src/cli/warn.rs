//! The warnings of a profile, for every command that reads one.

use std::io::{self, Write};

use super::size;
use crate::store::Profile;
use crate::terminal::visible;
use crate::units::time_text;
use crate::warnings;

/// Number of kinds of warnings shown. The page and exports show all of them.
const SHOWN: usize = 5;

/// Prints the most frequent kinds of warnings over all ranks. Prints nothing if there are none.
pub(super) fn tell(profile: &Profile, err: &mut dyn Write) -> io::Result<()> {
    let kinds = warnings::of_profile(profile);
    if kinds.is_empty() {
        return Ok(());
    }
    let plural = if kinds.len() == 1 { "" } else { "s" };
    writeln!(err, "{} of warning{plural}:", size::counted(kinds.len() as u64, "kind"))?;
    let (first_event_ps, _) = profile.manifest.span_ps();
    for warning in kinds.iter().take(SHOWN) {
        let what = visible(&warning.what);
        let place = with_units(&visible(&warning.first_place), first_event_ps);
        let (count, title) = (size::count(warning.count), warning.kind.title());
        writeln!(err, "  {count} × {title}: {what} (first: {place})")?;
    }
    if kinds.len() > SHOWN {
        let others = size::counted((kinds.len() - SHOWN) as u64, "other kind");
        writeln!(err, "  and {others}; the page of the profile shows all warnings")?;
    }
    Ok(())
}

/// The text with timestamps such as `6909000000 ps` in the largest unit that fits. They count from
/// the first event of the profile, as those of the page do.
fn with_units(text: &str, first_event_ps: i64) -> String {
    let mut shown = Vec::new();
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let ps = word.parse().ok().filter(|_| words.next_if_eq(&"ps").is_some());
        shown.push(ps.map_or_else(|| word.to_owned(), |ps: i128| time_text(ps - i128::from(first_event_ps))));
    }
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(with_units(text, 0), expected);
    }

    #[test]
    fn timestamps_have_readable_units() {
        check("a.json, 6909000000 ps on track \"stream 7\"", "a.json, 6.909 ms on track \"stream 7\"");
        check("-1500 ps", "-1.5 ns");
        assert_eq!(with_units("6909000000 ps", 909_000_000), "6 ms");
        check("byte 19", "byte 19");
        check("two  spaces, 12 maps", "two  spaces, 12 maps");
        check("no ps here", "no ps here");
    }
}
