//! Devices that profiles are captured on.

pub mod simulation;
