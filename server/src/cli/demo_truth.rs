//! The truth beside a simulated profile: what was planted, and what each cause costs.

use std::fs;
use std::path::Path;

use anyhow::Context;
use nprof_capture::device::simulation::{JobTruth, SimulatedJob, Simulation};
use nprof_engine::base::Interval;
use serde_json::{Value, json};

/// Version of the form of the file.
const VERSION: u32 = 1;

/// Writes what is true of a simulated job.
pub(super) fn write(simulation: &Simulation, file: &Path) -> anyhow::Result<()> {
    let truth = SimulatedJob::new(simulation)
        .and_then(|job| job.truth())
        .map_err(|error| anyhow::anyhow!("the simulation failed: {error}"))?;
    let text = serde_json::to_string_pretty(&as_json(simulation, &truth))?;
    fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))
}

fn as_json(simulation: &Simulation, truth: &JobTruth) -> Value {
    let span = |span: Interval| json!({ "start_ps": span.start.0, "end_ps": span.end.0 });
    let causes = truth.causes.iter().map(|cause| {
        json!({
            "kind": cause.fault.kind.name(),
            "fault": cause.fault.to_string(),
            "rank": cause.fault.rank(),
            "layer": cause.fault.layer(),
            "track": cause.track,
            "start_ps": cause.span.map(|span| span.start.0),
            "end_ps": cause.span.map(|span| span.end.0),
            "times": cause.times,
            "cost_ps": cause.cost_ps,
        })
    });
    json!({
        "version": VERSION,
        "seed": simulation.seed,
        "ranks": simulation.ranks,
        "layers": simulation.layers,
        "events_per_rank": simulation.events_per_rank,
        "job": {
            "start_ps": truth.span.start.0,
            "end_ps": truth.span.end.0,
            "length_ps": truth.span.duration_ps(),
            "sound_length_ps": truth.sound_ps,
            "computing_share": truth.computing,
        },
        "causes": causes.collect::<Vec<_>>(),
        "steps": truth.steps.iter().map(|step| span(*step)).collect::<Vec<_>>(),
    })
}
