//! Heavy questions: how many run at once, what does not wait for them, and what ends when nobody
//! waits. The tests count work and never measure time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::wire::POSTCARD_ZSTD;
use nprof_engine::wire::questions::{Question, answer};
use nprof_engine::wire::refusal::RefusalKind;
use nprof_server::http::turns::{Turn, Weight};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::stage::{Answer, Stage, request, segment_path};

/// Far fewer than the questions of a test, so that a question that waits on a thread is found.
const THREADS: usize = 4;
const QUESTIONS: usize = 600;
const SUMMARY: &str = "/api/profiles/small/ranks/0/summary";

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).max_blocking_threads(THREADS).enable_all().build().unwrap()
}

/// Takes all turns of this weight. A turn can end a moment after its answer.
async fn all_turns(stage: &Stage, weight: Weight) -> Vec<Turn> {
    let turns = stage.app.turns();
    let mut all = Vec::new();
    for _ in 0..2 * std::thread::available_parallelism().unwrap().get() {
        let turn = tokio::time::timeout(Duration::from_secs(60), turns.wait(weight));
        all.push(turn.await.expect("a turn is missing"));
    }
    assert!(turns.take(weight).is_none(), "there are more");
    all
}

fn is_computed(stage: &Stage) -> bool {
    segment_path(&stage.store.find("small").unwrap(), 0).with_extension("summary").exists()
}

