//! Columns whose values follow from the templates of the rows. Such a column holds one value for
//! each template of its track. It needs no memory and no work for each row, and most fields of a
//! loop's instruction are of this kind.

/// Stands for the template of a row without one.
pub const NO_USE: u32 = u32::MAX;

/// Values of a column by the use of the row's template: its position among the templates of the
/// track.
#[derive(Debug, Clone, Default)]
pub struct ByUse {
    values: Vec<Option<i64>>,
    /// Number of rows that have a value.
    count: usize,
}

impl ByUse {
    /// Number of rows that have a value.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The value of rows with this use, if they have one.
    pub fn of(&self, at: u32) -> Option<i64> {
        self.values.get(at as usize).copied().flatten()
    }

    /// Adds rows with the same use and value.
    pub fn add(&mut self, at: usize, value: i64, rows: usize) {
        if self.values.len() <= at {
            self.values.resize(at + 1, None);
        }
        self.values[at] = Some(value);
        self.count += rows;
    }

    /// The values of rows with these uses.
    pub fn values<'b>(&'b self, uses: &'b [u32]) -> impl Iterator<Item = i64> + 'b {
        uses.iter().filter_map(|&at| self.of(at))
    }

    /// Numbers of the rows that have a value, counted from the first of these uses.
    pub fn rows<'b>(&'b self, uses: &'b [u32]) -> impl Iterator<Item = u32> + 'b {
        (0..).zip(uses).filter(|&(_, &at)| self.of(at).is_some()).map(|(row, _)| row)
    }
}

/// The uses in the rows of a block.
pub struct BlockUses<'a> {
    uses: &'a [u32],
    /// Distinct uses, in the order of their first rows.
    distinct: Vec<u32>,
    /// Program code of each distinct use, if all of its rows have the same.
    codes: Option<Vec<u32>>,
}

impl<'a> BlockUses<'a> {
    /// Finds the uses of rows. `codes` are the program codes of the rows.
    pub fn of(uses: &'a [u32], codes: Option<&[u32]>) -> Self {
        let mut distinct: Vec<u32> = Vec::new();
        let mut first_codes = Vec::new();
        // Position in `distinct` plus one; 0 for a use that has not occurred. The first place is
        // for rows without a template.
        let mut places: Vec<u32> = Vec::new();
        let mut is_function = codes.is_some();
        for (row, &at) in uses.iter().enumerate() {
            let place = at.wrapping_add(1) as usize;
            if place >= places.len() {
                places.resize(place + 1, 0);
            }
            let code = codes.map_or(0, |codes| codes[row]);
            match places[place].checked_sub(1) {
                Some(known) => is_function &= first_codes[known as usize] == code,
                None => {
                    distinct.push(at);
                    first_codes.push(code);
                    places[place] = distinct.len() as u32;
                }
            }
        }
        Self { uses, distinct, codes: is_function.then_some(first_codes) }
    }

    /// The value of each distinct use.
    pub fn values(&self, by_use: &ByUse) -> Vec<Option<i64>> {
        self.distinct.iter().map(|&at| by_use.of(at)).collect()
    }

    /// Program code of each distinct use, if all of its rows have the same.
    pub fn codes(&self) -> Option<&[u32]> {
        self.codes.as_deref()
    }

    /// Rows that have a value.
    pub fn present(&self, by_use: &ByUse) -> Vec<bool> {
        self.uses.iter().map(|&at| by_use.of(at).is_some()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{BuildOptions, Builder};
    use crate::model::{
        FieldId, FieldSpec, Filled, Nesting, NumberBits, Sink, SliceForm, SliceRecord, TableKind, TableSpec,
        TemplateValue, Templates, TrackSpec, Value,
    };
    use crate::spill::MemoryScratch;

    /// Builds a loop of `length` instructions, whose fixed fields follow from the instruction. Some
    /// rows have a field of their own, and one in `odd` has no template.
    fn built(length: i64, odd: i64, by_template: bool) -> Vec<u8> {
        let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
        let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        let table = builder.table(TableSpec::new("t", TableKind::Slices, "")).unwrap();
        let name = builder.name("a").unwrap();
        let mut field = |name: &str| builder.field(table, FieldSpec::named(name)).unwrap();
        let fields: [FieldId; 5] = ["pc", "some", "same", "number", "own"].map(&mut field);
        let track = TrackSpec::slices("track", None, table, Nesting::Concurrent, 0);
        let track = builder.track(track).unwrap();
        builder.in_order(track).unwrap();
        let mut spelt = Templates::default();
        let templates: Vec<_> = (0..length)
            .map(|pc| {
                let fixed = |field, value| (field, TemplateValue::Fixed(Value::Int(value)));
                let mut parts = vec![fixed(fields[0], pc * 3), fixed(fields[2], 7)];
                parts.extend((pc % 3 == 0).then(|| fixed(fields[1], pc / 2)));
                parts.push((fields[3], TemplateValue::Int(0)));
                if by_template { builder.template(table, &parts).unwrap() } else { spelt.define(&parts) }
            })
            .collect();
        for at in 0..30_000_i64 {
            let own = [(fields[4], Value::Int(at))];
            let fields = if at % 1_000 == 999 { &own[..] } else { &[] };
            let (start_ps, duration_ps, form) = (at * 10, 5 + at % length, SliceForm::Complete);
            let slice = SliceRecord { track, start_ps, duration_ps, name, form, fields };
            let numbers = [NumberBits::from(at / 100)];
            let filled = Filled { template: templates[(at % length) as usize], numbers: &numbers };
            if at % odd == odd - 1 {
                builder.slice(&slice).unwrap();
            } else if by_template {
                builder.slice_by(filled, &slice).unwrap();
            } else {
                let fields = spelt.fields(filled, slice.fields).unwrap();
                builder.slice(&SliceRecord { fields: &fields, ..slice }).unwrap();
            }
        }
        builder.finish().unwrap();
        bytes
    }

    #[test]
    fn columns_by_use_are_stored_as_those_spelt_out() {
        for (length, odd) in [(1, i64::MAX), (8, i64::MAX), (8, 997), (700, i64::MAX), (20_000, 5_000)] {
            let (by_template, spelt_out) = (built(length, odd, true), built(length, odd, false));
            assert!(by_template == spelt_out, "{length}: {} and {}", by_template.len(), spelt_out.len());
        }
    }
}
