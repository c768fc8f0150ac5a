//! Names of slices of the device, each with the facts that follow from it.

use nprof_engine::base::Result;
use nprof_engine::model::{NameId, Sink};
use nprof_engine::vendor::aiu::{Class, Phase};
use rustc_hash::FxHashMap;

use super::power;

/// A name and what it tells.
#[derive(Debug)]
pub(super) struct Name {
    /// The name in the store.
    pub(super) id: NameId,
    /// The name itself.
    pub(super) text: Box<str>,
    /// Phase that the name tells.
    pub(super) phase: Phase,
    /// Class of a slice outside of collective operations.
    pub(super) class: Class,
    /// Class of a slice of a collective operation.
    pub(super) class_in_group: Class,
    /// Kind of its readings of the charge, a position in [`super::power::KINDS`].
    pub(super) kind: u8,
}

/// All names so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    all: Vec<Name>,
    by_text: FxHashMap<Box<str>, u32>,
}

impl Names {
    /// The number of a name.
    pub(super) fn number(&mut self, sink: &mut dyn Sink, text: &str) -> Result<u32> {
        if let Some(&known) = self.by_text.get(text) {
            return Ok(known);
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Name {
            id: sink.name(text)?,
            text: text.into(),
            phase: Phase::of(text),
            class: Class::of_device(text, false),
            class_in_group: Class::of_device(text, true),
            kind: power::kind(text),
        });
        self.by_text.insert(text.into(), number);
        Ok(number)
    }

    /// The number of a name that has one.
    pub(super) fn known(&self, text: &str) -> Option<u32> {
        self.by_text.get(text).copied()
    }

    /// The name with this number.
    pub(super) fn of(&self, number: u32) -> &Name {
        &self.all[number as usize]
    }
}

/// The name under which kernels are summed up: digits after `_` or `-` are replaced by `[N]`.
pub(super) fn label(name: &str) -> String {
    let mut label = String::with_capacity(name.len() + 4);
    let mut rest = name;
    while let Some(at) = rest.find(['_', '-']) {
        let (before, after) = rest.split_at(at + 1);
        let digits = after.len() - after.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        if digits > 0 {
            label.push_str(&before[..at]);
            label.push_str("_[N]");
        } else {
            label.push_str(before);
        }
        rest = &after[digits..];
    }
    label.push_str(rest);
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_names_are_summed_up() {
        for (name, expected) in [
            ("convolution_1 Cmpt Exec", "convolution_[N] Cmpt Exec"),
            ("max_pool2d_with_indices", "max_pool2d_with_indices"),
            ("a-12_b_3c", "a_[N]_b_[N]c"),
            ("_", "_"),
        ] {
            assert_eq!(label(name), expected);
        }
    }
}
