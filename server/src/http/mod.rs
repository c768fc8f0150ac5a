//! HTTP: the guards in front of every request. [`crate::routes`] has the table behind them, and
//! [`crate::listener`] the server.
//!
//! ```text
//! connection ──► limits ──► peer ──► guard ──► routes
//! ```
//! *Invariant.* [`guard`] alone decides who may ask, and [`error`] alone knows status codes.
//! docs/security.md states the promises.

pub mod access;

pub mod client_pace;
pub mod error;
pub mod guard;
pub mod headers;
pub mod limits;
pub mod negotiation;
pub mod peer;
mod queue;
pub mod shares;
pub mod token;
pub mod turns;
pub mod unread_answers;
