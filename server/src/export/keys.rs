//! Names of fields next to fixed names.

/// The name of a field, with underscores at its end while the name is fixed for something else or
/// belongs to another field.
pub(super) fn freed(name: &str, is_fixed: impl Fn(&str) -> bool, is_field: impl Fn(&str) -> bool) -> String {
    let mut free = name.to_owned();
    while is_fixed(&free) || (free != name && is_field(&free)) {
        free.push('_');
    }
    free
}
