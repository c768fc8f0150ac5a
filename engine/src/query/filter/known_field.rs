//! The fields that a query can name.

use std::collections::BTreeSet;

use strsim::normalized_damerau_levenshtein;

use crate::model::TableKind;
use crate::segment::{Bytes, ColumnMeta, ColumnRole, Segment};

/// Names that stand for a column of every slice, with the unit of its numbers.
const FIXED: [(&str, ColumnRole, &str); 3] = [
    ("name", ColumnRole::Name, ""),
    ("dur", ColumnRole::Duration, "ps"),
    ("duration", ColumnRole::Duration, "ps"),
];
/// Short names of fields. The longer one is that of the vendor's exports.
const SHORT: [(&str, &str); 8] = [
    ("size", "transfer_size"),
    ("size", "bytes"),
    ("rate", "transfer_rate"),
    ("queue", "dma_queue"),
    ("nki", "nki_source_location"),
    ("layer", "layer_name"),
    ("hlo", "hlo_name"),
    ("wait", "evt_wait_time"),
];
/// The name of an instruction has this name in the vendor's exports.
const OPCODE: &str = "opcode";
/// The table of instructions of such exports.
const INSTRUCTIONS: &str = "instruction";
/// Names of tests that are not about a column.
const PLACES: [&str; 2] = ["track", "rank"];

/// A column that a query tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownColumn {
    /// Position in the footer.
    pub column: usize,
    /// Unit of its numbers.
    pub unit: &'static str,
}

/// The columns of slices that a name stands for. Empty if no field has it.
pub fn columns_named<B: Bytes>(segment: &Segment<B>, name: &str) -> Vec<KnownColumn> {
    let name = plain(name);
    if let Some((_, role, unit)) = FIXED.iter().find(|(fixed, ..)| *fixed == name) {
        return with_role(segment, |of| of == *role, |_| unit);
    }
    let found = of_fields(segment, &name);
    if !found.is_empty() {
        return found;
    }
    if name == OPCODE {
        let is_instruction = |column: usize| {
            let footer = segment.footer();
            footer.tables[usize::from(footer.columns[column].table.0)].spec.name == INSTRUCTIONS
        };
        let mut names = with_role(segment, |role| role == ColumnRole::Name, |_| "");
        names.retain(|of| is_instruction(of.column));
        return names;
    }
    let longer = SHORT.iter().filter(|(short, _)| *short == name);
    longer.map(|(_, longer)| of_fields(segment, longer)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The known name that is most like an unknown one, if one is.
pub fn nearest<B: Bytes>(segment: &Segment<B>, name: &str) -> Option<String> {
    /// Likeness of names that one can mistake for each other.
    const LEAST: f64 = 0.6;
    let fields = segment.footer().fields.iter().map(|(_, field)| plain(&field.name));
    let fixed = FIXED.iter().map(|(name, ..)| *name).chain(PLACES).chain(SHORT.iter().map(|(name, _)| *name));
    let known = fixed.chain([OPCODE]).map(str::to_owned).chain(fields);
    let known: BTreeSet<String> = known.filter(|known| is_known(segment, known)).collect();
    let name = plain(name);
    let rated = known.into_iter().map(|known| (normalized_damerau_levenshtein(&name, &known), known));
    let best = rated.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness >= LEAST).map(|(_, known)| known)
}

fn is_known<B: Bytes>(segment: &Segment<B>, name: &str) -> bool {
    PLACES.contains(&name) || !columns_named(segment, name).is_empty()
}

/// A name in small letters, with `_` for all that is no letter or digit: `Input Dims` is
/// `input_dims`.
pub fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter.is_alphanumeric() || letter == '.' {
            true => plain.extend(letter.to_lowercase()),
            false if plain.ends_with('_') => {}
            false => plain.push('_'),
        }
    }
    plain.trim_matches('_').to_owned()
}

fn of_fields<B: Bytes>(segment: &Segment<B>, name: &str) -> Vec<KnownColumn> {
    let field = |role: ColumnRole| match role {
        ColumnRole::Field(id) => segment.footer().fields.get(id.0 as usize).map(|(_, field)| field),
        _ => None,
    };
    let is_it = |role: ColumnRole| field(role).is_some_and(|field| plain(&field.name) == name);
    with_role(segment, is_it, |role| field(role).map_or("", |field| field.unit.symbol()))
}

/// The columns of slices with such a role.
fn with_role<B: Bytes>(
    segment: &Segment<B>,
    is_it: impl Fn(ColumnRole) -> bool,
    unit: impl Fn(ColumnRole) -> &'static str,
) -> Vec<KnownColumn> {
    let footer = segment.footer();
    let columns = footer.columns.iter().enumerate();
    let of_slices = columns.filter(|(_, meta)| {
        footer.tables[usize::from(meta.table.0)].spec.kind == TableKind::Slices && is_it(meta.role)
    });
    let known = |(column, meta): (usize, &ColumnMeta)| KnownColumn { column, unit: unit(meta.role) };
    of_slices.map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_are_written_plainly() {
        assert_eq!(plain("Input Dims"), "input_dims");
        assert_eq!(plain("est. achieved occupancy %"), "est._achieved_occupancy");
        assert_eq!(plain("evt_wait_time"), "evt_wait_time");
    }
}
