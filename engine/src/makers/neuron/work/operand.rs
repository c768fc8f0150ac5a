//! Semaphores in the operands of an instruction, as the vendor's tool prints them.

use crate::model::NodePoint;

/// A condition on the value of a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SemaphoreTest {
    AtLeast(i64),
    Equal(i64),
}

impl SemaphoreTest {
    pub(super) fn holds(self, value: i64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::Equal(wanted) => value == wanted,
        }
    }
}

/// A change of a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SemaphoreStep {
    By(i64),
    To(i64),
}

/// The part that a semaphore has in an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SemaphoreUse {
    /// The instruction does not start, or does not end, before the test holds.
    Wait { at: NodePoint, test: SemaphoreTest },
    /// The instruction changes it when it completes.
    Change(SemaphoreStep),
    /// The transfer that the instruction sets up changes it.
    ByTransfer,
}

/// A semaphore of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SemaphoreOperand {
    pub(super) number: u32,
    pub(super) of: SemaphoreUse,
}

/// The operand of an instruction that sets up a transfer.
const BY_TRANSFER: &str = "semaphore=";
const SEMAPHORE: &str = "S[";

/// The places behind each occurrence of a word. In texts as short as operands, a search for its
/// last sign is faster than one for the word.
fn ends_of<'t>(word: &'static str, text: &'t str) -> impl Iterator<Item = usize> + 't {
    let bytes = text.as_bytes();
    let last = word.as_bytes()[word.len() - 1];
    memchr::memchr_iter(last, bytes)
        .map(|at| at + 1)
        .filter(move |&end| bytes[..end].ends_with(word.as_bytes()))
}

/// All semaphores in operands, in the order of the text.
///
/// A wait at the very start is one of the instruction's header: the instruction starts after it.
/// `EVENT_SEMAPHORE` also waits for operands behind that, and has started before.
pub(super) fn semaphores(operands: &str) -> Vec<SemaphoreOperand> {
    let mut found = Vec::new();
    for end in ends_of(SEMAPHORE, operands) {
        let (before, text) = (&operands[..end - SEMAPHORE.len()], &operands[end..]);
        let is_word = before.is_empty() || before.ends_with(['$', ' ']);
        let is_first = before.trim_end_matches('$').is_empty();
        if let Some(operand) = is_word.then(|| of_text(text, is_first)).flatten() {
            found.push(operand);
        }
    }
    if let Some(end) = ends_of(BY_TRANSFER, operands).next()
        && let Some((number, _)) = leading_number(&operands[end..])
    {
        found.push(SemaphoreOperand { number, of: SemaphoreUse::ByTransfer });
    }
    found
}

/// The operand behind `S[`, such as `8] (qSyncIO0)>=16`.
fn of_text(text: &str, is_first: bool) -> Option<SemaphoreOperand> {
    let (number, rest) = leading_number(text)?;
    let mut rest = rest.strip_prefix(']')?;
    if let Some(name) = rest.strip_prefix(" (") {
        rest = name.split_once(')')?.1;
    }
    let at = if is_first { NodePoint::Start } else { NodePoint::End };
    let value = |text: &str| leading_number(text).map(|(value, _)| i64::from(value));
    let wait = |test| SemaphoreUse::Wait { at, test };
    let of = if let Some(text) = rest.strip_prefix("==") {
        wait(SemaphoreTest::Equal(value(text)?))
    } else if let Some(text) = rest.strip_prefix(">=") {
        wait(SemaphoreTest::AtLeast(value(text)?))
    } else if rest.starts_with("++") {
        SemaphoreUse::Change(SemaphoreStep::By(1))
    } else if rest.starts_with("--") {
        SemaphoreUse::Change(SemaphoreStep::By(-1))
    } else if let Some(text) = rest.strip_prefix("+=") {
        SemaphoreUse::Change(SemaphoreStep::By(value(text)?))
    } else if let Some(text) = rest.strip_prefix("-=") {
        SemaphoreUse::Change(SemaphoreStep::By(-value(text)?))
    } else {
        SemaphoreUse::Change(SemaphoreStep::To(value(rest.strip_prefix('=')?)?))
    };
    Some(SemaphoreOperand { number, of })
}

/// The number at the start of a text, and the text behind it.
fn leading_number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(operands: &str, expected: &[(u32, SemaphoreUse)]) {
        let found: Vec<(u32, SemaphoreUse)> =
            semaphores(operands).iter().map(|operand| (operand.number, operand.of)).collect();
        assert_eq!(found, expected, "{operands}");
    }

    #[test]
    fn waits_and_changes_are_told_apart() {
        use SemaphoreStep::{By, To};
        use SemaphoreTest::{AtLeast, Equal};
        use SemaphoreUse::{ByTransfer, Change};
        let start = |test| SemaphoreUse::Wait { at: NodePoint::Start, test };
        let end = |test| SemaphoreUse::Wait { at: NodePoint::End, test };
        check("", &[]);
        check("S[24] (qGpSimdDynamic)>=16 src=fp16@0x2f[1][2]", &[(24, start(AtLeast(16)))]);
        check("S[5]>=1 S[4]++@complete COPY", &[(5, start(AtLeast(1))), (4, Change(By(1)))]);
        check(" setter=0 $S[2]==8 $S[2]=0@complete ", &[(2, end(Equal(8))), (2, Change(To(0)))]);
        check("$S[15]>=1 $S[15]+=3@complete", &[(15, start(AtLeast(1))), (15, Change(By(3)))]);
        check("S[4] (Scalar)>=2 semaphore=26 sem_increment=16", &[(4, start(AtLeast(2))), (26, ByTransfer)]);
        check("$E[4]==1- cycle=1 ", &[]);
        check("S[8] wait(0x3) 7", &[]);
        check("S[8", &[]);
        check("S[8] (a", &[]);
        check("fooS[8]>=1", &[]);
        check("S[99999999999]>=1", &[]);
    }
}
