//! The places of a profile's page.

/// A place of a profile's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfilePlace {
    /// Tracks over time.
    #[default]
    Timeline,
    /// Metrics of the rank.
    Summary,
    /// Tables of the rank.
    Data,
    /// The difference of two runs.
    Compare,
}

impl ProfilePlace {
    /// All places, in the order of the rail.
    pub const ALL: [Self; 4] = [Self::Summary, Self::Timeline, Self::Data, Self::Compare];

    /// Name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Timeline => "Timeline",
            Self::Summary => "Summary",
            Self::Data => "Data",
            Self::Compare => "Compare",
        }
    }

    /// Name in addresses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Summary => "summary",
            Self::Data => "data",
            Self::Compare => "compare",
        }
    }

    /// The place with this name in addresses.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|place| place.name() == name)
    }

    /// The end of the address's path. The timeline has none, like links from before there were
    /// other places.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Timeline => "",
            Self::Summary => "/summary",
            Self::Data => "/data",
            Self::Compare => "/compare",
        }
    }

    /// Like [`Self::path`], after the names of several profiles. The timeline has one if the last
    /// name could be taken for a place.
    #[must_use]
    pub fn path_after(self, names: &[String]) -> &'static str {
        let is_like_a_place = |name: &String| Self::from_name(name).is_some();
        match self {
            Self::Timeline if names.len() > 2 && names.last().is_some_and(is_like_a_place) => "/timeline",
            place => place.path(),
        }
    }

    /// The letter that leads to the place, after [`GO_KEY`](crate::view::act::keys::GO_KEY).
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::Timeline => "t",
            Self::Summary => "s",
            Self::Data => "d",
            Self::Compare => "c",
        }
    }
}

/// Splits the path below `/profile/` into the profile's name and the place.
#[must_use]
pub fn split_path(path: &str) -> (&str, ProfilePlace) {
    let path = path.strip_suffix('/').unwrap_or(path);
    path.rsplit_once('/')
        .and_then(|(profile, place)| Some((profile, ProfilePlace::from_name(place)?)))
        .unwrap_or((path, ProfilePlace::Timeline))
}

/// Splits the path below `/compare/` into the names of profiles and the place. Two names are
/// profiles.
#[must_use]
pub fn split_names(path: &str) -> (Vec<&str>, ProfilePlace) {
    let mut names: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    let place = names.last().and_then(|last| ProfilePlace::from_name(last)).filter(|_| names.len() > 2);
    if place.is_some() {
        names.pop();
    }
    (names, place.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_places() {
        assert_eq!(split_path("x"), ("x", ProfilePlace::Timeline));
        assert_eq!(split_path("x/timeline"), ("x", ProfilePlace::Timeline));
        assert_eq!(split_path("x/summary/"), ("x", ProfilePlace::Summary));
        // A profile can have the name of a place.
        assert_eq!(split_path("data"), ("data", ProfilePlace::Timeline));
        assert_eq!(split_path("data/data"), ("data", ProfilePlace::Data));
        assert_eq!(split_path("x/else"), ("x/else", ProfilePlace::Timeline));
        for place in ProfilePlace::ALL {
            assert_eq!(split_path(&format!("x{}", place.path())), ("x", place));
        }
    }

    #[test]
    fn paths_of_comparisons_name_places_after_two_profiles() {
        assert_eq!(split_names("a/b"), (vec!["a", "b"], ProfilePlace::Timeline));
        assert_eq!(split_names("a/data/"), (vec!["a", "data"], ProfilePlace::Timeline));
        assert_eq!(split_names("a/b/data"), (vec!["a", "b"], ProfilePlace::Data));
        for place in ProfilePlace::ALL {
            for names in [["a", "data"].as_slice(), &["a", "b", "c"], &["a", "b", "summary"]] {
                let owned: Vec<String> = names.iter().map(ToString::to_string).collect();
                let path = format!("{}{}", names.join("/"), place.path_after(&owned));
                assert_eq!(split_names(&path), (names.to_vec(), place), "{path}");
            }
        }
    }
}
