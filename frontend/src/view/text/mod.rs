//! Texts: what somebody meant who typed it, and names that fit.

pub mod moments;
pub mod short_names;
pub mod similar_name;
