//! The traits of parameters.

#[cfg(test)]
use proptest::strategy::BoxedStrategy;

use super::address::Address;
use super::doc::ParameterDoc;
use super::given_address::GivenAddress;
use crate::base::ClockFit;
use crate::wire::refusal::Refusal;

/// How one field of a question stands in an address: as one parameter or as several.
pub(crate) trait Parameter {
    /// Type of the field.
    type Value;

    /// Adds the description of each parameter. `doc` is the comment on the field.
    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>);

    /// Reads the value.
    ///
    /// # Errors
    /// `BadQuestion` or `NotFound`, with the name of the parameter that is missing or wrong.
    fn read(&self, given: &GivenAddress<'_>) -> Result<Self::Value, Refusal>;

    /// Writes the value.
    fn write(&self, value: &Self::Value, address: &mut Address);

    /// Converts the times of the value from the time that all ranks share to that of a rank.
    fn move_to_local(&self, _value: &mut Self::Value, _clock: ClockFit) {}

    /// A value other than the default one.
    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> Self::Value;

    /// All values.
    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<Self::Value>;
}

/// The parameter of a field of this type.
pub(crate) const fn for_field<V, P: Parameter<Value = V>>(parameter: P) -> P {
    parameter
}

/// A struct whose fields are parameters. `parameters!` implements it.
pub trait Parameters: Sized {
    /// The comment on the struct, in one line.
    const DOC: &'static str;

    /// Adds the description of each parameter.
    fn describe(all: &mut Vec<ParameterDoc>);

    /// Reads all fields.
    ///
    /// # Errors
    /// `BadQuestion` or `NotFound`, with the name of the parameter that is missing or wrong.
    fn read(given: &GivenAddress<'_>) -> Result<Self, Refusal>;

    /// Writes all fields.
    fn write(&self, address: &mut Address);

    /// Converts all times from the time that all ranks share to that of a rank.
    fn move_to_local(&mut self, clock: ClockFit);

    /// The struct with a value for each parameter.
    #[cfg(any(test, feature = "fixture"))]
    fn example() -> Self;

    /// All values.
    #[cfg(test)]
    fn any() -> BoxedStrategy<Self>;
}
