//! The seam between a document and the receiver of its events.

use nprof_engine::base::Result;

use super::event::EventBytes;
use super::output::EventOutput;
use super::value::WrittenValue;

/// Receiver of the contents of a document.
pub(super) trait EventReceiver<'s> {
    /// The output, for warnings and the clock.
    fn out(&mut self) -> &mut EventOutput<'s>;
    /// Number of events so far, readable or not.
    fn event_count(&self) -> u64;
    /// Takes a key beside `traceEvents`.
    fn metadata(&mut self, key: &str, value: WrittenValue<'_>, offset: u64) -> Result<()>;
    /// Keeps an item that is no event.
    fn unread(&mut self, what: &str, bytes: &[u8], offset: u64) -> Result<()>;
    /// Takes one event.
    fn event(&mut self, seen: EventBytes<'_>) -> Result<()>;
    /// Ends the document.
    fn finish(self) -> Result<()>;
}
