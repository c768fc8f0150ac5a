//! Puts the page into the binary. Writes the table that `src/assets.rs` includes, with one row per
//! file of `frontend/dist`, compressed if that makes the file smaller.
//!
//! Each file is stored as gzip, which every client accepts, and as brotli, which browsers accept
//! from `https` and from loopback. The feature `ship` is for the binary that is released: it takes
//! the small page and compresses it with zopfli and with brotli's highest quality, which makes
//! downloads 4 % smaller than gzip's best level, or 15 %. Its build fails if the page as brotli
//! takes more than [`PAGE_BUDGET_BYTES`].
//!
//! If the page is missing or older than its sources, an optimised build builds it first. The build
//! fails with the command to run if the tools for that are not installed. A debug build never
//! builds the page: it takes the existing page, or a short text that says how to build it.

#[cfg(not(feature = "ship"))]
use flate2::{Compression, write::GzEncoder};
use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hash::Hasher as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Limit for the sum of the page's wasm, scripts and styles, in bytes as served to a browser on
/// this machine or behind a proxy with TLS.
const PAGE_BUDGET_BYTES: usize = 960_000;
/// More passes gain less than a thousandth.
#[cfg(feature = "ship")]
const ZOPFLI_PASSES: std::num::NonZeroU64 = std::num::NonZeroU64::new(15).expect("15 is not 0");

/// Files for a page without a server. Visitors of a server never download them: they are embedded
/// in an HTML file, and the page unpacks them.
const BUNDLED: [&str; 4] = ["nprof-worker", "start", "unpack", "worker"];
/// True in a build of the binary that is released.
const IS_SHIPPED: bool = cfg!(feature = "ship");
/// The highest level of zstd costs some seconds once and makes every HTML file a tenth smaller.
const ZSTD_LEVEL: i32 = if IS_SHIPPED { 22 } else { 3 };
const BROTLI_QUALITY: u32 = if IS_SHIPPED { 11 } else { 5 };
/// The largest window of plain brotli, as an exponent: 16 MiB, more than the page's program.
const BROTLI_WINDOW: u32 = 24;

/// Lines that tell why the page could not be built.
const MOST_LINES: usize = 40;

/// Text that a debug build without a page serves in its place.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>nprof</title>\
    <h1>The page is not in this binary</h1>\
    <p>Run <code>scripts/page.sh</code>, then build nprof again. The API at <code>/api</code> works without it.</p></html>";

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("..");
    let dist = root.join("frontend/dist");
    // Profiles that inherit `release` have its name here.
    let is_optimised = std::env::var("PROFILE")? == "release";
    watch(&root, &dist, is_optimised);
    if is_optimised && let Err(reason) = build_page(&root) {
        println!("cargo::error=the page could not be built:");
        reason.to_string().lines().for_each(|line| println!("cargo::error={line}"));
        return Ok(());
    }
    let files = if dist.join("index.html").is_file() {
        files_below(&dist)?
    } else {
        println!("cargo::warning=the page is not in this binary: run scripts/page.sh, then build again");
        vec![("index.html".to_owned(), NOT_BUILT.as_bytes().to_vec())]
    };
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let files = packed(files)?;
    let page_bytes = files.iter().filter(|file| file.is_of_page()).map(Packed::served_bytes).sum::<usize>();
    if IS_SHIPPED && page_bytes > PAGE_BUDGET_BYTES {
        println!("cargo::error=the page takes {page_bytes} bytes, its budget is {PAGE_BUDGET_BYTES}");
    }
    fs::write(out.join("assets.rs"), table(&files, &out)?)?;
    Ok(())
}

/// Watches only the inputs that decide the outcome. A debug build need not be repeated for a change
/// that it would not pick up.
fn watch(root: &Path, dist: &Path, is_optimised: bool) {
    println!("cargo::rerun-if-changed=build.rs");
    if is_optimised {
        // Not `frontend/dist`: the page can become ready while this script waits for it.
        let page = ["src", "worker", "bundler", "styles", "boot", "index.html", "Cargo.toml"]
            .map(|part| format!("frontend/{part}"));
        let others = ["engine/src", "capture/src", "Cargo.lock"].map(str::to_owned);
        for source in page.iter().chain(&others) {
            println!("cargo::rerun-if-changed={}", root.join(source).display());
        }
    } else if dist.is_dir() {
        println!("cargo::rerun-if-changed={}", dist.display());
    } else {
        // A path that does not exist would count as changed at every build.
        println!("cargo::rerun-if-changed={}", root.join("frontend").display());
    }
}

