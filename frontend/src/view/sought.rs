//! The text of the palette: words of a command, of a place after `@`, or a time after `:`.

use nprof_engine::base::Interval;

use super::region_list::{typed_moment, typed_span};

/// A kind of things that the palette finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SoughtKind {
    /// Commands.
    Command,
    /// Ranks, tracks, regions, findings and tables.
    Place,
    /// A moment or a span.
    Time,
}

/// The text of the palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sought {
    /// The kind of things that it seeks.
    pub kind: SoughtKind,
    /// The text behind the sign of the kind.
    pub words: String,
}

impl Sought {
    /// The meaning of a typed text.
    #[must_use]
    pub fn of(typed: &str) -> Self {
        let typed = typed.trim();
        let signs = [('@', SoughtKind::Place), (':', SoughtKind::Time)];
        let found = signs.into_iter().find_map(|(sign, kind)| Some((kind, typed.strip_prefix(sign)?)));
        let (kind, words) = found.unwrap_or((SoughtKind::Command, typed));
        Self { kind, words: words.trim().to_owned() }
    }
}

impl SoughtKind {
    /// The message if nothing is found.
    #[must_use]
    pub fn nothing(self) -> &'static str {
        match self {
            Self::Command => "No command has these letters.",
            Self::Place => "No rank, track, region, finding or table has these letters.",
            Self::Time => "A moment such as :12.5ms, or a span such as :1ms..2.5ms",
        }
    }
}

/// The moment or the span in a text such as `12.5ms` or `1ms..2ms`, counted from `zero_ps`. A
/// moment is an empty span. A number alone is in milliseconds.
#[must_use]
pub fn typed_time(text: &str, zero_ps: i64) -> Option<Interval> {
    if let Some((from, to)) = text.split_once("..") {
        return typed_span(from, to, zero_ps);
    }
    typed_moment(text, zero_ps).map(|at_ps| Interval::new(at_ps, at_ps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sign_tells_what_is_sought() {
        for (typed, kind, words) in [
            ("zoom in", SoughtKind::Command, "zoom in"),
            (" @ tens", SoughtKind::Place, "tens"),
            (":12ms", SoughtKind::Time, "12ms"),
            ("", SoughtKind::Command, ""),
        ] {
            assert_eq!(Sought::of(typed), Sought { kind, words: words.to_owned() });
        }
    }

    #[test]
    fn a_moment_or_a_span_can_be_typed() {
        assert_eq!(typed_time("1.5us", 1_000), Some(Interval::new(1_501_000, 1_501_000)));
        assert_eq!(typed_time("1us..2us", 0), Some(Interval::new(1_000_000, 2_000_000)));
        for wrong in ["", "x", "1us..", "2us..1us"] {
            assert_eq!(typed_time(wrong, 0), None, "{wrong}");
        }
    }
}
