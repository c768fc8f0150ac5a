//! Indexes: the blocks that overlap a window, and the blocks that hold a text.
//!
//! Both store numbers of blocks, so that their size grows with the blocks, not the rows. A query
//! decodes the few blocks that remain to find the rows.

mod block_texts;
mod max_end;
mod postings;

pub use block_texts::BlockTexts;
pub use max_end::MaxEndTree;
pub use postings::{Postings, encode_postings};
