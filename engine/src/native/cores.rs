//! Questions on all cores.

use rayon::prelude::*;

use super::GoesOn;
use crate::query::Hands;

/// Shares the parts of a question among the threads of the process-wide pool, as long as it is wanted.
#[derive(Clone, Copy)]
pub struct AllCores<'a>(pub GoesOn<'a>);

impl Hands for AllCores<'_> {
    fn run(&self, count: usize, part: &(dyn Fn(usize) + Sync)) {
        (0..count).into_par_iter().for_each(part);
    }

    fn is_wanted(&self) -> bool {
        (self.0)()
    }
}
