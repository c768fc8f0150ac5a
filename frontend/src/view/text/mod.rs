//! Texts: what somebody meant who typed it, and names that fit.

pub mod moments;
pub mod nearest;
pub mod told_apart;
