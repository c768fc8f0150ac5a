//! A text for people, in which names stand between backticks, as in the terminal.

use leptos::prelude::*;

/// A text whose names are set as code. A backtick without a second one is a sign like others.
#[component]
pub fn Prose(
    /// The text.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    let part = |(text, is_name)| match is_name {
        true => view! { <code>{text}</code> }.into_any(),
        false => String::into_any(text),
    };
    parts(&text).into_iter().map(part).collect_view()
}

/// The parts of a text, and whether each is a name.
fn parts(text: &str) -> Vec<(String, bool)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((name, behind)) = after.split_once('`') else { break };
        parts.extend([(before.to_owned(), false), (name.to_owned(), true)]);
        rest = behind;
    }
    parts.push((rest.to_owned(), false));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_between_backticks() {
        let shown = |text| {
            let part = |(text, is_name): (String, bool)| if is_name { format!("<{text}>") } else { text };
            parts(text).into_iter().map(part).collect::<String>()
        };
        assert_eq!(shown("before `DMA_2D`; then `a`, `b`"), "before <DMA_2D>; then <a>, <b>");
        assert_eq!(shown("plain"), "plain");
        assert_eq!(shown("`first` and a lone ` sign"), "<first> and a lone ` sign");
        assert_eq!(shown(""), "");
    }
}
