//! Many clients that zoom at random over HTTP. Measures the latency of tiles and whether the
//! server's memory grows.
//!
//! `cargo bench -p nprof-benches --bench clients --
//! [--events 10000000] [--clients 32] [--seconds 60] [--pause-ms 100] [--everything]`
//!
//! Starts `nprof demo` with one simulated rank. `NPROF_BIN` names the binary (default
//! `target/release/nprof`). Each client holds one connection and fetches all tiles of a view. Then
//! it pauses as people do, and zooms or pans to the next view. With `--pause-ms 0` clients do not
//! pause, which measures the machine and not the wait. With `--everything` each view is followed by
//! one other question: the list, a selection, a search, the events of the view, or the summary.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nprof_benches::figure::percentile;
use nprof_benches::generate::random::{Purpose, RandomStream};
use nprof_engine::base::Interval;
use nprof_engine::tile::Level;
use nprof_engine::wire::catalog::RankDetail;
use nprof_engine::wire::{POSTCARD, POSTCARD_ZSTD};

/// Cells of a view that is 1,000 pixels wide.
const VIEW_CELLS: f64 = 1000.0;
/// Width of a view with few slices.
const NARROWEST_PS: f64 = 1e6;
/// Number of lines about memory in a run.
const LINES: u32 = 12;
/// Maximum size of an answer.
const LARGEST_ANSWER: usize = 256 << 20;

struct ClientArguments {
    events: u64,
    clients: usize,
    seconds: u64,
    pause_ms: u64,
    asks_everything: bool,
}

/// Milliseconds of the answers to one kind of question.
type AnswerTimes = BTreeMap<&'static str, Vec<f64>>;

fn main() -> Result<()> {
    let arguments = arguments()?;
    let server = TestServer::start(arguments.events)?;
    run(&arguments, &server)
}

fn arguments() -> Result<ClientArguments> {
    let mut parsed = ClientArguments {
        events: 10_000_000,
        clients: 32,
        seconds: 60,
        pause_ms: 100,
        asks_everything: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--events" => parsed.events = value()?.parse()?,
            "--clients" => parsed.clients = value()?.parse()?,
            "--seconds" => parsed.seconds = value()?.parse()?,
            "--pause-ms" => parsed.pause_ms = value()?.parse()?,
            "--everything" => parsed.asks_everything = true,
            // Cargo passes this flag.
            "--bench" => {}
            _ => bail!(
                "unknown argument {word}: --events N, --clients N, --seconds N, --pause-ms N, --everything"
            ),
        }
    }
    Ok(parsed)
}

fn run(arguments: &ClientArguments, server: &TestServer) -> Result<()> {
    let rank = server.rank()?;
    println!(
        "{} events, {} groups of tracks, {} clients, {} ms between views",
        rank.entry.events,
        rank.groups.len(),
        arguments.clients,
        arguments.pause_ms
    );
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    println!("{:>8} {:>14} {:>14}", "s", "resident MiB", "of it own MiB");
    let times = std::thread::scope(|scope| {
        let client = |number: usize| {
            let rank = &rank;
            scope.spawn(move || Client::new(server, rank, number)?.zoom(end, arguments))
        };
        let clients: Vec<_> = (0..arguments.clients).map(client).collect();
        let start = Instant::now();
        for line in 0..=LINES {
            let at = Duration::from_secs(arguments.seconds) * line / LINES;
            std::thread::sleep((start + at).saturating_duration_since(Instant::now()));
            let (resident, own) = (server.memory_mib("VmRSS:"), server.memory_mib("RssAnon:"));
            println!("{:>8.0} {resident:>14.1} {own:>14.1}", at.as_secs_f64());
        }
        let mut times = AnswerTimes::new();
        for client in clients {
            for (kind, of_client) in client.join().map_err(|_| anyhow::anyhow!("a client panicked"))?? {
                times.entry(kind).or_default().extend(of_client);
            }
        }
        anyhow::Ok(times)
    })?;
    println!();
    for (kind, times) in times {
        println!(
            "{kind:>10}: {:>8}, {:>6.0} a second: p50 {:.2} ms, p99 {:.2} ms, longest {:.1} ms",
            times.len(),
            times.len() as f64 / arguments.seconds as f64,
            percentile(&times, 0.5),
            percentile(&times, 0.99),
            percentile(&times, 1.0),
        );
    }
    println!("the server's peak: {:.0} MiB", server.memory_mib("VmHWM:"));
    Ok(())
}

/// The server under test.
struct TestServer {
    process: Child,
    /// Kept open: the server writes more output, and exits when nobody reads it.
    _output: BufReader<ChildStdout>,
    /// `127.0.0.1:PORT`.
    address: String,
    slug: String,
}

