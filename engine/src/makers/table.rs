//! Parts of a table definition, and the macro that writes one beside its typed handles.

use crate::model::{FieldSpec, TableKind, TableSpec, Unit};

/// A table of a maker's profiles.
#[derive(Debug)]
pub struct TableSchema {
    /// Key in the JSON output.
    pub name: &'static str,
    /// Kind of the rows.
    pub kind: TableKind,
    /// The row's key for the slice's name; empty if the name is made for display only.
    pub name_key: &'static str,
    /// The row's key for a sample's value; empty for tables without samples.
    pub value_key: &'static str,
    /// Explanation in one sentence.
    pub doc: &'static str,
    /// Fields that are known by name.
    pub fields: &'static [FieldSchema],
    /// Explains fields whose names follow a pattern, such as those that exist once per core.
    pub(in crate::makers) by_pattern: fn(&str) -> Option<FieldSpec>,
}

/// A field of a table.
#[derive(Debug)]
pub struct FieldSchema {
    /// Key in a row.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Heading in the details panel.
    pub group: &'static str,
    /// Explanation in one sentence.
    pub doc: &'static str,
}

impl TableSchema {
    /// The specification for [`crate::model::Sink::table`].
    #[must_use]
    pub fn spec(&self) -> TableSpec {
        TableSpec::new(self.name, self.kind, self.doc.trim()).named_by(self.name_key)
    }

    /// The specification for [`crate::model::Sink::field`]. An unknown field gets only its name.
    #[must_use]
    pub fn field(&self, name: &str) -> FieldSpec {
        match self.fields.iter().find(|field| field.name == name) {
            Some(field) => field.spec(),
            None => (self.by_pattern)(name).unwrap_or_else(|| FieldSpec::named(name)),
        }
    }
}

impl FieldSchema {
    /// The specification for [`crate::model::Sink::field`].
    #[must_use]
    pub fn spec(&self) -> FieldSpec {
        FieldSpec::new(self.name, self.unit, self.group, self.doc)
    }
}

/// Defines a table as a static and a struct with a handle per field. With `, rows Row` also a
/// struct with a value per field, for code that reads the table: a field that is renamed or gone
/// does not compile there.
///
/// Write `field = "key"` if the JSON key is not a valid Rust name here.
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        $name:literal $table:ident $handles:ident $kind:ident
        $(, name in $name_key:literal)? $(, value in $value_key:literal)? $(, patterns in $patterns:path)?
        $(, rows $row:ident)?;
        $($group:literal {
            $($field:ident $(= $key:literal)?: $unit:ident, $explanation:literal;)+
        })+
    ) => {
        $(#[doc = $doc])+
        pub static $table: $crate::makers::table::TableSchema = $crate::makers::table::TableSchema {
            name: $name,
            kind: $crate::model::TableKind::$kind,
            name_key: concat!($($name_key)?),
            value_key: concat!($($value_key)?),
            doc: concat!($($doc),+),
            fields: &[$($($crate::makers::table::FieldSchema {
                name: key!($field $($key)?),
                unit: crate::model::Unit::$unit,
                group: $group,
                doc: $explanation,
            }),+),+],
            by_pattern: patterns!($($patterns)?),
        };

        #[doc = concat!("Handles of table `", $name, "` in a sink.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $handles {
            /// The table.
            pub table: crate::model::TableId,
            $($(
                #[doc = $explanation]
                pub $field: crate::model::FieldId,
            )+)+
        }

        impl $handles {
            /// Defines the table and all its fields.
            pub fn define(
                sink: &mut dyn crate::model::Sink,
            ) -> crate::base::Result<Self> {
                let table = sink.table($table.spec())?;
                let mut fields = $table.fields.iter();
                let mut next = || match fields.next() {
                    Some(field) => sink.field(table, field.spec()),
                    None => Err(crate::base::Error::Invalid { what: "a field without a definition" }),
                };
                // Struct fields are evaluated in the order in which they are written, which is the
                // order of the definitions.
                Ok(Self { table, $($($field: next()?,)+)+ })
            }
        }

        rows! {
            $name $table [$($row)?]
            $($($field $(= $key)?: $unit, $group, $explanation;)+)+
        }
    };
}

/// The struct of a table's rows, if the definition names one.
macro_rules! rows {
    ($name:literal $table:ident [] $($rest:tt)*) => {};
    (
        $name:literal $table:ident [$row:ident]
        $($field:ident $(= $key:literal)?: $unit:ident, $group:literal, $explanation:literal;)+
    ) => {
        #[doc = concat!("A value for each field of table `", $name, "`.")]
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct $row<T> {
            $(
                #[doc = $explanation]
                pub $field: T,
            )+
        }

        impl<T> $row<T> {
            /// Asks for a value for each field, in the order of the definitions.
            pub fn by(mut value_of: impl FnMut(&'static $crate::makers::table::FieldSchema) -> T) -> Self {
                Self {
                    $($field: value_of(&$crate::makers::table::FieldSchema {
                        name: key!($field $($key)?),
                        unit: $crate::model::Unit::$unit,
                        group: $group,
                        doc: $explanation,
                    }),)+
                }
            }
        }

        impl $row<$crate::makers::FieldCell> {
            /// All rows of a segment's table; none if the segment lacks it.
            pub fn read<B: $crate::segment::Bytes>(
                segment: &$crate::segment::Segment<B>,
                cancel: $crate::exec::Cancel<'_>,
            ) -> $crate::base::Result<Vec<Self>> {
                let rows = $crate::makers::rows::named(segment, $table.name, cancel)?;
                let read = |row| Self::by(|field| $crate::makers::rows::cell(row, field.name));
                Ok(rows.iter().map(read).collect())
            }

            /// All rows of a table in memory.
            pub fn of(table: &$crate::model::ValueTable) -> Vec<Self> {
                let read = |row: &Vec<_>| {
                    Self::by(|field| $crate::makers::rows::cell_of(table, row, field.name))
                };
                table.rows.iter().map(read).collect()
            }
        }
    };
}

macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

macro_rules! patterns {
    () => {
        |_| None
    };
    ($function:path) => {
        $function
    };
}
