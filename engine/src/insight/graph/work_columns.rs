//! The nodes and edges of a rank's work as columns, in the order of rows: a queue's slices follow
//! each other, so their times and names take few bits.

use super::int_columns::{DAMAGED, IntColumnReader, IntColumnWriter};
use super::rank::ABSENT_ROW;
use crate::base::Result;
use crate::model::stated_edge::{NO_SEMAPHORE, NOBODY};
use crate::model::{EdgeCode, HostWork, MachineSide, NodePoint, RankWork, StatedEdge, WorkNode};
use crate::query::RowTime;

/// Most edges to a node. Instructions wait for a few semaphores.
const MOST_EDGES: usize = 256;

/// Nodes of a rank by rows.
struct ByRow<'w> {
    work: &'w RankWork,
    /// Positions of the nodes.
    order: Vec<u32>,
    /// For each node its place in this order.
    places: Vec<u32>,
}

impl<'w> ByRow<'w> {
    fn new(work: &'w RankWork) -> Self {
        let mut order: Vec<u32> = (0_u32..).take(work.nodes.len()).collect();
        // A row can be several nodes.
        order.sort_by_key(|at| work.nodes[*at as usize].row);
        let mut places = vec![0; order.len()];
        for (place, &at) in (0_u32..).zip(&order) {
            places[at as usize] = place;
        }
        Self { work, order, places }
    }

    fn column(&self, value: impl Fn(&WorkNode) -> i64) -> Vec<i64> {
        self.order.iter().map(|at| value(&self.work.nodes[*at as usize])).collect()
    }

    /// The place of a node. -1 for none.
    fn place(&self, node: u32) -> i64 {
        self.places.get(node as usize).map_or(-1, |place| i64::from(*place))
    }
}

/// The rows of the nodes of some work, ascending.
pub(super) fn rows_of(work: &RankWork) -> Vec<u32> {
    let mut rows: Vec<u32> = work.nodes.iter().map(|node| node.row).collect();
    rows.sort_unstable();
    rows
}

/// Writes the nodes and edges of some work. Times are written as the differences from those of
/// their rows, which `times` has for [`rows_of`] the work.
pub(super) fn write(work: &RankWork, times: &[RowTime], out: &mut IntColumnWriter) {
    let of = ByRow::new(work);
    let time = |at: u32| times.get(of.places[at as usize] as usize).copied().unwrap_or_default();
    let later = |value: fn(&WorkNode, RowTime) -> i64| -> Vec<i64> {
        of.order.iter().map(|at| value(&work.nodes[*at as usize], time(*at))).collect()
    };
    out.ints(&steps(&of.column(|node| i64::from(node.row))));
    out.ints(&later(|node, row| node.start_ps.wrapping_sub(row.start_ps)));
    out.ints(&later(|node, row| node.duration_ps.wrapping_sub(row.duration_ps)));
    out.ints(&of.column(|node| i64::from(node.class)));
    let launched: Vec<i64> =
        of.order.iter().map(|at| of.work.launch(*at).map_or(-1, |by| of.place(by))).collect();
    out.ints(&launched.iter().map(|place| i64::from(*place >= 0)).collect::<Vec<_>>());
    out.ints(&steps(&launched.into_iter().filter(|place| *place >= 0).collect::<Vec<_>>()));
    let mut busy_ps = vec![0; work.nodes.len()];
    for call in &work.host {
        busy_ps[call.node() as usize] = call.busy_ps;
    }
    let of_host = of.order.iter().filter(|at| is_host(work, &work.nodes[**at as usize]));
    out.ints(&of_host.map(|at| busy_ps[*at as usize]).collect::<Vec<_>>());
    write_edges(&of, out);
}

fn write_edges(of: &ByRow<'_>, out: &mut IntColumnWriter) {
    let is_node = |node: u32| (node as usize) < of.work.nodes.len();
    let is_known = |edge: &StatedEdge| is_node(edge.node) && (edge.from == NOBODY || is_node(edge.from));
    let mut edges: Vec<StatedEdge> = of.work.edges.iter().filter(is_known).collect();
    edges.sort_by_key(|edge| of.place(edge.node));
    let column = |value: &dyn Fn(&StatedEdge) -> i64| -> Vec<i64> { edges.iter().map(value).collect() };
    out.ints(&[edges.len() as i64]);
    out.ints(&steps(&column(&|edge| of.place(edge.node))));
    out.ints(&column(&|edge| i64::from(EdgeCode::of(edge).number())));
    out.ints(&column(&|edge| of.place(edge.from)));
    out.ints(&column(&|edge| i64::from(edge.semaphore.wrapping_add(1))));
    out.ints(&column(&|edge| edge.met_ps.wrapping_sub(point_ps(of.work, edge))));
    let since = edges.iter().filter_map(|edge| Some(edge.met_ps.wrapping_sub(edge.since_ps?)));
    out.ints(&since.collect::<Vec<_>>());
}

