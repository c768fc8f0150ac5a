//! JSON text for people: short parts on one line, the rest indented. Pure.

/// Lists and objects up to this many characters stay on one line.
const SHORT_JSON: usize = 48;

/// Indents compact JSON text. Text that is not JSON keeps its characters and their order, apart
/// from white space.
#[must_use]
pub fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut short_until = 0;
    let mut string = InString::default();
    for (at, c) in text.char_indices() {
        if string.takes(c) {
            out.push(c);
            continue;
        }
        let in_short = at < short_until;
        match c {
            '{' | '[' if !in_short => {
                out.push(c);
                match short_value(&text[at..]) {
                    Some(length) => short_until = at + length,
                    None => {
                        depth += 1;
                        new_line(&mut out, depth);
                    }
                }
            }
            '}' | ']' if !in_short => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' if in_short => out.push_str(", "),
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ if c.is_ascii_whitespace() => {}
            _ => out.push(c),
        }
    }
    out
}

/// Length in bytes of the list or object at the start of this text, if it is short.
fn short_value(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut string = InString::default();
    for (at, c) in text.char_indices().take(SHORT_JSON) {
        if string.takes(c) {
            continue;
        }
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// Tracks whether a position in JSON text is inside a string.
#[derive(Default)]
struct InString {
    inside: bool,
    escaped: bool,
}

impl InString {
    /// Returns true if the next character belongs to a string, including its quotes.
    fn takes(&mut self, c: char) -> bool {
        if !self.inside {
            self.inside = c == '"';
            return self.inside;
        }
        self.inside = self.escaped || c != '"';
        self.escaped = !self.escaped && c == '\\';
        true
    }
}

/// Deepest indentation. It limits the growth of text with hostile nesting.
const MAX_INDENT: usize = 32;

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(MAX_INDENT)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_json(text: &str, expected: &str) {
        assert_eq!(pretty(text), expected);
    }

    #[test]
    fn json_is_indented_and_text_in_it_left_alone() {
        check_json(r#"{"a":[1, 2],"b":{}}"#, r#"{"a": [1, 2], "b": {}}"#);
        check_json(
            r#"{"shape":[128,4096],"text":"x, {\"y\": 1} and so on","inner":{"deep":[{}]}}"#,
            "{\n  \"shape\": [128, 4096],\n  \"text\": \"x, {\\\"y\\\": 1} and so on\",\n  \"inner\": {\"deep\": [{}]}\n}",
        );
        check_json("]]", "\n]\n]");
        check_json("[\"[", "[\n  \"[");
    }
}
