//! NEFF: the program that ran. A header of 1024 bytes (some files lack it) and a package.
//!
//! The NEFF names things that have only numbers in the trace: semaphores, tensors, the compiler,
//! the model's arithmetic. If a member is missing or damaged, only its own information is lost.

pub mod debug;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod header;
pub mod package;
pub mod semaphore;
pub mod tensor;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write;

use nprof_engine::base::Result as SinkResult;
use nprof_engine::exec::Cancel;
use nprof_engine::model::{FieldSpec, Sink, TableSpec, Unit, Value, WarningKind};
use serde_json::Value as Json;

use self::debug::DebugLayer;
use self::header::{FileHeader, HEADER_LEN};
use self::package::PackageMember;
use self::tensor::Tensor;
use crate::error::Error;
use nprof_engine::makers::neuron::schema::{NeffHeader, NeffNode};

/// Contents of a NEFF.
#[derive(Debug, Default)]
pub struct Neff {
    header: Option<FileHeader>,
    compiler_version: Option<String>,
    multiply_accumulates: Option<u64>,
    tensors: Vec<Tensor>,
    semaphore_names: BTreeMap<u8, String>,
    /// Layers of debug names, by path.
    layers: Vec<(String, DebugLayer)>,
    /// Members that could not be read: path and reason.
    damaged: Vec<(String, String)>,
}

impl Neff {
    /// Reads a whole file.
    ///
    /// # Errors
    /// If the file is no NEFF, or its package cannot be unpacked.
    pub fn read(input: &[u8]) -> Result<Self, Error> {
        Self::read_while(input, Cancel::NEVER)
    }

    /// Reads a whole file, until it is cancelled.
    pub fn read_while(input: &[u8], cancel: Cancel<'_>) -> Result<Self, Error> {
        if input.is_empty() {
            return Err(Error::format("the NEFF is empty", "byte 0", "compile the model again"));
        }
        let (header, packed) = if FileHeader::is_at_start(input) {
            (Some(FileHeader::read(input)?), &input[HEADER_LEN..])
        } else if package::is_package(input) {
            (None, input)
        } else {
            return Err(Error::format(
                "this is not a NEFF: it has neither the header nor the package of one",
                "byte 0",
                "name the .neff file that the compiler wrote",
            ));
        };
        let mut neff = Self { header, ..Self::default() };
        let package = package::read(packed, cancel, is_wanted)?;
        for path in package.skipped {
            neff.damaged.push((path, "this file is too large to be read".to_owned()));
        }
        for member in &package.members {
            if let Err(what) = neff.take(member) {
                neff.damaged.push((member.path.clone(), what));
            }
        }
        Ok(neff)
    }

