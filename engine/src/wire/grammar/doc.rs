//! The description of a parameter for clients.

use std::borrow::Cow;

/// Description of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterDoc {
    /// Name in the template of the path, or in the query.
    pub name: &'static str,
    /// Part of the address that holds the parameter.
    pub place: ParameterPlace,
    /// Whether a question without it is refused.
    pub is_required: bool,
    /// Meaning of the value.
    pub doc: Cow<'static, str>,
    /// Form of the value.
    pub form: ValueForm,
}

/// Part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterPlace {
    /// The path.
    Path,
    /// The query, after the question mark.
    Query,
}

/// Form of the value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueForm {
    /// A text.
    Text,
    /// A whole number.
    Integer {
        /// The smallest number; `None` if numbers can be negative.
        least: Option<i64>,
        /// The largest number, if it is not that of the type.
        most: Option<i64>,
        /// Value of a parameter that is not given.
        default: Option<i64>,
    },
    /// Whole numbers from 0, separated by commas.
    Numbers,
    /// A number of a rank, or the word for all ranks.
    Rank,
    /// One of several words.
    Word {
        /// The words.
        words: Vec<&'static str>,
        /// Value of a parameter that is not given.
        default: Option<&'static str>,
    },
}
