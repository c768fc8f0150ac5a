//! Where profiles are captured: devices.

pub mod simulated;
