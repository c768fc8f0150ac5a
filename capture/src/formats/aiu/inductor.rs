//! Ideal cycles of kernels in files of the PyTorch compiler: one file a kernel, all in one table.
//! Only the first row of a file is kept, so memory is bounded for any size of file.

use std::borrow::Cow;
use std::fmt;

use nprof_engine::makers::aiu::{IDEAL_CYCLES, OP_CATEGORY};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::ideal::{IdealTable, IdealTableKind, IdealTables, NO_PHASE, NOT_AVAILABLE};

/// Adds a file to the table of such files: a list of objects with ideal cycles and category, of
/// which the first counts. The folder above `perf` names the kernel.
pub(super) fn read_inductor(path: &str, text: &[u8], tables: &mut IdealTables) -> Result<(), String> {
    let kernel = path.rsplit('/').skip_while(|part| *part != "perf").nth(1);
    let Some(kernel) = kernel else {
        return Err("the kernel is not known: the file is not at <kernel>/perf/ideal_cycles.json".to_owned());
    };
    let First(row) = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let Some(KernelRow { cycles: Some(cycles), category }) = row else {
        return Err("there are no ideal cycles in it".to_owned());
    };
    let category = category.as_deref().unwrap_or(NOT_AVAILABLE);
    let is_it = |table: &&mut IdealTable| table.phase == NO_PHASE && table.kind == IdealTableKind::Kernels;
    match tables.all.iter_mut().find(is_it) {
        Some(table) => table.add(kernel, category, cycles),
        None => {
            let mut table = IdealTable::new(NO_PHASE, IdealTableKind::Kernels);
            table.add(kernel, category, cycles);
            tables.all.push(table);
        }
    }
    Ok(())
}

/// A kernel as a file states it.
#[derive(Debug, Default)]
struct KernelRow {
    cycles: Option<u64>,
    category: Option<String>,
}

impl KernelRow {
    fn of<'de, A: MapAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
        let mut row = Self::default();
        while let Some(key) = members.next_key::<Cow<'de, str>>()? {
            match &*key {
                IDEAL_CYCLES => row.cycles = Some(members.next_value()?),
                OP_CATEGORY => row.category = members.next_value()?,
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(row)
    }
}

impl<'de> Deserialize<'de> for KernelRow {
    fn deserialize<D: Deserializer<'de>>(of: D) -> Result<Self, D::Error> {
        of.deserialize_map(KernelMembers)
    }
}

/// Reads the members of a row.
struct KernelMembers;

impl<'de> Visitor<'de> for KernelMembers {
    type Value = KernelRow;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with ideal cycles")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<KernelRow, A::Error> {
        KernelRow::of(members)
    }
}

/// The first row of a list, or the only one. The other rows are checked and not kept.
struct First(Option<KernelRow>);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(of: D) -> Result<Self, D::Error> {
        of.deserialize_any(KernelRows)
    }
}

/// Reads rows.
struct KernelRows;

impl<'de> Visitor<'de> for KernelRows {
    type Value = First;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<First, A::Error> {
        let first = rows.next_element::<KernelRow>()?;
        while rows.next_element::<IgnoredAny>()?.is_some() {}
        Ok(First(first))
    }

    fn visit_map<A: MapAccess<'de>>(self, row: A) -> Result<First, A::Error> {
        KernelRow::of(row).map(|row| First(Some(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_pytorch_compiler_make_one_table() {
        let mut tables = IdealTables::default();
        let read =
            |path: &str, text: &str, tables: &mut IdealTables| read_inductor(path, text.as_bytes(), tables);
        let row = r#"[{"ideal_cycles": 24000, "op_category": "Bmm"}, {"ideal_cycles": 1}, 7]"#;
        read("x/inductor-spyre/addmm/perf/ideal_cycles.json", row, &mut tables).unwrap();
        read("add/perf/ideal_cycles.json", r#"{"a": [0], "ideal_cycles": 0}"#, &mut tables).unwrap();
        let table = &tables.all[0];
        assert_eq!((tables.all.len(), table.rows.len(), table.row("add")), (1, 2, Some(1)));
        assert_eq!((&*table.rows[0].category, table.rows[0].cycles), ("Bmm", 24000));
        for (path, text) in
            [("ideal_cycles.json", row), ("a/perf/b", "[]"), ("a/perf/b", "["), ("a/perf/b", "[0,0]")]
        {
            assert!(read(path, text, &mut tables).is_err(), "{path} {text}");
        }
    }
}
