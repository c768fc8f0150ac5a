//! Arrows of PyTorch's dialect: from the call that launches to each kernel with its correlation.
//! Correlations are numbers of a rank.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::args::Args;
use super::event::Event;

/// Category of calls of the runtime, and of kernels.
const CALL: &str = "cuda_runtime";
const KERNEL: &str = "kernel";
/// Name and category of the arrows.
const ARROW: &str = "ac2g";

/// A point of an arrow: process, thread and time.
type Point = (Json, Json, i128);

/// A launch.
#[derive(Debug, Default)]
struct Launch {
    /// The first call.
    call: Option<Point>,
    kernels: Vec<Point>,
}

/// The launches of a rank.
#[derive(Debug, Default)]
pub struct Launches(HashMap<i64, Launch>);

impl Launches {
    /// Notes a slice, if it is a call or a kernel with a correlation.
    pub fn take(&mut self, event: &Event) {
        let Some(correlation) = event.args.get("correlation").and_then(Json::as_i64) else { return };
        let point = || (event.pid.clone(), event.tid.clone(), event.time_ps);
        match event.category.as_deref() {
            Some(KERNEL) => self.0.entry(correlation).or_default().kernels.push(point()),
            Some(CALL) => {
                let launch = self.0.entry(correlation).or_default();
                if launch.call.as_ref().is_none_or(|(.., time_ps)| event.time_ps < *time_ps) {
                    launch.call = Some(point());
                }
            }
            _ => {}
        }
    }

    /// The arrows, by the time of their launches. Their numbers follow `last`.
    pub fn arrows(self, last: &mut u64) -> Vec<[Event; 2]> {
        let called = |launch: Launch| Some((launch.call?, launch.kernels));
        let mut launches: Vec<(Point, Vec<Point>)> = self.0.into_values().filter_map(called).collect();
        launches.sort_by_key(|((.., time_ps), kernels)| (*time_ps, kernels.first().map(|of| of.2)));
        let mut arrows = Vec::new();
        for (call, kernels) in launches {
            for kernel in kernels {
                *last += 1;
                let id = Some(*last);
                let end = |phase: char, (pid, tid, time_ps): Point| Event {
                    category: Some(ARROW.to_owned()),
                    tid,
                    id,
                    args: Args::default(),
                    ..Event::new(phase, ARROW, time_ps, pid)
                };
                arrows.push([end('s', call.clone()), end('f', kernel)]);
            }
        }
        arrows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_has_an_arrow_from_its_launch() {
        let mut launches = Launches::default();
        for (category, time_ps, correlation) in [
            ("cuda_runtime", 5, 7),
            ("cuda_runtime", 9, 7),
            ("kernel", 10, 7),
            ("kernel", 20, 7),
            ("kernel", 30, 8),
            ("cpu_op", 1, 7),
        ] {
            let mut event = Event::new('X', "a", time_ps, Json::from(3));
            event.category = Some(category.to_owned());
            event.args.insert("correlation", Json::from(correlation));
            launches.take(&event);
        }
        let mut last = 40;
        let found: Vec<(u64, i128, i128)> = launches
            .arrows(&mut last)
            .into_iter()
            .map(|[from, to]| (from.id.unwrap(), from.time_ps, to.time_ps))
            .collect();
        assert_eq!((found.as_slice(), last), (&[(41, 5, 10), (42, 5, 20)][..], 42));
    }
}
