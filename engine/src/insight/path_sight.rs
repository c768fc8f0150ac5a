//! The sight of a critical path: its parts within a span, as fine as a picture can show them.

use super::graph::JobGraph;
use super::walk::{CriticalPath, PathKind, PathPart};
use crate::base::Interval;

/// A part of a path in sight: one part, or several short ones that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenPart {
    /// The part, or the longest one of several, with the start of the first and the end of the
    /// last.
    pub part: PathPart,
    /// Number of parts.
    pub count: u32,
}

impl CriticalPath {
    /// The parts that overlap a span. If they are more than `most`, short ones that follow each
    /// other are one, so that there are at most so many. They cover the same time.
    #[must_use]
    pub fn seen(&self, span: Interval, most: usize) -> Vec<SeenPart> {
        let from = self.parts.partition_point(|part| part.end_ps <= span.start.0);
        let to = self.parts.partition_point(|part| part.start_ps < span.end.0).max(from);
        let parts = &self.parts[from..to];
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Vec::new() };
        if parts.len() <= most {
            return parts.iter().map(|part| SeenPart { part: *part, count: 1 }).collect();
        }
        // Only the time in the span counts, also of the first and the last part.
        let seen_ps =
            |start_ps: i64, end_ps: i64| end_ps.min(span.end.0).saturating_sub(start_ps.max(span.start.0));
        let cell_ps = seen_ps(first.start_ps, last.end_ps) / (most.max(2) / 2) as i64 + 1;
        let mut seen: Vec<SeenPart> = Vec::new();
        let (mut longest_ps, mut is_open) = (0, false);
        for part in parts {
            let length_ps = seen_ps(part.start_ps, part.end_ps);
            match seen.last_mut().filter(|_| is_open && length_ps < cell_ps) {
                Some(of) => {
                    let ends = PathPart { start_ps: of.part.start_ps, end_ps: part.end_ps, ..of.part };
                    of.part = ends;
                    if length_ps > longest_ps {
                        longest_ps = length_ps;
                        of.part = PathPart { start_ps: ends.start_ps, end_ps: ends.end_ps, ..*part };
                    }
                    of.count += 1;
                }
                None => {
                    seen.push(SeenPart { part: *part, count: 1 });
                    longest_ps = length_ps;
                }
            }
            is_open = seen.last().is_some_and(|of| seen_ps(of.part.start_ps, of.part.end_ps) < cell_ps);
        }
        seen
    }
}

/// The name of the work of a part for people. That of a gap is the work behind it.
#[must_use]
pub fn name_of_part(graph: &JobGraph, part: &PathPart) -> String {
    let rank = &graph.ranks[part.rank as usize];
    let name = rank.name(&rank.work.nodes[part.node as usize]);
    match part.kind {
        PathKind::Gap => format!("gap before {name}"),
        PathKind::Host => format!("host before {name}"),
        PathKind::Work | PathKind::Transfer | PathKind::Call => name.to_owned(),
    }
}

/// The engine, queue, stream or thread of a part. A gap is on that of the work behind it.
#[must_use]
pub fn party_of_part<'g>(graph: &'g JobGraph, part: &PathPart) -> &'g str {
    let rank = &graph.ranks[part.rank as usize];
    rank.work.party(rank.classes[rank.work.nodes[part.node as usize].class as usize].queue)
}

/// The layer of the work of a part, if the trace states it. A gap is in that of the work behind it.
#[must_use]
pub fn layer_of_part<'g>(graph: &'g JobGraph, part: &PathPart) -> Option<&'g str> {
    let rank = &graph.ranks[part.rank as usize];
    rank.layer(&rank.work.nodes[part.node as usize])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(lengths: &[i64]) -> CriticalPath {
        let mut end_ps = 100;
        let part = |(node, length): (u32, &i64)| {
            let start_ps = end_ps;
            end_ps += length;
            PathPart { rank: node % 3, node, kind: PathKind::Work, start_ps, end_ps }
        };
        let parts: Vec<PathPart> = (0_u32..).zip(lengths).map(part).collect();
        CriticalPath { span_ps: (100, end_ps), parts }
    }

    proptest! {
        #[test]
        fn what_is_seen_covers_the_span_with_few_parts(
            lengths in prop::collection::vec(1_i64..1_000, 1..300),
            most in 2_usize..60,
            span in (0_i64..40_000, 1_i64..40_000),
        ) {
            let path = path(&lengths);
            let span = Interval::new(span.0, span.0 + span.1);
            let seen = path.seen(span, most);
            prop_assert!(seen.len() <= most, "{} of {most}", seen.len());
            let within = |part: &&PathPart| part.end_ps > span.start.0 && part.start_ps < span.end.0;
            let parts: Vec<&PathPart> = path.parts.iter().filter(within).collect();
            prop_assert_eq!(seen.iter().map(|of| of.count as usize).sum::<usize>(), parts.len());
            prop_assert_eq!(seen.first().map(|of| of.part.start_ps), parts.first().map(|of| of.start_ps));
            prop_assert_eq!(seen.last().map(|of| of.part.end_ps), parts.last().map(|of| of.end_ps));
            prop_assert!(seen.windows(2).all(|two| two[0].part.end_ps == two[1].part.start_ps));
        }
    }

    #[test]
    fn several_parts_have_the_name_of_the_longest() {
        let seen = path(&[1, 5, 2, 900, 3, 4, 1]).seen(Interval::new(0, 10_000), 4);
        let shown: Vec<(u32, u32)> = seen.iter().map(|of| (of.part.node, of.count)).collect();
        assert_eq!(shown, [(1, 3), (3, 1), (5, 3)]);
    }
}
