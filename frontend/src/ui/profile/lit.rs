//! The place that lights up while a number or a finding is looked at, for pages that show places.

use leptos::prelude::*;

use crate::view::summary::lit_place::LitPlace;

/// The place that lights up. A page with a strip provides it as a context.
#[derive(Debug, Clone, Copy)]
pub struct Lit {
    /// The place, while something is looked at.
    pub place: RwSignal<Option<LitPlace>>,
}

impl Lit {
    /// Nothing lights up. Provides itself to all components below.
    #[must_use]
    pub fn provided() -> Self {
        let lit = Self { place: RwSignal::new(None) };
        provide_context(lit);
        lit
    }

    /// Lights up a place as long as the pointer or the focus is on `of`. Nothing on a page without
    /// a strip, and for a thing without a place.
    pub fn follow(place: Option<LitPlace>) -> Looked {
        Looked { lit: use_context::<Self>(), place: StoredValue::new(place) }
    }
}

/// A thing whose place lights up while it is looked at.
#[derive(Clone, Copy)]
pub struct Looked {
    lit: Option<Lit>,
    place: StoredValue<Option<LitPlace>>,
}

impl Looked {
    /// The pointer or the focus comes.
    pub fn enter(self) {
        if let Some(lit) = self.lit {
            lit.place.set(self.place.get_value());
        }
    }

    /// The pointer or the focus goes.
    pub fn leave(self) {
        if let Some(lit) = self.lit {
            lit.place.try_set(None);
        }
    }
}
