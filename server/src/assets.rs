//! The page inside the binary: the files of `frontend/dist` at the time of the build.
//!
//! Files are stored as gzip and as brotli if that is smaller, so most requests are answered without
//! any work.

use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::io::Read as _;

/// Storage format of [`Asset::bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Not compressed.
    Identity,
    /// One gzip stream, fit to be sent with `Content-Encoding: gzip`.
    Gzip,
    /// One zstd frame that states its size. Its dictionary is the page's program. Only the program
    /// of the workers, for pages without a server, has this format.
    ZstdBesideProgram,
}

/// One file of the page.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Path in the page's folder, without a leading slash, such as `index.html`.
    pub path: &'static str,
    /// The value of `Content-Type`.
    pub media_type: &'static str,
    /// Format of `bytes`.
    pub encoding: Encoding,
    /// Length of the file, before compression.
    pub size_bytes: usize,
    /// Hash of the content: sixteen hex digits.
    pub hash: &'static str,
    /// The file, in `encoding`.
    pub bytes: &'static [u8],
    /// The file as one brotli stream, if that is smaller than `bytes`. Browsers accept it from
    /// `https` and from loopback.
    pub brotli: Option<&'static [u8]>,
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The file at `path`, which has no leading slash. A linear search is enough for a dozen files.
#[must_use]
pub fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

/// The page's program. `None` if the binary was built without the page.
#[must_use]
pub fn program() -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path.starts_with("nprof-frontend") && asset.path.ends_with(".wasm"))
}

/// The page itself. It is also the answer to every address that the page's own router knows.
#[must_use]
pub fn index() -> &'static Asset {
    find("index.html").expect("build.rs puts an index.html into every table")
}

impl Asset {
    /// The forms that can be sent with a `Content-Encoding`, the smallest first.
    pub fn forms(&self) -> impl Iterator<Item = (&'static str, &'static [u8])> + use<> {
        let gzip = (self.encoding == Encoding::Gzip).then_some(("gzip", self.bytes));
        self.brotli.map(|bytes| ("br", bytes)).into_iter().chain(gzip)
    }

    /// The value of `ETag`, quotes included, for a form with this `Content-Encoding`. Equal tags
    /// mean equal bytes, so each form has its own tag.
    #[must_use]
    pub fn etag(&self, encoding: Option<&str>) -> String {
        match encoding {
            Some(encoding) => format!("\"{}-{encoding}\"", self.hash),
            None => format!("\"{}\"", self.hash),
        }
    }

    /// The value of `Cache-Control`. A file with a hash in its name never changes. Browsers must
    /// revalidate any other file.
    #[must_use]
    pub fn cache_control(&self) -> &'static str {
        if has_hash(self.path) { "public, max-age=31536000, immutable" } else { "no-cache" }
    }

    /// The file's uncompressed content, for a client that accepts no compression.
    #[must_use]
    pub fn content(&self) -> Cow<'static, [u8]> {
        match self.encoding {
            Encoding::Identity => Cow::Borrowed(self.bytes),
            Encoding::Gzip => {
                let mut content = Vec::with_capacity(self.size_bytes);
                GzDecoder::new(self.bytes)
                    .read_to_end(&mut content)
                    .expect("build.rs wrote a whole gzip stream");
                Cow::Owned(content)
            }
            Encoding::ZstdBesideProgram => Cow::Owned(
                program()
                    .and_then(|program| zstd::bulk::Decompressor::with_dictionary(&program.content()).ok())
                    .and_then(|mut decoder| decoder.decompress(self.bytes, self.size_bytes).ok())
                    .expect("build.rs wrote a whole zstd frame beside the page's program"),
            ),
        }
    }
}

/// Returns true if the name holds a content hash as the bundler writes it:
/// `app-0123456789abcdef.js`, `app-0123456789abcdef_bg.wasm`.
fn has_hash(path: &str) -> bool {
    const HASH_LEN: usize = 16;
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split(['-', '_', '.'])
        .any(|part| part.len() == HASH_LEN && part.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asset_decodes_to_its_stated_size() {
        for asset in ASSETS {
            assert_eq!(asset.content().len(), asset.size_bytes, "{}", asset.path);
            assert_eq!(asset.hash.len(), 16, "{}", asset.path);
        }
    }

    #[test]
    fn the_page_is_html_and_is_asked_for_again() {
        let page = index();
        assert!(page.media_type.starts_with("text/html"));
        assert!(page.content().to_ascii_lowercase().starts_with(b"<!doctype html>"));
        assert_eq!(page.cache_control(), "no-cache");
        assert!(find("/index.html").is_none(), "paths have no leading slash");
    }

    #[track_caller]
    fn check_has_hash(path: &str, expected: bool) {
        assert_eq!(has_hash(path), expected, "{path}");
    }

    #[test]
    fn names_with_a_hash_are_kept_for_ever() {
        check_has_hash("nprof-frontend-0123456789abcdef.js", true);
        check_has_hash("nprof-frontend-0123456789abcdef_bg.wasm", true);
        check_has_hash("snippets/base-89abcdef01234567/inline.js", false);
        check_has_hash("index.html", false);
        check_has_hash("icon-0123.svg", false);
    }
}
