//! Takes runs into the builder.

use super::builder::{Builder, TrackState};
use super::next_field::GivenFields;
use crate::base::{Error, Interval, Result, narrow};
use crate::ingest::rows::{GROUP_ROWS, RowTimes, RunRow, TrackRun};
use crate::model::{Filled, NameId, NumberBits, SliceRecord, TableId, TrackContent, TrackId};

impl Builder<'_> {
    /// Takes a run. `names` gives the builder's numbers of names.
    pub(in crate::ingest) fn take_run(&mut self, run: &TrackRun, names: &[NameId]) -> Result<()> {
        let (table, is_slices) = match self.tracks.get(run.track.0 as usize).map(|of| of.spec.kind) {
            Some(TrackContent::Slices(table, _)) => (table, true),
            Some(TrackContent::Counter(table)) => (table, false),
            _ => return Err(Error::Invalid { what: "a run needs a track of slices or samples" }),
        };
        let (mut rows, mut numbers) = (&run.rows[..], &run.numbers[..]);
        while !rows.is_empty() {
            let waiting = self.tracks[run.track.0 as usize].waiting.as_ref();
            let room = GROUP_ROWS - waiting.map_or(0, |rows| rows.len()).min(GROUP_ROWS - 1);
            let (now, later) = rows.split_at(rows.len().min(room));
            if !self.take_rows(run.track, table, is_slices, now, names, &mut numbers)? {
                return self.take_one_by_one(run.track, rows, numbers, names);
            }
            rows = later;
        }
        Ok(())
    }

    /// Takes rows that fit in the group of their track. `false` without a change if a row needs a
    /// closer look.
    fn take_rows(
        &mut self,
        track: TrackId,
        table: TableId,
        is_slices: bool,
        run: &[RunRow],
        names: &[NameId],
        numbers: &mut &[NumberBits],
    ) -> Result<bool> {
        let Some(state) = self.tracks.get_mut(track.0 as usize) else { return Ok(false) };
        let TrackState { waiting: Some(rows), last, rows: arrived, span, .. } = state else {
            return Ok(false);
        };
        let before_all = RowTimes { start_ps: i64::MIN, duration_ps: 0 };
        let mut last_of_run = if *arrived > 0 { *last } else { before_all };
        let Some(latest) = TrackRun::check(run, is_slices, Self::MAX_PS, &mut last_of_run) else {
            return Ok(false);
        };
        let has_names = !is_slices || run.iter().all(|row| (row.name.0 as usize) < names.len());
        let count = narrow(run.len());
        let sum = self.rows.checked_add(count).filter(|sum| *sum < u32::MAX && has_names);
        let (Some(sum), Some(first)) = (sum, run.first()) else { return Ok(false) };
        if rows.len() == 0 {
            rows.take(&mut self.pool);
        }
        let before = rows.bytes();
        rows.run(run, is_slices.then_some(names), table, numbers, &self.templates)?;
        *last = last_of_run;
        *arrived += count;
        let of_run = Interval::new(first.start_ps, latest);
        *span = Some(span.map_or(of_run, |span| span.cover(of_run)));
        self.rows = sum;
        self.waiting_bytes += rows.bytes().saturating_sub(before);
        self.hand_over_full(track.0 as usize)?;
        Ok(true)
    }

    fn take_one_by_one(
        &mut self,
        track: TrackId,
        rows: &[RunRow],
        mut numbers: &[NumberBits],
        names: &[NameId],
    ) -> Result<()> {
        for row in rows {
            let &RunRow { start_ps, second, name, template, form } = row;
            let known = self.templates.get(template.0 as usize);
            let unknown = Error::Invalid { what: "a template that is unknown" };
            let count = known.ok_or(unknown)?.numbers();
            let (of_row, later) = numbers.split_at_checked(count).ok_or(unknown)?;
            numbers = later;
            let filled = Some(Filled { template, numbers: of_row });
            if let Some(TrackContent::Counter(_)) = self.tracks.get(track.0 as usize).map(|of| of.spec.kind) {
                self.take_sample(track, start_ps, row.value(), filled, GivenFields([].iter()))?;
                continue;
            }
            let name =
                *names.get(name.0 as usize).ok_or(Error::Invalid { what: "a name that is not there" })?;
            let slice = SliceRecord { track, start_ps, duration_ps: second, name, form, fields: &[] };
            self.take_slice(&slice, filled, GivenFields([].iter()))?;
        }
        Ok(())
    }
}
