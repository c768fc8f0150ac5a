//! Edits of a run: what takes how much of its time, in the words of the command line.

use std::fmt;
use std::str::FromStr;

/// A pattern of names: a part of a name, a whole name with `*` for any text, or a whole name in
/// quotation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameGlob(String);

impl NameGlob {
    /// The shortest pattern that fits this name and none of the others.
    #[must_use]
    pub fn only<'a>(name: &str, others: impl IntoIterator<Item = &'a str>) -> Self {
        let plain = Self(name.to_owned());
        let is_plain = plain.exact().is_none() && !name.contains('*');
        let mut others = others.into_iter().filter(|other| *other != name);
        match is_plain && !others.any(|other| plain.fits_any_case(other)) {
            true => plain,
            false => Self(format!("\"{name}\"")),
        }
    }

    /// The name between quotation marks.
    fn exact(&self) -> Option<&str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// Whether a name fits, no matter its capital letters.
    #[must_use]
    pub fn fits_any_case(&self, name: &str) -> bool {
        Self(self.0.to_lowercase()).fits(&name.to_lowercase())
    }

    /// Whether a name fits.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        if let Some(exact) = self.exact() {
            return name == exact;
        }
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(last) = parts.next_back() else { return name.contains(first) };
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}

/// The work that an edit changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Kernels and other work of devices by name.
    Kernel(NameGlob),
    /// Transfers of operations of a kind, as `nprof collectives` prints it.
    Transfer(String),
    /// The work of the rank with this number.
    Rank(u32),
    /// The waiting of other ranks for the rank with this number.
    AwaitedRank(u32),
    /// The work of the engines of this name.
    Engine(NameGlob),
    /// The transfers of the DMA queues of this name.
    DmaQueue(NameGlob),
    /// The work of the layers of this name.
    Layer(NameGlob),
    /// The waiting for the semaphores with this number.
    AwaitedSemaphore(u32),
    /// The rate of all transfers.
    Bandwidth,
}

/// The change of the time that work takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// A multiple of its time, or of a rate.
    Factor(f64),
    /// As much as on the median rank.
    Median,
}

/// An edit of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The work.
    pub subject: Subject,
    /// Its change.
    pub change: Change,
}

/// Fault of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditError {
    /// Not in the form `WORK=CHANGE`.
    Form {
        /// The text.
        text: String,
    },
    /// The change is no number that is possible here.
    Number {
        /// The text of the change.
        text: String,
        /// The possible changes.
        wanted: &'static str,
    },
    /// There is no median of this work.
    NoMedian {
        /// The edit.
        edit: String,
    },
    /// The profile has no such work.
    NoSuchWork {
        /// The edit.
        edit: String,
        /// Work that the profile has.
        known: Vec<String>,
    },
}

/// Forms of edits, for help and messages.
pub const FORMS: &str = "kernel:NAME=0.5, layer:NAME=0.5, engine:NAME=0.5, dma:QUEUE=0.5, \
     transfer:KIND=0.5, rank:3=median, rank:3=0.9, wait:rank 3=0, wait:semaphore 12=0, bandwidth=2";

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { text } => write!(f, "`{text}` is no edit; edits are {FORMS}"),
            Self::Number { text, wanted } => write!(f, "`{text}` is not possible here: {wanted}"),
            Self::NoMedian { edit } => write!(f, "`{edit}`: only a rank can be as fast as the median rank"),
            Self::NoSuchWork { edit, known } if known.is_empty() => {
                write!(f, "`{edit}`: the profile has no such work")
            }
            Self::NoSuchWork { edit, known } => {
                write!(f, "`{edit}`: the profile has no such work; it has {}", known.join(", "))
            }
        }
    }
}

impl std::error::Error for EditError {}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(NameGlob(name)) => write!(f, "kernel:{name}"),
            Self::Transfer(kind) => write!(f, "transfer:{kind}"),
            Self::Rank(number) => write!(f, "rank:{number}"),
            Self::AwaitedRank(number) => write!(f, "wait:rank {number}"),
            Self::Engine(NameGlob(name)) => write!(f, "engine:{name}"),
            Self::DmaQueue(NameGlob(name)) => write!(f, "dma:{name}"),
            Self::Layer(NameGlob(name)) => write!(f, "layer:{name}"),
            Self::AwaitedSemaphore(number) => write!(f, "wait:semaphore {number}"),
            Self::Bandwidth => f.write_str("bandwidth"),
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.change {
            Change::Factor(factor) => write!(f, "{}={factor}", self.subject),
            Change::Median => write!(f, "{}=median", self.subject),
        }
    }
}

