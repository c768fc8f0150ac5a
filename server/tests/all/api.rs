//! Guarantees of the API, request by request.

use axum::body::Body;
use axum::http::StatusCode;
use nprof_engine::wire::catalog::{ProfileInfo, ProfileList};
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::tile::Tile;
use nprof_engine::wire::{POSTCARD, POSTCARD_ZSTD};

use crate::stage::{Stage, request, segment_path};

#[tokio::test]
async fn profiles_are_listed_read_and_removed() {
    let stage = Stage::new();
    let list = stage.json("/api/profiles").await;
    assert_eq!(list["profiles"][0]["slug"], "small");
    assert_eq!(list["profiles"][0]["events"], 7);
    let id = list["profiles"][0]["id"].as_str().unwrap().to_owned();
    for name in ["small", id.as_str()] {
        let profile = stage.json(&format!("/api/profiles/{name}")).await;
        assert_eq!(profile["entry"], list["profiles"][0]);
        assert_eq!(profile["ranks"][0]["input"], "small.json");
    }
    let remove = || request("DELETE", "/api/profiles/small").body(Body::empty()).unwrap();
    assert_eq!(stage.ask(remove()).await.status, StatusCode::NO_CONTENT);
    assert_eq!(stage.ask(remove()).await.status, StatusCode::NOT_FOUND);
    assert_eq!(stage.json("/api/profiles").await["profiles"].as_array().unwrap().len(), 0);
    assert_eq!(stage.get("/api/profiles/small/ranks/0").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn postcard_and_json_say_the_same() {
    let stage = Stage::new();
    let ask = |path| stage.ask(request("GET", path).header("accept", POSTCARD).body(Body::empty()).unwrap());
    let list = ask("/api/profiles").await;
    assert_eq!(list.header("content-type"), POSTCARD);
    let list: ProfileList = postcard::from_bytes(&list.body).unwrap();
    assert_eq!(serde_json::to_value(list).unwrap(), stage.json("/api/profiles").await);
    let profile: ProfileInfo = postcard::from_bytes(&ask("/api/profiles/small").await.body).unwrap();
    assert_eq!(serde_json::to_value(profile).unwrap(), stage.json("/api/profiles/small").await);
}

#[tokio::test]
async fn slices_and_their_neighbours() {
    let stage = Stage::new();
    let rank = "/api/profiles/small/ranks/0";
    let outer = stage.row("outer").await;
    let detail = stage.json(&format!("{rank}/slices/{outer}")).await;
    assert_eq!(detail["slice"]["duration_ps"], 100_000_000);
    let value = |name: &str| {
        let fields = detail["fields"].as_array().unwrap();
        fields.iter().find(|field| field["name"] == name).map(|field| field["value"].clone())
    };
    assert_eq!(value("count").unwrap()["int"], 3);
    assert_eq!(value("text").unwrap()["text"], "needle");
    assert_eq!(value("big").unwrap()["uint"], u64::MAX);
    let below = stage.json(&format!("{rank}/slices/{outer}/step?direction=down")).await;
    assert_eq!(below["slice"]["name"], "inner");
    let row = below["slice"]["row"].as_u64().unwrap();
    let next = stage.json(&format!("{rank}/slices/{row}/step?direction=next")).await;
    assert_eq!(next["slice"]["start_ps"], 40_000_000);
    assert_eq!(next["successors"][0]["slice"]["name"], "worker");
    let end = stage.get(&format!("{rank}/slices/{}/step?direction=next", next["slice"]["row"])).await;
    assert_eq!((end.status, end.body.len()), (StatusCode::NO_CONTENT, 0));
    let missing = stage.get(&format!("{rank}/slices/9999/step?direction=next")).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    let found = stage.json(&format!("{rank}/search?q=needle")).await;
    assert_eq!((found["total"].as_u64(), found["hits"][0]["field"].as_str()), (Some(1), Some("text")));
}

#[tokio::test]
async fn steps_down_lead_through_the_tracks_that_are_not_below_closed_groups() {
    let stage = Stage::new();
    let rank = "/api/profiles/small/ranks/0";
    let detail = stage.json(rank).await;
    let id = |name: &str| {
        let tracks = detail["tracks"].as_array().unwrap();
        tracks.iter().find(|track| track["name"] == name).map(|track| track["id"].as_u64().unwrap())
    };
    let outer = stage.row("outer").await;
    let step = |row: u64, more: String| format!("{rank}/slices/{row}/step?direction={more}");
    let inner = stage.json(&step(outer, "down".to_owned())).await["slice"]["row"].as_u64().unwrap();
    let worker = stage.json(&step(inner, "down".to_owned())).await;
    assert_eq!(worker["slice"]["name"], "worker");
    // The innermost slice that runs at that time.
    let back = stage.json(&step(worker["slice"]["row"].as_u64().unwrap(), "up".to_owned())).await;
    assert_eq!((&back["slice"]["name"], &back["slice"]["start_ps"]), (&"inner".into(), &40_000_000.into()));
    let group = id("Process 1").unwrap();
    let past = stage.get(&step(inner, format!("down&closed={group}"))).await;
    assert_eq!(past.status, StatusCode::NO_CONTENT);
    assert_eq!(stage.get(&step(outer, "up".to_owned())).await.status, StatusCode::NO_CONTENT);
    assert_eq!(stage.get(&step(outer, "up&closed=x".to_owned())).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn counters_tell_their_value_its_change_and_a_span() {
    let stage = Stage::new();
    let rank = "/api/profiles/small/ranks/0";
    let tracks = stage.json(rank).await["tracks"].as_array().unwrap().clone();
    let id = |kind: &str| tracks.iter().find(|track| track["kind"] == kind).unwrap()["id"].clone();
    let path =
        |track, at_ps: i64| format!("{rank}/counters/{track}?at_ps={at_ps}&start_ps=0&end_ps=100000000");
    let counter = stage.json(&path(id("counter"), 80_000_000)).await;
    assert_eq!((&counter["sample"]["value"], &counter["before"]["value"]), (&9.0.into(), &5.0.into()));
    assert_eq!(counter["sample"]["time_ps"], 70_000_000);
    // The value is 5 for 70 µs and 9 for 30 µs.
    let span = &counter["span"];
    assert_eq!((&span["min"], &span["max"], &span["samples"]), (&5.0.into(), &9.0.into(), &2.into()));
    assert!((span["mean"].as_f64().unwrap() - 6.2).abs() < 1e-6, "{span}");
    let first = stage.json(&path(id("counter"), 0)).await;
    assert_eq!((&first["sample"]["value"], first["before"].is_null()), (&5.0.into(), true));
    assert_eq!(stage.get(&path(id("slices"), 0)).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn searches_by_text_and_by_regular_expression() {
    let stage = Stage::new();
    let names = async |query: &str| {
        let found = stage.json(&format!("/api/profiles/small/ranks/0/search?{query}")).await;
        let hits = found["hits"].as_array().unwrap().iter();
        let names: Vec<String> = hits.map(|hit| hit["slice"]["name"].as_str().unwrap().to_owned()).collect();
        assert_eq!(found["total"], names.len());
        names
    };
    assert_eq!(names("q=INNER").await, [""; 0]);
    assert_eq!(names("q=n.*r").await, [""; 0]);
    assert_eq!(names("q=n.*r&syntax=regex").await, ["inner", "inner"]);
    assert_eq!(names("q=%5E(outer%7Cw.rker)$&syntax=regex").await, ["outer", "worker"]);
    assert_eq!(names("q=%5EN&syntax=regex").await, [""; 0]);
    assert_eq!(names("q=%5Eneedle$&syntax=regex").await, ["outer"], "in a field");
    assert_eq!(names("q=&syntax=regex").await, [""; 0]);
    let wrong = stage.get("/api/profiles/small/ranks/0/search?q=a(b&syntax=regex").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert_eq!(wrong.json()["error"], "the pattern is invalid at character 2: unclosed group");
}

#[tokio::test]
async fn hits_are_found_from_a_place_and_counted_over_all_tracks() {
    let stage = Stage::new();
    // The matches start at 0, 10, 40 and 50 µs; the last is on another track.
    let check = async |query: &str, expected: &[i64], before: u64| {
        let path =
            format!("/api/profiles/small/ranks/0/search?q=outer%7Cinner%7Cworker&syntax=regex&{query}");
        let found = stage.json(&path).await;
        let starts: Vec<i64> = found["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["slice"]["start_ps"].as_i64().unwrap() / 1_000_000)
            .collect();
        assert_eq!((starts, found["before"].as_u64()), (expected.to_vec(), Some(before)), "{query}");
        assert_eq!(found["total"], 4, "{query}");
    };
    check("limit=2", &[0, 10], 0).await;
    check("direction=previous&limit=2", &[40, 50], 2).await;
    check("at_ps=10000000&limit=1", &[10], 1).await;
    check("at_ps=10000001&limit=9", &[40, 50], 2).await;
    check("at_ps=10000000&direction=previous", &[0], 0).await;
    check("at_ps=10000000&at_row=4294967295&direction=previous", &[0, 10], 0).await;
    check("at_ps=40000000&direction=around&limit=2", &[10, 40], 1).await;
    check("at_ps=90000000", &[], 4).await;
}

#[tokio::test]
async fn windows_and_selections() {
    let stage = Stage::new();
    let rank = "/api/profiles/small/ranks/0";
    let window = stage.json(&format!("{rank}/events?start_ps=0&end_ps=35000000")).await;
    assert_eq!((window["slices"].as_array().unwrap().len(), &window["truncated"]), (2, &false.into()));
    let first = stage.json(&format!("{rank}/events?start_ps=0&end_ps=100000000&limit=1")).await;
    assert_eq!((first["slices"].as_array().unwrap().len(), &first["truncated"]), (1, &true.into()));
    let none = stage.json(&format!("{rank}/events?start_ps=0&end_ps=100000000&tracks=")).await;
    assert_eq!(none["slices"].as_array().unwrap().len(), 0);
    let selection = stage.json(&format!("{rank}/selection?start_ps=0&end_ps=20000000")).await;
    let of = |name: &str| {
        let names = selection["by_name"].as_array().unwrap();
        names.iter().find(|of| of["name"] == name).unwrap().clone()
    };
    let inner = of("inner");
    assert_eq!((&inner["count"], &inner["total_ps"]), (&1.into(), &10_000_000.into()));
    // In the span, half of the outer call's time belongs to the inner call.
    let outer = of("outer");
    assert_eq!(outer["total_ps"], 20_000_000);
    assert_eq!((&outer["union_ps"], &outer["self_ps"]), (&20_000_000.into(), &10_000_000.into()));
}

#[tokio::test]
async fn tiles_are_frames_for_ever() {
    let stage = Stage::new();
    let path = stage.tile_path().await;
    let tile = stage.get(&path).await;
    assert_eq!(tile.status, StatusCode::OK, "{}", tile.text());
    assert_eq!(tile.header("content-type"), POSTCARD_ZSTD);
    assert_eq!(tile.header("cache-control"), "private, max-age=31536000, immutable");
    let bytes = zstd::stream::decode_all(&tile.body[..]).unwrap();
    let decoded: Tile = postcard::from_bytes(&bytes).unwrap();
    assert!(!decoded.lanes.is_empty());
    let with = |name, value: String| request("GET", &path).header(name, value).body(Body::empty()).unwrap();
    let json = stage.ask(with("accept", "application/json".to_owned())).await;
    assert_eq!(json.json(), serde_json::to_value(&decoded).unwrap());
    assert_ne!(json.header("etag"), tile.header("etag"), "two forms have two tags");
    let tag = tile.header("etag").to_owned();
    for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
        let again = stage.ask(with("if-none-match", known)).await;
        assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
        assert_eq!(again.header("etag"), tag);
    }
    assert_eq!(stage.ask(with("if-none-match", "\"x\"".to_owned())).await.status, StatusCode::OK);
    let nowhere = request("GET", &path.replace("/0/10/0", "/99/10/0")).header("if-none-match", "*");
    assert_eq!(stage.ask(nowhere.body(Body::empty()).unwrap()).await.status, StatusCode::NOT_FOUND);
    // A tile is already compressed: gzip would cost time and save nothing.
    let packed = stage.ask(with("accept-encoding", "gzip".to_owned())).await;
    assert_eq!((packed.header("content-encoding"), &packed.body), ("", &tile.body));
}

#[tokio::test]
async fn what_does_not_exist_is_said_in_json() {
    let stage = Stage::new();
    let tile = stage.tile_path().await;
    let no_level = tile.replace("/10/0", "/44/0");
    let no_group = tile.replace("/0/10/0", "/99/10/0");
    let other_content = tile.replace("/tiles/", "/tiles/x");
    let row = stage.row("outer").await;
    let cases = [
        ("/api/nothing", StatusCode::NOT_FOUND),
        ("/nothing.js", StatusCode::NOT_FOUND),
        ("/api/jobs/1", StatusCode::NOT_FOUND),
        ("/api/jobs/x", StatusCode::BAD_REQUEST),
        ("/api/profiles/other", StatusCode::NOT_FOUND),
        ("/api/profiles/..%2f..", StatusCode::NOT_FOUND),
        ("/api/profiles/small/ranks/1", StatusCode::NOT_FOUND),
        ("/api/profiles/small/ranks/-1", StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/slices/4294967295", StatusCode::NOT_FOUND),
        ("/api/profiles/small/ranks/0/slices/4294967296", StatusCode::BAD_REQUEST),
        (&format!("/api/profiles/small/ranks/0/slices/{row}/step?direction=back"), StatusCode::BAD_REQUEST),
        (&format!("/api/profiles/small/ranks/0/slices/{row}/step"), StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/events?start_ps=5", StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/events?start_ps=5&end_ps=4", StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/events?start_ps=0&end_ps=4&tracks=a", StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/search", StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/search?q=a&syntax=glob", StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/search?q=a&at_row=3", StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/search?q=a&direction=back", StatusCode::BAD_REQUEST),
        ("/api/profiles/small/ranks/0/search?q=a{9999}{9999}&syntax=regex", StatusCode::BAD_REQUEST),
        (&no_level, StatusCode::NOT_FOUND),
        (&no_group, StatusCode::NOT_FOUND),
        (&other_content, StatusCode::GONE),
    ];
    for (path, status) in cases {
        let answer = stage.get(path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(!answer.json()["error"].as_str().unwrap().is_empty(), "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    }
    let wrong = stage.ask(request("PUT", "/api/profiles").body(Body::empty()).unwrap()).await;
    assert_eq!(wrong.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(wrong.json()["error"].is_string());
}

#[tokio::test]
async fn the_page_gets_refusals_as_messages() {
    let stage = Stage::new();
    for (path, kind) in [
        ("/api/profiles/other", RefusalKind::NotFound),
        ("/api/profiles/small/ranks/0/search?q=(&syntax=regex", RefusalKind::BadPattern),
        ("/api/jobs/1", RefusalKind::NotFound),
    ] {
        for accept in [POSTCARD, POSTCARD_ZSTD] {
            let asked = request("GET", path).header("accept", accept).body(Body::empty()).unwrap();
            let answer = stage.ask(asked).await;
            let refusal: Refusal = postcard::from_bytes(&answer.body).unwrap();
            assert_eq!((refusal.kind, answer.header("content-type")), (kind, POSTCARD), "{path}");
            assert_eq!(refusal.message, stage.get(path).await.json()["error"].as_str().unwrap(), "{path}");
        }
    }
}

#[tokio::test]
async fn extreme_windows_are_answered() {
    let stage = Stage::new();
    let tile = stage.tile_path().await;
    let (min, max) = (i64::MIN, i64::MAX);
    for path in [
        format!("/api/profiles/small/ranks/0/events?start_ps={min}&end_ps={max}"),
        format!("/api/profiles/small/ranks/0/selection?start_ps={min}&end_ps={max}"),
        tile.replace("/10/0", &format!("/43/{max}")),
        tile.replace("/10/0", &format!("/0/{min}")),
    ] {
        let answer = stage.get(&path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_damaged_segment_is_reported_and_nothing_else_suffers() {
    let stage = Stage::new();
    let profile = stage.store.find("small").unwrap();
    let path = segment_path(&profile, 0);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let answer = stage.get("/api/profiles/small/ranks/0").await;
    assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR);
    let said = answer.json()["error"].as_str().unwrap().to_owned();
    assert!(said.contains("\"small\" rank 0, rank_0.nseg: "), "{said}");
    assert_eq!(stage.get("/api/profiles").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_wrong_address_is_a_page_for_people_and_json_for_programs() {
    let stage = Stage::new();
    let ask = |path: &str, accept: &str| {
        let request = request("GET", path).header("accept", accept).body(Body::empty()).unwrap();
        stage.ask(request)
    };
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    let page = ask("/foo/%3Cscript%3E", browser).await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    assert!(page.header("content-type").starts_with("text/html"), "{}", page.header("content-type"));
    assert!(page.text().contains("There is no page at <code>/foo/%3Cscript%3E</code>"), "{}", page.text());
    for (path, accept) in [("/foo", "*/*"), ("/foo", "application/json"), ("/api/foo", browser)] {
        let answer = ask(path, accept).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.json()["error"], format!("there is no resource at {path}"));
    }
}

#[tokio::test]
async fn the_address_that_neuron_profile_gives_several_ranks_leads_to_the_profile() {
    let stage = Stage::new();
    for (from, to) in
        [("/profile_cc/small", "/profile/small"), ("/profile_cc/a%2Fb?rank=1", "/profile/a%2Fb?rank=1")]
    {
        let answer = stage.get(from).await;
        assert_eq!((answer.status, answer.header("location")), (StatusCode::TEMPORARY_REDIRECT, to));
    }
    assert_eq!(stage.get("/profile_cc/").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn all_names_of_a_profile_lead_to_it() {
    let stage = Stage::new();
    let id = stage.json("/api/profiles/small").await["entry"]["id"].as_str().unwrap().to_owned();
    stage.store.rename(&id, Some("größe".parse().unwrap()), None).unwrap();
    let first = stage.json("/api/profiles/small").await;
    assert_eq!(first["entry"]["aliases"], serde_json::json!(["größe"]));
    assert_eq!(stage.json("/api/profiles/gr%C3%B6%C3%9Fe").await, first);
    stage.json("/api/profiles/gr%C3%B6%C3%9Fe/ranks/0").await;
    let remove = request("DELETE", "/api/profiles/gr%C3%B6%C3%9Fe").body(Body::empty()).unwrap();
    assert_eq!(stage.ask(remove).await.status, StatusCode::NO_CONTENT);
    assert_eq!(stage.get("/api/profiles/small").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_page_and_its_guards() {
    let stage = Stage::new();
    for path in ["/", "/profile/small", "/profile/small?rank=0"] {
        let page = stage.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.header("content-type").starts_with("text/html"), "{path}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("x-frame-options"), "DENY");
    }
    let page = stage.get("/").await;
    let known = request("GET", "/").header("if-none-match", page.header("etag")).body(Body::empty()).unwrap();
    assert_eq!(stage.ask(known).await.status, StatusCode::NOT_MODIFIED);
    let rebound = axum::http::Request::builder().uri("/api/profiles").header("host", "evil.example");
    assert_eq!(stage.ask(rebound.body(Body::empty()).unwrap()).await.status, StatusCode::FORBIDDEN);
    let foreign = request("DELETE", "/api/profiles/small").header("origin", "https://evil.example");
    assert_eq!(stage.ask(foreign.body(Body::empty()).unwrap()).await.status, StatusCode::FORBIDDEN);
    assert_eq!(stage.get("/api/profiles/small").await.status, StatusCode::OK);
}

#[tokio::test]
async fn each_encoding_of_the_page_has_its_own_tag() {
    let stage = Stage::new();
    let page = async |encoding: &str, known: &str| {
        let request = request("GET", "/").header("accept-encoding", encoding).header("if-none-match", known);
        stage.ask(request.body(Body::empty()).unwrap()).await
    };
    let packed = page("gzip", "").await;
    let plain = page("gzip;q=0", "").await;
    assert_eq!((packed.header("content-encoding"), plain.header("content-encoding")), ("gzip", ""));
    assert_ne!(packed.header("etag"), plain.header("etag"));
    let small = page("gzip, br", "").await;
    assert_eq!(small.header("content-encoding"), "br");
    assert!(small.body.len() < packed.body.len() && small.header("etag") != packed.header("etag"));
    for (encoding, own, other) in
        [("gzip", &packed, &plain), ("gzip, br", &small, &packed), ("identity", &plain, &small)]
    {
        assert_eq!(page(encoding, own.header("etag")).await.status, StatusCode::NOT_MODIFIED, "{encoding}");
        assert_eq!(page(encoding, other.header("etag")).await.status, StatusCode::OK, "{encoding}");
    }
    assert_eq!(page("gzip", "*").await.status, StatusCode::NOT_MODIFIED);
}
