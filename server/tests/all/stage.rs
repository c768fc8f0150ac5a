//! Fixture of the tests: a store with a small trace, and a service to query.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, Response, StatusCode};
use nprof_server::app::App;
use nprof_server::child::{IngestProcess, Limits};
use nprof_server::http::access::{Access, Changes};
use nprof_server::http::peer::Peer;
use nprof_server::http::token::Token;
use nprof_server::ingest::{IngestSettings, NamedInputs, run};
use nprof_server::routes::router::router;
use nprof_server::store::{Profile, Store};
use nprof_server::work::Meter;
use serde_json::Value;
use tower::ServiceExt;

/// Two threads, nesting, an instant, a counter, a flow, fields of several types.
pub const TRACE: &str = r#"{"traceEvents":[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"main"}},
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"outer","args":{"count":3,"text":"needle","half":0.5,"big":18446744073709551615,"list":[1]}},
{"ph":"X","pid":1,"tid":1,"ts":10,"dur":20,"name":"inner"},
{"ph":"X","pid":1,"tid":1,"ts":40,"dur":20,"name":"inner"},
{"ph":"X","pid":1,"tid":2,"ts":50,"dur":30,"name":"worker","args":{"ok":true}},
{"ph":"i","pid":1,"tid":2,"ts":60,"s":"t","name":"moment"},
{"ph":"s","pid":1,"tid":1,"ts":45,"id":7,"name":"go","cat":"c"},
{"ph":"f","pid":1,"tid":2,"ts":55,"id":7,"name":"go","cat":"c","bp":"e"},
{"ph":"C","pid":1,"ts":0,"name":"memory","args":{"bytes":5}},
{"ph":"C","pid":1,"ts":70,"name":"memory","args":{"bytes":9}}
]}"#;

/// A store with [`TRACE`] in it, under the name `small`.
pub struct Stage {
    // Keeps the files alive.
    _dir: tempfile::TempDir,
    pub store: Arc<Store>,
    pub app: App,
    pub access: Access,
    pub service: Router,
}

/// More rows than a small segment has, appended to the trace one after the other.
const FILLER_ROWS: usize = 9_000;

impl Stage {
    pub fn new() -> Self {
        Self::with(TRACE)
    }

    /// The same trace with [`FILLER_ROWS`] more rows, so that its segment stores columns in
    /// separate pieces of the file.
    pub fn large() -> Self {
        let filler = |at: usize| {
            format!(r#"{{"ph":"X","pid":2,"tid":3,"ts":{},"dur":1,"name":"filler"}},"#, 1_000 + 2 * at)
        };
        let filler: String = (0..FILLER_ROWS).map(filler).collect();
        Self::with(&TRACE.replacen('[', &format!("[{filler}"), 1))
    }

    /// The profile `small` of these events.
    pub fn with(events: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(&dir.path().join("store")).unwrap());
        let trace = dir.path().join("small.json");
        fs::write(&trace, events).unwrap();
        let named = NamedInputs { files: vec![trace], ..NamedInputs::default() };
        let settings = IngestSettings { slug: Some("small".parse().unwrap()), ..IngestSettings::default() };
        run(&store, &named, &settings, &Meter::default()).unwrap();
        let token = Token::random().unwrap();
        let access = Access { token, port: 3001, names: Vec::new(), changes: Changes::All };
        let app = App::new(Arc::clone(&store), process());
        let mut stage = Self { _dir: dir, store, app, access, service: Router::new() };
        stage.restart();
        stage
    }

    /// Drops all open segments and caches.
    pub fn restart(&mut self) {
        self.app = App::new(Arc::clone(&self.store), process());
        self.service = router(self.app.clone(), Arc::new(self.access.clone()));
    }

    /// Overwrites rows of the profile, whose segment still opens: whoever reads them fails.
    pub fn lose_rows(&self) {
        let segment = segment_path(&self.store.find("small").unwrap(), 0);
        let mut damaged = fs::read(&segment).unwrap();
        damaged[16..200].fill(0);
        fs::write(segment.with_extension("new"), &damaged).unwrap();
        fs::rename(segment.with_extension("new"), &segment).unwrap();
    }

    /// Checks that a kept answer that is damaged, of other content or empty is computed and kept
    /// anew.
    pub async fn check_computed_anew(&mut self, path: &str, kept: &Path) {
        let first = self.json(path).await;
        let whole = fs::read(kept).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let text = String::from_utf8_lossy(&whole).into_owned();
        let content = text.split(' ').nth(3).unwrap();
        // The rest of the file has bytes that are no text.
        let mut other = whole.clone();
        let at = text.find(content).unwrap();
        other[at..at + content.len()].fill(b'0');
        for (what, bytes) in [("damaged", flipped), ("of other content", other), ("empty", Vec::new())] {
            fs::write(kept, bytes).unwrap();
            self.restart();
            assert_eq!(self.json(path).await, first, "{what}");
            assert_eq!(fs::read(kept).unwrap(), whole, "{what}");
        }
    }

    pub async fn ask(&self, request: Request<Body>) -> Answer {
        let answer: Response<Body> = self.service.clone().oneshot(request).await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec();
        Answer { status, headers, body }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask(request("GET", path).body(Body::empty()).unwrap()).await
    }

    /// The JSON of an answer that must succeed.
    pub async fn json(&self, path: &str) -> Value {
        let asked = request("GET", path).header("accept", "application/json").body(Body::empty()).unwrap();
        let answer = self.ask(asked).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text());
        answer.json()
    }

    /// The row of the slice with this name.
    pub async fn row(&self, name: &str) -> u64 {
        let found = self.json(&format!("/api/profiles/small/ranks/0/search?q={name}")).await;
        found["hits"][0]["slice"]["row"].as_u64().unwrap()
    }

    /// The path of the tile of the first group that covers the whole trace.
    pub async fn tile_path(&self) -> String {
        let detail = self.json("/api/profiles/small/ranks/0").await;
        let content = detail["entry"]["content"].as_str().unwrap().to_owned();
        format!("/api/profiles/small/ranks/0/tiles/{content}/{}/10/0", detail["groups"][0]["id"])
    }

    pub fn staged(&self) -> usize {
        fs::read_dir(self.store.root().join("tmp")).unwrap().count()
    }
}

/// The program that reads uploads.
pub fn process() -> IngestProcess {
    IngestProcess { program: env!("CARGO_BIN_EXE_nprof").into(), limits: Limits::default() }
}

/// A request of the user who runs the server.
pub fn request(method: &str, path: &str) -> axum::http::request::Builder {
    request_of(Peer::SameUser, method, path)
}

pub fn request_of(peer: Peer, method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "localhost:3001").extension(peer)
}

/// An answer with its complete body.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

/// Path of the segment of this rank.
pub fn segment_path(profile: &Profile, rank: u32) -> PathBuf {
    let file = profile.manifest.ranks.iter().find(|file| file.rank == rank);
    profile.segment_path(file.expect("the profile has this rank"))
}

/// A folder of real traces outside the project, if it exists.
pub fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(path);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}
