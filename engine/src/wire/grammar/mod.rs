//! The grammar of addresses: how the parameters of a question stand in a path and its query.
//!
//! [`parameters!`] makes the struct of a question from the list of its fields. Each field names the
//! [`Parameter`] that reads, writes and describes it, so one list is the grammar of an address and
//! its description. *Invariant.* Reading what was written gives the same value.

mod address;
mod doc;
mod given_address;
mod kinds;
mod parameter;
mod times;

pub use self::address::Address;
pub use self::doc::{ParameterDoc, ParameterPlace, ValueForm};
pub(crate) use self::given_address::missing;
pub use self::given_address::{GivenAddress, parts_of};
pub(crate) use self::kinds::{
    Number, NumberList, Numbers, Text, TextIfAny, Word, Words, meaning_of, name_of, number,
};
pub use self::parameter::Parameters;
pub(crate) use self::parameter::{Parameter, for_field};
pub(crate) use self::times::{AtTime, Span, SpanIfAny};

/// Defines a struct whose fields are parameters of an address. The fields stand in the order of the
/// path, then of the query. The comments on struct and fields are the text of the description of
/// the API.
macro_rules! parameters {
    ($(#[doc = $about:literal])+ pub struct $name:ident;) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name;
        $crate::wire::grammar::parameters!(@impl $name [$($about)+] {});
    };
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ pub $field:ident: $value:ty = $parameter:expr,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $value,)+
        }
        $crate::wire::grammar::parameters!(@impl $name [$($about)+] {
            $($field: $value [$($doc)+] $parameter,)+
        });
    };
    (@impl $name:ident [$($about:literal)+] {
        $($field:ident: $value:ty [$($doc:literal)+] $parameter:expr,)*
    }) => {
        const _: () = {
            use $crate::wire::grammar::{self, Parameters};
            use $crate::wire::refusal::Refusal;

            impl Parameters for $name {
                const DOC: &'static str = concat!($($about),+).trim_ascii_start();

                fn describe(all: &mut Vec<grammar::ParameterDoc>) {
                    let _ = &all;
                    $(grammar::Parameter::describe(
                        &grammar::for_field::<$value, _>($parameter),
                        concat!($($doc),+).trim_ascii_start(),
                        all,
                    );)*
                }

                fn read(given: &grammar::GivenAddress<'_>) -> std::result::Result<Self, Refusal> {
                    let _ = given;
                    Ok(Self {
                        $($field: grammar::Parameter::read(
                            &grammar::for_field::<$value, _>($parameter),
                            given,
                        )?,)*
                    })
                }

                fn write(&self, address: &mut grammar::Address) {
                    let _ = &address;
                    $(grammar::Parameter::write(
                        &grammar::for_field::<$value, _>($parameter),
                        &self.$field,
                        address,
                    );)*
                }

                fn move_to_local(&mut self, clock: $crate::base::ClockFit) {
                    let _ = clock;
                    $(grammar::Parameter::move_to_local(
                        &grammar::for_field::<$value, _>($parameter),
                        &mut self.$field,
                        clock,
                    );)*
                }

                #[cfg(any(test, feature = "fixture"))]
                fn example() -> Self {
                    Self {
                        $($field: grammar::Parameter::example(&grammar::for_field::<$value, _>($parameter)),)*
                    }
                }

                #[cfg(test)]
                fn any() -> proptest::strategy::BoxedStrategy<Self> {
                    use proptest::strategy::{Just, Strategy as _};
                    let parts = (
                        Just(()),
                        $(grammar::Parameter::any(&grammar::for_field::<$value, _>($parameter)),)*
                    );
                    parts.prop_map(|((), $($field,)*)| Self { $($field,)* }).boxed()
                }
            }
        };
    };
}
pub(crate) use parameters;
