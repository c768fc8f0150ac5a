//! The page that an address names.

use nprof_engine::wire::percent::{parameter_decoded, percent_encoded};

use crate::view::View;
use crate::view::profile_order::Sort;
use crate::view::state::url_error::UrlError;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "the page has one value, most often the largest")]
pub enum PagePlace {
    /// The list of profiles.
    List(ListView),
    /// A profile with its view.
    Profile(View),
    /// An address that nprof does not know.
    Broken(UrlError),
}

/// Address of the list.
pub const LIST_URL: &str = "/";

/// Filter and order of the list of profiles.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListView {
    /// Words that the profiles must contain.
    pub filter: String,
    /// Order of the profiles.
    pub sort: Sort,
}

impl ListView {
    /// Parses a query. A value that cannot be read is replaced by its default.
    fn from_query(query: &str) -> Self {
        let mut view = Self::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "q" => view.filter = parameter_decoded(value).unwrap_or_default(),
                "sort" => view.sort = Sort::from_name(value).unwrap_or_default(),
                _ => {}
            }
        }
        view
    }

    fn url(&self) -> String {
        let filter = (!self.filter.is_empty()).then(|| format!("q={}", percent_encoded(&self.filter)));
        let sort = (self.sort != Sort::default()).then(|| format!("sort={}", self.sort.name()));
        let query: Vec<String> = filter.into_iter().chain(sort).collect();
        if query.is_empty() { LIST_URL.to_owned() } else { format!("{LIST_URL}?{}", query.join("&")) }
    }
}

impl PagePlace {
    /// The list without a filter.
    #[must_use]
    pub fn list() -> Self {
        Self::List(ListView::default())
    }

    /// Parses path and query.
    #[must_use]
    pub fn from_url(url: &str) -> Self {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        if matches!(path, "" | "/" | "/profiles" | "/profiles/") {
            return Self::List(ListView::from_query(query));
        }
        url.parse().map_or_else(Self::Broken, Self::Profile)
    }

    /// Path and query of the place.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::List(view) => view.url(),
            Self::Broken(_) => LIST_URL.to_owned(),
            Self::Profile(view) => view.to_string(),
        }
    }

    /// The view of a profile's page.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        match self {
            Self::Profile(view) => Some(view),
            Self::List(_) | Self::Broken(_) => None,
        }
    }

    /// The view of the list.
    #[must_use]
    pub fn list_view(&self) -> Option<&ListView> {
        match self {
            Self::List(view) => Some(view),
            Self::Profile(_) | Self::Broken(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::profile_order::{Direction, ProfileColumn};

    #[test]
    fn addresses_name_pages() {
        for url in ["", "/", "/?x=1", "/profiles"] {
            assert_eq!(PagePlace::from_url(url), PagePlace::list(), "{url}");
        }
        assert_eq!(PagePlace::from_url("/profile/a"), PagePlace::Profile(View::of_profile("a")));
        for url in ["/profil", "/profile/", "/profile/a?sel=x"] {
            assert!(matches!(PagePlace::from_url(url), PagePlace::Broken(_)), "{url}");
        }
    }

    #[test]
    fn pages_come_back_from_their_addresses() {
        for url in ["/", "/profile/a%20b?v=2&rank=2&sel=7"] {
            assert_eq!(PagePlace::from_url(url).url(), url);
        }
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same_list(
            filter in "\\PC{0,12}",
            column in proptest::sample::select(&ProfileColumn::ALL[..]),
            direction in prop_oneof![Just(Direction::Ascending), Just(Direction::Descending)],
        ) {
            let place = PagePlace::List(ListView { filter, sort: Sort { column, direction } });
            prop_assert_eq!(PagePlace::from_url(&place.url()), place);
        }

        #[test]
        fn any_query_is_a_list(query in "\\PC{0,40}") {
            let place = PagePlace::from_url(&format!("/?{query}"));
            prop_assert!(place.list_view().is_some());
        }
    }

    #[test]
    fn a_list_written_by_hand() {
        let sort = Sort { column: ProfileColumn::Size, direction: Direction::Descending };
        let view = ListView { filter: "llama 8b".to_owned(), sort };
        assert_eq!(PagePlace::from_url("/?q=llama+8b&sort=-size"), PagePlace::List(view));
        assert_eq!(PagePlace::from_url("/?sort=colour&q=%zz"), PagePlace::list());
    }
}
