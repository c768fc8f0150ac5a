//! Debug names: the origin of the instructions, layer by layer of the compiler.
//!
//! Field numbers were learned from files. The messages' names are ours.

use prost::Message;

use crate::error::Error;

/// One layer, e.g. `debug_info/hlo.dbg`.
#[derive(Clone, PartialEq, Message)]
pub struct DebugLayer {
    /// Description of the layer, for display.
    #[prost(string, tag = "1")]
    pub description: String,
    /// File name of the parent layer, which this one was made from.
    #[prost(string, tag = "2")]
    pub parent_layer: String,
    /// Operations of the layer.
    #[prost(message, repeated, tag = "3")]
    pub entries: Vec<DebugEntry>,
}

/// One operation of a layer.
#[derive(Clone, PartialEq, Message)]
pub struct DebugEntry {
    /// The operation's number. Instructions refer to it.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Name of the operation.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Numbers of the operations of the parent layer that this one was made from.
    #[prost(uint64, repeated, tag = "3")]
    pub parents: Vec<u64>,
    /// Numbers of the operations of this layer that this one reads.
    #[prost(uint64, repeated, tag = "4")]
    pub inputs: Vec<u64>,
    /// Other attributes, such as `op_type` or `source_file`.
    #[prost(message, repeated, tag = "7")]
    pub attributes: Vec<Attribute>,
}

/// A key and its value.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    /// Key of the attribute.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Value of the attribute.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Whether a member of the package holds debug names, by its path.
#[must_use]
pub fn is_layer(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".dbg") && (path.starts_with("debug_info/") || name.starts_with("debug_info_"))
}

/// Reads a layer.
pub fn read(path: &str, bytes: &[u8]) -> Result<DebugLayer, Error> {
    DebugLayer::decode(bytes).map_err(|error| {
        Error::format(
            format!("debug names cannot be decoded: {error}"),
            path,
            "nprof shows the program without these names",
        )
    })
}
