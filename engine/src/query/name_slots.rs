//! Colour numbers for the names of a profile. Names that stand side by side get different numbers.
//!
//! A page gives a colour to each number. Numbers belong to the whole profile: a name has the same
//! number on every rank, in every link and in every export. A name's number depends on its time and
//! its tracks, both over all ranks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{selection, slice};
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::model::{TrackId, hash_of};
use crate::segment::{Bytes, Segment};

/// Number of slots.
pub const SLOTS: usize = 16;
/// Number of slots that differ most. The names with the most time get these.
pub const FIRST_SLOTS: usize = 8;
/// Maximum number of names that get a slot. All others take little time and use [`slot_of_rare`].
const MOST_NAMES: usize = 256;

/// Maximum number of kinds of names that compete for slots.
const MAX_KINDS: usize = 1 << 16;
/// A rank with more texts than this gives no names slots: they would take too much memory.
const MAX_TEXTS: u32 = 1 << 20;

/// A name without its digits: `fusion.12` and `fusion.7` are of one kind.
#[must_use]
pub fn kind_of(name: &str) -> std::borrow::Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_digit()) {
        name.chars().filter(|sign| !sign.is_ascii_digit()).collect::<String>().into()
    } else {
        name.into()
    }
}

/// The slot of a kind of name without a slot of its own.
#[must_use]
pub fn slot_of_rare(kind: &str) -> u8 {
    (preference(kind) % SLOTS as u64) as u8
}

/// A hash of the kind: FNV-1a with a final mix, so that similar names do not get neighbouring
/// slots.
fn preference(kind: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in kind.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

/// A kind of name with its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindSlot {
    /// The name without its digits.
    pub kind: String,
    /// Below [`SLOTS`].
    pub slot: u8,
}

/// Uses of names on the ranks so far.
#[derive(Debug, Default)]
pub struct NameUses {
    kinds: BTreeMap<String, NameUse>,
}

#[derive(Debug, Default)]
struct NameUse {
    total_ps: u64,
    /// Tracks and groups of the name, as hashes of their name paths.
    tracks: BTreeSet<u64>,
    groups: BTreeSet<u64>,
}

impl NameUses {
    /// Adds the slices of a rank.
    pub fn add_rank<B: Bytes>(&mut self, segment: &Segment<B>, work: Work<'_>) -> Result<()> {
        if segment.footer().dictionary.texts > MAX_TEXTS {
            return Ok(());
        }
        let all = Interval::new(i64::MIN / 4, i64::MAX / 4);
        for track in slice::tracks(segment, None) {
            let (own, group) = paths_of(segment, track);
            for name in selection::select(segment, &[track], all, work)?.by_name {
                let kind = kind_of(segment.text(name.name)?);
                let is_full = self.kinds.len() >= MAX_KINDS;
                let use_ = match self.kinds.get_mut(kind.as_ref()) {
                    Some(known) => known,
                    None if is_full => continue,
                    None => self.kinds.entry(kind.into_owned()).or_default(),
                };
                use_.total_ps = use_.total_ps.saturating_add(name.total_ps);
                use_.tracks.insert(own);
                use_.groups.insert(group);
            }
        }
        Ok(())
    }

    /// The kinds with the most time, most time first. Each has the slot that is rarest on its
    /// tracks, then in its groups. Among equally rare slots the text decides.
    #[must_use]
    pub fn into_slots(self) -> Vec<KindSlot> {
        let mut order: Vec<(String, NameUse)> = self.kinds.into_iter().collect();
        // Kinds with equal times stay in the order of texts.
        order.sort_by_key(|(_, of)| Reverse(of.total_ps));
        order.truncate(MOST_NAMES);
        let mut given: Vec<u8> = Vec::with_capacity(order.len());
        for (at, (kind, own)) in order.iter().enumerate() {
            let choice = if at < FIRST_SLOTS { FIRST_SLOTS } else { SLOTS };
            let mut uses = [(0_u32, 0_u32); SLOTS];
            for ((_, other), slot) in order.iter().zip(&given) {
                let (on_tracks, in_groups) = &mut uses[usize::from(*slot)];
                *on_tracks += u32::from(!other.tracks.is_disjoint(&own.tracks));
                *in_groups += u32::from(!other.groups.is_disjoint(&own.groups));
            }
            let liked = preference(kind) as usize % choice;
            let rarest = (0..choice).map(|step| (liked + step) % choice).min_by_key(|slot| uses[*slot]);
            given.push(rarest.unwrap_or_default() as u8);
        }
        order.into_iter().zip(given).map(|((kind, _), slot)| KindSlot { kind, slot }).collect()
    }
}

/// Name paths of a track and of its group, as hashes: ranks number tracks differently.
fn paths_of<B: Bytes>(segment: &Segment<B>, track: TrackId) -> (u64, u64) {
    let tracks = &segment.footer().tracks;
    let mut names = Vec::new();
    let mut at = Some(track);
    while let Some(meta) = at.and_then(|id| tracks.get(id.0 as usize)) {
        names.push(meta.spec.name.as_str());
        at = meta.spec.parent;
    }
    let group = hash_of(&names[1.min(names.len())..].join("\n"));
    (hash_of(&names.join("\n")), group)
}
