//! Names of slices of the device, each with the facts that follow from it.

use nprof_engine::base::{Result, narrow};
use nprof_engine::makers::aiu::{AiuClass, Phase};
use nprof_engine::model::{NameId, Sink};
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
    pub(super) class: AiuClass,
    /// Class of a slice of a collective operation.
    pub(super) class_in_group: AiuClass,
    /// Bytes of a transfer that the name tells.
    pub(super) bytes: Option<i64>,
    /// Kind of its readings of the charge, a position in [`super::power::KINDS`].
    pub(super) kind: u8,
}

/// Most names that are told apart. Further ones count as one for each phase.
const MAX_NAMES: usize = 1 << 18;

/// All names so far.
#[derive(Debug)]
pub(super) struct SliceNames {
    all: Vec<Name>,
    by_text: FxHashMap<Box<str>, u32>,
    most: usize,
}

impl Default for SliceNames {
    fn default() -> Self {
        Self { all: Vec::new(), by_text: FxHashMap::default(), most: MAX_NAMES }
    }
}

impl SliceNames {
    /// The number of a name, or of all further names of its phase.
    pub(super) fn number(&mut self, sink: &mut dyn Sink, text: &str) -> Result<u32> {
        if let Some(known) = self.known(text) {
            return Ok(known);
        }
        let text = if self.is_full() { further(Phase::of(text)) } else { text };
        let number = narrow(self.all.len());
        self.all.push(Name {
            id: sink.name(text)?,
            text: text.into(),
            phase: Phase::of(text),
            class: AiuClass::of_device(text, false),
            class_in_group: AiuClass::of_device(text, true),
            bytes: bytes_in(text),
            kind: power::kind(text),
        });
        self.by_text.insert(text.into(), number);
        Ok(number)
    }

    /// The number of a name that has one, or of the further names of its phase.
    pub(super) fn known(&self, text: &str) -> Option<u32> {
        let own = self.by_text.get(text);
        let of_phase = || self.by_text.get(further(Phase::of(text))).filter(|_| self.is_full());
        own.or_else(of_phase).copied()
    }

    fn is_full(&self) -> bool {
        self.all.len() >= self.most
    }

    /// The name with this number.
    pub(super) fn of(&self, number: u32) -> &Name {
        &self.all[number as usize]
    }
}

/// The name that counts for all further names of a phase.
fn further(phase: Phase) -> &'static str {
    match phase {
        Phase::DataIn => "further names DmaI",
        Phase::Prep => "further names Cmpt Prep",
        Phase::Exec => "further names Cmpt Exec",
        Phase::DataOut => "further names DmaO",
        Phase::Whole => "further names",
    }
}

/// The bytes in a name such as `Recv_8 [524288B] DmaI`.
fn bytes_in(name: &str) -> Option<i64> {
    let inside = name.split('[').skip(1).filter_map(|part| part.split(']').next());
    let sizes = inside.filter_map(|inside| inside.strip_suffix('B')?.parse::<u32>().ok());
    sizes.map(i64::from).next()
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
    use nprof_engine::fixture::Recorder;

    use super::*;

    #[test]
    fn further_names_count_as_one_for_each_phase() {
        let (mut names, mut sink) = (SliceNames { most: 2, ..SliceNames::default() }, Recorder::default());
        let texts = ["a Cmpt Exec", "b Cmpt Exec", "c Cmpt Exec", "d Cmpt Exec", "e DmaI", "a Cmpt Exec"];
        let numbers = texts.map(|text| names.number(&mut sink, text).unwrap());
        assert_eq!(numbers, [0, 1, 2, 2, 3, 0]);
        assert_eq!((names.of(2).phase, names.of(3).phase), (Phase::Exec, Phase::DataIn));
        assert_eq!((names.known("z Cmpt Exec"), names.known("z Cmpt Prep")), (Some(2), None));
    }

    #[test]
    fn names_tell_bytes() {
        for (name, expected) in [
            ("Recv_8 [524288B] [sync=a_s0_r1_0] DmaI", Some(524_288)),
            ("Send [sync=a_s0_r1_0] [16B] DmaO", Some(16)),
            ("Send [B] [0x5B] [-1B] [5", None),
        ] {
            assert_eq!(bytes_in(name), expected, "{name}");
        }
    }

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
