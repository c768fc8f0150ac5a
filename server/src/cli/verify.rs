//! `nprof verify`

use std::io::Write;

use anyhow::bail;
use clap::Args;

use super::progress::watched;
use super::{StorePlace, size};
use crate::print::json::document;
use crate::terminal::visible;
use crate::verify::{
    DamagedPlace, KEPT_COMPARISON, KEPT_FINDINGS, KEPT_SUMMARY, Remedy, SHARED_NAME, Verified, verify,
};
use crate::work::Meter;

const EXAMPLES: &str = "\
Examples:
  nprof verify
  nprof verify run-7 --store /data/profiles
  nprof verify --json | jq -r '.damages[].profile'";

/// Check the checksums of profiles and decode all of their data
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VerifyArgs {
    /// Names or ids of profiles, as `nprof list` shows them [default: all profiles]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<String>,
    /// Print JSON: totals, and each damaged place with profile, rank, table, column, block and
    /// offset
    #[arg(long)]
    json: bool,
}

impl VerifyArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.read()?;
        let meter = Meter::default();
        let verified = watched(&meter, || verify(&store, &self.profiles, &meter))?;
        if self.json {
            document(&verified, out)?;
        } else {
            show(&verified, out)?;
        }
        if verified.damages.is_empty() {
            return Ok(());
        }
        // The list must come before the conclusion, even if both outputs go to the same place.
        out.flush()?;
        let is_part = |damage: &&DamagedPlace, part| damage.part == Some(part);
        let shared = verified.damages.iter().filter(|damage| is_part(damage, SHARED_NAME)).count();
        let lasting = verified.damages.iter().filter(|damage| {
            ![KEPT_SUMMARY, KEPT_FINDINGS, KEPT_COMPARISON, SHARED_NAME]
                .iter()
                .any(|part| is_part(damage, part))
        });
        let lasting: Vec<&DamagedPlace> = lasting.collect();
        let of = |remedy: Remedy| {
            let of = lasting.iter().filter(|damage| damage.remedy == remedy);
            let mut profiles: Vec<&str> = of.map(|damage| damage.profile.as_str()).collect();
            profiles.dedup();
            profiles
        };
        let (profiles, newer) = (of(Remedy::Ingest), of(Remedy::Upgrade));
        if profiles.is_empty() && !newer.is_empty() {
            bail!(
                "a newer nprof wrote parts of {}; upgrade nprof to check {}",
                size::counted(newer.len() as u64, "profile"),
                newer.join(", "),
            )
        }
        if profiles.is_empty() && shared > 0 {
            bail!("{}, which several profiles have", size::counted(shared as u64, "name"))
        }
        if profiles.is_empty() {
            let count = size::counted(verified.damages.len() as u64, "damaged place");
            if verified.damages.iter().any(|damage| is_part(&damage, KEPT_COMPARISON)) {
                bail!(
                    "{count}, only in what nprof computes from segments; it does so again if you remove the files"
                )
            }
            bail!(
                "{count}, in kept answers only; nprof computes a damaged one again when it is next requested"
            )
        }
        bail!(
            "{} in {}; ingest the traces of these profiles again with --force: {}",
            size::counted(verified.damages.len() as u64, "damaged place"),
            size::counted(profiles.len() as u64, "profile"),
            profiles.join(", "),
        )
    }
}

fn show(verified: &Verified, out: &mut dyn Write) -> std::io::Result<()> {
    for damage in &verified.damages {
        writeln!(out, "{}", visible(&damage.to_string()))?;
    }
    writeln!(
        out,
        "{} checked: {} in {}",
        size::counted(verified.profiles as u64, "profile"),
        size::bytes(verified.bytes),
        size::counted(verified.ranks as u64, "segment"),
    )
}
