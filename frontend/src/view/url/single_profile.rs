//! The profiles of a page without a server.

use super::page::PagePlace;
use crate::view::View;
use crate::view::state::profile_names::ProfileNames;

/// The only profile of a page without a server, or the two that it compares. They take the place of
/// the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Only {
    names: ProfileNames,
    /// The view of an address that names nothing.
    first: View,
}

impl Only {
    /// The profiles with these slugs, at least one. `view` is the address of the view that the
    /// sender of the page chose. One that cannot be read counts as none: the profile is here,
    /// whatever the address.
    #[must_use]
    pub fn new(slugs: Vec<String>, view: Option<&str>) -> Self {
        let one = ProfileNames::one(slugs.first().map_or("", String::as_str));
        let names = ProfileNames::of(slugs).unwrap_or(one);
        let chosen = view.and_then(|address| address.parse::<View>().ok());
        // The link can have another name of the profile.
        let first = chosen.map(|view| match names.are_several() {
            true => View { profiles: names.clone(), ..view },
            false => View { profiles: names.clone(), ..view.alone() },
        });
        Self { first: first.unwrap_or_else(|| View::of_profiles(names.clone())), names }
    }

    /// The place that the fragment of the page's address names, without its `#`.
    #[must_use]
    pub fn place(&self, fragment: &str) -> PagePlace {
        match fragment {
            "" => PagePlace::Profile(self.first.clone()),
            _ => self.reached(PagePlace::from_url(fragment)),
        }
    }

    /// The place to which a link within the page leads.
    #[must_use]
    pub fn reached(&self, place: PagePlace) -> PagePlace {
        match place {
            PagePlace::List(_) => PagePlace::Profile(View::of_profiles(self.names.clone())),
            _ => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_opens_at_the_view_of_its_sender() {
        let only = |view| Only::new(vec!["run 7".to_owned()], view);
        let chosen = only(Some("/profile/alias?v=2&rank=1&from=5000&to=9000"));
        assert_eq!(chosen.place("").url(), "/profile/run%207?v=2&rank=1&from=5000&to=9000");
        // The address of a link goes first, and the way home leads to the whole profile.
        assert_eq!(chosen.place("/profile/run%207?v=2&rank=2").url(), "/profile/run%207?v=2&rank=2");
        let whole = PagePlace::Profile(View::of_profile("run 7"));
        assert_eq!(chosen.place("/"), whole);
        for view in [None, Some(""), Some("/profile/a?from=x"), Some("javascript:alert(1)")] {
            assert_eq!(only(view).place(""), whole, "{view:?}");
        }
    }

    #[test]
    fn a_page_of_two_profiles_opens_with_both() {
        let both = Only::new(vec!["a".to_owned(), "b".to_owned()], None);
        assert_eq!(both.place("").url(), "/compare/a/b");
        assert_eq!(both.place("/").url(), "/compare/a/b");
        assert_eq!(both.place("/compare/b/a/compare?v=2").url(), "/compare/b/a/compare?v=2");
        assert_eq!(both.place("/profile/b?v=2&rank=1").url(), "/profile/b?v=2&rank=1");
    }
}
