//! Small NEFFs, built from the documented layout.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::fixture::{gzip, header, members, tar};
use super::*;
use nprof_engine::fixture::Recorder;
use nprof_engine::model::{OwnedValue, WarningKind};

fn text(row: &[(String, OwnedValue)], name: &str) -> String {
    match &row.iter().find(|(field, _)| field == name).unwrap().1 {
        OwnedValue::Text(text) | OwnedValue::Json(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

#[track_caller]
fn check_told(input: &[u8]) -> Neff {
    let neff = Neff::read(input).unwrap();
    assert_eq!(neff.compiler_version(), Some("2.22.1"));
    assert_eq!(neff.model_flops(), Some(32_768_000));
    assert_eq!(neff.semaphore_names().get(&8).map(String::as_str), Some("qSPSpillReload0"));
    assert_eq!(neff.layers()[0].1.entries[0].name, "%dot.3");
    neff
}

#[test]
fn header_or_none_gzip_or_none() {
    let plain = members();
    assert!(check_told(&plain).header().is_none());
    assert!(check_told(&gzip(&plain)).header().is_none());
    assert!(check_told(&[header(), plain.clone()].concat()).header().is_some());
    assert!(check_told(&[header(), gzip(&plain)].concat()).header().is_some());
}

#[test]
fn side_tables_tell_of_program_tensors_and_names() {
    let neff = check_told(&[header(), gzip(&members())].concat());
    let mut recorder = Recorder::default();
    neff.write(&mut recorder).unwrap();
    let header = recorder.rows_of("neff_header").next().unwrap();
    let texts = ["package_version", "data_size", "number_of_logical_neuroncores", "network_name", "hash"];
    let hash = "ab".repeat(16);
    assert_eq!(texts.map(|name| text(header, name)), ["2", "30720", "3", "/tmp/graph.neff", &hash]);
    assert_eq!(text(header, "uuid"), "cd".repeat(16));
    let tensors: Vec<_> = recorder.rows_of("neff_node").collect();
    let texts = ["variable_name", "type", "shape", "format", "size"];
    assert_eq!(texts.map(|name| text(tensors[0], name)), ["input0", "IN", "[128 64]", "NC", "16384"]);
    assert_eq!(text(tensors[1], "type"), "WEIGHT");
    assert!(!tensors[1].iter().any(|(field, _)| field == "size"), "the type's width is not known");
    let name = recorder.rows_of("debug_name").next().unwrap();
    assert_eq!((text(name, "name"), text(name, "parent_ids")), ("%dot.3".into(), "[5]".into()));
    assert_eq!(recorder.warnings(), []);
}

#[test]
fn a_damaged_member_costs_only_what_it_would_have_told() {
    let neff =
        Neff::read(&tar(&[("info.json", b"{"), ("hlo_stats.json", br#"{"HloMacCount": 2}"#)])).unwrap();
    assert_eq!((neff.compiler_version(), neff.model_flops()), (None, Some(4)));
    let mut recorder = Recorder::default();
    neff.write(&mut recorder).unwrap();
    let warning = &recorder.warnings()[0];
    assert_eq!((warning.kind, warning.first_place.as_str()), (WarningKind::DamagedRecord, "info.json"));
}

#[test]
fn paths_and_links_are_not_followed() {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder.append_link(&mut header, "info.json", "/etc/hostname").unwrap();
    let neff = Neff::read(&builder.into_inner().unwrap()).unwrap();
    assert_eq!(neff.compiler_version(), None);
}

#[test]
fn a_member_that_claims_too_much_is_left_out() {
    let mut header = tar::Header::new_gnu();
    header.set_path("info.json").unwrap();
    header.set_size(1 << 40);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.resize(2048, 0);
    let error = Neff::read(&bytes).unwrap_err().to_string();
    assert!(error.contains("cannot be unpacked"), "{error}");
}

#[test]
fn a_cancellation_is_heard_within_a_member_that_is_not_read() {
    let looks = AtomicUsize::new(0);
    let look = || looks.fetch_add(1, Ordering::Relaxed) >= 20;
    let packed = gzip(&tar(&[("weights.bin", &[0; 8 << 20])]));
    let error = Neff::read_while(&packed, Cancel::when(&look)).unwrap_err().to_string();
    assert!(error.contains("the work was cancelled"), "{error}");
    assert!(looks.into_inner() < 30);
}

#[test]
fn what_is_no_neff_is_refused() {
    for (input, what) in [
        (&b""[..], "the NEFF is empty"),
        (b"hello", "this is not a NEFF"),
        (&header()[..100], "the NEFF ends early"),
        (&header(), "neither gzip nor tar"),
    ] {
        let error = Neff::read(input).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn no_truncated_or_damaged_file_ends_in_a_panic() {
    let good = [header(), gzip(&members())].concat();
    for keep in 0..good.len() {
        let _ = Neff::read(&good[..keep]);
    }
    let mut refused = 0;
    for at in 0..good.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            refused += usize::from(Neff::read(&bytes).is_err());
        }
    }
    assert!(refused > 0);
}
