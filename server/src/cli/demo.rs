//! `nprof demo`

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use nprof_capture::device::simulation::{Detail, Simulation, capture, host_of};
use nprof_engine::base::ProfileId;
use nprof_engine::base::id::{HASH_LEN, RankCount};

use super::StorePlace;
use super::ingest::{NamingArgs, ready, report};
use super::progress::watched;
use super::serve::{PlaceArgs, block_on, serve};
use crate::ingest::{
    IngestError, IngestSettings, Ingested, InputIdentity, TraceSource, already_there, build, compare, publish,
};
use crate::store::Store;
use crate::work::{Meter, Stage};

/// Hash domain that keeps the ids of simulated captures apart from the ids of files.
const DOMAIN: &str = "nprof simulated 1";

const EXAMPLES: &str = "\
Examples:
  nprof demo                              two simulated ranks, served at http://localhost:3001/
  nprof demo --ranks 8 --events 1000000   a larger job
  nprof demo --ranks 64 --straggler 17    a job that waits for rank 17; see `nprof ranks`
  nprof demo --ingest-only                ingest only, without a server";

/// Capture a simulated device, ingest the capture and serve it (needs no hardware)
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DemoArgs {
    /// Number of ranks of the simulated job
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=i64::from(Simulation::MAX_RANKS)))]
    ranks: u32,
    /// Number of events of each rank
    #[arg(long, value_name = "COUNT", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=Simulation::MAX_EVENTS))]
    events: u64,
    /// Rank that is slower than the others [default: the seed decides]
    #[arg(long, value_name = "RANK")]
    straggler: Option<u32>,
    /// Simulate this many collective operations without the instructions between them, for jobs of
    /// many ranks
    #[arg(long, value_name = "COUNT", conflicts_with = "events", value_parser = clap::value_parser!(u64).range(1..=Simulation::MAX_EVENTS / 2))]
    collectives: Option<u64>,
    /// Seed of the simulation; different seeds give different jobs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Ingest the profile and exit, without a server
    #[arg(long)]
    ingest_only: bool,
    #[command(flatten)]
    naming: NamingArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

impl DemoArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let settings = self.naming.settings()?;
        if let Some(rank) = self.straggler.filter(|rank| *rank >= self.ranks) {
            anyhow::bail!("rank {rank} cannot be the straggler: the job has ranks 0 to {}", self.ranks - 1);
        }
        // A brief phase has one instruction and one operation.
        let (events_per_rank, detail) = match self.collectives {
            Some(count) => (2 * count, Detail::Collectives),
            None => (self.events, Detail::Full),
        };
        let simulation = Simulation {
            ranks: self.ranks,
            events_per_rank,
            seed: self.seed,
            straggler: self.straggler,
            detail,
            ..Simulation::default()
        };
        let store = place.open()?;
        let meter = Meter::default();
        let start = std::time::Instant::now();
        let ingested = watched(&meter, || simulate(&store, &simulation, &settings, &meter))?;
        report(&ingested, start.elapsed())?;
        ready(&ingested, out)?;
        if self.ingest_only {
            return Ok(());
        }
        let slug = ingested.slug.as_str();
        block_on(async {
            let listening = self.place.place().listen().await?;
            serve(listening, Arc::new(store), Some(slug), &self.place, out).await
        })
    }
}

fn simulate(
    store: &Store,
    simulation: &Simulation,
    settings: &IngestSettings,
    meter: &Meter,
) -> Result<Ingested, IngestError> {
    let identity = identity(simulation);
    if let Some(ingested) = already_there(store, &identity.profile.to_string(), settings)? {
        return Ok(ingested);
    }
    meter.begin(Stage::Reading, 0);
    let sources: Vec<TraceSource<'_>> = (0..simulation.ranks)
        .map(|rank| {
            let place = PathBuf::from(format!("simulated rank {rank}"));
            TraceSource {
                rank: Some(rank),
                host: Some(host_of(rank)),
                // Rows come in order, which takes little memory.
                bytes: 0,
                inputs: vec![place.display().to_string()],
                fill: Box::new(move |sinks, _| {
                    let Some(sink) = sinks.rank(0) else { return Ok(()) };
                    capture(simulation, rank, sink, &mut |_| {}).map_err(|source| IngestError::Segment {
                        path: PathBuf::from(format!("simulated rank {rank}")),
                        source,
                    })
                }),
                place,
            }
        })
        .collect();
    let mut staged = build(store.stage()?, &sources, settings, meter, |_| Ok(identity))?;
    // A name that the user chose comes before the title.
    staged.manifest.title = Some(match simulation.ranks {
        1 => "Demo: 1 simulated rank".to_owned(),
        ranks => format!("Demo: {ranks} simulated ranks"),
    });
    let ingested = publish(store, &staged, settings, meter)?;
    compare(&ingested.profile, meter)?;
    Ok(ingested)
}

/// Identity of a simulated capture: its settings, because equal settings give equal captures.
fn identity(simulation: &Simulation) -> InputIdentity {
    let Simulation { ranks, events_per_rank, seed, layers, straggler, detail } = simulation;
    let mut text =
        format!("{DOMAIN}\n{} {ranks} {events_per_rank} {seed} {layers}", env!("CARGO_PKG_VERSION"));
    if let Some(rank) = straggler {
        text.push_str(&format!(" straggler {rank}"));
    }
    if *detail == Detail::Collectives {
        text.push_str(" collectives");
    }
    text.push('\n');
    let hash = |text: &str| {
        let mut hash = [0; HASH_LEN];
        blake3::Hasher::new().update(text.as_bytes()).finalize_xof().fill(&mut hash);
        hash
    };
    let of_rank = |rank| ProfileId::new(RankCount::One, hash(&format!("{text}{rank}\n")));
    let each: Vec<ProfileId> = (0..*ranks).map(of_rank).collect();
    let profile = match each[..] {
        [only] => only,
        _ => ProfileId::new(RankCount::Several, hash(&text)),
    };
    InputIdentity { profile, traces: each, input_bytes: 0 }
}
