//! Small NEFFs, built from the documented layout: for tests, and as seeds for the fuzz targets.

use std::io::Write;

use prost::Message;

use super::debug::{DebugEntry, DebugLayer};
use super::header::HEADER_LEN;

/// A header as the runtime writes it.
pub fn header() -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [2_u64, 1024, 30_720, 2, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([0; 128]);
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend([0xab; 32]);
    bytes.extend([0xcd; 16]);
    let mut name = b"/tmp/graph.neff".to_vec();
    name.resize(256, 0);
    bytes.extend(name);
    bytes.extend([0; 4 + 64]);
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(2_u32.to_le_bytes());
    bytes.resize(HEADER_LEN, 0);
    bytes
}

/// A tar archive of these members.
pub fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        builder.append_data(&mut header, path, *bytes).expect("memory is enough");
    }
    builder.into_inner().expect("memory is enough")
}

/// Packs bytes in gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory is enough");
    encoder.finish().expect("memory is enough")
}

/// An archive with every member that is read, and one that is not.
pub fn members() -> Vec<u8> {
    let layer = DebugLayer {
        description: "HLO".into(),
        parent_layer: String::new(),
        entries: vec![DebugEntry { id: 3, name: "%dot.3".into(), parents: vec![5], ..Default::default() }],
    };
    let layer = layer.encode_to_vec();
    let tensors =
        br#"{"input0": {"kind": "input", "tf_shape": [128, 64], "tf_format": "NC", "dtype": "float16"},
        "w": {"is_const": true, "sim_shape": [2], "dtype": "mystery"}}"#;
    let def = br#"{"dma_queue": {"qSPSpillReload0": {"semaphore": 8}, "qNone": {}}}"#;
    tar(&[
        ("./info.json", br#"{"tool_version": "2.22.1"}"#),
        ("hlo_stats.json", br#"{"HloMacCount": 16384000}"#),
        ("tensor_map.json", tensors),
        ("sg00/def.json", def),
        ("debug_info/hlo.dbg", &layer),
        ("sg00/PE.bin", &[0; 640]),
    ])
}
