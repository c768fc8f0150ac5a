//! Exports: the table of formats, and one file or folder per format.

mod arrows;
mod csv;
pub mod cut;
mod error;
pub mod html;
mod json;
mod keys;
mod neuron_summary;
mod number;
pub mod perfetto;
mod ranks;
mod summary;
pub mod table;
mod tracks;
pub mod wanted;

pub use error::ExportError;
pub use ranks::{Comparing, OpenedRank, RanksOf};
pub use table::{Choice, Choices, EXPORTS, Export, PreparedExport, Scope, find};

use error::Failure;
