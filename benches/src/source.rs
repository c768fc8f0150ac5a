//! Sources of events for an ingest: files that are read in pieces, or memory that holds all.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use crate::generate::Meta;
use crate::generate::files::{ColumnReader, Fixed, TextReader, numbers_of, read_texts};

/// Source of the events.
#[derive(Debug, Clone, Copy)]
pub enum EventSource<'e> {
    /// The files of this directory, read in pieces, which takes almost no memory.
    Files(&'e Path),
    /// Events in memory. An ingest then measures the store alone.
    Memory(&'e LoadedEvents),
}

/// The events of a directory, in memory.
#[derive(Debug)]
pub struct LoadedEvents {
    meta: Meta,
    columns: BTreeMap<String, Vec<u8>>,
    texts: BTreeMap<String, String>,
}

impl LoadedEvents {
    /// Reads all columns and texts of a directory.
    pub fn read(directory: &Path) -> Result<Self> {
        let (mut columns, mut texts) = (BTreeMap::new(), BTreeMap::new());
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("bin") => drop(columns.insert(name, std::fs::read(&path)?)),
                Some("txt") => drop(texts.insert(name.clone(), read_texts(directory, &name)?)),
                _ => {}
            }
        }
        Ok(Self { meta: meta(directory)?, columns, texts })
    }
}

fn meta(directory: &Path) -> Result<Meta> {
    Meta::read(directory).with_context(|| format!("no events in {}", directory.display()))
}

impl<'e> EventSource<'e> {
    /// Description of the events.
    pub fn meta(self) -> Result<Meta> {
        match self {
            Self::Files(directory) => meta(directory),
            Self::Memory(loaded) => Ok(loaded.meta.clone()),
        }
    }

    /// The column of numbers with this name.
    pub fn numbers<T: Fixed>(self, column: &str) -> Result<NumberSource<'e, T>> {
        Ok(match self {
            Self::Files(directory) => NumberSource::File(ColumnReader::open(directory, column)?),
            Self::Memory(loaded) => {
                NumberSource::Memory(loaded.columns.get(column).with_context(missing(column))?)
            }
        })
    }

    /// The texts of a column of codes.
    pub fn texts(self, column: &str) -> Result<TextSource<'e>> {
        Ok(match self {
            Self::Files(directory) => TextSource::File(TextReader::open(directory, column)?),
            Self::Memory(loaded) => {
                TextSource::Memory(loaded.texts.get(column).with_context(missing(column))?.lines())
            }
        })
    }
}

fn missing(column: &str) -> impl Fn() -> String {
    move || format!("there is no column {column}")
}

/// A column of numbers.
pub enum NumberSource<'e, T> {
    /// Column in a file.
    File(ColumnReader<T>),
    /// The rest of the column in memory.
    Memory(&'e [u8]),
}

impl<T: Fixed> NumberSource<'_, T> {
    /// Replaces `out` with the next `rows` numbers.
    pub fn read(&mut self, rows: usize, out: &mut Vec<T>) -> Result<()> {
        match self {
            Self::File(file) => file.read(rows, out)?,
            Self::Memory(left) => {
                let (piece, rest) = left.split_at_checked(rows * T::BYTES).context("a column ends early")?;
                *left = rest;
                numbers_of(piece, out);
            }
        }
        Ok(())
    }
}

/// Texts, one after the other.
pub enum TextSource<'e> {
    /// Texts in a file.
    File(TextReader),
    /// Texts in memory.
    Memory(std::str::Lines<'e>),
}

impl TextSource<'_> {
    /// The next text; `None` after the last.
    pub fn read(&mut self) -> Result<Option<&str>> {
        Ok(match self {
            Self::File(file) => file.read()?,
            Self::Memory(lines) => lines.next(),
        })
    }
}
