//! Which page an address names.

use crate::view::View;
use crate::view::url::UrlError;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The list of profiles.
    List,
    /// A profile, as it was left.
    Profile(View),
    /// Nothing that nprof knows.
    Broken(UrlError),
}

/// The list's address.
pub const LIST_URL: &str = "/";

impl Place {
    /// From path and query.
    #[must_use]
    pub fn from_url(url: &str) -> Self {
        let path = url.split('?').next().unwrap_or_default();
        if matches!(path, "" | "/" | "/profiles" | "/profiles/") {
            return Self::List;
        }
        url.parse().map_or_else(Self::Broken, Self::Profile)
    }

    /// Path and query.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::List | Self::Broken(_) => LIST_URL.to_owned(),
            Self::Profile(view) => view.to_string(),
        }
    }

    /// The view of a profile's page.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        match self {
            Self::Profile(view) => Some(view),
            Self::List | Self::Broken(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_pages() {
        for url in ["", "/", "/?x=1", "/profiles"] {
            assert_eq!(Place::from_url(url), Place::List, "{url}");
        }
        assert_eq!(Place::from_url("/profile/a"), Place::Profile(View::of_profile("a")));
        for url in ["/profil", "/profile/", "/profile/a?sel=x"] {
            assert!(matches!(Place::from_url(url), Place::Broken(_)), "{url}");
        }
    }

    #[test]
    fn pages_come_back_from_their_addresses() {
        for url in ["/", "/profile/a%20b?v=1&rank=2&sel=7"] {
            assert_eq!(Place::from_url(url).url(), url);
        }
    }
}