impl FromStr for Edit {
    type Err = EditError;

    fn from_str(text: &str) -> Result<Self, EditError> {
        let form = || EditError::Form { text: text.to_owned() };
        let (work, change) = text.rsplit_once('=').ok_or_else(form)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| form());
        let subject = match work.split_once(':') {
            Some(("kernel", name)) if !name.is_empty() => Subject::Kernel(NameGlob(name.to_owned())),
            Some(("engine", name)) if !name.is_empty() => Subject::Engine(NameGlob(name.to_owned())),
            Some(("dma", name)) if !name.is_empty() => Subject::DmaQueue(NameGlob(name.to_owned())),
            Some(("layer", name)) if !name.is_empty() => Subject::Layer(NameGlob(name.to_owned())),
            Some(("transfer", kind)) if !kind.is_empty() => Subject::Transfer(kind.to_owned()),
            Some(("rank", rank)) => Subject::Rank(number(rank)?),
            Some(("wait", of)) => match of.trim().split_once(' ').ok_or_else(form)? {
                ("rank", rank) => Subject::AwaitedRank(number(rank)?),
                ("semaphore", semaphore) => Subject::AwaitedSemaphore(number(semaphore)?),
                _ => return Err(form()),
            },
            None if work == "bandwidth" => Subject::Bandwidth,
            _ => return Err(form()),
        };
        let change = match change.trim() {
            "median" => Change::Median,
            factor => Change::Factor(factor_of(factor, &subject)?),
        };
        Ok(Self { subject, change })
    }
}

fn factor_of(text: &str, subject: &Subject) -> Result<f64, EditError> {
    let refused = |wanted| EditError::Number { text: text.to_owned(), wanted };
    let factor: f64 = text.parse().map_err(|_| refused("a number is"))?;
    match subject {
        Subject::AwaitedRank(_) | Subject::AwaitedSemaphore(_) if factor != 0.0 => {
            Err(refused("only 0 is, nobody waits"))
        }
        Subject::Bandwidth if !(factor > 0.0 && factor.is_finite()) => Err(refused("a number above 0 is")),
        _ if !(0.0..=MOST).contains(&factor) => Err(refused("a number from 0 to 1000 is")),
        _ => Ok(factor),
    }
}

/// Largest factor.
const MOST: f64 = 1e3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_read_and_printed_alike() {
        for text in [
            "kernel:gemm=0.5",
            "kernel:void f<a=b>*=2",
            "transfer:all-reduce=0.1",
            "rank:53=median",
            "rank:0=0.9",
            "wait:rank 53=0",
            "wait:semaphore 12=0",
            "engine:Vector=0.5",
            "dma:qSyncIO0=0.5",
            "layer:layers.0/*=0.25",
            "kernel:\"add\"=0.5",
            "bandwidth=2",
        ] {
            assert_eq!(text.parse::<Edit>().map(|edit| edit.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "kernel",
            "kernel:=1",
            "rank:x=1",
            "kernel:a=",
            "kernel:a=-1",
            "kernel:a=nan",
            "bandwidth=0",
            "wait:rank 3=0.5",
            "wait:3=0",
            "wait:semaphore=0",
            "wait:semaphore 3=1",
            "wait:queue 3=0",
            "engine:=1",
            "bandwidth:2=1",
        ] {
            assert!(text.parse::<Edit>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_pattern_of_a_name_fits_no_other_name() {
        let names = ["add", "add_tail", "void Add", "a*b", "\"quoted\"", "mul"];
        for name in names {
            let pattern = NameGlob::only(name, names);
            let fitting: Vec<&str> = names.into_iter().filter(|other| pattern.fits(other)).collect();
            assert_eq!(fitting, [name], "{pattern:?}");
        }
        assert_eq!(NameGlob::only("mul", names), NameGlob("mul".to_owned()));
    }

    #[test]
    fn names_fit_by_a_part_or_as_a_whole() {
        for (pattern, name, fits) in [
            ("gemm", "void gemm_bf16()", true),
            ("gemm*", "void gemm", false),
            ("*gemm*", "void gemm_bf16", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("\"gemm\"", "gemm", true),
            ("\"gemm\"", "gemm_bf16", false),
            ("\"a*b\"", "a*b", true),
            ("\"a*b\"", "a1b", false),
            ("\"", "a\"b", true),
        ] {
            assert_eq!(NameGlob(pattern.to_owned()).fits(name), fits, "{pattern} {name}");
        }
    }
}
