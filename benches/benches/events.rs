//! Generates the events that the other benches use:
//! `cargo bench -p nprof-benches --bench events -- EVENTS [SEED]`.
//!
//! The events go to `target/bench-events/`, where the other benches find them.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::Instant;

use nprof_benches::generate::{GeneratorSettings, cache, generate};

fn main() -> std::io::Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let mut settings = GeneratorSettings::standard(numbers.next().unwrap_or(1_000_000));
    settings.seed = numbers.next().unwrap_or(settings.seed);
    let directory = cache(&settings);
    let start = Instant::now();
    let meta = generate(&directory, &settings)?;
    println!("{} rows in {:.1} s: {}", meta.rows(), start.elapsed().as_secs_f64(), directory.display());
    Ok(())
}