/// Runs the build script of the page. The script decides by itself whether there is anything to do,
/// and installs nothing when called here.
fn build_page(root: &Path) -> Result<(), Box<dyn Error>> {
    let mut script = Command::new("bash");
    script.arg(root.join("scripts/page.sh")).env("NPROF_NO_INSTALL", "1");
    if IS_SHIPPED {
        script.arg("--small");
    }
    // Cargo's variables describe the binary's build and must not steer the build of the page.
    for (name, _) in std::env::vars() {
        let is_ours = name.starts_with("CARGO_CFG_")
            || name.starts_with("CARGO_FEATURE_")
            || name.starts_with("CARGO_PKG_")
            || name.starts_with("CARGO_MANIFEST_");
        let is_build =
            ["RUSTC", "RUSTDOC", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR", "TARGET", "HOST", "OUT_DIR"];
        // The pipe of the outer build can be closed for a build inside of it, which fails then.
        let is_jobs = ["CARGO_MAKEFLAGS", "MAKEFLAGS", "MFLAGS"].contains(&name.as_str());
        if is_ours || is_jobs || is_build.contains(&name.as_str()) {
            script.env_remove(name);
        }
    }
    let output = script.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(reason_of(&String::from_utf8_lossy(&output.stderr)).into())
}

/// The part of a build's messages that tells why it failed: its first error, or its last line.
fn reason_of(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let first =
        lines.iter().position(|line| line.starts_with("error")).unwrap_or(lines.len().saturating_sub(1));
    let shown = lines[first..].iter().take(MOST_LINES).map(|line| line.trim_start_matches("nprof: "));
    let reason = shown.collect::<Vec<_>>().join("\n");
    if reason.is_empty() { "no reason given".to_owned() } else { reason }
}

/// A file's path below a folder, with forward slashes, and its bytes.
type NamedFile = (String, Vec<u8>);

/// All files below `folder` with their relative paths, sorted: the same page gives the same binary.
fn files_below(folder: &Path) -> Result<Vec<NamedFile>, Box<dyn Error>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            // The bundler stages its output in a hidden folder.
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if is_hidden {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder)?.to_str().ok_or("a file name that is not UTF-8")?;
                files.push((name.replace('\\', "/"), fs::read(&path)?));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// A file in the form in which it is served.
struct Packed {
    path: String,
    bytes: Vec<u8>,
    /// The variant of `Encoding`.
    encoding: &'static str,
    stored: Vec<u8>,
    /// The file as brotli, if that is smaller than `stored`.
    brotli: Option<Vec<u8>>,
}

impl Packed {
    /// Bytes that most browsers download.
    fn served_bytes(&self) -> usize {
        self.brotli.as_ref().unwrap_or(&self.stored).len()
    }

    /// Returns true if every visitor downloads the file before the first picture.
    fn is_of_page(&self) -> bool {
        !is_bundled(&self.path)
            && [".wasm", ".js", ".css"].iter().any(|extension| self.path.ends_with(extension))
    }
}

fn is_bundled(path: &str) -> bool {
    BUNDLED.iter().any(|start| path.starts_with(start))
}

fn packed(files: Vec<NamedFile>) -> Result<Vec<Packed>, Box<dyn Error>> {
    // The workers' program has much in common with the page's program, which is present when the
    // workers' program is unpacked.
    let is_program = |(path, _): &&NamedFile| !is_bundled(path) && path.ends_with(".wasm");
    let program = files.iter().find(is_program).map_or_else(Vec::new, |(_, bytes)| bytes.clone());
    let pack = |(path, bytes): NamedFile| {
        if is_bundled(&path) && path.ends_with(".wasm") {
            let mut compressor = zstd::bulk::Compressor::with_dictionary(ZSTD_LEVEL, &program)?;
            let stored = compressor.compress(&bytes)?;
            return Ok(Packed { path, bytes, encoding: "ZstdBesideProgram", stored, brotli: None });
        }
        let smaller = with_gzip(&bytes)?;
        let is_smaller = smaller.len() < bytes.len();
        let encoding = if is_smaller { "Gzip" } else { "Identity" };
        let stored = if is_smaller { smaller } else { bytes.clone() };
        // Files that only go into HTML files are never sent by themselves.
        let brotli = (!is_bundled(&path)).then(|| with_brotli(&bytes)).transpose()?;
        let brotli = brotli.filter(|brotli| brotli.len() < stored.len());
        Ok(Packed { path, bytes, encoding, stored, brotli })
    };
    files.into_iter().map(pack).collect()
}

#[cfg(not(feature = "ship"))]
fn with_gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn with_brotli(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    const BUFFER_BYTES: usize = 64 * 1024;
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW);
    encoder.write_all(bytes)?;
    Ok(encoder.into_inner())
}

#[cfg(feature = "ship")]
fn with_gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let options = zopfli::Options { iteration_count: ZOPFLI_PASSES, ..zopfli::Options::default() };
    let mut smaller = Vec::new();
    zopfli::compress(options, zopfli::Format::Gzip, bytes, &mut smaller)?;
    Ok(smaller)
}

fn table(files: &[Packed], out: &Path) -> Result<String, Box<dyn Error>> {
    let mut rows = String::from("pub static ASSETS: &[Asset] = &[\n");
    for (index, Packed { path, bytes, encoding, stored, brotli }) in files.iter().enumerate() {
        let stored_at = out.join(format!("asset-{index}"));
        fs::write(&stored_at, stored)?;
        let brotli = match brotli {
            Some(brotli) => {
                let brotli_at = out.join(format!("asset-{index}.br"));
                fs::write(&brotli_at, brotli)?;
                format!("Some(include_bytes!({brotli_at:?}))")
            }
            None => "None".to_owned(),
        };
        // The hasher's keys are fixed: the same bytes give the same tag in every run.
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        writeln!(
            rows,
            "    Asset {{ path: {path:?}, media_type: {:?}, encoding: Encoding::{encoding}, size_bytes: {}, \
             hash: \"{:016x}\", bytes: include_bytes!({stored_at:?}), brotli: {brotli} }},",
            media_type(path),
            bytes.len(),
            hasher.finish(),
        )?;
    }
    rows.push_str("];\n");
    Ok(rows)
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
