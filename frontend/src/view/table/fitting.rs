//! The columns of a table that have room beside each other.

/// Room that a column asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnClaim {
    /// Width in characters.
    pub width_ch: usize,
    /// See [`TableColumn::gives_way`](super::TableColumn::gives_way).
    pub gives_way: Option<usize>,
}

/// Positions of the columns that are shown in `room_ch` characters. Columns give way one by one,
/// until the others fit or only those are left that never give way.
#[must_use]
pub fn fitting(claims: &[ColumnClaim], room_ch: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..claims.len()).collect();
    let width_ch = |shown: &[usize]| shown.iter().map(|&at| claims[at].width_ch).sum::<usize>();
    while width_ch(&shown) > room_ch {
        let next = shown.iter().enumerate().filter_map(|(place, &at)| Some((claims[at].gives_way?, place)));
        let Some((_, place)) = next.min() else { break };
        shown.remove(place);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of ten characters. A digit gives way in its order, a point never.
    #[track_caller]
    fn check(order: &str, room_ch: usize, expected: &[usize]) {
        let claim =
            |sign: char| ColumnClaim { width_ch: 10, gives_way: sign.to_digit(10).map(|at| at as usize) };
        let claims: Vec<ColumnClaim> = order.chars().map(claim).collect();
        assert_eq!(fitting(&claims, room_ch), expected, "{order} in {room_ch}");
    }

    #[test]
    fn columns_give_way_in_their_order() {
        check(".4.213", 60, &[0, 1, 2, 3, 4, 5]);
        check(".4.213", 59, &[0, 1, 2, 3, 5]);
        check(".4.213", 40, &[0, 1, 2, 5]);
        check(".4.213", 39, &[0, 1, 2]);
        check(".4.213", 29, &[0, 2]);
        check(".4.213", 0, &[0, 2]);
        check("..", 5, &[0, 1]);
        check("", 0, &[]);
    }
}