    fn take(&mut self, member: &PackageMember) -> Result<(), String> {
        if debug::is_layer(&member.path) {
            let layer = debug::read(&member.path, &member.bytes).map_err(|error| error.to_string())?;
            self.layers.push((member.path.clone(), layer));
            return Ok(());
        }
        let json: Json = serde_json::from_slice(&member.bytes).map_err(|error| error.to_string())?;
        match member.path.rsplit('/').next().unwrap_or_default() {
            "info.json" => {
                self.compiler_version = json.get("tool_version").and_then(Json::as_str).map(str::to_owned);
            }
            "hlo_stats.json" | "hlo_metrics.json" => {
                let count = json.get("HloMacCount");
                // Counts beyond 2^53 are written as floats.
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked to be in range"
                )]
                let count = count.and_then(|count| {
                    let float = || count.as_f64().filter(|n| (0.0..1e19).contains(n)).map(|n| n as u64);
                    count.as_u64().or_else(float)
                });
                self.multiply_accumulates = count.or(self.multiply_accumulates);
            }
            "tensor_map.json" => self.tensors = tensor::tensors(&json),
            _ => self.semaphore_names.extend(semaphore::names(&json)),
        }
        Ok(())
    }

    /// Version of the compiler that built the program.
    #[must_use]
    pub fn compiler_version(&self) -> Option<&str> {
        self.compiler_version.as_deref()
    }

    /// Number of floating-point operations of the model. A multiply-accumulate counts as two.
    #[must_use]
    pub fn model_flops(&self) -> Option<u64> {
        self.multiply_accumulates?.checked_mul(2)
    }

    /// Names of semaphores by number. A semaphore has the name of the queue that raises it.
    #[must_use]
    pub fn semaphore_names(&self) -> BTreeMap<u8, String> {
        self.semaphore_names.clone()
    }

    /// The header, if the file has one.
    #[must_use]
    pub fn header(&self) -> Option<&FileHeader> {
        self.header.as_ref()
    }

    /// Layers of debug names by their path in the package.
    #[must_use]
    pub fn layers(&self) -> &[(String, DebugLayer)] {
        &self.layers
    }

    /// Writes the side tables `neff_header`, `neff_node` and `debug_name`. Members that could not
    /// be read become warnings.
    pub fn write(&self, sink: &mut dyn Sink) -> SinkResult<()> {
        for (path, what) in &self.damaged {
            let what = format!("a part of the NEFF cannot be read ({what})");
            sink.warn(WarningKind::DamagedRecord, &what, &|| path.clone());
        }
        if let Some(header) = &self.header {
            write_header(header, sink)?;
        }
        self.write_tensors(sink)?;
        self.write_debug_names(sink)
    }

    fn write_tensors(&self, sink: &mut dyn Sink) -> SinkResult<()> {
        if self.tensors.is_empty() {
            return Ok(());
        }
        let handles = NeffNode::define(sink)?;
        for tensor in &self.tensors {
            let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
            let shape = format!("[{}]", shape.join(" "));
            let size = tensor.size_bytes.map(|size| size.to_string());
            let mut row = vec![
                (handles.variable_name, Value::Text(&tensor.name)),
                (handles.kind, Value::Text(tensor.role)),
                (handles.format, Value::Text(&tensor.format)),
                (handles.shape, Value::Text(&shape)),
            ];
            row.extend(size.as_deref().map(|size| (handles.size, Value::Text(size))));
            sink.row(handles.table, &row)?;
        }
        Ok(())
    }

    fn write_debug_names(&self, sink: &mut dyn Sink) -> SinkResult<()> {
        if self.layers.is_empty() {
            return Ok(());
        }
        let table = sink.table(TableSpec::side(
            "debug_name",
            "Operations of the compiler's layers. Instructions refer to them by number.",
        ))?;
        let mut field = |name, doc| sink.field(table, FieldSpec::new(name, Unit::None, "Source", doc));
        let layer_field = field("layer", "File of the layer in the program.")?;
        let id = field("id", "Number of the operation within its layer.")?;
        let name = field("name", "Name of the operation.")?;
        let parents = field("parent_ids", "Operations of the parent layer that this operation came from.")?;
        let attributes = field("attributes", "Further properties of the operation in its layer.")?;
        for (path, layer) in &self.layers {
            for entry in &layer.entries {
                let parent_ids = Json::from(entry.parents.clone()).to_string();
                let pairs = entry.attributes.iter().map(|a| (a.key.clone(), Json::from(a.value.clone())));
                let attribute_text = Json::Object(pairs.collect()).to_string();
                let number = Value::unsigned(entry.id);
                let row = [
                    (layer_field, Value::Text(path)),
                    (id, number),
                    (name, Value::Text(&entry.name)),
                    (parents, Value::Json(&parent_ids)),
                    (attributes, Value::Json(&attribute_text)),
                ];
                sink.row(table, &row)?;
            }
        }
        Ok(())
    }
}

fn is_wanted(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "info.json" | "hlo_stats.json" | "hlo_metrics.json" | "tensor_map.json" | "def.json")
        || debug::is_layer(path)
}

fn write_header(header: &FileHeader, sink: &mut dyn Sink) -> SinkResult<()> {
    let handles = NeffHeader::define(sink)?;
    let numbers = [
        (handles.package_version, header.package_version),
        (handles.header_size, header.header_size),
        (handles.data_size, header.data_size),
        (handles.major_version, header.major_version),
        (handles.minor_version, header.minor_version),
        (handles.number_of_logical_neuroncores, u64::from(header.logical_cores)),
        (handles.number_of_neuroncores_per_lnc, u64::from(header.cores_per_logical)),
    ];
    // Numbers are text, like in neuron-profile's export.
    let numbers = numbers.map(|(field, number)| (field, number.to_string()));
    let (hash, uuid) = (hex(&header.hash), hex(&header.uuid));
    let features = format!("{:#x}", header.feature_bits);
    let mut row: Vec<_> = numbers.iter().map(|(field, text)| (*field, Value::Text(text))).collect();
    row.extend([
        (handles.build_version, Value::Text(&header.build_version)),
        (handles.hash, Value::Text(&hash)),
        (handles.uuid, Value::Text(&uuid)),
        (handles.network_name, Value::Text(&header.name)),
        (handles.enabled_features, Value::Text(&features)),
    ]);
    sink.row(handles.table, &row)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
