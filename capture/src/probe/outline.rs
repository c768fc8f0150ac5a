//! The keys at the top of a JSON document, within its head.

use nprof_engine::makers::neuron::schema::{SUMMARY, TELLING};

use super::Confidence;
use crate::json::tokens::{Tail, Tokens};

/// A key with the first byte of its value.
struct OutlineKey<'h> {
    name: &'h [u8],
    first: u8,
}

/// Kind of a document, at its top.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DocumentKind {
    Object,
    Array,
    /// An array that is empty in the head.
    NoRows,
}

/// Keys of a document's object within the head, or those of an array's first object.
pub(super) struct Outline<'h> {
    kind: DocumentKind,
    keys: Vec<OutlineKey<'h>>,
}

impl<'h> Outline<'h> {
    /// `None` if this is neither an object nor an array.
    pub(super) fn of(head: &'h [u8]) -> Option<Self> {
        let mut tokens = Tokens::new(head, Tail::Open);
        let mut kind = match tokens.peek().ok()? {
            b'{' => DocumentKind::Object,
            b'[' => DocumentKind::Array,
            _ => return None,
        };
        tokens.advance();
        if kind == DocumentKind::Array {
            match tokens.peek_item() {
                Ok((b'{', _)) => tokens.advance(),
                Ok((b']', _)) | Err(_) => kind = DocumentKind::NoRows,
                Ok(_) => return Some(Self { kind, keys: Vec::new() }),
            }
        }
        let mut outline = Self { kind, keys: Vec::new() };
        if kind == DocumentKind::NoRows {
            return Some(outline);
        }
        while let Ok((byte, _)) = tokens.peek_item()
            && byte != b'}'
            && let Ok(name) = tokens.key()
            && let Ok(first) = tokens.peek()
        {
            outline.keys.push(OutlineKey { name: name.of(head), first });
            if tokens.value().is_err() {
                break;
            }
        }
        Some(outline)
    }

    /// nprof's own exports begin with a table that describes them.
    pub(super) fn is_own_export(&self) -> bool {
        self.kind == DocumentKind::Object && self.keys.first().is_some_and(|key| key.name == b"export")
    }

    pub(super) fn has_neuron_table(&self) -> bool {
        let is_told = |table: &str| table != SUMMARY.name || !self.is_own_export();
        let is_table = |key: &OutlineKey<'_>| {
            let mut tables = TELLING.iter().filter(|table| is_told(table));
            key.first == b'[' && tables.any(|table| table.as_bytes() == key.name)
        };
        let has_events = self.keys.iter().any(|key| key.name == b"traceEvents");
        self.kind == DocumentKind::Object && !has_events && self.keys.iter().any(is_table)
    }
}

/// Whether this is JSON of trace events, of whatever format.
pub(super) fn events(head: &[u8]) -> Option<Confidence> {
    let outline = Outline::of(head)?;
    let has = |key: &str| outline.keys.iter().any(|found| found.name == key.as_bytes());
    if has("traceEvents") {
        return Some(Confidence::Certain);
    }
    if outline.has_neuron_table() || outline.is_own_export() {
        return None;
    }
    let looks_so = has("ph") || outline.kind == DocumentKind::NoRows;
    Some(if looks_so { Confidence::Likely } else { Confidence::Possible })
}