/// Lets a question come to its wait for a turn of this weight. It must not be answered before.
async fn until_it_waits(stage: &Stage, weight: Weight, mut asked: Pin<&mut impl Future<Output = Answer>>) {
    while stage.app.turns().waiting(weight) == 0 {
        still_open(asked.as_mut()).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Polls a question once. It must not be answered yet.
async fn still_open(mut asked: Pin<&mut impl Future<Output = Answer>>) {
    poll_fn(|context| {
        assert!(asked.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}

#[test]
fn six_hundred_summaries_do_not_hold_up_the_list() {
    runtime().block_on(async {
        let stage = Stage::new();
        let tile = stage.tile_path().await;
        let tile = || request("GET", &tile).header("accept", POSTCARD_ZSTD).body(Body::empty()).unwrap();
        assert_eq!(stage.ask(tile()).await.status, StatusCode::OK);
        // Other heavy questions have all turns.
        let heavy = all_turns(&stage, Weight::Heavy).await;
        let small = all_turns(&stage, Weight::Small).await;
        let ask = || {
            let (service, asked) =
                (stage.service.clone(), request("GET", SUMMARY).body(Body::empty()).unwrap());
            tokio::spawn(async move { service.oneshot(asked).await.unwrap().status() })
        };
        let summaries: Vec<_> = (0..QUESTIONS).map(|_| ask()).collect();
        while stage.app.turns().waiting(Weight::Heavy) < QUESTIONS {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(stage.json("/api/profiles").await["profiles"].as_array().unwrap().len(), 1);
        assert_eq!(stage.get("/api/health").await.status, StatusCode::OK);
        assert_eq!(stage.ask(tile()).await.status, StatusCode::OK, "a kept tile needs no turn");
        assert!(!is_computed(&stage));
        drop(heavy);
        for summary in summaries {
            assert_eq!(summary.await.unwrap(), StatusCode::OK);
        }
        assert!(is_computed(&stage));
        // Now the summary is kept, so it needs no turn any more.
        let _heavy = all_turns(&stage, Weight::Heavy).await;
        assert_eq!(stage.get(SUMMARY).await.status, StatusCode::OK);
        drop(small);
    });
}

#[test]
fn a_question_that_nobody_waits_for_is_never_asked() {
    runtime().block_on(async {
        let stage = Stage::new();
        let heavy = all_turns(&stage, Weight::Heavy).await;
        {
            until_it_waits(&stage, Weight::Heavy, pin!(stage.get(SUMMARY))).await;
        }
        assert_eq!(stage.app.turns().waiting(Weight::Heavy), 0);
        drop(heavy);
        let turns = stage.app.turns().wait(Weight::Heavy).await;
        drop(turns);
        assert!(!is_computed(&stage));
        assert_eq!(stage.get(SUMMARY).await.status, StatusCode::OK);
        assert!(is_computed(&stage));
    });
}

/// The only thread is busy when the questions come, and their clients leave before it is free.
#[test]
fn a_question_whose_client_left_before_its_thread_was_free_computes_nothing() {
    let runtime = Builder::new_multi_thread().worker_threads(2).max_blocking_threads(1).enable_all().build();
    runtime.unwrap().block_on(async {
        let stage = Stage::new();
        let tile = stage.tile_path().await;
        let tile = || request("GET", &tile).header("accept", POSTCARD_ZSTD).body(Body::empty()).unwrap();
        let (free, busy) = std::sync::mpsc::channel::<()>();
        let thread = tokio::task::spawn_blocking(move || busy.recv());
        {
            let (mut summary, mut tile) = (pin!(stage.get(SUMMARY)), pin!(stage.ask(tile())));
            still_open(summary.as_mut()).await;
            still_open(tile.as_mut()).await;
        }
        free.send(()).unwrap();
        thread.await.unwrap().unwrap();
        // The thread takes its tasks in order, so this one comes after the questions.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        assert!(!is_computed(&stage));
        // A kept tile would be answered without a turn.
        let _small = all_turns(&stage, Weight::Small).await;
        until_it_waits(&stage, Weight::Small, pin!(stage.ask(tile()))).await;
    });
}

/// The first look at the cancellation comes before the work, the others come while it runs.
#[tokio::test]
async fn a_question_that_runs_ends_when_its_client_has_left() {
    let stage = Stage::large();
    let rank = "/api/profiles/small/ranks/0";
    let detail = stage.json(rank).await;
    let tracks = detail["tracks"].as_array().unwrap();
    let counter = &tracks.iter().find(|track| track["kind"] == "counter").unwrap()["id"];
    let group = detail["groups"].as_array().unwrap().len() - 1;
    let content = detail["entry"]["content"].as_str().unwrap();
    let row = stage.row("worker").await;
    let all = "start_ps=0&end_ps=100000000000";
    for (path, query) in [
        (format!("{rank}/tiles/{content}/{group}/0/1"), String::new()),
        (format!("{rank}/slices/{row}"), String::new()),
        (format!("{rank}/slices/{row}/step"), "direction=next".to_owned()),
        (format!("{rank}/counters/{counter}"), format!("at_ps=1&{all}")),
        (format!("{rank}/events"), format!("{all}&limit=100000")),
        (format!("{rank}/selection"), all.to_owned()),
        (format!("{rank}/tables/slice"), "limit=100000".to_owned()),
        (format!("{rank}/search"), "q=filler".to_owned()),
    ] {
        let question = Question::parse(&path, &query).unwrap();
        let looks = AtomicUsize::new(0);
        let is_left = || looks.fetch_add(1, Ordering::Relaxed) > 0;
        let work = Work { cancel: Cancel::when(&is_left), ..Work::IN_PLACE };
        let refused = answer(&stage.app, &question, work).map_err(|refusal| refusal.kind);
        assert_eq!(refused.err(), Some(RefusalKind::Cancelled), "{path}?{query}");
    }
}

#[tokio::test]
async fn large_answers_count_until_they_are_sent() {
    let stage = Stage::large();
    let unread = stage.app.turns().unread();
    let path = "/api/profiles/small/ranks/0/tables/slice?limit=9000";
    let asked = || stage.service.clone().oneshot(request("GET", path).body(Body::empty()).unwrap());
    let answers = [asked().await.unwrap(), asked().await.unwrap()];
    assert!(answers.iter().all(|answer| answer.status() == StatusCode::OK));
    assert!(unread.in_use() > 200_000, "{}", unread.in_use());
    // Other questions have their turns meanwhile.
    drop(all_turns(&stage, Weight::Heavy).await);
    drop(answers);
    assert_eq!(unread.in_use(), 0);
}
