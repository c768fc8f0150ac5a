//! An AIU whose clock is known, for tests: it writes the slices that its runtime would.

/// A device with a counter of this frequency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Device {
    hz: f64,
    start: u32,
}

/// A slice of a device, in microseconds.
#[derive(Debug, Clone)]
pub(super) struct Made {
    name: String,
    rank: u32,
    start_us: i64,
    end_us: i64,
    attributes: String,
}

impl Device {
    /// A device whose counter shows `start` at time zero.
    pub(super) fn new(hz: f64, start: u32) -> Self {
        Self { hz, start }
    }

    /// The counter at a time.
    #[expect(clippy::cast_possible_truncation, reason = "a counter of 32 bits")]
    fn counter(self, us: i64) -> u32 {
        let cycles = (us as f64 / 1e6 * self.hz).round() as i64;
        (i64::from(self.start) + cycles).rem_euclid(1 << 32) as u32
    }

    /// A slice that executes between these times.
    pub(super) fn slice(self, name: &str, start_us: i64, end_us: i64) -> Made {
        let (first, last) = (self.counter(start_us), self.counter(end_us));
        // The counters around the phase that the name tells show the whole slice.
        let from = if name.ends_with("DmaI") {
            1
        } else if name.ends_with("DmaO") {
            4
        } else {
            3
        };
        let counter = |at: usize| if at < from { first } else { last };
        let [ts1, ts2, ts3, ts4, ts5] = [0, 1, 2, 3, 4].map(counter);
        let attributes =
            format!(r#""TS1":"{ts1}","TS2":"{ts2}","TS3":"{ts3:#x}","TS4":"{ts4}","TS5":"{ts5}""#);
        Made { name: name.to_owned(), rank: 0, start_us, end_us, attributes }
    }
}

impl Made {
    /// The host sees the slice end later.
    pub(super) fn late_by(mut self, us: i64) -> Self {
        self.end_us += us;
        self
    }

    /// The slice of a rank.
    pub(super) fn of_rank(mut self, rank: u32) -> Self {
        self.rank = rank;
        self
    }

    /// The slice with further attributes.
    pub(super) fn with(mut self, attributes: &str) -> Self {
        self.attributes = format!("{},{attributes}", self.attributes);
        self
    }

    fn event(&self, phase: &str, us: i64, more: &str) -> String {
        let Self { name, rank, attributes, .. } = self;
        format!(
            r#"{{"name":"{name}","ph":"{phase}","pid":{rank},"tid":1,"ts":{us}{more},"attr":{{{attributes}}}}}"#
        )
    }

    pub(super) fn begin(&self) -> String {
        self.event("B", self.start_us, "")
    }

    pub(super) fn end(&self) -> String {
        self.event("E", self.end_us, "")
    }

    pub(super) fn complete(&self) -> String {
        self.event("X", self.start_us, &format!(",\"dur\":{}", self.end_us - self.start_us))
    }
}
