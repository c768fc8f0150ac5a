//! Steps through a list whose ends meet: the hits of a search, tabs, commands of the palette.

/// Direction of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// To the next item. The first comes after the last.
    Forward,
    /// To the previous item. The last comes before the first.
    Backward,
}

/// The item to go to from the current one of a list, if the list is not empty.
#[must_use]
pub fn step(current: Option<usize>, count: usize, walk: Walk) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(match (current, walk) {
        (None, Walk::Forward) => 0,
        (None, Walk::Backward) => last,
        (Some(at), Walk::Forward) if at >= last => 0,
        (Some(at), Walk::Forward) => at + 1,
        (Some(0), Walk::Backward) => last,
        (Some(at), Walk::Backward) => (at - 1).min(last),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_walked_in_circles() {
        assert_eq!(step(None, 3, Walk::Forward), Some(0));
        assert_eq!(step(None, 3, Walk::Backward), Some(2));
        assert_eq!(step(Some(2), 3, Walk::Forward), Some(0));
        assert_eq!(step(Some(0), 3, Walk::Backward), Some(2));
        assert_eq!(step(Some(1), 3, Walk::Backward), Some(0));
        assert_eq!(step(Some(0), 0, Walk::Forward), None);
    }
}
