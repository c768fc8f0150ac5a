//! Encoding on all cores.

use rayon::prelude::*;

use crate::codec::Encoder;
use crate::ingest::Workers;

/// Shares tasks among the threads of the process-wide pool.
#[derive(Debug)]
pub struct Threads;

impl Workers for Threads {
    fn run(&mut self, count: usize, task: &(dyn Fn(usize, &mut Encoder) + Sync)) {
        // One task at a time each: the first, which must see all rows, takes as long as several others.
        (0..count).into_par_iter().with_max_len(1).for_each_init(Encoder::default, |encoder, index| {
            task(index, encoder);
        });
    }
}
