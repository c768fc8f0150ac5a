//! Text in HTML.

/// Escapes text for markup and for attributes in double quotes.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // Control characters are not allowed in markup, and NUL would become another character.
            character if character.is_control() => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        let name = "</title><img a='b' c=\"d\">&\0";
        let text = "&lt;/title&gt;&lt;img a=&#39;b&#39; c=&quot;d&quot;&gt;&amp;\u{fffd}";
        assert_eq!(escaped(name), text);
    }
}
