//! Arrows of PyTorch's dialect that the trace lacks: from the launch to each kernel with its
//! correlation. An arrow starts at the point that the trace states for the correlation, else at
//! the call. Correlations are numbers of a rank.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::event::{Event, id};
use super::points::ArrowPoint;
use super::source::Source;

/// Category of calls of the runtime, and of kernels.
const CALL: &str = "cuda_runtime";
const KERNEL: &str = "kernel";
/// Name and category of the arrows.
const ARROW: &str = "ac2g";

/// An end of an arrow: process, thread and time.
type LaunchEnd = (Json, Json, i128);

/// A launch.
#[derive(Debug, Default)]
struct Launch {
    /// The first call, or the point that the trace states.
    from: Option<LaunchEnd>,
    kernels: Vec<LaunchEnd>,
}

/// The launches of a rank.
#[derive(Debug, Default)]
pub struct Launches(HashMap<i64, Launch>);

impl Launches {
    /// Notes a slice, if it is a call or a kernel with a correlation.
    pub fn take(&mut self, event: &Event) {
        let Some(correlation) = event.args.get("correlation").and_then(Json::as_i64) else { return };
        let end = || (event.pid.clone(), event.tid.clone(), event.time_ps);
        match event.category.as_deref() {
            Some(KERNEL) => self.0.entry(correlation).or_default().kernels.push(end()),
            Some(CALL) => {
                let launch = self.0.entry(correlation).or_default();
                if launch.from.as_ref().is_none_or(|(.., time_ps)| event.time_ps < *time_ps) {
                    launch.from = Some(end());
                }
            }
            _ => {}
        }
    }

    /// The arrows that the points of the trace lack, by the time of their launches. Their numbers
    /// follow `last`. Points of a trace that acelyzer or nprof wrote have other numbers than their
    /// correlations, so the start of a kernel tells whether an arrow leads there.
    pub fn arrows(mut self, points: &[ArrowPoint], source: &Source<'_>, last: &mut u64) -> Vec<[Event; 2]> {
        let mut stated = HashSet::new();
        for point in points {
            let (process, time_ps) = (source.process(id(&point.pid)), source.time(point.time_ps));
            if point.phase == 'f' {
                stated.insert((process.to_string(), time_ps));
            } else if point.phase == 's'
                && let Ok(correlation) = point.id.parse::<i64>()
            {
                self.0.entry(correlation).or_default().from = Some((process, id(&point.tid), time_ps));
            }
        }
        let called = |(correlation, launch): (i64, Launch)| Some((launch.from?, correlation, launch.kernels));
        let mut launches: Vec<(LaunchEnd, i64, Vec<LaunchEnd>)> =
            self.0.into_iter().filter_map(called).collect();
        launches.sort_by_key(|((.., time_ps), correlation, _)| (*time_ps, *correlation));
        let mut arrows = Vec::new();
        for (from, _, kernels) in launches {
            for kernel in kernels {
                if stated.contains(&(kernel.0.to_string(), kernel.2)) {
                    continue;
                }
                *last += 1;
                let number = Some(Json::from(*last));
                let end = |phase: char, (pid, tid, time_ps): LaunchEnd| Event {
                    category: Some(ARROW.to_owned()),
                    tid,
                    id: number.clone(),
                    ..Event::new(phase, ARROW, time_ps, pid)
                };
                arrows.push([end('s', from.clone()), end('f', kernel)]);
            }
        }
        arrows
    }
}
