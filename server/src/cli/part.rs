//! Flags for the part of a profile to export: ranks, time, tracks.

use clap::Args;

use crate::export::ExportError;
use crate::export::cut::PartOf;
use crate::export::requested_part::Ranks;
use crate::export::track_pattern::TrackPattern;
use crate::store::{Profile, RankFile};
use crate::units::time_ps;

/// Part of a profile.
#[derive(Debug, Args)]
pub(super) struct PartArgs {
    /// Ranks to write, such as `0,3-5` [default: all]
    #[arg(long, value_name = "LIST", visible_alias = "rank", value_parser = Ranks::parse)]
    ranks: Option<Ranks>,
    /// Start of the time to write, counted from the first event, such as `10ms`
    /// [units: ps, ns, us, ms, s]
    #[arg(long, value_name = "TIME", value_parser = time_ps)]
    from: Option<i64>,
    /// End of the time to write, such as `12.5ms`
    #[arg(long, value_name = "TIME", value_parser = time_ps)]
    to: Option<i64>,
    /// Tracks to write, as paths of groups and name, such as `Engines/*,DMA/q*`; `*` matches any
    /// text, `?` any character
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',', value_parser = TrackPattern::parse)]
    tracks: Vec<TrackPattern>,
}

impl PartArgs {
    /// The requested ranks of a profile, in the profile's order.
    pub(super) fn ranks(&self, profile: &Profile) -> Result<Vec<RankFile>, ExportError> {
        self.ranks.as_ref().map_or_else(|| Ok(profile.manifest.ranks.clone()), |ranks| ranks.of(profile))
    }

    /// The requested time and tracks.
    pub(super) fn part(&self) -> anyhow::Result<PartOf> {
        let tracks = TrackPattern::limited(self.tracks.clone());
        let tracks = tracks.map_err(|error| anyhow::anyhow!("--tracks: {error}"))?;
        Ok(PartOf { from_ps: self.from, to_ps: self.to, tracks })
    }
}
