//! Arguments of slices as fields, and what they say about collective operations.

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::schema::{AiuOp, OPS};
use nprof_engine::model::{FieldId, FieldSpec, Sink, Value};
use rustc_hash::FxHashMap;

use super::attribute::{
    BYTES, GROUP, KIND, MULTICASTS, NAME, PEER, PEERS, Peers, bytes_of, group_of, unpack,
};
use super::collective::CollectiveStep;

/// Most different arguments that are kept. A trace with more has data in the place of keys.
const MAX_KEYS: usize = 4096;

/// The fields of arguments.
#[derive(Debug)]
pub(super) struct ArgumentFields {
    /// Fields of the table of slices.
    pub(super) op: AiuOp,
    /// Values whose arguments have no field.
    pub(super) keyless: u64,
    by_key: FxHashMap<String, FieldId>,
}

impl ArgumentFields {
    pub(super) fn new(op: AiuOp) -> Self {
        Self { op, keyless: 0, by_key: FxHashMap::default() }
    }

    /// Adds the fields of the packed arguments. Returns what they say about a collective operation,
    /// and a name that is not among the names.
    pub(super) fn read<'b>(
        &mut self,
        sink: &mut dyn Sink,
        rest: &'b [u8],
        fields: &mut Vec<(FieldId, Value<'b>)>,
    ) -> Result<CollectiveStep> {
        let mut step = CollectiveStep::default();
        unpack(rest, |key, value| {
            let bytes = if key == BYTES { bytes_of(value) } else { None };
            let bytes = bytes.and_then(|bytes| i64::try_from(bytes).ok());
            step.bytes = bytes.or(step.bytes);
            match (&*key, value) {
                (NAME, Value::Text(name)) => {
                    step.name = Some(name.to_owned());
                    return Ok(());
                }
                (GROUP, group) => step.group = group_of(group),
                (PEER | PEERS, peers) => step.peers.0.extend(Peers::of(peers).0),
                (KIND, Value::Text(kind)) => {
                    step.is_multicast = MULTICASTS.iter().any(|multicast| kind.starts_with(multicast));
                }
                _ => {}
            }
            if let Some(bytes) = bytes {
                fields.push((self.op.bytes, Value::Int(bytes)));
            } else if let Some(field) = self.field(sink, &key)? {
                fields.push((field, value));
            } else {
                self.keyless += 1;
            }
            Ok(())
        })?;
        Ok(step)
    }

    /// The field of an argument. Arguments that have the name of a field of ours get a prefix.
    /// `None` if there are too many.
    fn field(&mut self, sink: &mut dyn Sink, key: &str) -> Result<Option<FieldId>> {
        if let Some(&known) = self.by_key.get(key) {
            return Ok(Some(known));
        }
        if self.by_key.len() >= MAX_KEYS {
            return Ok(None);
        }
        let is_stated = [GROUP, PEER, PEERS, KIND].contains(&key);
        let is_ours = OPS.fields.iter().any(|field| field.name == key) && !is_stated;
        let spec = if is_ours { FieldSpec::named(&format!("args.{key}")) } else { OPS.field(key) };
        let field = sink.field(self.op.table, spec)?;
        self.by_key.insert(key.to_owned(), field);
        Ok(Some(field))
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::fixture::Recorder;

    use super::super::attribute::Attributes;
    use super::*;

    #[test]
    fn a_name_that_is_not_among_the_names_is_no_field() {
        let mut packed = Attributes::default();
        packed.add_name("k Cmpt Exec");
        let (mut sink, mut fields) = (Recorder::default(), Vec::new());
        let mut arguments = ArgumentFields::new(AiuOp::define(&mut sink).unwrap());
        let step = arguments.read(&mut sink, &packed.rest, &mut fields).unwrap();
        assert_eq!((step.name.as_deref(), fields.len()), (Some("k Cmpt Exec"), 0));
    }
}
