//! Values of closed lists as their positions, and the key of a column.

use super::footer::ColumnRole;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};
use crate::block::ColumnType;

pub(super) fn code_of<T: PartialEq>(all: &[T], value: &T) -> u8 {
    let position = all.iter().position(|one| one == value);
    u8::try_from(position.unwrap_or_default()).unwrap_or_default()
}

pub(super) fn read_code<T: Copy>(all: &[T], cursor: &mut Cursor<'_>) -> Result<T> {
    let code = cursor.u8()?;
    all.get(usize::from(code)).copied().ok_or_else(|| cursor.corrupt())
}

/// Appends the role and the type of a column.
pub fn put_column_key(role: ColumnRole, kind: ColumnType, out: &mut Vec<u8>) {
    out.put_varint(role.code().cast_unsigned());
    out.push(code_of(&ColumnType::ALL, &kind));
}

/// Reads what [`put_column_key`] wrote.
pub fn column_key(cursor: &mut Cursor<'_>) -> Result<(ColumnRole, ColumnType)> {
    let role = ColumnRole::of_code(i64::from(cursor.varint_u32()?)).ok_or_else(|| cursor.corrupt())?;
    Ok((role, read_code(&ColumnType::ALL, cursor)?))
}
