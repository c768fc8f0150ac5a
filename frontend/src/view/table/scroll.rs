//! Rows in sight of a scrolled table. Only these rows are in the page.

/// Rows beyond each edge of the sight that are in the page too, so that a small step shows them at
/// once.
const BEYOND: u32 = 8;
/// Greatest height of an element that all browsers can show, in CSS pixels. In a table of more rows
/// the scroll bar moves by several rows a pixel.
const HIGHEST_PX: f64 = 8_000_000.0;

/// Places of a table's rows in a scrolled element.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scroller {
    /// Number of rows.
    pub rows: u32,
    /// Height of a row, in CSS pixels.
    pub row_px: f64,
    /// Height in which rows can be seen, in CSS pixels.
    pub sight_px: f64,
}

/// Rows that are in the page.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sight {
    /// The first row.
    pub first: u32,
    /// The row after the last one.
    pub end: u32,
    /// Distance of the first row from the start of the element.
    pub top_px: f64,
}

impl Scroller {
    fn all_px(self) -> f64 {
        f64::from(self.rows) * self.row_px
    }

    /// Height of the element.
    #[must_use]
    pub fn height_px(self) -> f64 {
        self.all_px().min(HIGHEST_PX)
    }

    /// Distance from the first row that a scroll position stands for.
    fn offset_px(self, scroll_px: f64) -> f64 {
        let (hidden, shown) = (self.all_px() - self.sight_px, self.height_px() - self.sight_px);
        if shown <= 0.0 { 0.0 } else { scroll_px.clamp(0.0, shown) * (hidden / shown) }
    }

    /// Rows in the page at this scroll position.
    #[must_use]
    pub fn sight(self, scroll_px: f64) -> Sight {
        if self.rows == 0 || self.row_px <= 0.0 {
            return Sight::default();
        }
        let offset_px = self.offset_px(scroll_px);
        let first = (offset_px / self.row_px).floor().max(0.0) as u32;
        let seen = (self.sight_px.max(0.0) / self.row_px).ceil() as u32 + 1;
        let before = first.min(BEYOND);
        // The element can be lower than the rows are high: rows stand relative to the sight.
        let top_px = scroll_px - (offset_px - f64::from(first - before) * self.row_px);
        let end = first.saturating_add(seen).saturating_add(BEYOND).min(self.rows);
        let rest_px = self.height_px() - f64::from(end - (first - before)) * self.row_px;
        Sight { first: first - before, end, top_px: top_px.clamp(0.0, rest_px.max(0.0)) }
    }

    /// The nearest scroll position that shows a row as a whole.
    #[must_use]
    pub fn revealing(self, scroll_px: f64, row: u32) -> f64 {
        let offset_px = self.offset_px(scroll_px);
        let top_px = f64::from(row) * self.row_px;
        let wanted_px = offset_px.min(top_px).max(top_px + self.row_px - self.sight_px);
        let (hidden, shown) = (self.all_px() - self.sight_px, self.height_px() - self.sight_px);
        if hidden <= 0.0 { 0.0 } else { wanted_px.max(0.0) * (shown / hidden) }
    }

    /// Number of rows of a page.
    #[must_use]
    pub fn page(self) -> u32 {
        ((self.sight_px / self.row_px.max(1.0)).floor() as u32).saturating_sub(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_rows_are_all_there() {
        let scroller = Scroller { rows: 5, row_px: 20.0, sight_px: 300.0 };
        assert_eq!(scroller.sight(0.0), Sight { first: 0, end: 5, top_px: 0.0 });
        assert_eq!((scroller.height_px(), scroller.revealing(0.0, 4)), (100.0, 0.0));
        assert_eq!(Scroller::default().sight(7.0), Sight::default());
    }

    #[test]
    fn rows_in_sight_are_in_the_page() {
        for rows in [100, 10_000, 1_000_000] {
            let scroller = Scroller { rows, row_px: 28.0, sight_px: 500.0 };
            let end_px = scroller.height_px() - scroller.sight_px;
            for at in 0..=200 {
                let scroll_px = end_px * f64::from(at) / 200.0;
                let sight = scroller.sight(scroll_px);
                let foot_px = sight.top_px + f64::from(sight.end - sight.first) * scroller.row_px;
                assert!(sight.top_px <= scroll_px + 0.01, "{rows} rows at {scroll_px}: {sight:?}");
                assert!(
                    foot_px >= scroll_px + scroller.sight_px - 0.01,
                    "{rows} rows at {scroll_px}: {sight:?}"
                );
                assert!(foot_px <= scroller.height_px() + 0.01, "{rows} rows at {scroll_px}: {sight:?}");
                assert!(sight.end - sight.first < 40);
            }
            assert_eq!(scroller.sight(0.0).first, 0);
            assert_eq!(scroller.sight(end_px).end, rows);
        }
    }

    #[test]
    fn every_row_can_be_brought_into_sight() {
        let scroller = Scroller { rows: 1_000_000, row_px: 28.0, sight_px: 500.0 };
        for row in [0, 1, 17, 499_999, 999_998, 999_999] {
            let scroll_px = scroller.revealing(0.0, row);
            let sight = scroller.sight(scroll_px);
            let top_px = sight.top_px + f64::from(row - sight.first) * scroller.row_px;
            // Beside the ends of such a table a row can be cut by less than its height.
            let foot_px = scroll_px + scroller.sight_px;
            let seen = top_px > scroll_px - scroller.row_px && top_px < foot_px;
            assert!(seen, "row {row} at {scroll_px}: {sight:?}");
            assert_eq!(scroller.revealing(scroll_px, row), scroll_px);
        }
        assert_eq!(scroller.page(), 16);
    }
}
