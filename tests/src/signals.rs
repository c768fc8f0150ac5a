//! Structs of the page with many signals, for `tests/tidy.rs`.

use crate::imports::identifier;
use crate::source::ProjectFile;

/// Most signals of a struct of the page: more are several things, each with a name of its own.
pub const SIGNALS_MAX: usize = 8;

/// Types of signals.
const SIGNALS: [&str; 5] = ["Memo<", "Signal<", "RwSignal<", "ReadSignal<", "WriteSignal<"];

/// A struct with too many signals.
#[derive(Debug, PartialEq, Eq)]
pub struct ManySignals<'a> {
    /// Name of the struct.
    pub name: &'a str,
    /// Its line, from 1.
    pub line: usize,
    /// Number of its signals.
    pub signals: usize,
}

/// The structs of a file with too many signals.
#[must_use]
pub fn many_signals(source: &ProjectFile) -> Vec<ManySignals<'_>> {
    let (mut found, mut open) = (Vec::new(), None::<ManySignals<'_>>);
    for (line, text) in (1..).zip(source.code.lines()) {
        let (text, is_at_top) = (text.trim_start(), !text.starts_with(' '));
        let begins = text.trim_start_matches("pub ").strip_prefix("struct ").filter(|_| is_at_top);
        if let Some(name) = begins {
            open = Some(ManySignals { name: identifier(name), line, signals: 0 });
        } else if is_at_top {
            found.extend(open.take().filter(|of| of.signals > SIGNALS_MAX));
        } else if let Some(of) = &mut open {
            let kind = text.split_once(": ").map_or("", |(_, kind)| kind);
            of.signals += usize::from(SIGNALS.iter().any(|signal| kind.starts_with(signal)));
        }
    }
    found.extend(open.take().filter(|of| of.signals > SIGNALS_MAX));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_of_a_struct_are_counted() {
        let fields = |count: usize| "    pub a: Memo<u8>,\n    b: Option<u8>,\n".repeat(count);
        let text = format!("struct Few {{\n{}}}\n\npub struct Many<T> {{\n{}}}\n", fields(8), fields(9));
        let source = ProjectFile::new("frontend/src/ui/a.rs", &text);
        assert_eq!(many_signals(&source), [ManySignals { name: "Many", line: 20, signals: 9 }]);
    }
}
