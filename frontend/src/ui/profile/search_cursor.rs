//! Walking through the hits of a search. Pure.

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// To the next hit; after the last comes the first.
    Forward,
    /// To the hit before; before the first comes the last.
    Backward,
}

/// The hit to go to from the current one, if there is any hit.
#[must_use]
pub fn step(current: Option<usize>, hits: usize, walk: Walk) -> Option<usize> {
    let last = hits.checked_sub(1)?;
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
    fn walks_in_circles() {
        assert_eq!(step(None, 3, Walk::Forward), Some(0));
        assert_eq!(step(None, 3, Walk::Backward), Some(2));
        assert_eq!(step(Some(2), 3, Walk::Forward), Some(0));
        assert_eq!(step(Some(0), 3, Walk::Backward), Some(2));
        assert_eq!(step(Some(1), 3, Walk::Backward), Some(0));
        assert_eq!(step(Some(7), 3, Walk::Backward), Some(2), "fewer hits than before");
        assert_eq!(step(Some(7), 0, Walk::Forward), None);
    }
}
