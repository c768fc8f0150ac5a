//! Text in HTML, small pages, and what a browser needs to allow a script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// A small page for people. `head` and `body` are markup; the title is text.
#[must_use]
pub fn page(title: &str, head: &str, body: &str) -> String {
    /// Looks as the profiles' page does, without its files.
    const STYLE: &str = ":root{color-scheme:light dark}body{background:Canvas;color:CanvasText;margin:4rem auto;max-width:40rem;\
        padding:0 1.5rem;font:1rem/1.5 system-ui,sans-serif}h1{font-size:1.25rem}a{color:LinkText}\
        code{overflow-wrap:anywhere}";
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<style>{STYLE}</style>\n\
         {head}<title>{title}</title>\n<main>\n{body}\n</main>\n</html>\n"
    )
}

/// The source expression with which a Content-Security-Policy allows an inline script.
#[must_use]
pub fn script_hash(script: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)))
}

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
    fn hashes_of_scripts_are_as_browsers_compute_them() {
        // Example of the Content Security Policy specification, level 2, section 7.17.2.
        assert_eq!(
            script_hash("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }

    #[test]
    fn markup_in_names_is_text() {
        let name = "</title><img a='b' c=\"d\">&\0";
        let text = "&lt;/title&gt;&lt;img a=&#39;b&#39; c=&quot;d&quot;&gt;&amp;\u{fffd}";
        assert_eq!(escaped(name), text);
    }
}
