//! Times and spans as parameters, in picoseconds.

#[cfg(test)]
use proptest::prelude::*;

use super::address::Address;
use super::doc::{ParameterDoc, ParameterPlace, ValueForm};
use super::given_address::{GivenAddress, missing};
use super::kinds::number;
use super::parameter::Parameter;
use crate::base::{ClockFit, Interval, Time};
use crate::wire::refusal::{Refusal, RefusalKind};

/// Start and end of a span.
const ENDS: [&str; 2] = ["start_ps", "end_ps"];

fn time_doc(name: &'static str, is_required: bool, doc: String) -> ParameterDoc {
    let form = ValueForm::Integer { least: None, most: None, default: None };
    ParameterDoc { name, place: ParameterPlace::Query, is_required, doc: doc.into(), form }
}

fn time(given: &GivenAddress<'_>, name: &str) -> Result<Option<i64>, Refusal> {
    given.value(ParameterPlace::Query, name)?.map(|text| number(name, &text)).transpose()
}

fn wanted(given: &GivenAddress<'_>, name: &str) -> Result<i64, Refusal> {
    time(given, name)?.ok_or_else(|| missing(name))
}

/// A time in the query, which must be given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtTime(pub &'static str);

impl Parameter for AtTime {
    type Value = i64;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        all.push(time_doc(self.0, true, doc.to_owned()));
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<i64, Refusal> {
        wanted(given, self.0)
    }

    fn write(&self, value: &i64, address: &mut Address) {
        address.push(ParameterPlace::Query, self.0, value);
    }

    fn move_to_local(&self, value: &mut i64, clock: ClockFit) {
        *value = clock.to_local(Time(*value)).0;
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> i64 {
        3
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<i64> {
        any::<i64>().boxed()
    }
}

/// A span, which must be given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span;

impl Parameter for Span {
    type Value = Interval;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        all.push(time_doc(ENDS[0], true, format!("Start of a span. {doc}")));
        all.push(time_doc(ENDS[1], true, "End of the span.".to_owned()));
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<Interval, Refusal> {
        let [start_ps, end_ps] = [wanted(given, ENDS[0])?, wanted(given, ENDS[1])?];
        if start_ps > end_ps {
            return Err(Refusal::new(RefusalKind::BadQuestion, "end_ps is before start_ps"));
        }
        Ok(Interval::new(start_ps, end_ps))
    }

    fn write(&self, value: &Interval, address: &mut Address) {
        for (name, time) in ENDS.into_iter().zip([value.start, value.end]) {
            address.push(ParameterPlace::Query, name, time.0);
        }
    }

    fn move_to_local(&self, value: &mut Interval, clock: ClockFit) {
        *value = clock.to_local_span(*value);
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> Interval {
        Interval::new(-5, 7)
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<Interval> {
        (any::<i64>(), any::<i64>()).prop_map(|(a, b)| Interval::new(a.min(b), a.max(b))).boxed()
    }
}

/// A span; `None` if neither of its ends is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpanIfAny;

impl Parameter for SpanIfAny {
    type Value = Option<Interval>;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        all.push(time_doc(ENDS[0], false, format!("Start of a span. Needs end_ps. {doc}")));
        all.push(time_doc(ENDS[1], false, "End of the span. Needs start_ps.".to_owned()));
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<Option<Interval>, Refusal> {
        let is_given = |name| given.value(ParameterPlace::Query, name).map(|value| value.is_some());
        match is_given(ENDS[0])? || is_given(ENDS[1])? {
            true => Span.read(given).map(Some),
            false => Ok(None),
        }
    }

    fn write(&self, value: &Option<Interval>, address: &mut Address) {
        value.iter().for_each(|span| Span.write(span, address));
    }

    fn move_to_local(&self, value: &mut Option<Interval>, clock: ClockFit) {
        value.iter_mut().for_each(|span| Span.move_to_local(span, clock));
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> Option<Interval> {
        Some(Span.example())
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<Option<Interval>> {
        prop::option::of(Span.any()).boxed()
    }
}
