//! Arrows between slices: links that a reader names, and flow points that are bound to slices while
//! their rows pass by.

mod binder;
mod link;
mod links;
mod window;

pub(super) use binder::{Binder, TrackBinder};
pub(super) use link::Link;
pub(super) use links::{ArrowStore, NumberedArrows, write_arrows};
