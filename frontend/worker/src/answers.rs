//! Answers the questions of a page without a server. The page's workers run this code. `main.rs` is
//! the interface to JavaScript.
//!
//! A segment arrives as base64 in parts from the page's file, or is a file next to the page on a
//! web host. A rank that cannot be opened keeps its refusal, so every question about it gets the
//! reason.

use std::collections::BTreeMap;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nprof_engine::base::Error;
use nprof_engine::exec::{CallerThread, Cancel, Work};
use nprof_engine::segment::{Bytes, Fetched, SourceBytes};
use nprof_engine::wire::ask::RankId;
use nprof_engine::wire::bundle::Bundle;
use nprof_engine::wire::bundles::OpenBundles;
use nprof_engine::wire::questions::{Question, answer};
use nprof_engine::wire::rank_ref::{NoRankRef, RankRef};
use nprof_engine::wire::refusal::{Refusal, RefusalKind};

use crate::host::{Host, PARTIAL_CONTENT};

/// Status of an answer with the whole file, in place of the requested part.
const WHOLE: u16 = 200;

/// Embedded profiles that answer questions without a server.
#[derive(Debug)]
pub struct Answers {
    bundles: OpenBundles<SegmentBytes>,
    arriving: BTreeMap<PageRank, Vec<u8>>,
    refused: BTreeMap<PageRank, Refusal>,
}

/// A rank of one of the page's profiles: the rank, and the position of a further profile after a
/// point, as in addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageRank {
    profile: u8,
    rank: RankRef,
}

impl FromStr for PageRank {
    type Err = NoRankRef;

    fn from_str(text: &str) -> Result<Self, NoRankRef> {
        let (rank, profile) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Self { rank: rank.parse()?, profile: profile.parse().map_err(|_| NoRankRef)? })
    }
}

/// The bytes of a segment.
#[derive(Debug)]
enum SegmentBytes {
    /// In memory, from the page's own file.
    Here(Vec<u8>),
    /// At the web host, fetched in parts.
    There(Fetched<Host>),
}

impl Bytes for SegmentBytes {
    fn file_len(&self) -> u64 {
        match self {
            Self::Here(bytes) => bytes.file_len(),
            Self::There(fetched) => fetched.file_len(),
        }
    }

    fn range(&self, offset: u64, len: u64) -> nprof_engine::base::Result<SourceBytes<'_>> {
        match self {
            Self::Here(bytes) => bytes.range(offset, len),
            Self::There(fetched) => fetched.range(offset, len),
        }
    }
}

impl Answers {
    /// Reads a bundle in postcard. No segment is present yet.
    ///
    /// # Errors
    /// `Damaged` if the bytes are not a bundle of this version.
    pub fn new(bundle: &[u8]) -> Result<Self, Refusal> {
        let bundles = OpenBundles::new(read(bundle)?)?;
        Ok(Self { bundles, arriving: BTreeMap::new(), refused: BTreeMap::new() })
    }

    /// Reads the bundle of another profile of the page.
    pub fn join(&mut self, bundle: &[u8]) -> Result<(), Refusal> {
        Ok(self.bundles.join(read(bundle)?)?)
    }

