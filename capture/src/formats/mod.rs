//! Readers of trace formats: bytes in, events out.
//!
//! Each reader takes bytes in memory, a `std::io::Read`, or either. It passes the events to an
//! [`nprof_engine::model::Sink`] while it reads, so that memory stays bounded for any size of
//! input. No reader opens files, starts threads or reads clocks. [`READERS`] lists those of traces.
//! `neff` serves several of them.

pub mod aiu;
pub mod neff;
pub mod neuron_json;
pub mod ntff;
pub mod perfetto;
mod room;
pub mod trace_event;

use crate::files::{Fault, ImportJob, Sinks};
use crate::importer::Importer;
use crate::origin::TraceBeginning;

/// The reader of a format.
pub struct FormatReader {
    /// Name of the format, as in [`crate::importer::TABLE`].
    pub name: &'static str,
    /// Finds the beginning of a trace on its own clock. `None` if the times of the format count
    /// from a zero of their own.
    pub beginning: Option<FindBeginning>,
    /// Reads the ranks of a plan.
    pub read: fn(&ImportJob<'_>, &mut dyn Sinks) -> Result<(), Fault>,
}

/// Finds the beginning in a part of a trace, which may end anywhere. `None` if the part does not
/// contain it.
pub type FindBeginning = fn(&[u8]) -> Option<TraceBeginning>;

/// The readers, in the order of [`crate::importer::TABLE`].
pub static READERS: [FormatReader; 5] = [
    FormatReader { name: "ntff", beginning: None, read: ntff::import },
    FormatReader { name: "neuron_json", beginning: None, read: neuron_json::import },
    FormatReader { name: "aiu", beginning: Some(aiu::beginning), read: aiu::import },
    FormatReader { name: "trace_event", beginning: Some(trace_event::beginning), read: trace_event::import },
    FormatReader { name: "perfetto", beginning: Some(perfetto::beginning), read: perfetto::import },
];

/// The reader of a format.
#[must_use]
pub fn reader_of(importer: &Importer) -> &'static FormatReader {
    READERS.iter().find(|reader| reader.name == importer.name).expect("each row of the table has a reader")
}

/// Reads the ranks of a plan.
pub fn read(job: &ImportJob<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    (reader_of(job.plan.importer).read)(job, sinks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::importer::TABLE;

    #[test]
    fn each_format_has_a_reader_at_its_place() {
        let names = READERS.each_ref().map(|reader| reader.name);
        assert_eq!(names, TABLE.each_ref().map(|importer| importer.name));
    }
}
