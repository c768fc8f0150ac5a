//! The profiles of a view, by their names for addresses.

/// Limit of the profiles of a view.
pub const MOST_PROFILES: usize = 8;

/// The names of one or more profiles. Tabs, lists and plots are about the first one; the others
/// stand beside it in the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileNames {
    first: String,
    others: Vec<String>,
}

impl ProfileNames {
    /// One profile.
    #[must_use]
    pub fn one(name: &str) -> Self {
        Self { first: name.to_owned(), others: Vec::new() }
    }

    /// These profiles. `None` if there is none.
    #[must_use]
    pub fn of(names: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut names = names.into_iter();
        Some(Self { first: names.next()?, others: names.collect() })
    }

    /// These profiles for a comparison. `None` if they are fewer than two or more than
    /// [`MOST_PROFILES`].
    #[must_use]
    pub fn compared(names: Vec<String>) -> Option<Self> {
        let is_fitting = (2..=MOST_PROFILES).contains(&names.len());
        Self::of(names).filter(|_| is_fitting)
    }

    /// Name of the first profile.
    #[must_use]
    pub fn first(&self) -> &str {
        &self.first
    }

    /// The name at a position.
    #[must_use]
    pub fn at(&self, position: u8) -> Option<&str> {
        self.iter().nth(position.into())
    }

    /// All names, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        std::iter::once(&self.first).chain(&self.others).map(String::as_str)
    }

    /// The profiles with another name in place of this one.
    #[must_use]
    pub fn with(&self, wrong: &str, name: &str) -> Self {
        let of = |own: &String| if own == wrong { name.to_owned() } else { own.clone() };
        Self { first: of(&self.first), others: self.others.iter().map(of).collect() }
    }

    /// Number of profiles.
    #[must_use]
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// Whether there are others to compare the first one with.
    #[must_use]
    pub fn are_several(&self) -> bool {
        !self.others.is_empty()
    }
}
