//! `nprof clock`

use std::io::Write;

use clap::{ArgGroup, Args};
use nprof_engine::base::ClockFit;
use nprof_engine::wire::clock::Clock;

use super::StorePlace;
use crate::export::requested_part::rank_of;
use crate::print::text::{self, Align};
use crate::store::{Profile, RankFile};
use crate::units::{decimal, time_ps, time_text, with_unit};

const EXAMPLES: &str = "\
Examples:
  nprof clock run-7                                     the clocks of all ranks
  nprof clock run-7 --rank 3 --offset 12us              rank 3 is 12 µs behind: add 12 µs to its times
  nprof clock run-7 --rank 3 --offset=-1.5us --drift 0.5ppm
  nprof clock run-7 --rank 3 --clear";

const PPB_PER_PPM: f64 = 1e3;

/// Show or correct the offsets between the clocks of a profile's ranks
///
/// The page, Perfetto traces and the times of `nprof export --from --to` use the time that all
/// ranks share. A rank without a clock has the shared time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("change").args(["offset", "clear"]).requires("rank")))]
pub(super) struct ClockArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Rank whose clock is set or removed
    #[arg(long, value_name = "NUMBER", requires = "change")]
    rank: Option<u32>,
    /// Time to add to the rank's clock at its first event, such as 12us or -0.3ms
    /// [units: ps, ns, us, ms, s]
    #[arg(long, value_name = "TIME", value_parser = time_ps, allow_hyphen_values = true)]
    offset: Option<i64>,
    /// Change of the offset over time, such as 0.5ppm or -200ppb
    #[arg(long, value_name = "RATE", value_parser = rate_ppb, allow_hyphen_values = true, requires = "offset")]
    drift: Option<i32>,
    /// Largest possible error of the offset, such as 1us [default: unknown]
    #[arg(long, value_name = "TIME", value_parser = bound_ps, requires = "offset")]
    bound: Option<u64>,
    /// Remove the clock of the rank
    #[arg(long)]
    clear: bool,
}

impl ClockArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = if self.rank.is_some() { place.open()? } else { place.read()? };
        let mut profile = store.find(&self.profile)?;
        if let Some(number) = self.rank {
            let clock = self.clock(rank_of(&profile, number)?)?;
            profile = store.set_clock(&profile.manifest.id, number, clock)?;
        }
        Ok(show(&profile, out)?)
    }

    /// The requested clock of a rank. `None` removes it.
    fn clock(&self, rank: &RankFile) -> anyhow::Result<Option<Clock>> {
        let Some(offset_ps) = self.offset else { return Ok(None) };
        let fit = ClockFit::new(rank.start_ps, offset_ps, self.drift.unwrap_or(0), self.bound)?;
        Ok(Some(Clock(fit)))
    }
}

fn show(profile: &Profile, out: &mut dyn Write) -> std::io::Result<()> {
    let heading = ["RANK", "OFFSET", "DRIFT", "BOUND", "FIRST EVENT"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(profile.manifest.ranks.iter().map(row));
    text::table(out, &[Align::Right; 5], &rows)
}

fn row(rank: &RankFile) -> Vec<String> {
    let fit = rank.clock.map(|clock| clock.0);
    let cell = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    vec![
        rank.rank.to_string(),
        cell(fit.map(|fit| time_text(fit.offset_ps().into()))),
        cell(fit.map(|fit| format!("{} ppm", decimal(fit.drift_ppb().into(), 1_000)))),
        cell(fit.and_then(|fit| fit.bound_ps()).map(|ps| time_text(ps.into()))),
        time_text(rank.shared_start().0.into()),
    ]
}

fn rate_ppb(text: &str) -> Result<i32, String> {
    let expected =
        || format!("\"{text}\" is not a rate; write a number with the unit ppm or ppb, such as 0.5ppm");
    let (number, unit) = with_unit(text).ok_or_else(expected)?;
    let ppb = match unit {
        "ppm" => number * PPB_PER_PPM,
        "ppb" => number,
        _ => return Err(expected()),
    };
    // A rate beyond the range of the type becomes its limit, which the clock refuses.
    Ok(ppb.round() as i32)
}

fn bound_ps(text: &str) -> Result<u64, String> {
    let ps = time_ps(text)?;
    u64::try_from(ps).map_err(|_| format!("\"{text}\" is negative; write zero or a positive time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units_and_bounds_are_not_negative() {
        assert_eq!(rate_ppb("0.5ppm"), Ok(500));
        assert_eq!(rate_ppb("-200 ppb"), Ok(-200));
        assert_eq!(rate_ppb("99999999ppm"), Ok(i32::MAX));
        for wrong in ["", "1", "ppm", "1%", "1.2.3ppm"] {
            assert!(rate_ppb(wrong).is_err(), "{wrong}");
        }
        assert_eq!(bound_ps("1us"), Ok(1_000_000));
        assert!(bound_ps("-1us").is_err());
    }
}
