//! Answers the questions of a page without a server. The page's workers run this; `main.rs` beside
//! it is the border to JavaScript.
//!
//! A segment comes as base64 in parts, as the page's file holds it. A rank that cannot be opened
//! keeps its refusal, so that every question about it says what is wrong.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nprof_engine::base::Error;
use nprof_engine::exec::{Cancel, InPlace, Work};
use nprof_engine::wire::ask::answer;
use nprof_engine::wire::bundle::{Bundle, OpenBundle};
use nprof_engine::wire::question::Question;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};

/// A profile that is asked without a server.
#[derive(Debug)]
pub struct Answers {
    bundle: OpenBundle<Vec<u8>>,
    arriving: BTreeMap<u32, Vec<u8>>,
    refused: BTreeMap<u32, Refusal>,
}

impl Answers {
    /// From a bundle in postcard. No segment is here yet.
    ///
    /// # Errors
    /// `Damaged` if the bytes are no bundle of this version.
    pub fn new(bundle: &[u8]) -> Result<Self, Refusal> {
        let bundle: Bundle = postcard::from_bytes(bundle)
            .map_err(|_| Refusal::new(RefusalKind::Damaged, "the list of this page's ranks is damaged"))?;
        Ok(Self { bundle: OpenBundle::new(bundle)?, arriving: BTreeMap::new(), refused: BTreeMap::new() })
    }

    /// Makes room for the segment of a rank.
    pub fn begin(&mut self, rank: u32, size_bytes: usize) {
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size_bytes).is_err() {
            let megabytes = size_bytes.div_ceil(1_000_000);
            let what = format!(
                "rank {rank} takes {megabytes} MB, more memory than the browser gives: export fewer ranks or \
                 less time"
            );
            self.refuse(rank, Refusal::new(RefusalKind::Internal, what));
            return;
        }
        self.arriving.insert(rank, bytes);
    }

    /// Takes the next part of the segment of a rank.
    pub fn take(&mut self, rank: u32, base64: &str) {
        let Some(bytes) = self.arriving.get_mut(&rank) else { return };
        let room = bytes.capacity() - bytes.len();
        let is_whole = base64.len() / 4 * 3 <= room + 2 && STANDARD.decode_vec(base64, bytes).is_ok();
        if !is_whole {
            let what = format!("rank {rank}: its part of this file is damaged: get the file again");
            self.refuse(rank, Refusal::new(RefusalKind::Damaged, what));
        }
    }

    /// Opens the segment of a rank, all of whose parts are here.
    pub fn open(&mut self, rank: u32) {
        let Some(bytes) = self.arriving.remove(&rank) else { return };
        let at = self.bundle.position(rank).ok_or(Error::Invalid { what: "there is no such rank" });
        let opened = at.map_err(Refusal::from).and_then(|at| self.bundle.open(at, bytes));
        if let Err(refusal) = opened {
            let message = format!("rank {rank} cannot be opened: {refusal}; get the file again");
            self.refuse(rank, Refusal { message, ..refusal });
        }
    }

    fn refuse(&mut self, rank: u32, refusal: Refusal) {
        self.arriving.remove(&rank);
        self.refused.insert(rank, refusal);
    }

    /// Answers the question with this path and query, as a postcard message.
    ///
    /// # Errors
    /// Why the question has no answer.
    pub fn ask(&self, url: &str, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Result<Vec<u8>, Refusal> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let question = Question::parse(path, query)?;
        if let Question::OfRank(id, _) = &question
            && let Some(refusal) = self.refused.get(&id.rank)
        {
            return Err(refusal.clone());
        }
        let work = Work { exec: &InPlace, cancel: Cancel::when(is_cancelled) };
        let answer = answer(&&self.bundle, &question, work)?;
        postcard::to_allocvec(&answer)
            .map_err(|error| Refusal::new(RefusalKind::Internal, format!("no message: {error}")))
    }
}
