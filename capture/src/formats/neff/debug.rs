//! Debug names: what the instructions came from, layer by layer of the compiler.
//!
//! Field numbers were learned from files; the messages' names are ours.

use prost::Message;

use crate::formats::Error;

/// One layer, e.g. `debug_info/hlo.dbg`.
#[derive(Clone, PartialEq, Message)]
pub struct Layer {
    /// What the layer is, for people.
    #[prost(string, tag = "1")]
    pub description: String,
    /// File name of the layer that this one came from.
    #[prost(string, tag = "2")]
    pub parent_layer: String,
    /// Its operations.
    #[prost(message, repeated, tag = "3")]
    pub entries: Vec<Entry>,
}

/// One operation of a layer.
#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    /// Its number; instructions refer to it.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Its name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// The operations of the parent layer that it came from.
    #[prost(uint64, repeated, tag = "3")]
    pub parents: Vec<u64>,
    /// The operations of this layer that it reads.
    #[prost(uint64, repeated, tag = "4")]
    pub inputs: Vec<u64>,
    /// What else is said of it, such as `op_type` or `source_file`.
    #[prost(message, repeated, tag = "7")]
    pub attributes: Vec<Attribute>,
}

/// A key and its value.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    /// The key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Whether a member of the package holds debug names.
#[must_use]
pub fn is_layer(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".dbg") && (path.starts_with("debug_info/") || name.starts_with("debug_info_"))
}

/// Reads a layer.
///
/// # Errors
/// Where the bytes are no such message.
pub fn read(path: &str, bytes: &[u8]) -> Result<Layer, Error> {
    Layer::decode(bytes).map_err(|error| {
        Error::format(
            format!("debug names cannot be decoded: {error}"),
            path,
            "the program can still be shown, without these names",
        )
    })
}
