//! The reason why a file is not read, for people.

use std::borrow::Cow;

/// Reason why a file is not read, with advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRefusal {
    /// The kind of the file, or the fault in it.
    pub what: Cow<'static, str>,
    /// Place of the fault in the file. Empty if it is the whole file.
    pub place: Cow<'static, str>,
    /// Advice to the user.
    pub hint: Cow<'static, str>,
    /// Importance of the refusal.
    pub gravity: Gravity,
}

/// Importance of a refusal in a directory or an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gravity {
    /// The file is something else. A message is useful only if its name is that of a trace.
    Unread,
    /// The file is of a known format, and damaged or in a form that is not read.
    Damaged,
}

impl FileRefusal {
    /// A refusal of a file that is something else.
    #[must_use]
    pub fn unread(what: impl Into<Cow<'static, str>>, hint: &'static str) -> Self {
        let (what, place, hint) = (what.into(), Cow::Borrowed(""), Cow::Borrowed(hint));
        Self { what, place, hint, gravity: Gravity::Unread }
    }

    /// A refusal of a damaged file.
    #[must_use]
    pub fn damaged(what: impl Into<Cow<'static, str>>, place: impl Into<Cow<'static, str>>) -> Self {
        let hint = Cow::Borrowed("the file is damaged or was cut off; copy it again");
        Self { what: what.into(), place: place.into(), hint, gravity: Gravity::Damaged }
    }

    /// A refusal of a file that is whole, but of a form or size that nprof does not read.
    #[must_use]
    pub fn unsupported(
        what: impl Into<Cow<'static, str>>,
        place: impl Into<Cow<'static, str>>,
        hint: &'static str,
    ) -> Self {
        Self { hint: Cow::Borrowed(hint), ..Self::damaged(what, place) }
    }
}
