//! The fields that a query can name.

use std::collections::BTreeSet;

use strsim::normalized_damerau_levenshtein;

use super::filter_scope::FilterScope;
use crate::model::{FieldSpec, TableKind, Unit};
use crate::segment::{Bytes, ColumnMeta, ColumnRole, Segment};

/// Names that stand for a column of every slice, with the unit of its numbers.
const FIXED: [(&str, ColumnRole, &str); 5] = [
    ("name", ColumnRole::Name, ""),
    ("start", ColumnRole::Start, "ps"),
    ("timestamp", ColumnRole::Start, "ps"),
    ("dur", ColumnRole::Duration, "ps"),
    ("duration", ColumnRole::Duration, "ps"),
];
/// Names of tests that are not about a column.
const PLACES: [&str; 3] = ["track", "rank", "in"];

/// A column that a query tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownColumn {
    /// Position in the footer.
    pub column: usize,
    /// Unit of its numbers.
    pub unit: &'static str,
}

/// The columns of slices that a name stands for. Empty if no field has it.
pub fn columns_named<B: Bytes>(
    segment: &Segment<B>,
    name: &str,
    scope: &FilterScope<'_>,
) -> Vec<KnownColumn> {
    // Exports write an underscore behind a field with the name of a fixed column.
    let (is_freed, written) = (name.ends_with('_'), name);
    let name = plain(written);
    if let Some((_, role, unit)) = FIXED.iter().find(|(fixed, ..)| !is_freed && *fixed == name) {
        return columns(segment, |of| of.role == *role, |_| unit);
    }
    let found = of_fields(segment, written);
    if !found.is_empty() {
        return found;
    }
    let longer = scope.short_names.iter().filter(|of| of.short == name);
    longer.map(|of| of_fields(segment, of.field)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The known name that is most like an unknown one, if one is.
pub fn nearest<B: Bytes>(segment: &Segment<B>, name: &str, scope: &FilterScope<'_>) -> Option<String> {
    most_like(&plain(name), all_names(segment, scope))
}

/// All names that a query of a rank can test.
pub fn all_names<B: Bytes>(segment: &Segment<B>, scope: &FilterScope<'_>) -> BTreeSet<String> {
    let fields = segment.footer().fields.iter().map(|(_, field)| plain(&field.name));
    let fixed =
        FIXED.iter().map(|(name, ..)| *name).chain(PLACES).chain(scope.short_names.iter().map(|of| of.short));
    let names = segment.footer().tables.iter().map(|table| plain(&table.spec.name_key));
    let known = fixed.map(str::to_owned).chain(names).chain(fields);
    known.filter(|known| is_known(segment, known, scope)).collect()
}

/// The text that is most like another one, if one can be mistaken for it.
pub fn most_like(text: &str, known: impl IntoIterator<Item = String>) -> Option<String> {
    /// Likeness of texts that one can mistake for each other.
    const LEAST: f64 = 0.6;
    let rated = known.into_iter().map(|known| (normalized_damerau_levenshtein(text, &known), known));
    let best = rated.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness >= LEAST).map(|(_, known)| known)
}

fn is_known<B: Bytes>(segment: &Segment<B>, name: &str, scope: &FilterScope<'_>) -> bool {
    PLACES.contains(&name) || !columns_named(segment, name, scope).is_empty()
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

/// The columns of the fields with a name, and of the names of slices that exports call so. Fields
/// that have exactly this name come before those that are alike.
fn of_fields<B: Bytes>(segment: &Segment<B>, name: &str) -> Vec<KnownColumn> {
    let footer = segment.footer();
    let field = |role: ColumnRole| match role {
        ColumnRole::Field(id) => footer.fields.get(id.0 as usize).map(|(_, field)| field),
        _ => None,
    };
    let name_of = |meta: &ColumnMeta| match meta.role {
        ColumnRole::Name => Some(footer.tables[usize::from(meta.table.0)].spec.name_key.as_str()),
        role => field(role).map(|field| field.name.as_str()),
    };
    let unit = |role: ColumnRole| field(role).map_or("", unit_of);
    let exact = columns(segment, |meta| name_of(meta) == Some(name), unit);
    if !exact.is_empty() {
        return exact;
    }
    let name = plain(name);
    columns(segment, |meta| name_of(meta).is_some_and(|of| plain(of) == name), unit)
}

/// The unit of a field. Traces without units tell bytes by the name.
fn unit_of(field: &FieldSpec) -> &'static str {
    match field.unit {
        Unit::None if plain(&field.name).split('_').any(|word| word == "bytes") => Unit::Bytes.symbol(),
        unit => unit.symbol(),
    }
}

/// The columns of slices that pass a test.
fn columns<B: Bytes>(
    segment: &Segment<B>,
    is_it: impl Fn(&ColumnMeta) -> bool,
    unit: impl Fn(ColumnRole) -> &'static str,
) -> Vec<KnownColumn> {
    let footer = segment.footer();
    let of_slices = footer.columns.iter().enumerate().filter(|(_, meta)| {
        footer.tables[usize::from(meta.table.0)].spec.kind == TableKind::Slices && is_it(meta)
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
