//! Ids and roles: what tells the processes and tracks of a trace apart.

use std::borrow::Cow;

use super::number::FieldNumber;
use super::text::text_of;
use super::tokens::{Raw, ValueKind};

/// Id of a process or thread in the trace. A text that is an integer counts as that integer,
/// because traces write the same thread both ways.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Id {
    /// A number of up to 64 bits, with or without a sign.
    Number(i128),
    /// Any other id.
    Text(Box<str>),
    /// No id in the event.
    Absent,
}

impl Id {
    /// Parses a token.
    pub(super) fn new(raw: Raw, bytes: &[u8]) -> Self {
        match BorrowedId::new(raw, bytes) {
            BorrowedId::Number(number) => Self::Number(number),
            BorrowedId::Text(text) => Self::Text(text.into()),
            BorrowedId::Absent => Self::Absent,
        }
    }
}

/// An id as it is in the trace. Most ids of flows are used once, and need no copy.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum BorrowedId<'a> {
    /// As [`Id::Number`].
    Number(i128),
    /// As [`Id::Text`].
    Text(Cow<'a, str>),
    /// As [`Id::Absent`].
    Absent,
}

impl<'a> BorrowedId<'a> {
    /// Parses a token.
    pub(super) fn new(raw: Raw, bytes: &'a [u8]) -> Self {
        let number = match raw.kind() {
            ValueKind::Absent | ValueKind::Null => return Self::Absent,
            ValueKind::Number | ValueKind::Text => match FieldNumber::parse(raw.of(bytes)) {
                Some(FieldNumber::Int(int)) => Some(i128::from(int)),
                Some(FieldNumber::Uint(uint)) => Some(i128::from(uint)),
                Some(FieldNumber::Float(float)) => whole(float),
                Some(FieldNumber::Big) | None => None,
            },
            _ => None,
        };
        number.map_or_else(|| Self::Text(text_of(bytes, raw)), Self::Number)
    }
}

/// The integer that a float is equal to. Tools that keep tables of numbers write 1 as 1.0.
#[expect(clippy::cast_possible_truncation, reason = "floats of this size are exact in both types")]
fn whole(float: f64) -> Option<i128> {
    /// Above this, two integers can have the same float.
    const MAX_EXACT: f64 = (1_u64 << 53) as f64;
    (float.fract() == 0.0 && float.abs() <= MAX_EXACT).then_some(float as i128)
}

impl Id {
    /// Bytes of the text.
    pub(super) fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Number(_) | Self::Absent => 0,
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Absent => f.write_str("not given"),
        }
    }
}

/// Role of a track below a process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum TrackRole {
    /// Instants of the process as a whole.
    Process,
    /// Samples of one series of a counter.
    Counter {
        /// Name of the counter.
        name: Box<str>,
        /// Id that tells counters with the same name apart; empty for the only one.
        id: Box<str>,
        /// Name of the series.
        series: Box<str>,
    },
    /// Annotations of the stream with this id, which are drawn over its work.
    Annotations(Id),
    /// A thread or a device's stream.
    Thread(Id),
    /// Asynchronous slices of this category and name.
    Async {
        /// Category of the slices.
        cat: Box<str>,
        /// Name of the outermost slice.
        name: Box<str>,
    },
}

/// Id of the thread that stands for all further ones.
const MORE_THREADS: &str = "More threads";

impl TrackRole {
    /// The thread of the events, if they have one.
    pub(super) fn thread(&self) -> Option<&Id> {
        match self {
            Self::Annotations(id) | Self::Thread(id) => Some(id),
            _ => None,
        }
    }

    /// Bytes of the texts.
    pub(super) fn text_bytes(&self) -> usize {
        match self {
            Self::Process => 0,
            Self::Counter { name, id, series } => name.len() + id.len() + series.len(),
            Self::Annotations(id) | Self::Thread(id) => id.text_bytes(),
            Self::Async { cat, name } => cat.len() + name.len(),
        }
    }

    /// The role of the track that all tracks of this kind share if there are too many.
    pub(super) fn alike(&self) -> Self {
        match self {
            Self::Process => Self::Process,
            Self::Counter { .. } => {
                Self::Counter { name: "More counters".into(), id: "".into(), series: "".into() }
            }
            Self::Annotations(_) => Self::Annotations(Id::Text(MORE_THREADS.into())),
            Self::Thread(_) => Self::Thread(Id::Text(MORE_THREADS.into())),
            Self::Async { .. } => Self::Async { cat: "".into(), name: "".into() },
        }
    }
}
