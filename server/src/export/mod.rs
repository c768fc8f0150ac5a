//! Exports: the table of formats, and one file or folder per format.

mod arrows;
mod csv;
pub mod cut;
mod error;
pub mod html;
mod json;
mod keys;
mod neuron_summary;
pub mod perfetto;
mod prepared_export;
mod ranks;
pub mod requested_part;
pub mod summary;
pub mod table;
pub mod track_pattern;
pub(crate) mod tracks;

pub use error::ExportError;
pub use prepared_export::{Choice, ExportChoices, PreparedExport};
pub use ranks::{Comparing, OpenedRank, RanksOf};
pub use table::{EXPORTS, Export, Scope, find};

use error::RowFailure;
