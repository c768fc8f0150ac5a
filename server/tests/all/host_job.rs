//! Traces of a job whose backend works on threads of the host: no call states its process group,
//! two threads of each group take the calls in turn, and their numbers differ between ranks.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

const MS: i64 = 1_000_000;

/// Repeatable random numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((self.0 >> 33) % limit.unsigned_abs()).unwrap()
    }
}

/// A job of ranks on hosts. Times are in nanoseconds.
pub(crate) struct HostJob {
    pub(crate) backend: &'static str,
    /// For each rank the name of its host, and by how much the host's clock is ahead.
    pub(crate) hosts: Vec<(&'static str, i64)>,
    /// The process groups by name. A trace states those of its rank.
    pub(crate) groups: Vec<Vec<usize>>,
    /// Whether the traces list the groups.
    pub(crate) lists_groups: bool,
    /// Most time by which a rank comes and leaves late by chance.
    pub(crate) noise_ns: i64,
    pub(crate) dice: Dice,
    pub(crate) now: Vec<i64>,
    events: Vec<Vec<Value>>,
    /// Calls of each rank in each group.
    calls: Vec<Vec<usize>>,
}

/// Kind of an operation, as its annotation states it, and its elements.
pub(crate) type Operation = (&'static str, i64);

impl HostJob {
    /// Ranks on one host with one group.
    pub(crate) fn new(ranks: usize, seed: u64) -> Self {
        Self {
            backend: "gloo",
            hosts: vec![("node0", 0); ranks],
            groups: vec![(0..ranks).collect()],
            lists_groups: true,
            noise_ns: 3 * MS,
            dice: Dice(seed),
            now: vec![0; ranks],
            events: vec![Vec::new(); ranks],
            calls: vec![Vec::new(); ranks],
        }
    }

    fn chance(&mut self) -> i64 {
        if self.noise_ns > 0 { self.dice.below(self.noise_ns) } else { 0 }
    }

    /// All ranks compute; one of them for longer.
    pub(crate) fn compute(&mut self, slow: usize, late_ns: i64) {
        for rank in 0..self.now.len() {
            let (start, late) = (self.now[rank], if rank == slow { late_ns } else { 0 });
            let end = start + 8 * MS + self.chance() + late;
            self.now[rank] = end;
            self.slice(rank, ("cpu_op", "aten::linear"), 0, (start, end), &json!({}));
        }
    }

    /// The ranks of a group run an operation that waits for all.
    pub(crate) fn run(&mut self, group: usize, (kind, elements): Operation) {
        let ranks = self.groups[group].clone();
        let last = ranks.iter().map(|&rank| self.now[rank]).max().unwrap();
        for rank in ranks {
            let end = last + MS / 2 + self.chance();
            self.call(rank, group, (kind, elements), (self.now[rank], end));
            self.now[rank] = end;
        }
    }

    /// The root of a broadcast leaves at once.
    pub(crate) fn broadcast(&mut self, group: usize, root: usize, elements: i64) {
        let sent = self.now[root];
        for rank in self.groups[group].clone() {
            let start = self.now[rank];
            let end = start.max(sent) + MS / 4 + self.chance() / 8;
            self.call(rank, group, ("broadcast", elements), (start, end));
            self.now[rank] = end;
        }
    }

    /// A call that the trace of one rank has.
    pub(crate) fn call(&mut self, rank: usize, group: usize, (kind, elements): Operation, span: (i64, i64)) {
        self.calls[rank].resize(self.groups.len(), 0);
        let turn = self.calls[rank][group] % 2;
        self.calls[rank][group] += 1;
        let thread = 1 + 2 * group + turn;
        let arguments = json!({
            "External id": self.events[rank].len(),
            "Input type": ["float"],
            "Input Dims": [[elements]],
        });
        let name = format!("{}:{kind}", self.backend);
        self.slice(rank, ("user_annotation", &name), thread, span, &arguments);
    }

    fn slice(
        &mut self,
        rank: usize,
        (category, name): (&str, &str),
        thread: usize,
        (start, end): (i64, i64),
        arguments: &Value,
    ) {
        let ahead = self.hosts[rank].1;
        let us = |ns: i64| (1_000_000_000 + ns + ahead) as f64 / 1e3;
        // Ids of threads have nothing in common between ranks.
        let process = 4_000 + 731 * rank;
        self.events[rank].push(json!({
            "ph": "X", "cat": category, "name": name, "pid": process, "tid": process + 7 * thread,
            "ts": us(start), "dur": (end - start) as f64 / 1e3, "args": arguments,
        }));
    }

    /// Forgets what a rank recorded so far: its trace begins now.
    pub(crate) fn begin(&mut self, rank: usize) {
        self.events[rank].clear();
    }

    /// Writes a trace for each rank.
    pub(crate) fn write(&self, dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        for (rank, events) in self.events.iter().enumerate() {
            let mut info = json!({"backend": self.backend, "rank": rank, "world_size": self.now.len()});
            if self.lists_groups {
                let groups = self.groups.iter().enumerate().filter(|(_, ranks)| ranks.contains(&rank));
                let group = |(name, ranks): (usize, &Vec<usize>)| json!({"pg_name": name.to_string(), "pg_size": ranks.len(), "ranks": ranks});
                info["pg_config"] = groups.map(group).collect();
            }
            let trace = json!({
                "schemaVersion": 1,
                "distributedInfo": info,
                "host_name": self.hosts[rank].0,
                "baseTimeNanoseconds": 1_759_104_000_000_000_000_i64,
                "traceEvents": events,
            });
            fs::write(dir.join(format!("rank_{rank}.pt.trace.json")), trace.to_string()).unwrap();
        }
    }
}
