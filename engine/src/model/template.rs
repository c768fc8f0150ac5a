//! Templates: fields that many rows have in common. Executions of a loop's instruction differ in
//! few of their fields; a reader passes the others once.

use super::{FieldId, Value};
use crate::base::narrow;

/// A template's number in the order of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TemplateId(pub u32);

/// Value of a template's field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TemplateValue {
    /// The same in all rows.
    Fixed(Value<'static>),
    /// The integer at this position in the row's numbers.
    Int(u8),
    /// The float at this position in the row's numbers.
    Float(u8),
}

impl TemplateValue {
    /// Value of the field in a row with these numbers. Zero if the row has too few of them.
    #[must_use]
    pub fn value(self, numbers: &[NumberBits]) -> Value<'static> {
        let bits = |place: u8| numbers.get(usize::from(place)).map_or(0, |number| number.0);
        match self {
            Self::Fixed(value) => value,
            Self::Int(place) => Value::Int(bits(place).cast_signed()),
            Self::Float(place) => Value::Float(f64::from_bits(bits(place))),
        }
    }

    /// Number of numbers that a row needs for these parts.
    #[must_use]
    pub fn numbers(parts: &[(FieldId, Self)]) -> usize {
        let needed = parts.iter().map(|(_, part)| match part {
            Self::Fixed(_) => 0,
            Self::Int(place) | Self::Float(place) => usize::from(*place) + 1,
        });
        needed.max().unwrap_or(0)
    }
}

/// Bits of an integer or of a float; the template states which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberBits(pub u64);

impl From<i64> for NumberBits {
    fn from(value: i64) -> Self {
        Self(value.cast_unsigned())
    }
}

impl From<f64> for NumberBits {
    fn from(value: f64) -> Self {
        Self(value.to_bits())
    }
}

/// First fields of a row, from a template.
#[derive(Debug, Clone, Copy)]
pub struct Filled<'n> {
    /// The template.
    pub template: TemplateId,
    /// Numbers that the template asks for.
    pub numbers: &'n [NumberBits],
}

/// Templates of a sink that stores all fields of each row.
#[derive(Debug, Default)]
pub struct Templates(Vec<Vec<(FieldId, TemplateValue)>>);

impl Templates {
    /// Keeps a template and returns its number.
    pub fn define(&mut self, parts: &[(FieldId, TemplateValue)]) -> TemplateId {
        self.0.push(parts.to_vec());
        TemplateId(narrow(self.0.len() - 1))
    }

    /// Fields of a row: those of the template, then the others. `None` if the template is unknown.
    #[must_use]
    pub fn fields<'v>(
        &self,
        filled: Filled<'_>,
        others: &[(FieldId, Value<'v>)],
    ) -> Option<Vec<(FieldId, Value<'v>)>> {
        let parts = self.0.get(filled.template.0 as usize)?;
        let of_template = parts.iter().map(|(field, part)| (*field, part.value(filled.numbers)));
        Some(of_template.chain(others.iter().copied()).collect())
    }
}
