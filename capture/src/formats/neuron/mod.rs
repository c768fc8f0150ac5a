//! Profiles of AWS Neuron devices: the tables that they consist of.

pub mod schema;
