//! `nprof demo`

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use nprof_capture::device::simulation::{
    Detail, FaultKind, PlantedFault, SOURCES, SimulatedJob, Simulation, host_of,
};
use nprof_engine::base::ProfileId;
use nprof_engine::base::id::{HASH_LEN, RankCount};

use super::ingest::{NamingArgs, ready, report};
use super::progress::watched;
use super::serve::{PlaceArgs, block_on, serve};
use super::{StorePlace, demo_truth};
use crate::ingest::{
    IngestError, IngestSettings, Ingested, InputIdentity, TraceSource, already_there, build, compare, publish,
};
use crate::store::Store;
use crate::work::{Meter, Stage};

/// Hash domain that keeps the ids of simulated captures apart from the ids of files.
const DOMAIN: &str = "nprof simulated 2";

const EXAMPLES: &str = "\
Examples:
  nprof demo                              two simulated ranks, served at http://localhost:3001/
  nprof demo --ranks 8 --events 1000000   a larger job
  nprof demo --ranks 64 --straggler 17    a job that waits for rank 17; see `nprof ranks`
  nprof demo --fault dma-late=3 --truth truth.json
                                          a load of layer 3 comes late, and what that costs
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
    /// Rank that is slower than the others: --fault slow-rank=RANK
    #[arg(long, value_name = "RANK")]
    straggler: Option<u32>,
    /// Plant a cause of lost time; can be given several times [default: a slow rank of the seed,
    /// throttling, and an error out of bounds]. Causes:
    /// dma-late=LAYER (a load of the layer is triggered 40 µs late in each step),
    /// slow-rank=RANK (its engines take a fifth more time),
    /// late-rank=RANK (its host starts each step 80 µs late),
    /// pause=RANK (it stands still for 300 µs once),
    /// slow-link=RANK (operations over its links take three times as long),
    /// throttle[=RANK] (the device limits its engines to 7/8 in each third layer),
    /// host-block (the host starts each step but the first 150 µs late),
    /// spill (twelve times as many bytes are spilled and reloaded),
    /// reload (what was spilled is reloaded 24 times),
    /// weights-reloaded (weights are loaded eight times),
    /// out-of-bounds[=RANK] (a transfer reads out of bounds once),
    /// none. Example: --fault dma-late=3 --fault pause=1
    #[arg(long, value_name = "CAUSE", value_parser = planted)]
    fault: Vec<Planted>,
    /// Write the planted causes and what each costs the job to this file, as JSON
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Write the source code of the simulated program to this folder
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,
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

/// A cause on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planted {
    /// No cause at all.
    None,
    Cause(PlantedFault),
}

fn planted(text: &str) -> Result<Planted, String> {
    if text == "none" { Ok(Planted::None) } else { text.parse().map(Planted::Cause) }
}

impl DemoArgs {
    /// The causes to plant. `None`: those of the seed.
    fn faults(&self) -> anyhow::Result<Option<Vec<PlantedFault>>> {
        let straggler =
            self.straggler.map(|rank| PlantedFault { kind: FaultKind::SlowRank, value: Some(rank) });
        let of_args = self.fault.iter().filter_map(|planted| match planted {
            Planted::None => None,
            Planted::Cause(fault) => Some(*fault),
        });
        let faults: Vec<PlantedFault> = straggler.into_iter().chain(of_args).collect();
        if self.fault.contains(&Planted::None) && !faults.is_empty() {
            anyhow::bail!("`--fault none` plants nothing; leave it out, or the other causes");
        }
        let is_chosen = !self.fault.is_empty() || self.straggler.is_some();
        Ok(is_chosen.then_some(faults))
    }

    fn simulation(&self) -> anyhow::Result<Simulation> {
        if let Some(rank) = self.straggler.filter(|rank| *rank >= self.ranks) {
            anyhow::bail!("rank {rank} cannot be the straggler: the job has ranks 0 to {}", self.ranks - 1);
        }
        // A brief phase has one instruction and one operation.
        let (events_per_rank, detail) = match self.collectives {
            Some(count) => (2 * count, Detail::Collectives),
            None => (self.events, Detail::Full),
        };
        let faults = self.faults()?;
        let simulation = Simulation {
            ranks: self.ranks,
            events_per_rank,
            seed: self.seed,
            faults: faults.clone(),
            detail,
            ..Simulation::default()
        };
        if let Some(fault) = faults.iter().flatten().find(|fault| !fault.fits(&simulation)) {
            let (ranks, layers) = (self.ranks - 1, simulation.layers - 1);
            anyhow::bail!(
                "there is nothing to plant {fault} in: the job has ranks 0 to {ranks}, layers 0 to {layers}"
            );
        }
        Ok(simulation)
    }

    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let settings = self.naming.settings()?;
        let simulation = self.simulation()?;
        if let Some(folder) = &self.sources {
            write_sources(folder)?;
        }
        let store = place.open()?;
        let meter = Meter::default();
        let start = std::time::Instant::now();
        let ingested = watched(&meter, || simulate(&store, &simulation, &settings, &meter))?;
        report(&ingested, start.elapsed())?;
        if let Some(file) = &self.truth {
            demo_truth::write(&simulation, file)?;
        }
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

fn write_sources(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for file in SOURCES {
        let path = folder.join(file.name);
        fs::write(&path, file.text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
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
    let of_job = |source| IngestError::Segment { path: PathBuf::from("simulated job"), source };
    let job = &SimulatedJob::new(simulation).map_err(of_job)?;
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
                    job.capture(rank, sink, &mut |_| {}).map_err(|source| IngestError::Segment {
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
    let Simulation { ranks, events_per_rank, seed, layers, faults, detail } = simulation;
    let mut text =
        format!("{DOMAIN}\n{} {ranks} {events_per_rank} {seed} {layers}", env!("CARGO_PKG_VERSION"));
    if let Some(faults) = faults {
        text.push_str(" faults");
        faults.iter().for_each(|fault| text.push_str(&format!(" {fault}")));
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
