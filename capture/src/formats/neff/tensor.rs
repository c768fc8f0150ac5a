//! The program's tensors, from `tensor_map.json`.

use serde_json::Value as Json;

/// An input, an output or weights of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Name of the tensor.
    pub name: String,
    /// `IN`, `OUT` or `WEIGHT`; empty if the file does not state it.
    pub role: &'static str,
    /// Sizes of the dimensions.
    pub shape: Vec<u64>,
    /// Order of the dimensions, e.g. `NC`.
    pub format: String,
    /// Size of the tensor, if the element's size is known.
    pub size_bytes: Option<u64>,
}

/// All tensors of a map.
#[must_use]
pub fn tensors(map: &Json) -> Vec<Tensor> {
    let Json::Object(map) = map else { return Vec::new() };
    map.iter().filter(|(_, value)| value.is_object()).map(|(name, value)| tensor(name, value)).collect()
}

fn tensor(name: &str, value: &Json) -> Tensor {
    let text = |key: &str| value.get(key).and_then(Json::as_str);
    let shape = ["tf_shape", "sim_shape"].iter().find_map(|key| value.get(key)?.as_array());
    let shape: Vec<u64> = shape.into_iter().flatten().filter_map(Json::as_u64).collect();
    let role = match (text("kind"), value.get("is_const").and_then(Json::as_bool)) {
        (Some("input"), _) => "IN",
        (Some("output"), _) => "OUT",
        (_, Some(true)) => "WEIGHT",
        _ => "",
    };
    let element = text("dtype").and_then(element_bytes);
    let size_bytes = element.and_then(|bytes| shape.iter().try_fold(bytes, |size, &n| size.checked_mul(n)));
    let format = ["tf_format", "sim_format"].iter().find_map(|key| text(key)).unwrap_or_default();
    Tensor { name: name.to_owned(), role, shape, format: format.to_owned(), size_bytes }
}

/// Bytes of an element, from the width in its type's name.
fn element_bytes(dtype: &str) -> Option<u64> {
    let dtype = dtype.to_ascii_lowercase();
    match dtype.as_str() {
        "bool" => Some(1),
        "float" => Some(4),
        "double" => Some(8),
        name if name.starts_with("float8") || name.starts_with("fp8") => Some(1),
        name => {
            let bits: u64 = name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
            matches!(bits, 8 | 16 | 32 | 64).then_some(bits / 8)
        }
    }
}
