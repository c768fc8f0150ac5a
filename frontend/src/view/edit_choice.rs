//! The change of a piece of work that the user tries: what changes, and how much of its time it
//! takes.

/// Least, largest and first share of its time that work takes, in percent, and the step between
/// two shares.
pub const PERCENT: PercentRange = PercentRange { least: 0, most: 200, first: 50, step: 5 };

/// The range of a slider.
#[derive(Debug, Clone, Copy)]
pub struct PercentRange {
    /// The smallest value.
    pub least: u32,
    /// The largest value.
    pub most: u32,
    /// The value before the user moves it.
    pub first: u32,
    /// Distance of two values.
    pub step: u32,
}

/// A slice whose work can be edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditedSlice {
    /// Number of the rank.
    pub rank: u32,
    /// Row in the segment of the rank.
    pub row: u32,
}

/// A change that is offered for a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditChoice {
    /// The left side of an edit, such as `kernel:gemm`: its work takes a share of its time.
    Share(String),
    /// The left side of an edit of a rank, which becomes as fast as the median rank.
    Median(String),
    /// The left side of an edit of a rank, for which no other rank waits.
    NoWait(String),
}

impl EditChoice {
    /// The choices for the left sides of edits. A rank can also become the median one, or nobody
    /// waits for it.
    #[must_use]
    pub fn of(subjects: &[String]) -> Vec<Self> {
        let of_one = |subject: &String| {
            let is_rank = subject.starts_with("rank:");
            let of_rank = |of: fn(String) -> Self| is_rank.then(|| of(subject.clone()));
            [Some(Self::Share(subject.clone())), of_rank(Self::Median), of_rank(Self::NoWait)]
        };
        subjects.iter().flat_map(of_one).flatten().collect()
    }

    /// The edit, in the words of the command line.
    #[must_use]
    pub fn edit(&self, percent: u32) -> String {
        match self {
            Self::Share(subject) => format!("{subject}={}", f64::from(percent) / 100.0),
            Self::Median(subject) => format!("{subject}=median"),
            Self::NoWait(subject) => format!("wait:{}=0", rank_words(subject)),
        }
    }

    /// The work that changes, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let of = |subject: &str| match subject.split_once(':') {
            Some(("kernel", name)) => format!("all work named {name}"),
            Some(("transfer", kind)) => format!("the transfers of {kind}"),
            Some(("layer", name)) => format!("layer {name}"),
            Some(("engine", name)) => format!("engine {name}, on all ranks"),
            Some(("dma", name)) => format!("DMA queue {name}, on all ranks"),
            Some(("rank", number)) => format!("all work of rank {number}"),
            _ => subject.to_owned(),
        };
        match self {
            Self::Share(subject) => of(subject),
            Self::Median(subject) => format!("{}, as on the median rank", rank_words(subject)),
            Self::NoWait(subject) => format!("no other rank waits for {}", rank_words(subject)),
        }
    }

    /// The same choice about another slice: of the same kind, if that slice has it.
    #[must_use]
    pub fn alike(&self, choices: &[Self]) -> Option<usize> {
        let kind = |of: &Self| match of {
            Self::Share(subject) => (0, subject.split(':').next().unwrap_or_default().to_owned()),
            Self::Median(_) => (1, String::new()),
            Self::NoWait(_) => (2, String::new()),
        };
        choices.iter().position(|one| kind(one) == kind(self))
    }
}

/// An edit in words.
#[must_use]
pub fn edit_words(edit: &str) -> String {
    let Some((subject, change)) = edit.rsplit_once('=') else { return edit.to_owned() };
    match (subject.strip_prefix("wait:"), change) {
        (Some(party), _) => format!("nobody waits for {party}"),
        (None, "median") => EditChoice::Median(subject.to_owned()).words(),
        (None, rate) if subject == "bandwidth" => format!("all transfers at {rate} times their rate"),
        (None, factor) => {
            let percent = factor.parse::<f64>().map_or_else(|_| factor.to_owned(), percent_of);
            let whose = if subject.starts_with("transfer:") { "their" } else { "its" };
            format!("{} in {percent} of {whose} time", EditChoice::Share(subject.to_owned()).words())
        }
    }
}

fn percent_of(factor: f64) -> String {
    format!("{} %", (factor * 1e4).round() / 1e2)
}

/// `rank 3` for the left side `rank:3`.
fn rank_words(subject: &str) -> String {
    subject.replacen(':', " ", 1)
}

/// The command that gives the same answer. `'` encloses what a shell would change.
#[must_use]
pub fn command(profile: &str, edit: &str) -> String {
    let is_plain = |text: &str| {
        text.chars()
            .all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.' | ':' | '=' | '/'))
    };
    let quoted = |text: &str| match is_plain(text) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    };
    format!("nprof whatif {} {}", quoted(profile), quoted(edit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(subjects: &[&str]) -> Vec<EditChoice> {
        EditChoice::of(&subjects.iter().map(|&subject| subject.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn edits_are_those_of_the_command_line() {
        let choices = choices(&["kernel:void f<a=b>", "rank:3"]);
        let edits: Vec<String> = choices.iter().map(|choice| choice.edit(35)).collect();
        assert_eq!(edits, ["kernel:void f<a=b>=0.35", "rank:3=0.35", "rank:3=median", "wait:rank 3=0"]);
        for edit in edits {
            assert_eq!(edit.parse::<nprof_engine::insight::Edit>().unwrap().to_string(), edit);
        }
        let words: Vec<String> = choices.iter().map(EditChoice::words).collect();
        let expected = [
            "all work named void f<a=b>",
            "all work of rank 3",
            "rank 3, as on the median rank",
            "no other rank waits for rank 3",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn the_kind_of_a_choice_stays_with_the_next_slice() {
        let next = choices(&["kernel:b", "engine:Tensor", "rank:4"]);
        let alike = |subject: &str| EditChoice::Share(subject.to_owned()).alike(&next);
        assert_eq!((alike("engine:Vector"), alike("rank:1"), alike("layer:x")), (Some(1), Some(2), None));
        assert_eq!(EditChoice::Median("rank:1".to_owned()).alike(&next), Some(3));
    }

    #[test]
    fn edits_are_told_in_words() {
        for (edit, words) in [
            ("kernel:gemm=0.5", "all work named gemm in 50 % of its time"),
            ("transfer:all-reduce=0.125", "the transfers of all-reduce in 12.5 % of their time"),
            ("rank:3=median", "rank 3, as on the median rank"),
            ("wait:rank 3=0", "nobody waits for rank 3"),
            ("wait:semaphore 12=0", "nobody waits for semaphore 12"),
            ("bandwidth=2", "all transfers at 2 times their rate"),
            ("kernel:a=b=1", "all work named a=b in 100 % of its time"),
        ] {
            assert_eq!(edit_words(edit), words);
        }
    }

    #[test]
    fn names_are_quoted_for_a_shell() {
        assert_eq!(command("run-7", "rank:3=0.5"), "nprof whatif run-7 rank:3=0.5");
        assert_eq!(command("a b", "kernel:it's=0"), r"nprof whatif 'a b' 'kernel:it'\''s=0'");
    }
}
