//! A value of JSON with the bytes that it is a span of.

use std::borrow::Cow;

use super::text::text_of;
use super::tokens::{Raw, ValueKind};

/// A value as the trace writes it.
#[derive(Clone, Copy)]
pub(in crate::formats) struct WrittenValue<'a> {
    pub(super) raw: Raw,
    pub(super) bytes: &'a [u8],
}

impl<'a> WrittenValue<'a> {
    /// Kind of the value.
    pub(in crate::formats) fn kind(self) -> ValueKind {
        self.raw.kind()
    }

    /// The value as written; a text without its quotes.
    pub(in crate::formats) fn written(self) -> &'a [u8] {
        self.raw.of(self.bytes)
    }

    /// The value as text: strings with their escapes decoded, other values as written.
    pub(in crate::formats) fn text(self) -> Cow<'a, str> {
        text_of(self.bytes, self.raw)
    }
}
