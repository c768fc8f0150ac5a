//! Hosts of traces, from their paths: each node's traces have a folder, or their names begin with
//! the host.

use std::collections::BTreeSet;

use nprof_engine::base::order::gathered;

use super::{cycle, rank_of};

/// Endings of archives, which can stand for a folder.
const ARCHIVES: [&str; 7] = [".tar.gz", ".tar.zst", ".tar", ".tgz", ".zip", ".gz", ".zst"];
/// Ending of the name that PyTorch gives a trace: `HOST_PID.TIME.pt.trace.json`.
const PYTORCH: &str = ".pt.trace.json";

/// The host of each trace with one of these paths, if the path tells it. Parts of paths are
/// separated by `/`.
///
/// If traces are in several folders, the first folder in which their paths differ names the host. A
/// folder that names a rank or a cycle of a profiler, or is a number alone, names no host.
#[must_use]
pub fn hosts(paths: &[&str]) -> Vec<Option<String>> {
    let parts: Vec<Vec<&str>> = paths.iter().map(|path| path.split('/').collect()).collect();
    let shared = (0..).take_while(|at| is_shared(&parts, *at)).count();
    let node = |parts: &Vec<&str>| {
        let folder = *parts[..parts.len() - 1].get(shared)?;
        let name = ARCHIVES.iter().find_map(|ending| folder.strip_suffix(ending)).unwrap_or(folder);
        let name = name.rsplit_once("_pid_").filter(|(_, pid)| is_number(pid)).map_or(name, |(host, _)| host);
        let is_other = rank_of(name).is_some() || cycle::is_of_cycle(name) || is_number(name);
        (!is_other && !name.is_empty()).then(|| name.to_owned())
    };
    let nodes: Vec<Option<String>> = parts.iter().map(node).collect();
    let is_several = gathered::<BTreeSet<_>, _>(nodes.iter().flatten()).len() > 1;
    let host = |(parts, node): (&Vec<&str>, Option<String>)| {
        named(parts.last().copied().unwrap_or_default()).or(node.filter(|_| is_several))
    };
    parts.iter().zip(nodes).map(host).collect()
}

/// Whether all paths have the same folder at this place.
fn is_shared(parts: &[Vec<&str>], at: usize) -> bool {
    let folder = |parts: &Vec<&str>| parts[..parts.len() - 1].get(at).map(|folder| (*folder).to_owned());
    let first = parts.first().and_then(folder);
    first.is_some() && parts.iter().all(|parts| folder(parts) == first)
}

/// The host in a name like `node7_1234.1694128201557.pt.trace.json`.
fn named(file: &str) -> Option<String> {
    let name = file.strip_suffix(".gz").unwrap_or(file).strip_suffix(PYTORCH)?;
    let (worker, time) = name.rsplit_once('.')?;
    let (host, pid) = worker.rsplit_once('_')?;
    let is_host = is_number(time) && is_number(pid) && !host.is_empty() && rank_of(file).is_none();
    is_host.then(|| host.to_owned())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(paths: &[&str], expected: &[Option<&str>]) {
        let expected: Vec<Option<String>> = expected.iter().map(|host| host.map(str::to_owned)).collect();
        assert_eq!(hosts(paths), expected, "{paths:?}");
    }

    #[test]
    fn folders_of_nodes_name_hosts() {
        let nodes = ["run/node0/rank_0.json", "run/node0/rank_1.json", "run/node1/a/rank_2.json"];
        check(&nodes, &[Some("node0"), Some("node0"), Some("node1")]);
        check(&["j/i-0a1_pid_17/a.ntff", "j/i-0b2_pid_4/a.ntff"], &[Some("i-0a1"), Some("i-0b2")]);
        check(&["n0.tar.gz/rank_0.json", "n1.zip/rank_1.json"], &[Some("n0"), Some("n1")]);
        // A trace beside the folders is on no known host.
        check(&["run/rank_0.json", "run/a/rank_1.json", "run/b/rank_2.json"], &[None, Some("a"), Some("b")]);
    }

    #[test]
    fn other_folders_name_none() {
        check(&["run/node0/rank_0.json", "run/node0/rank_1.json"], &[None, None]);
        check(&["run/rank_0/trace.json", "run/rank_1/trace.json"], &[None, None]);
        check(&["run/0/trace.json", "run/1/trace.json"], &[None, None]);
        check(&["run/iteration_10/rank0.json", "run/iteration_20/rank1.json"], &[None, None]);
        check(&["a.json"], &[None]);
        check(&[], &[]);
    }

    #[test]
    fn names_of_pytorch_begin_with_the_host() {
        check(&["t/node7_1234.1694128201557.pt.trace.json.gz"], &[Some("node7")]);
        check(&["t/gpu_box_9.1694128201557.pt.trace.json"], &[Some("gpu_box")]);
        check(&["t/worker3_step_12.1694128201557.pt.trace.json"], &[None]);
        check(&["t/resnet50_num_workers_0_worker0.1623143089861.pt.trace.json"], &[None]);
        check(&["t/rank-0.Apr_03_18_51_38.1102.pt.trace.json", "t/node7_12.json"], &[None, None]);
    }
}
