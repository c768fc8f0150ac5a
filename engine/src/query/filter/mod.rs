//! Queries of users: words that must all match.
//!
//! | word | finds |
//! |---|---|
//! | `matmul`, `"two words"` | a text with it: the name or any field |
//! | `matmul,conv` | a text with one of them |
//! | `/mat(mul)?/` | a text that the regular expression matches |
//! | `opcode:mat`, `opcode:mat,conv` | this field with a text like that |
//! | `opcode=MATMUL` | exactly this text or number |
//! | `opcode~/^MAT/` | a text of this field that the regular expression matches |
//! | `dur>5us`, `size<=2KiB` | numbers above, below, at least, at most |
//! | `size:512..32KiB`, `dur:5us..` | numbers from one to the other, both included |
//! | `start>10ms` | slices that start later than 10 ms after the first event |
//! | `track:Vector`, `rank:3` | slices of tracks or ranks |
//! | `in:"step 3"` | slices that start in this region |
//! | `-name:DRAIN` | all but these |
//!
//! Case matters in a text with a capital letter. Quotes make a text of any word.

mod completion;
mod filter_scope;
mod grammar;
mod known_field;
mod number_test;
mod open_word;
mod quantity;
mod resolved_filter;
mod resolved_test;
mod word;

pub use self::completion::{Completion, CompletionKind, Completions, completions};
pub use self::filter_scope::{FilterScope, RegionSpan, ShortName};
pub use self::open_word::OpenWord;
pub use self::quantity::quantity;
pub use self::resolved_filter::ResolvedFilter;
pub use self::word::{FieldTest, FilterWord, NumberComparison, WordFilter, WordTest};
