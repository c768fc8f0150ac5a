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
        let attributes =
            format!(r#""TS1":"{first}","TS2":"{first}","TS3":"{first:#x}","TS4":"{last}","TS5":"{last}""#);
        Made { name: name.to_owned(), start_us, end_us, attributes }
    }
}

impl Made {
    /// The host sees the slice end later.
    pub(super) fn late_by(mut self, us: i64) -> Self {
        self.end_us += us;
        self
    }

    fn event(&self, phase: &str, us: i64, more: &str) -> String {
        let (name, attributes) = (&self.name, &self.attributes);
        format!(
            r#"{{"name":"{name}","ph":"{phase}","pid":0,"tid":1,"ts":{us}{more},"attr":{{{attributes}}}}}"#
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
