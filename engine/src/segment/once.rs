//! A value that is computed at its first use, if that succeeds.

use std::sync::OnceLock;

use crate::base::Result;

/// `OnceLock::get_or_try_init` is not stable yet. Two threads can both compute a value; one result
/// is kept.
pub fn get_or_try<T>(slot: &OnceLock<T>, compute: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(value) = slot.get() {
        return Ok(value);
    }
    let value = compute()?;
    Ok(slot.get_or_init(|| value))
}
