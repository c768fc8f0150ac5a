//! Ideal cycles and categories of kernels by name, for slices of PyTorch's dialect. Slices of FLEX
//! state theirs.

use std::collections::HashMap;

use nprof_engine::exec::Cancel;
use nprof_engine::makers::aiu::Phase;
use nprof_engine::makers::aiu::schema::IdealRow;
use nprof_engine::native::SegmentFile;

use super::error::Result;

/// Category of kernels that are in no table.
const OTHER: &str = "other";

/// An ideal of a kernel.
#[derive(Debug, Clone, PartialEq)]
struct Ideal {
    category: String,
    cycles: f64,
    /// Whether all tables state the same cycles.
    is_certain: bool,
}

/// The kernels of all tables of the compiler.
#[derive(Debug, Default)]
pub struct Ideals(HashMap<String, Ideal>);

impl Ideals {
    /// The kernels that the tables of a rank list.
    pub fn of(segment: &SegmentFile) -> Result<Self> {
        let mut ideals = Self::default();
        for row in IdealRow::read(segment, Cancel::NEVER)? {
            let (kernel, category) = (row.kernel.text_or_empty(), row.category.text_or_empty());
            ideals.add(kernel, category, row.cycles.float_or_zero());
        }
        Ok(ideals)
    }

    fn add(&mut self, kernel: &str, category: &str, cycles: f64) {
        let fresh = || Ideal { category: category.to_owned(), cycles, is_certain: true };
        let known = self.0.entry(kernel.to_owned()).or_insert_with(fresh);
        known.is_certain &= known.cycles == cycles;
    }

    /// The category of a kernel; `None` without tables.
    #[must_use]
    pub fn category(&self, name: &str) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        Some(self.0.get(Phase::kernel(name)).map_or(OTHER, |ideal| &ideal.category))
    }

    /// Ideal over measured time of a kernel, if the tables agree about its cycles.
    #[must_use]
    pub fn active(&self, name: &str, duration_ps: i64, core_mhz: f64) -> Option<f64> {
        let ideal = self.0.get(Phase::kernel(name)).filter(|ideal| ideal.is_certain && ideal.cycles > 0.0)?;
        #[expect(clippy::cast_precision_loss, reason = "a duration in picoseconds")]
        let us = duration_ps as f64 / 1e6;
        (us > 0.0).then(|| ideal.cycles / core_mhz / us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_the_ideal_of_their_table() {
        let mut ideals = Ideals::default();
        assert_eq!(ideals.category("add"), None);
        ideals.add("add", "Broadcast", 1_100.0);
        ideals.add("mul", "Scalar", 5.0);
        ideals.add("mul", "Scalar", 6.0);
        assert_eq!((ideals.category("add"), ideals.category("x")), (Some("Broadcast"), Some("other")));
        assert_eq!(ideals.active("add", 2_000_000, 1_100.0), Some(0.5));
        assert_eq!(ideals.active("mul", 2_000_000, 1_100.0), None);
    }
}
