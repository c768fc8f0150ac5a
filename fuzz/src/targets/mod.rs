//! The targets: one for each reader of bytes, and for what is built of them.

mod aiu;
mod builder;
mod bundle;
mod codec;
mod inputs;
mod neff;
mod neuron_json;
mod ntff;
mod overlay;
mod pattern;
mod perfetto;
mod question;
mod segment;
mod tile;
mod trace_event;

/// Runs code on any bytes, which must neither panic nor take more than its bounds.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of its folders of seeds and findings.
    pub name: &'static str,
    /// Panics if the input has found a fault.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 15] = [
    Target { name: "aiu", run: aiu::run },
    Target { name: "builder", run: builder::run },
    Target { name: "bundle", run: bundle::run },
    Target { name: "codec", run: codec::run },
    Target { name: "inputs", run: inputs::run },
    Target { name: "neff", run: neff::run },
    Target { name: "neuron_json", run: neuron_json::run },
    Target { name: "ntff", run: ntff::run },
    Target { name: "overlay", run: overlay::run },
    Target { name: "pattern", run: pattern::run },
    Target { name: "perfetto", run: perfetto::run },
    Target { name: "question", run: question::run },
    Target { name: "segment", run: segment::run },
    Target { name: "tile", run: tile::run },
    Target { name: "trace_event", run: trace_event::run },
];

/// The target with this name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
