//! The regions of a rank: its steps, and what marks tell beside them.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::insight::region::{RankRegion, RankRegions, RegionKind, StepPace, StepShape, WorkSteps};

/// The regions of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegionList {
    /// The usual duration of a step in picoseconds. `None` without steps.
    pub median_ps: Option<i64>,
    /// Why there are no steps.
    pub no_steps: Option<String>,
    /// Steps, layers and phases, each by start.
    pub regions: Vec<RegionEntry>,
}

/// A named span of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegionEntry {
    /// The meaning.
    pub kind: RegionKindEntry,
    /// Name of its mark, else the kind and a number from 0.
    pub name: String,
    /// Start in picoseconds on the clock of the rank.
    pub start_ps: i64,
    /// Its end, on the same clock.
    pub end_ps: i64,
    /// `marks` or `order`: how it is known.
    pub source: String,
    /// Facts of a step; `None` for other regions.
    pub step: Option<StepEntry>,
}

/// The meaning of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RegionKindEntry {
    /// One step of the outermost loop.
    Iteration,
    /// A layer of the model.
    Layer,
    /// Another part of the run.
    Phase,
    /// A span that a user named.
    User,
}

/// Facts of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepEntry {
    /// Number of kernels and copies.
    pub kernels: u64,
    /// `usual`, `warm-up`, `slow` or `fast`; `None` if there is nothing to compare with.
    pub pace: Option<String>,
    /// `usual`, `cut`, `unlike` or `prefill`: its work beside that of the others.
    pub shape: String,
    /// Whether it takes much longer or shorter than the others, although it has the same to do.
    pub is_outlier: bool,
    /// Start of its mark on the host, in picoseconds.
    pub mark_start_ps: Option<i64>,
    /// End of its mark on the host, in picoseconds.
    pub mark_end_ps: Option<i64>,
}

impl RegionEntry {
    /// The entry of a region, with the facts of its step.
    #[must_use]
    pub fn of(region: &RankRegion, steps: Option<&WorkSteps>) -> Self {
        let step = region.step.and_then(|at| steps?.all.get(at)).map(|step| StepEntry {
            kernels: step.nodes as u64,
            pace: pace_name(step.pace).map(str::to_owned),
            shape: shape_name(step.shape).to_owned(),
            is_outlier: step.is_outlier(),
            mark_start_ps: step.mark.map(|mark| mark.start.0),
            mark_end_ps: step.mark.map(|mark| mark.end.0),
        });
        Self {
            kind: region.kind.into(),
            name: region.name.clone(),
            start_ps: region.span.start.0,
            end_ps: region.span.end.0,
            source: region.origin.name().to_owned(),
            step,
        }
    }

    /// The duration in picoseconds.
    #[must_use]
    pub fn duration_ps(&self) -> i64 {
        self.end_ps.saturating_sub(self.start_ps)
    }
}

impl From<&RankRegions> for RegionList {
    fn from(of: &RankRegions) -> Self {
        let steps = of.steps.as_ref().ok();
        Self {
            median_ps: steps.map(|steps| steps.median_ps),
            no_steps: of.steps.as_ref().err().map(ToString::to_string),
            regions: of.all.iter().map(|region| RegionEntry::of(region, steps)).collect(),
        }
    }
}

impl From<RegionKind> for RegionKindEntry {
    fn from(of: RegionKind) -> Self {
        match of {
            RegionKind::Iteration => Self::Iteration,
            RegionKind::Layer => Self::Layer,
            RegionKind::Phase => Self::Phase,
            RegionKind::User => Self::User,
        }
    }
}

/// The word for a pace.
#[must_use]
pub fn pace_name(pace: StepPace) -> Option<&'static str> {
    match pace {
        StepPace::Usual => Some("usual"),
        StepPace::WarmUp => Some("warm-up"),
        StepPace::Slow => Some("slow"),
        StepPace::Fast => Some("fast"),
        StepPace::Unknown => None,
    }
}

fn shape_name(shape: StepShape) -> &'static str {
    match shape {
        StepShape::Usual => "usual",
        StepShape::Cut => "cut",
        StepShape::Unlike => "unlike",
        StepShape::Prefill => "prefill",
    }
}

impl Timed for RegionList {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        for region in &mut self.regions {
            f(TimeField::Instant(&mut region.start_ps));
            f(TimeField::Instant(&mut region.end_ps));
            let marks =
                region.step.iter_mut().flat_map(|step| [&mut step.mark_start_ps, &mut step.mark_end_ps]);
            marks.flatten().for_each(|time| f(TimeField::Instant(time)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Interval;
    use crate::insight::region::{NoSteps, StepOrigin};

    #[test]
    fn a_list_says_what_is_there_and_why_steps_are_not() {
        let region = RankRegion {
            kind: RegionKind::Layer,
            name: "mlp".to_owned(),
            span: Interval::new(5, 9),
            origin: StepOrigin::Marks,
            step: None,
        };
        let found = RankRegions { steps: Err(NoSteps::NoRepetition), all: vec![region] };
        let mut list = RegionList::from(&found);
        assert_eq!((list.median_ps, list.regions[0].duration_ps()), (None, 4));
        assert_eq!(list.no_steps.as_deref(), Some(NoSteps::NoRepetition.to_string().as_str()));
        let mut times = Vec::new();
        list.each_time(&mut |field| match field {
            TimeField::Instant(time) => times.push(*time),
            TimeField::Span { .. } => {}
        });
        assert_eq!(times, [5, 9]);
        let bytes = postcard::to_allocvec(&list).unwrap();
        assert_eq!(postcard::from_bytes::<RegionList>(&bytes).unwrap(), list);
    }
}
