//! The check that every codec must pass.