/// The time of the point of an edge's node.
fn point_ps(work: &RankWork, edge: &StatedEdge) -> i64 {
    let node = &work.nodes[edge.node as usize];
    if edge.at == NodePoint::Start { node.start_ps } else { node.end_ps() }
}

fn is_host(work: &RankWork, node: &WorkNode) -> bool {
    work.queue_of(node).side == MachineSide::Host
}

/// The difference of each value from the one before it.
fn steps(values: &[i64]) -> Vec<i64> {
    let mut before = 0;
    values.iter().map(|value| value.wrapping_sub(std::mem::replace(&mut before, *value))).collect()
}

/// The values of these differences.
fn sums(steps: Vec<i64>) -> Vec<i64> {
    let mut sum = 0_i64;
    let add = |step: i64| {
        sum = sum.wrapping_add(step);
        sum
    };
    steps.into_iter().map(add).collect()
}

/// Reads the rows of `count` nodes.
pub(super) fn read_rows(count: usize, columns: &mut IntColumnReader<'_>) -> Result<Vec<u32>> {
    let rows = sums(columns.ints(count)?);
    let row = |row: i64| u32::try_from(row).ok().filter(|row| *row < ABSENT_ROW).ok_or(DAMAGED);
    let rows = rows.into_iter().map(row).collect::<Result<Vec<u32>>>()?;
    if rows.is_sorted() { Ok(rows) } else { Err(DAMAGED) }
}

/// Reads the nodes of these rows and their edges into work that has its queues, classes and
/// semaphores. `times` has the times of the rows.
pub(super) fn read(
    work: &mut RankWork,
    rows: &[u32],
    times: &[RowTime],
    columns: &mut IntColumnReader<'_>,
) -> Result<()> {
    let count = rows.len();
    if times.len() != count {
        return Err(DAMAGED);
    }
    let (starts, durations) = (columns.ints(count)?, columns.ints(count)?);
    let classes = columns.numbers(count, work.classes.len())?;
    let is_launched = columns.numbers(count, 2)?;
    let launched = is_launched.iter().filter(|is| **is != 0).count();
    let launches = sums(columns.ints(launched)?);
    let mut nodes = Vec::with_capacity(count);
    for at in 0..count {
        nodes.push(WorkNode {
            start_ps: starts[at].wrapping_add(times[at].start_ps),
            duration_ps: durations[at].wrapping_add(times[at].duration_ps).max(0),
            class: classes[at],
            row: rows[at],
        });
    }
    work.nodes = nodes.into();
    let launched = (0_u32..).zip(is_launched).filter(|(_, is_launched)| *is_launched != 0);
    for ((at, _), by) in launched.zip(launches) {
        work.set_launch(at, u32::try_from(by).ok().filter(|by| (*by as usize) < count).ok_or(DAMAGED)?);
    }
    let hosts: Vec<u32> =
        (0_u32..).zip(&work.nodes).filter(|(_, node)| is_host(work, node)).map(|(at, _)| at).collect();
    let busy_ps = columns.ints(hosts.len())?;
    work.host = hosts.into_iter().zip(busy_ps).map(|(node, busy_ps)| HostWork::new(node, busy_ps)).collect();
    read_edges(work, columns)
}

fn read_edges(work: &mut RankWork, columns: &mut IntColumnReader<'_>) -> Result<()> {
    let count = columns.ints(1)?[0];
    let nodes = work.nodes.len();
    let most = nodes.saturating_mul(MOST_EDGES);
    let count = usize::try_from(count).ok().filter(|count| *count <= most).ok_or(DAMAGED)?;
    let of_nodes = sums(columns.ints(count)?);
    let code = |code: i64| u32::try_from(code).ok().and_then(EdgeCode::new).ok_or(DAMAGED);
    let codes = columns.ints(count)?.into_iter().map(code).collect::<Result<Vec<EdgeCode>>>()?;
    let sources = columns.ints(count)?;
    let semaphores = columns.numbers(count, work.semaphores.len() + 1)?;
    let met = columns.ints(count)?;
    let stated = codes.iter().filter(|code| code.has_since()).count();
    let mut since = columns.ints(stated)?.into_iter();
    let place = |value: i64| u32::try_from(value).ok().filter(|place| (*place as usize) < nodes);
    let mut edges = Vec::with_capacity(count);
    for at in 0..count {
        let from = if sources[at] < 0 { Some(NOBODY) } else { place(sources[at]) };
        let mut edge = StatedEdge {
            node: place(of_nodes[at]).ok_or(DAMAGED)?,
            from: from.ok_or(DAMAGED)?,
            semaphore: semaphores[at].checked_sub(1).unwrap_or(NO_SEMAPHORE),
            ..codes[at].edge()
        };
        edge.met_ps = met[at].wrapping_add(point_ps(work, &edge));
        if codes[at].has_since() {
            edge.since_ps = Some(edge.met_ps.wrapping_sub(since.next().ok_or(DAMAGED)?));
        }
        edges.push(edge);
    }
    work.edges = edges.into_iter().collect();
    Ok(())
}