    /// Allocates memory for the segment of a rank.
    pub fn begin(&mut self, of: PageRank, size_bytes: usize) {
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size_bytes).is_err() {
            let mib = size_bytes.div_ceil(1 << 20);
            let what = format!(
                "{} takes {mib} MiB, more memory than the browser gives: export fewer ranks or less time",
                of.rank.in_words()
            );
            self.refuse(of, Refusal::new(RefusalKind::Internal, what));
            return;
        }
        self.arriving.insert(of, bytes);
    }

    /// Appends the next part of the segment of a rank.
    pub fn take(&mut self, of: PageRank, base64: &str) {
        let Some(bytes) = self.arriving.get_mut(&of) else { return };
        let room = bytes.capacity() - bytes.len();
        let is_whole = base64.len() / 4 * 3 <= room + 2 && STANDARD.decode_vec(base64, bytes).is_ok();
        if !is_whole {
            let what =
                format!("{}: its part of this file is damaged: get the file again", of.rank.in_words());
            self.refuse(of, Refusal::new(RefusalKind::Damaged, what));
        }
    }

    /// Opens the segment of a rank when all of its parts are present.
    pub fn open(&mut self, of: PageRank) {
        let Some(bytes) = self.arriving.remove(&of) else { return };
        if let Err(refusal) = self.open_over(of, SegmentBytes::Here(bytes)) {
            let message = format!("{} cannot be opened: {refusal}; get the file again", of.rank.in_words());
            self.refuse(of, Refusal { message, ..refusal });
        }
    }

    /// Opens the segment of a rank at `url` with `size_bytes`. `status` is the web host's answer to
    /// the request for the last `end.len()` bytes; 0 is no answer.
    pub fn reach(&mut self, of: PageRank, url: String, size_bytes: u64, status: u16, end: Vec<u8>) {
        let refused = match status {
            0 => Some("its web host does not answer: reload the page to try again".to_owned()),
            WHOLE if end.len() as u64 != size_bytes => Some(
                "this web host does not serve parts of files (HTTP range requests): use another one, or \
                 `nprof export --format html`, which writes one file"
                    .to_owned(),
            ),
            WHOLE | PARTIAL_CONTENT => None,
            status => Some(format!("its web host answers with status {status}")),
        };
        let opened = match refused {
            Some(what) => Err(Refusal::new(RefusalKind::Unavailable, what)),
            None => self.open_over(of, SegmentBytes::There(Fetched::new(Host::new(url), size_bytes, end))),
        };
        if let Err(refusal) = opened {
            let message = format!("{} cannot be opened: {refusal}", of.rank.in_words());
            self.refuse(of, Refusal { message, ..refusal });
        }
    }

    fn open_over(&mut self, of: PageRank, bytes: SegmentBytes) -> Result<(), Refusal> {
        let missing = Error::Invalid { what: "there is no such rank" };
        let bundle = self.bundles.get_mut(usize::from(of.profile)).ok_or(missing)?;
        let at = bundle.position(of.rank).ok_or(missing)?;
        bundle.open(at, bytes)
    }

    fn refuse(&mut self, of: PageRank, refusal: Refusal) {
        self.arriving.remove(&of);
        self.refused.insert(of, refusal);
    }

    /// Answers the question with this path and query, as a postcard message. `elapsed_ms` is the
    /// time since the question came, in milliseconds.
    pub fn ask(&self, url: &str, elapsed_ms: &(dyn Fn() -> f64 + Sync)) -> Result<Vec<u8>, Refusal> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let question = Question::parse(path, query)?;
        if let Question::OfRank(id, _) = &question
            && let Some(refusal) = self.refused.get(&self.page_rank(id))
        {
            return Err(refusal.clone());
        }
        if question.manner().reads_all_ranks
            && let Some((_, refusal)) = self.refused.iter().find(|(of, _)| !of.rank.is_all())
        {
            return Err(refusal.clone());
        }
        let limit = question.manner().time_limit;
        let is_late = || limit.is_some_and(|limit| elapsed_ms() >= 1e3 * f64::from(limit.seconds));
        let work = Work { exec: &CallerThread, cancel: Cancel::when(&is_late) };
        let answer = answer(&&self.bundles, &question, work).map_err(|refusal| match limit {
            Some(limit) if refusal.kind == RefusalKind::Cancelled => limit.refusal(),
            _ => self.explained(&question, refusal),
        })?;
        postcard::to_allocvec(&answer)
            .map_err(|error| Refusal::new(RefusalKind::Internal, format!("no message: {error}")))
    }

    /// The rank of the page that a question is about.
    fn page_rank(&self, id: &RankId) -> PageRank {
        PageRank { profile: self.bundles.position(&id.profile) as u8, rank: id.rank }
    }

    /// A refusal with the cause that the web host gave.
    fn explained(&self, question: &Question, refusal: Refusal) -> Refusal {
        let of = match question {
            Question::OfRank(id, _) if refusal.kind == RefusalKind::Unavailable => self.page_rank(id),
            _ => return refusal,
        };
        let PageRank { profile, rank } = of;
        let segment = self.bundles.get(usize::from(profile)).and_then(|bundle| bundle.segment(rank));
        let cause = segment.and_then(|segment| match segment.bytes() {
            SegmentBytes::Here(_) => None,
            SegmentBytes::There(fetched) => fetched.fetcher().cause(),
        });
        let Some(cause) = cause else { return refusal };
        let message = format!("{}: a part of its segment did not come: {cause}", rank.in_words());
        Refusal { message, ..refusal }
    }
}

fn read(bundle: &[u8]) -> Result<Bundle, Refusal> {
    postcard::from_bytes(bundle)
        .map_err(|_| Refusal::new(RefusalKind::Damaged, "the list of this page's ranks is damaged"))
}
