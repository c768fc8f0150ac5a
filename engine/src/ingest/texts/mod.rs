//! The texts of a rank by number: names, and texts of fields that repeat.

mod dictionary;
mod numbers;

pub(super) use dictionary::DictionaryBuilder;
pub(super) use numbers::TextNumbers;
