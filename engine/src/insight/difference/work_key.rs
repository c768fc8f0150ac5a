//! Keys by which the work of a rank is summed up.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::{
    HLO_FIELDS, TextsOfRows, communicates, field_texts, operators_of_launches, source_lines,
};
use crate::model::rank_work::NO_LAYER;
use crate::model::{NameId, RankWork, Role, WorkClass, WorkNode};
use crate::segment::{Bytes, Segment};

/// The subject of the rows of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkKey {
    /// The name of a slice: that of a kernel, the opcode of an instruction.
    #[default]
    Name,
    /// The track: an engine, a queue, a stream.
    Track,
    /// The layer of a model.
    Layer,
    /// The operation of the compiler's program (HLO).
    Hlo,
    /// The innermost operator of a framework that launched the work.
    Operator,
    /// The line of source.
    Line,
    /// The rank.
    Rank,
}

impl WorkKey {
    /// All keys with their words for people, messages and addresses.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("name", Self::Name),
        ("track", Self::Track),
        ("layer", Self::Layer),
        ("hlo", Self::Hlo),
        ("operator", Self::Operator),
        ("line", Self::Line),
        ("rank", Self::Rank),
    ];

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// The subject in a sentence or a list of choices.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Hlo => "HLO operation",
            Self::Line => "line of source",
            Self::Name | Self::Track | Self::Layer | Self::Operator | Self::Rank => self.name(),
        }
    }

    /// The key of this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(word, _)| *word == name).map(|(_, key)| key)
    }
}

/// The row of each node of some work.
#[derive(Debug, Clone)]
pub struct WorkKeys {
    /// The name of each row.
    pub(super) names: Vec<String>,
    /// Whether its time depends on other ranks or engines, for which it waits.
    pub(super) is_coupled: Vec<bool>,
    of: KeysOf,
}

/// Nodes of one class have one row, or each node its own.
#[derive(Debug, Clone)]
enum KeysOf {
    Class(Vec<u32>),
    Node(Vec<u32>),
}

/// Name of the row of work that lacks what rows are about.
pub(super) const WITHOUT_SUBJECT: &str = "(none)";

impl WorkKeys {
    /// The rows of the work of a rank.
    pub fn of<B: Bytes>(
        segment: &Segment<B>,
        work: &RankWork,
        rank: u32,
        key: WorkKey,
        cancel: Cancel<'_>,
    ) -> Result<Self> {
        let layer = |class: &WorkClass| Some(class.layer).filter(|layer| *layer != NO_LAYER);
        Ok(match key {
            WorkKey::Name => Self::by_name(work),
            WorkKey::Track => Self::by_class(work, |class| Some(work.track_name(class.queue))),
            WorkKey::Layer => Self::by_class(work, |class| work.name(layer(class)?)),
            WorkKey::Rank => Self {
                names: vec![format!("rank {rank}")],
                is_coupled: vec![true],
                of: KeysOf::Class(vec![0; work.classes.len()]),
            },
            WorkKey::Hlo => {
                let texts = field_texts(segment, HLO_FIELDS, cancel)?;
                Self::by_node(segment, work, |_, node| texts.get(&node.row).copied())?
            }
            WorkKey::Line => {
                let texts = source_lines(segment, cancel)?;
                Self::by_node(segment, work, |_, node| texts.get(&node.row).copied())?
            }
            WorkKey::Operator => {
                let texts = operators(segment, work, cancel)?;
                Self::by_node(segment, work, |at, _| texts.get(&work.launching(at)?.row).copied())?
            }
        })
    }

    /// A row for each name.
    pub(super) fn by_name(work: &RankWork) -> Self {
        Self::by_class(work, |class| work.name(class.name))
    }

    fn by_node<B: Bytes>(
        segment: &Segment<B>,
        work: &RankWork,
        text: impl Fn(u32, &WorkNode) -> Option<u32>,
    ) -> Result<Self> {
        let coupled = coupled(work);
        let mut rows = RowNames::default();
        let mut known: FxHashMap<(Option<u32>, bool), u32> = FxHashMap::default();
        let mut keys = Vec::with_capacity(work.nodes.len());
        for (at, node) in (0..).zip(&work.nodes) {
            let key = (text(at, node), coupled[node.class as usize]);
            let row = match known.get(&key) {
                Some(row) => *row,
                None => {
                    let name = key.0.map(|code| segment.text(NameId(code))).transpose()?;
                    let row = rows.number(name, key.1);
                    known.insert(key, row);
                    row
                }
            };
            keys.push(row);
        }
        Ok(Self { names: rows.names, is_coupled: rows.is_coupled, of: KeysOf::Node(keys) })
    }

    fn by_class<'w>(work: &'w RankWork, name: impl Fn(&WorkClass) -> Option<&'w str>) -> Self {
        let mut rows = RowNames::default();
        let classes = work.classes.iter().zip(coupled(work));
        let keys = classes.map(|(class, is_coupled)| rows.number(name(class), is_coupled)).collect();
        Self { names: rows.names, is_coupled: rows.is_coupled, of: KeysOf::Class(keys) }
    }

    /// The row of the node at this position.
    pub(super) fn row(&self, at: usize, node: &WorkNode) -> u32 {
        match &self.of {
            KeysOf::Class(rows) => rows[node.class as usize],
            KeysOf::Node(rows) => rows.get(at).copied().unwrap_or_default(),
        }
    }
}

/// The operators of the calls that launch work, by row.
fn operators<B: Bytes>(segment: &Segment<B>, work: &RankWork, cancel: Cancel<'_>) -> Result<TextsOfRows> {
    let launches = (0..).zip(&work.nodes).filter_map(|(at, _)| Some(work.launching(at)?.row));
    let launches: FxHashSet<u32> = launches.collect();
    operators_of_launches(segment, &launches, cancel)
}

/// For each class whether its slices can wait for others. Kernels of a stream run alone, unless
/// they communicate.
fn coupled(work: &RankWork) -> Vec<bool> {
    let mut known: FxHashMap<u32, bool> = FxHashMap::default();
    let of_name = |name: u32| work.name(name).is_some_and(communicates);
    let is_coupled = |class: &WorkClass| {
        work.queues[class.queue as usize].identity.role != Role::Kernels
            || *known.entry(class.name).or_insert_with(|| of_name(class.name))
    };
    work.classes.iter().map(is_coupled).collect()
}

/// Rows by name.
#[derive(Default)]
pub(super) struct RowNames {
    names: Vec<String>,
    is_coupled: Vec<bool>,
    numbers: FxHashMap<String, u32>,
}

impl RowNames {
    /// The names, and whether each row is coupled.
    pub(super) fn finish(self) -> (Vec<String>, Vec<bool>) {
        (self.names, self.is_coupled)
    }

    /// The row of a name. It is coupled if any of its work is.
    pub(super) fn number(&mut self, name: Option<&str>, is_coupled: bool) -> u32 {
        let name = name.filter(|name| !name.is_empty()).unwrap_or(WITHOUT_SUBJECT);
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
                self.numbers.insert(name.to_owned(), number);
                self.names.push(name.to_owned());
                self.is_coupled.push(false);
                number
            }
        };
        self.is_coupled[number as usize] |= is_coupled;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_in_the_order_of_their_words() {
        for (word, key) in WorkKey::WORDS {
            assert_eq!((key.name(), WorkKey::from_name(word)), (word, Some(key)));
        }
        assert_eq!(WorkKey::from_name("else"), None);
    }
}
