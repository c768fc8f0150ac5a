//! A profile embedded in the page's own file. Workers answer the questions, so a slow answer delays
//! no frame.
//!
//! Two workers share the work. One answers the questions that a frame waits for; the other one
//! searches and computes statistics. The second starts with its first question and has its own copy
//! of the segments.

mod lane;
mod parts;

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use nprof_engine::wire::ask::Pace;
use nprof_engine::wire::questions::Question;
use nprof_engine::wire::rank_ref::RankRef;
use web_sys::AbortSignal;

use self::lane::Lane;
use self::parts::PageParts;
use super::error::FetchError;

/// Progress of unpacking a segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unpacked {
    /// The rank.
    pub rank: RankRef,
    /// Unpacked bytes so far.
    pub done_bytes: f64,
    /// Total bytes.
    pub total_bytes: f64,
}

/// The profile embedded in the page's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Embedded(StoredValue<Rc<BundledProfile>, LocalStorage>);

#[derive(Debug)]
struct BundledProfile {
    parts: Rc<PageParts>,
    quick: RefCell<Option<Lane>>,
    slow: RefCell<Option<Lane>>,
    unpacked: RwSignal<Option<Unpacked>>,
}

impl Embedded {
    /// The profile embedded in this page, if there is one.
    #[must_use]
    pub fn of_page() -> Option<Self> {
        let profile = BundledProfile {
            parts: Rc::new(PageParts::of_page()?),
            quick: RefCell::new(None),
            slow: RefCell::new(None),
            unpacked: RwSignal::new(None),
        };
        Some(Self(StoredValue::new_local(Rc::new(profile))))
    }

    /// The profiles' names for addresses. The first one is that of the page.
    #[must_use]
    pub fn slugs(self) -> Vec<String> {
        self.0.with_value(|profile| profile.parts.slugs.clone())
    }

    /// The address of the view that the page opens at, if the sender chose one.
    #[must_use]
    pub fn view(self) -> Option<String> {
        self.0.with_value(|profile| profile.parts.view.clone())
    }

    /// Progress of the segment that is being unpacked now.
    #[must_use]
    pub fn unpacked(self) -> Signal<Option<Unpacked>> {
        self.0.with_value(|profile| profile.unpacked.into())
    }

    /// The answer to a question as a postcard message; empty for an answer without content.
    pub(super) async fn ask(
        self,
        question: &Question,
        cancel: Option<&AbortSignal>,
    ) -> Result<Vec<u8>, FetchError> {
        self.0.get_value().lane(question)?.ask(question, cancel).await
    }
}

impl BundledProfile {
    /// The worker for a question. A failed worker is started again.
    fn lane(&self, question: &Question) -> Result<Lane, FetchError> {
        let place = match question.manner().pace {
            Pace::Quick => &self.quick,
            Pace::Slow => &self.slow,
        };
        let mut place = place.borrow_mut();
        if let Some(lane) = place.as_ref().filter(|lane| !lane.has_failed()) {
            return Ok(lane.clone());
        }
        let lane = Lane::start(Rc::clone(&self.parts), self.unpacked)?;
        *place = Some(lane.clone());
        Ok(lane)
    }
}
