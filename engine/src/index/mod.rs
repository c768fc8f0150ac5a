//! Indexes: which blocks overlap this window, which blocks hold this text.
//!
//! Both work on numbers of blocks, so that their size follows the blocks, not the rows; rows are settled by decoding the
//! few blocks that remain.

mod block_texts;
mod max_end;
mod postings;

pub use block_texts::BlockTexts;
pub use max_end::MaxEndTree;
pub use postings::{Postings, encode_postings};
