//! The parts of the page that every HTML file contains, from the page's files in this binary.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{packed, write_dense, write_packed};
use crate::assets::{self, ASSETS, Asset, Encoding};
use crate::export::ExportError;
use crate::markup::{escaped, script_hash};

/// The page's files.
pub(super) struct PageFiles {
    /// Styles of the page's background, written to the head.
    ground: String,
    /// All other styles, packed.
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

impl PageFiles {
    /// The page of this binary.
    ///
    /// # Errors
    /// `NoPage` if the binary was built without the page.
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

    /// Writes everything up to the first element of the body. `policy` is added to the page's own
    /// Content-Security-Policy.
    pub fn write_head(&self, title: &str, policy: &str, out: &mut dyn Write) -> io::Result<()> {
        let (start, unpack) = (text(self.start), text(self.unpack));
        let policy = format!(
            "default-src 'none'; script-src {} {} blob: 'wasm-unsafe-eval'; worker-src blob:; \
             style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'{policy}",
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

    /// Writes the workers' script.
    pub fn write_worker(&self, out: &mut dyn Write) -> io::Result<()> {
        let script = text(self.worker_script) + &text(self.worker);
        write_packed("nprof-worker-script", "", &packed(script.as_bytes())?, out)
    }

    /// The programs of the workers and of the page, each with the id of its element.
    pub fn programs(&self) -> [(&'static str, &'static [u8]); 2] {
        // The page unpacks the workers' program with its own program as the dictionary.
        debug_assert_eq!(self.worker_program.encoding, Encoding::ZstdBesideProgram);
        debug_assert_eq!(self.program.encoding, Encoding::Gzip);
        [("nprof-worker-program", self.worker_program.bytes), ("nprof-program", self.program.bytes)]
    }

    /// Writes the page's styles and script, the elements `programs`, and the start script. If the
    /// mark at the end is missing, the file was cut off.
    pub fn write_start(&self, programs: &[u8], out: &mut dyn Write) -> io::Result<()> {
        write_dense("nprof-styles", &gzip(self.styles.as_bytes())?, out)?;
        // Gzip makes the script many times smaller.
        debug_assert_eq!(self.script.encoding, Encoding::Gzip);
        write_dense("nprof-script", self.script.bytes, out)?;
        out.write_all(programs)?;
        writeln!(out, "<script>{}</script>\n<div id=\"nprof-end\" hidden></div>", text(self.unpack))?;
        writeln!(out, "</body>\n</html>")
    }
}

/// The style sheets in the order of the page: first the background's, then all others.
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

/// The file whose name begins with `start` and ends with `end`. A hash or nothing stands between.
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
