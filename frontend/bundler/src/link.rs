//! Links of `index.html` that a bundler replaces. They are written as trunk reads them.

use anyhow::{Context as _, bail};

const START: &str = "<link data-trunk";
const END: &str = ">";

/// A link that a bundler replaces.
#[derive(Debug, PartialEq, Eq)]
pub enum PageLink<'a> {
    Icon {
        path: &'a str,
    },
    Style {
        path: &'a str,
    },
    /// The page's program. `name` is the file's without its extension.
    Program {
        name: &'a str,
    },
    /// A file that keeps its name and is not part of the document.
    Copy {
        path: &'a str,
    },
    /// A script that becomes a part of the document.
    InlineScript {
        path: &'a str,
    },
}

impl<'a> PageLink<'a> {
    /// Reads the attributes of one link.
    fn parse(attributes: &'a str) -> anyhow::Result<Self> {
        let attribute = |name: &str| {
            let value =
                attributes.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            value.with_context(|| format!("a link has no {name}:{attributes}"))
        };
        Ok(match attribute("rel")? {
            "icon" => Self::Icon { path: attribute("href")? },
            "css" => Self::Style { path: attribute("href")? },
            "rust" => Self::Program { name: attribute("data-bin")? },
            "copy-file" => Self::Copy { path: attribute("href")? },
            "inline" => Self::InlineScript { path: attribute("href")? },
            unknown => bail!("a link is of the unknown kind '{unknown}':{attributes}"),
        })
    }
}

/// Returns `document` with what `replaced` makes of each link in its place.
pub fn with_links_replaced(
    document: &str,
    mut replaced: impl FnMut(&PageLink) -> anyhow::Result<String>,
) -> anyhow::Result<String> {
    let mut parts = document.split(START);
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (attributes, rest) = part.split_once(END).context("the last link has no end")?;
        page += &replaced(&PageLink::parse(attributes)?)?;
        page += rest;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_link_is_replaced_and_all_else_stays() {
        let document = "<a>\n<link data-trunk rel=\"css\" href=\"a.css\">\n<link rel=\"x\">\
                        <link data-trunk rel=\"rust\" href=\"Cargo.toml\" data-bin=\"page\" data-wasm-opt=\"0\"></a>";
        let mut links = Vec::new();
        let page = with_links_replaced(document, |link| {
            links.push(format!("{link:?}"));
            Ok(format!("[{}]", links.len()))
        });
        assert_eq!(page.expect("it can be read"), "<a>\n[1]\n<link rel=\"x\">[2]</a>");
        assert_eq!(links, ["Style { path: \"a.css\" }", "Program { name: \"page\" }"]);
    }

    #[test]
    fn a_link_that_cannot_be_replaced_is_named() {
        let error = |document: &str| {
            with_links_replaced(document, |_| Ok(String::new())).expect_err("it cannot be read").to_string()
        };
        assert_eq!(error("<link data-trunk rel=\"css\">"), "a link has no href: rel=\"css\"");
        assert_eq!(
            error("<link data-trunk rel=\"sass\" href=\"a\">"),
            "a link is of the unknown kind 'sass': rel=\"sass\" href=\"a\""
        );
        assert_eq!(error("<link data-trunk rel=\"css\""), "the last link has no end");
    }
}
