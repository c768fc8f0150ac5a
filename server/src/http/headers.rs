//! Headers of every answer: what a browser may do with it.

use std::sync::LazyLock;

use axum::http::{HeaderName, HeaderValue, Response, header};

use crate::assets;
use crate::markup::script_hash;

/// The policy of the page. Its script and its program come from this server. Styles of elements
/// are set by the page's program as attributes, hence `'unsafe-inline'` for styles alone.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let index = assets::index().content();
    let hashes: Vec<String> = inline_scripts(&String::from_utf8_lossy(&index)).map(script_hash).collect();
    let policy = format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' {}; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hashes.join(" ")
    );
    HeaderValue::try_from(policy).expect("hashes are letters of base64")
});

/// The answer with the headers that every answer has.
#[must_use]
pub fn with_all<B>(mut answer: Response<B>) -> Response<B> {
    let always = |name, value| (name, HeaderValue::from_static(value));
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY.clone()),
        always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        always(header::X_FRAME_OPTIONS, "DENY"),
        always(header::REFERRER_POLICY, "no-referrer"),
        always(HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        always(HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in headers {
        answer.headers_mut().insert(name, value);
    }
    answer
}

/// The scripts that stand in the page itself.
fn inline_scripts(html: &str) -> impl Iterator<Item = &str> {
    html.split("<script").skip(1).filter_map(|rest| {
        let (attributes, rest) = rest.split_once('>')?;
        let (script, _) = rest.split_once("</script>")?;
        (!attributes.contains("src=")).then_some(script)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_a_source_are_found() {
        let html = "<script src=\"/a.js\"></script><script type=\"module\">\nimport a;\n</script><script>b()</script>";
        assert_eq!(inline_scripts(html).collect::<Vec<_>>(), ["\nimport a;\n", "b()"]);
    }
}
