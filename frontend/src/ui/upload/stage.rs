//! Progress of an upload, in words and as a share. Pure.

use nprof_engine::wire::catalog::ProfileEntry;
use nprof_engine::wire::job::{JobReport, JobState};

use crate::ui::text::format;

/// Weight of the newest speed in the shown speed. The rest is the last shown speed, so that the
/// number stays readable.
const NEWEST: f64 = 0.3;

/// Stage of an upload.
#[derive(Debug, Clone, PartialEq)]
pub enum UploadStage {
    /// Waits until another upload is sent.
    Waiting,
    /// The bytes are in flight.
    Sending {
        /// Bytes sent so far.
        done_bytes: f64,
        /// Total bytes.
        total_bytes: f64,
    },
    /// The server ingests it.
    Ingesting(JobReport, Speed),
    /// Cancellation was requested.
    Stopping,
    /// The profile is in the store.
    Done(ProfileEntry),
    /// It failed, for this reason.
    Failed(String),
    /// The user cancelled it.
    Cancelled,
}

impl UploadStage {
    /// Returns true if the upload has ended.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Failed(_) | Self::Cancelled)
    }

    /// Progress of the current stage, from 0 to 1. `None` if it is not known.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let (done, total) = match self {
            Self::Sending { done_bytes, total_bytes } => (*done_bytes, *total_bytes),
            Self::Ingesting(report, _) if report.state != JobState::Waiting => {
                (report.done_bytes as f64, report.total_bytes as f64)
            }
            _ => return None,
        };
        (total > 0.0).then(|| (done / total).clamp(0.0, 1.0))
    }

    /// Title of the stage, without the progress.
    #[must_use]
    pub fn title(&self) -> &'static str {
        match self {
            Self::Waiting => "Waiting for the one before",
            Self::Sending { .. } => "Sending",
            Self::Ingesting(report, _) => match report.state {
                JobState::Waiting => "Waiting for another ingest",
                JobState::Identifying => "Looking whether it is there already",
                JobState::Reading => "Reading the trace",
                _ => "Writing the profile",
            },
            Self::Stopping => "Stopping …",
            Self::Done(_) => "Ingested",
            Self::Failed(_) => "Failed",
            Self::Cancelled => "Cancelled: nothing was kept",
        }
    }

    /// The stage with its progress.
    #[must_use]
    pub fn text(&self) -> String {
        let of = |done: f64, total: f64| format!("{} of {}", format::bytes(done), format::bytes(total));
        match self {
            Self::Sending { done_bytes, total_bytes } => {
                format!("{}: {}", self.title(), of(*done_bytes, *total_bytes))
            }
            Self::Ingesting(report, speed) if report.total_bytes > 0 && self.share().is_some() => {
                let mut text =
                    format!("{}: {}", self.title(), of(report.done_bytes as f64, report.total_bytes as f64));
                if report.events > 0 {
                    text.push_str(" · ");
                    text.push_str(&format::counted(report.events, "event", "events"));
                }
                if let Some(per_s) = speed.per_s() {
                    text.push_str(&format!(" · {} events/s", format::count(per_s)));
                }
                text
            }
            Self::Failed(reason) => reason.clone(),
            _ => self.title().to_owned(),
        }
    }
}

/// Speed of the ingest, in events per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Speed {
    /// Time and number of events at the last update.
    last: Option<(f64, u64)>,
    per_s: Option<f64>,
}

impl Speed {
    /// The speed after an update: this many events were read by this time.
    #[must_use]
    pub fn after(self, now_ms: f64, events: u64) -> Self {
        let last = Some((now_ms, events));
        let Some((before_ms, before)) = self.last.filter(|(_, before)| *before > 0) else {
            return Self { last, per_s: None };
        };
        let elapsed_ms = now_ms - before_ms;
        if elapsed_ms <= 0.0 || events < before {
            return Self { last, per_s: self.per_s };
        }
        let newest = (events - before) as f64 / elapsed_ms * 1_000.0;
        let per_s = self.per_s.map_or(newest, |shown| shown + (newest - shown) * NEWEST);
        Self { last, per_s: Some(per_s) }
    }

    /// Events per second, rounded to two digits. `None` before the second update.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of events, never negative"
    )]
    pub fn per_s(self) -> Option<u64> {
        let per_s = self.per_s.filter(|per_s| *per_s >= 1.0)? as u64;
        let unit = 10_u64.pow(per_s.ilog10().saturating_sub(1));
        Some(per_s / unit * unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(state: JobState, done_bytes: u64, events: u64) -> JobReport {
        JobReport {
            id: 1,
            name: "t.json".to_owned(),
            state,
            done_bytes,
            total_bytes: 4 << 20,
            events,
            profile: None,
            error: None,
        }
    }

    #[track_caller]
    fn check(stage: &UploadStage, text: &str, share: Option<f64>) {
        assert_eq!((stage.text().as_str(), stage.share()), (text, share));
    }

    #[test]
    fn each_stage_tells_how_far_it_is() {
        check(&UploadStage::Waiting, "Waiting for the one before", None);
        let sending = UploadStage::Sending { done_bytes: 1024.0, total_bytes: 4096.0 };
        check(&sending, "Sending: 1 KiB of 4 KiB", Some(0.25));
        check(&UploadStage::Sending { done_bytes: 0.0, total_bytes: 0.0 }, "Sending: 0 B of 0 B", None);
        let ingesting =
            |state, done, events| UploadStage::Ingesting(report(state, done, events), Speed::default());
        check(&ingesting(JobState::Waiting, 0, 0), "Waiting for another ingest", None);
        check(
            &ingesting(JobState::Identifying, 1 << 20, 0),
            "Looking whether it is there already: 1 MiB of 4 MiB",
            Some(0.25),
        );
        let speed = Speed::default().after(0.0, 10).after(500.0, 617_010);
        check(
            &UploadStage::Ingesting(report(JobState::Reading, 2 << 20, 617_010), speed),
            "Reading the trace: 2 MiB of 4 MiB · 617,010 events · 1,200,000 events/s",
            Some(0.5),
        );
        check(&UploadStage::Failed("no trace".to_owned()), "no trace", None);
    }

    #[test]
    fn the_speed_follows_slowly_and_needs_two_looks() {
        let speed = Speed::default().after(0.0, 0).after(100.0, 1_000);
        assert_eq!(speed.per_s(), None, "the first events may have waited for anything");
        let speed = speed.after(1_100.0, 2_000);
        assert_eq!(speed.per_s(), Some(1_000));
        assert_eq!(speed.after(2_100.0, 4_000).per_s(), Some(1_300));
        assert_eq!(speed.after(1_100.0, 9_000).per_s(), Some(1_000), "no time has passed");
        assert_eq!(speed.after(2_100.0, 0).per_s(), Some(1_000), "another count began");
    }
}
