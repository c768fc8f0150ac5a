//! The panel of the marked span: its name, and its totals beside those of other ranks and regions.

pub mod comparison;

#[cfg(feature = "browser")]
mod region_column;
#[cfg(feature = "browser")]
mod region_name;
#[cfg(feature = "browser")]
mod totals;

#[cfg(feature = "browser")]
pub use self::region_name::NewName;
#[cfg(feature = "browser")]
pub use self::totals::Selection;
