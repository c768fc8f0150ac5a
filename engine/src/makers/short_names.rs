//! Short names of fields, for queries.

use crate::query::ShortName;

/// The short names that every query knows.
pub static SHORT_NAMES: [ShortName; 8] = [
    short("size", "transfer_size"),
    short("size", "bytes"),
    short("rate", "transfer_rate"),
    short("queue", "dma_queue"),
    short("nki", "nki_source_location"),
    short("layer", "layer_name"),
    short("hlo", "hlo_name"),
    short("wait", "evt_wait_time"),
];

const fn short(short: &'static str, field: &'static str) -> ShortName {
    ShortName { short, field }
}
