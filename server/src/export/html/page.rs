//! The parts of the page that every HTML file has, from the files of the page in this binary.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::{packed, write_packed};
use crate::assets::{self, ASSETS, Asset, Encoding};
use crate::export::ExportError;
use crate::markup::escaped;

/// Files of the page.
pub(super) struct Page {
    /// Styles of the page's ground, which stand in the head.
    ground: String,
    /// All others, which are packed.
    styles: String,
    icon: &'static Asset,
    start: &'static Asset,
    unpack: &'static Asset,
    script: &'static Asset,
    program: &'static Asset,
    worker: &'static Asset,
    worker_script: &'static Asset,
    worker_program: &'static Asset,
}

impl Page {
    /// The page of this binary.
    ///
    /// # Errors
    /// `NoPage` for a binary that was built without it.
    pub fn of_binary() -> Result<Self, ExportError> {
        let (ground, styles) = styles()?;
        Ok(Self {
            ground,
            styles,
            icon: named("icon-", ".svg")?,
            start: named("start", ".js")?,
            unpack: named("unpack", ".js")?,
            script: named("nprof-frontend-", ".js")?,
            program: assets::program().ok_or(ExportError::NoPage)?,
            worker: named("worker", ".js")?,
            worker_script: named("nprof-worker", ".js")?,
            worker_program: named("nprof-worker", "_bg.wasm")?,
        })
    }

    /// Writes all up to the first element of the body.
    pub fn write_head(&self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        let (start, unpack) = (text(self.start), text(self.unpack));
        let policy = format!(
            "default-src 'none'; script-src {} {} blob: 'wasm-unsafe-eval'; worker-src blob:; \
             style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
            script_hash(&start),
            script_hash(&unpack),
        );
        writeln!(out, "<!doctype html>\n<html lang=\"en\" data-theme=\"light\" data-file>\n<head>")?;
        writeln!(out, "<meta charset=\"utf-8\">")?;
        writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")?;
        writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        writeln!(out, "<meta name=\"color-scheme\" content=\"light dark\">")?;
        writeln!(out, "<meta name=\"generator\" content=\"nprof {}\">", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "<title>{} · nprof</title>", escaped(title))?;
        let icon = STANDARD.encode(self.icon.content());
        writeln!(out, "<link rel=\"icon\" href=\"data:image/svg+xml;base64,{icon}\">")?;
        writeln!(out, "<style>{}</style>\n<script>{start}</script>\n</head>\n<body>", self.ground)?;
        writeln!(out, "<div id=\"boot\" class=\"boot\" role=\"status\">Loading nprof …</div>")?;
        writeln!(
            out,
            "<noscript>nprof draws its timeline in the browser: please switch JavaScript on.</noscript>"
        )
    }

    /// Writes the workers' script and program.
    pub fn write_worker(&self, out: &mut dyn Write) -> io::Result<()> {
        let script = text(self.worker_script) + &text(self.worker);
        write_packed("nprof-worker-script", None, &packed(script.as_bytes())?, out)?;
        // The page unpacks it with its own program as the dictionary.
        debug_assert_eq!(self.worker_program.encoding, Encoding::ZstdBesideProgram);
        write_packed("nprof-worker-program", None, self.worker_program.bytes, out)
    }

    /// Writes the page's own script and program, and what starts them.
    pub fn write_start(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        write_packed("nprof-styles", None, &gzip(self.styles.as_bytes())?, out)?;
        for (id, asset) in [("nprof-script", self.script), ("nprof-program", self.program)] {
            // Both are many times smaller with gzip.
            debug_assert_eq!(asset.encoding, Encoding::Gzip, "{}", asset.path);
            write_packed(id, None, asset.bytes, out)?;
        }
        writeln!(out, "<script>{}</script>\n</body>\n</html>", text(self.unpack))?;
        Ok(())
    }
}

/// The style sheets in the order of the page: those of the ground, and all others.
fn styles() -> Result<(String, String), ExportError> {
    let index = text(assets::index());
    let (mut ground, mut styles) = (String::new(), String::new());
    for link in index.split("href=\"/").skip(1) {
        let path = link.split('"').next().unwrap_or_default();
        if path.ends_with(".css") {
            let is_ground = ["tokens-", "base-"].iter().any(|start| path.starts_with(start));
            let sheets = if is_ground { &mut ground } else { &mut styles };
            *sheets += &text(assets::find(path).ok_or(ExportError::NoPage)?);
        }
    }
    if styles.is_empty() || ground.is_empty() { Err(ExportError::NoPage) } else { Ok((ground, styles)) }
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The file whose name begins and ends so. Between them stands a hash, or nothing.
fn named(start: &str, end: &str) -> Result<&'static Asset, ExportError> {
    let is_hash = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_named = |asset: &&Asset| {
        asset.path.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)).is_some_and(is_hash)
    };
    ASSETS.iter().find(is_named).ok_or(ExportError::NoPage)
}

fn text(asset: &Asset) -> String {
    String::from_utf8_lossy(&asset.content()).into_owned()
}

/// The source that a Content-Security-Policy allows an inline script by.
fn script_hash(script: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_scripts_are_as_browsers_compute_them() {
        // The example of the Content Security Policy specification, level 2, section 7.17.2.
        assert_eq!(
            script_hash("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }
}
