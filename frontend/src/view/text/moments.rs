//! Finds timestamps in a text of the ingest: `59609241768000000 ps on track "stream 7"`.

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart<'a> {
    /// Plain text.
    Text(&'a str),
    /// A time since the profile's origin, in picoseconds.
    Moment(i64),
}

/// The text after a timestamp.
const UNIT: &str = " ps";

/// The parts of a text, in order. A number counts as a timestamp if " ps" follows as a word of its
/// own.
#[must_use]
pub fn parts(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let (mut shown, mut from) = (0, 0);
    while let Some(at) = text[from..].find(UNIT).map(|at| from + at) {
        from = at + UNIT.len();
        let is_word = !text[from..].starts_with(char::is_alphanumeric);
        let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
        let digits = text.as_bytes()[shown..at].iter().rev().take_while(|byte| is_number(byte)).count();
        let start = at - digits;
        let number = &text[start..at];
        // Nothing writes a zero with a sign, so it is no time.
        if let (true, Ok(ps)) = (is_word, number.parse::<i64>())
            && (ps != 0 || !number.starts_with('-'))
        {
            parts.extend((start > shown).then(|| TextPart::Text(&text[shown..start])));
            parts.push(TextPart::Moment(ps));
            shown = from;
        }
    }
    parts.extend((shown < text.len()).then(|| TextPart::Text(&text[shown..])));
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[TextPart<'_>]) {
        assert_eq!(parts(text), expected, "{text}");
    }

    #[test]
    fn moments_are_found_between_words() {
        let text = TextPart::Text;
        check("", &[]);
        check("byte 8812", &[text("byte 8812")]);
        check("59609241768000000 ps", &[TextPart::Moment(59_609_241_768_000_000)]);
        check("at -5 ps on track \"a\"", &[text("at "), TextPart::Moment(-5), text(" on track \"a\"")]);
        check("1 ps, 2 ps", &[TextPart::Moment(1), text(", "), TextPart::Moment(2)]);
        // Other units, no number, a number beyond the range.
        check("10 psi, x ps", &[text("10 psi, x ps")]);
        check("-0 ps", &[text("-0 ps")]);
        check("99999999999999999999 ps", &[text("99999999999999999999 ps")]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "[0-9 psä-]{0,40}") {
            let joined: String = parts(&text)
                .iter()
                .map(|part| match part {
                    TextPart::Text(text) => (*text).to_owned(),
                    TextPart::Moment(ps) => format!("{ps}{UNIT}"),
                })
                .collect();
            // A number can have been written with leading zeros.
            prop_assert_eq!(joined.replace('0', ""), text.replace('0', ""));
        }
    }
}