impl TestServer {
    fn start(events: u64) -> Result<Self> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
        let binary =
            std::env::var_os("NPROF_BIN").map_or_else(|| target.join("release/nprof"), PathBuf::from);
        // The store stays between runs, so the same simulated rank is not ingested twice.
        let store = target.join("bench-clients");
        let mut command = Command::new(&binary);
        command.arg("--store").arg(&store).args(["demo", "--ranks", "1", "--port", "0"]);
        command.args(["--events", &events.to_string()]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().with_context(|| {
            format!("{}: build it with cargo build --release -p nprof-server", binary.display())
        })?;
        let mut output = BufReader::new(process.stdout.take().context("the server's output is piped")?);
        let mut line = String::new();
        while output.read_line(&mut line)? > 0 {
            let said = std::mem::take(&mut line);
            let Some((_, url)) = said.split_once("http://") else { continue };
            let mut parts = url.trim().split('/');
            let port = parts.next().and_then(|host| host.rsplit(':').next()).context("a port")?;
            let slug = parts.rfind(|part| part.starts_with("n_")).context(url.to_owned())?;
            let slug = slug.split(['?', '#']).next().unwrap_or(slug).to_owned();
            return Ok(Self { address: format!("127.0.0.1:{port}"), slug, process, _output: output });
        }
        bail!("{} ended before it said where it serves", binary.display())
    }

    fn rank(&self) -> Result<RankDetail> {
        let path = format!("/api/profiles/{}/ranks/0", self.slug);
        let (_, bytes) = OpenConnection::new(self)?.fetch(&path, POSTCARD)?;
        postcard::from_bytes(&bytes).context("the rank is no message of this version")
    }

    fn memory_mib(&self, what: &str) -> f64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(what));
        line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // The process may have exited by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection that stays open.
struct OpenConnection {
    stream: BufReader<TcpStream>,
}

impl OpenConnection {
    fn new(server: &TestServer) -> Result<Self> {
        let stream = TcpStream::connect(&server.address).with_context(|| server.address.clone())?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Returns the milliseconds until the complete answer arrived, and the answer.
    fn fetch(&mut self, path: &str, accept: &str) -> Result<(f64, Vec<u8>)> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n");
        let start = Instant::now();
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        if line.split(' ').nth(1) != Some("200") {
            bail!("{path}: {}", line.trim());
        }
        let mut length = None;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok().filter(|&length| length <= LARGEST_ANSWER);
            }
        }
        let mut bytes = vec![0; length.with_context(|| format!("{path}: an answer without its length"))?];
        self.stream.read_exact(&mut bytes)?;
        Ok((start.elapsed().as_secs_f64() * 1e3, bytes))
    }
}

/// One user of a page.
struct Client<'a> {
    connection: OpenConnection,
    rank: &'a RankDetail,
    /// URL of the rank.
    path: String,
    random: RandomStream,
    middle_ps: f64,
    width_ps: f64,
}

impl<'a> Client<'a> {
    fn new(server: &TestServer, rank: &'a RankDetail, number: usize) -> Result<Self> {
        let path = format!("/api/profiles/{}/ranks/{}", server.slug, rank.entry.rank);
        let (start, end) = (rank.entry.start_ps as f64, rank.entry.end_ps as f64);
        Ok(Self {
            connection: OpenConnection::new(server)?,
            rank,
            path,
            random: RandomStream::stream(1, Purpose::Questions, 4, number),
            middle_ps: f64::midpoint(start, end),
            width_ps: end - start,
        })
    }

    /// Fetches view after view.
    fn zoom(mut self, end: Instant, arguments: &ClientArguments) -> Result<AnswerTimes> {
        let mut times = AnswerTimes::new();
        let content = &self.rank.entry.content;
        while Instant::now() < end {
            let level = Level::for_cell_ps(self.width_ps / VIEW_CELLS);
            let from = (self.middle_ps - self.width_ps / 2.0) as i64;
            let view = Interval::new(from, from + self.width_ps as i64);
            for index in level.tiles_of(view) {
                for group in &self.rank.groups {
                    let path =
                        format!("{}/tiles/{content}/{}/{}/{index}", self.path, group.id, level.number());
                    let time = self.connection.fetch(&path, POSTCARD_ZSTD)?.0;
                    times.entry("tile").or_default().push(time);
                }
            }
            if arguments.asks_everything {
                let (kind, path) = self.other_question(view);
                let time = self.connection.fetch(&path, POSTCARD)?.0;
                times.entry(kind).or_default().push(time);
            }
            self.step();
            std::thread::sleep(Duration::from_millis(arguments.pause_ms));
        }
        Ok(times)
    }

    /// A question that is no tile: its kind and path.
    fn other_question(&mut self, view: Interval) -> (&'static str, String) {
        let (rank, span) = (&self.path, format!("start_ps={}&end_ps={}", view.start.0, view.end.0));
        match (self.random.unit() * 8.0) as u32 {
            0 => ("summary", format!("{rank}/summary")),
            1 => ("search", format!("{rank}/search?q=1{}", (self.random.unit() * 1e3) as u32)),
            2 => ("events", format!("{rank}/events?{span}&limit=1000")),
            3 | 4 => ("selection", format!("{rank}/selection?{span}")),
            _ => ("list", "/api/profiles".to_owned()),
        }
    }

    /// Zooms in or out around a point of the view, more often in. Restarts from the narrowest view.
    fn step(&mut self) {
        let (start, end) = (self.rank.entry.start_ps as f64, self.rank.entry.end_ps as f64);
        let whole = end - start;
        let factor = if self.random.chance(0.6) { 0.5 } else { 2.0 };
        self.middle_ps += (self.random.unit() - 0.5) * self.width_ps;
        self.width_ps = (self.width_ps * factor).min(whole);
        if self.width_ps < NARROWEST_PS {
            self.width_ps = whole;
        }
        let half = self.width_ps / 2.0;
        self.middle_ps = self.middle_ps.clamp(start + half, (end - half).max(start + half));
    }
}
