//! Profiles of AWS Neuron devices: the tables they consist of and the readers of their formats.

pub mod json;
pub mod schema;
