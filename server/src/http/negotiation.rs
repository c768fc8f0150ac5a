//! Forms that the client accepts and already has: `Accept`, `Accept-Encoding`, `If-None-Match`.

use axum::http::{HeaderMap, HeaderName, header};

use super::access::texts;

/// Returns true if the `Accept` header names this media type.
#[must_use]
pub fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    names(headers, &header::ACCEPT, media_type)
}

/// Returns true if the `Accept-Encoding` header names this encoding, such as `gzip`.
#[must_use]
pub fn accepts_encoding(headers: &HeaderMap, encoding: &str) -> bool {
    names(headers, &header::ACCEPT_ENCODING, encoding)
}

/// An item of quality 0 is one that the client refuses.
fn names(headers: &HeaderMap, name: &HeaderName, item: &str) -> bool {
    texts(headers, name).flat_map(|value| value.split(',')).any(|part| {
        let mut words = part.split(';').map(str::trim);
        let is_item = words.next().is_some_and(|word| word.eq_ignore_ascii_case(item));
        let quality = words.find_map(|word| word.strip_prefix("q=").or_else(|| word.strip_prefix("Q=")));
        is_item && quality.is_none_or(|quality| quality.parse().is_ok_and(|quality: f32| quality > 0.0))
    })
}

/// Versions that the client has, according to `If-None-Match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Another answer, or none.
    No,
    /// The answer with the given tag.
    This,
    /// Any answer, if there is one: `*`.
    Any,
}

/// Compares `If-None-Match` with the tag of an answer, weakly: a proxy that compresses marks tags
/// as weak, and the content is still the same.
#[must_use]
pub fn known(headers: &HeaderMap, etag: &str) -> Known {
    let weak = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let mut tags = texts(headers, &header::IF_NONE_MATCH).flat_map(|value| value.split(',')).map(str::trim);
    tags.find_map(|tag| match tag {
        "*" => Some(Known::Any),
        tag => (weak(tag) == weak(etag)).then_some(Known::This),
    })
    .unwrap_or(Known::No)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value.parse().unwrap())).collect()
    }

    #[track_caller]
    fn check_gzip(accept: &str, expected: bool) {
        assert_eq!(accepts_encoding(&with(header::ACCEPT_ENCODING, &[accept]), "gzip"), expected, "{accept}");
    }

    #[test]
    fn an_encoding_of_quality_zero_is_refused() {
        for accept in ["gzip", "br, GZIP", "gzip;q=0.5", "gzip ; q=1", "identity;q=0, gzip"] {
            check_gzip(accept, true);
        }
        for accept in ["", "br", "gzip;q=0", "gzip;q=0.000", "gzip; Q=0", "gzip;q=x", "x-gzipped"] {
            check_gzip(accept, false);
        }
    }

    #[test]
    fn media_types_are_named_in_any_header_of_several() {
        let headers = with(header::ACCEPT, &["text/html;level=1", "Application/JSON;q=0.9"]);
        assert!(accepts(&headers, "application/json") && accepts(&headers, "text/html"));
        assert!(!accepts(&headers, "*/*"));
    }

    #[test]
    fn tags_are_compared_weakly_and_a_star_is_any() {
        let of = |values: &[&str]| known(&with(header::IF_NONE_MATCH, values), "\"a\"");
        assert_eq!(of(&[]), Known::No);
        assert_eq!(of(&["\"b\""]), Known::No);
        for value in ["\"a\"", "W/\"a\"", "\"b\", \"a\""] {
            assert_eq!(of(&[value]), Known::This, "{value}");
        }
        assert_eq!(of(&["\"b\"", "*"]), Known::Any);
        assert_eq!(known(&with(header::IF_NONE_MATCH, &["\"a\""]), "W/\"a\""), Known::This);
    }
}
