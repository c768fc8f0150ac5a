//! Facts about the files of a rank that its events do not tell: the keys of each document, and the
//! threads in the order in which the files name them. Formats over Trace Event JSON keep them in
//! side tables.

use nprof_engine::base::{Result, signed};
use nprof_engine::model::{FieldSpec, Sink, Unit, Value};
use rustc_hash::FxHashMap;

use super::side_table::SideTable;

/// Most threads whose order is kept.
const MAX_THREADS: usize = 1 << 16;
/// Most keys of a document that are listed.
const MAX_KEYS: usize = 256;

/// A thread.
#[derive(Debug)]
struct FileThread {
    id: Box<[u8]>,
    /// Time of its first slice in picoseconds; not before that of the threads before it in its
    /// file.
    first_ps: i64,
    /// Number of the file with this slice.
    first_file: usize,
    /// The file that named it last.
    file: usize,
}

/// A file.
#[derive(Debug, Default)]
struct TraceFile {
    name: String,
    /// Keys beside the events.
    keys: Vec<String>,
}

/// The files of a rank so far.
#[derive(Debug, Default)]
pub(super) struct RankFiles {
    all: Vec<TraceFile>,
    /// Name of the next file.
    next: String,
    threads: Vec<FileThread>,
    by_id: FxHashMap<Box<[u8]>, usize>,
    /// The last thread, which most events share with the one before.
    last: Option<usize>,
    latest_ps: i64,
}

impl RankFiles {
    /// Names the next file.
    pub(super) fn name(&mut self, name: &str) {
        name.clone_into(&mut self.next);
    }

    /// Begins a file. Returns its number, from 0.
    pub(super) fn begin(&mut self) -> usize {
        self.all.push(TraceFile { name: std::mem::take(&mut self.next), keys: Vec::new() });
        (self.last, self.latest_ps) = (None, i64::MIN);
        self.all.len() - 1
    }

    /// Notes a key of the document beside its events.
    pub(super) fn key(&mut self, key: &str) {
        if let Some(file) = self.all.last_mut().filter(|file| file.keys.len() < MAX_KEYS) {
            file.keys.push(key.to_owned());
        }
    }

    /// Notes the thread of a slice. `time` is asked for if the file did not name the thread before.
    /// Returns whether the thread was known from the file.
    pub(super) fn thread(&mut self, id: &[u8], time: impl FnOnce() -> Option<i64>) -> bool {
        if self.last.is_some_and(|last| *self.threads[last].id == *id) {
            return true;
        }
        let file = self.all.len();
        let known = self.by_id.get(id).copied();
        if let Some(at) = known.filter(|&at| self.threads[at].file == file) {
            self.last = Some(at);
            return true;
        }
        let Some(time_ps) = time() else { return false };
        self.latest_ps = self.latest_ps.max(time_ps);
        match known {
            Some(at) => {
                let thread = &mut self.threads[at];
                if self.latest_ps < thread.first_ps {
                    (thread.first_ps, thread.first_file) = (self.latest_ps, file - 1);
                }
                thread.file = file;
                self.last = Some(at);
            }
            None if self.threads.len() < MAX_THREADS => {
                self.last = Some(self.threads.len());
                self.by_id.insert(id.into(), self.threads.len());
                let (first_ps, first_file) = (self.latest_ps, file - 1);
                self.threads.push(FileThread { id: id.into(), first_ps, first_file, file });
            }
            None => {}
        }
        false
    }

    /// Writes the tables `file` and `thread`.
    pub(super) fn write(mut self, sink: &mut dyn Sink) -> Result<()> {
        let fields = [
            FieldSpec::new("file", Unit::Count, "", "Number of the file, from 0."),
            FieldSpec::new("name", Unit::None, "", "Name of the file."),
            FieldSpec::new("keys", Unit::None, "", "Keys of the document beside its events."),
        ];
        let table = SideTable::define(sink, "file", "Files of the rank, in the order of reading.", fields)?;
        for (number, file) in (0..).zip(&self.all) {
            let keys = file.keys.join(" ");
            table.row(sink, [Value::Int(number), Value::Text(&file.name), Value::Text(&keys)])?;
        }
        let fields = [
            FieldSpec::new("tid", Unit::None, "", "Id of the thread as written."),
            FieldSpec::new("first", Unit::Picoseconds, "", "Time of its first slice."),
            FieldSpec::new("file", Unit::Count, "", "Number of the file with this slice."),
        ];
        let doc = "Threads in the order in which the files name them.";
        let table = SideTable::define(sink, "thread", doc, fields)?;
        // The sort is stable: threads that start together stay in the order of their files.
        self.threads.sort_by_key(|thread| thread.first_ps);
        for thread in &self.threads {
            let id = String::from_utf8_lossy(&thread.id);
            let file = signed(thread.first_file);
            table.row(sink, [Value::Text(&id), Value::Int(thread.first_ps), Value::Int(file)])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::fixture::Recorder;

    use super::*;

    #[test]
    fn threads_keep_the_order_of_their_files() {
        let mut files = RankFiles::default();
        for (number, slices) in
            [[("b", 50), ("a", 40), ("b", 60)], [("c", 10), ("a", 30), ("d", 45)]].into_iter().enumerate()
        {
            files.name("a.json");
            assert_eq!(files.begin(), number);
            files.key("schemaVersion");
            let known = slices.map(|(id, time_ps)| files.thread(id.as_bytes(), || Some(time_ps)));
            assert_eq!(known, [false, false, number == 0]);
        }
        let order: Vec<(&[u8], i64)> = files.threads.iter().map(|of| (&*of.id, of.first_ps)).collect();
        assert_eq!(order, [(&b"b"[..], 50), (b"a", 30), (b"c", 10), (b"d", 45)]);
        let mut sink = Recorder::default();
        files.write(&mut sink).unwrap();
        let tids: Vec<String> = sink.rows.iter().map(|row| format!("{row:?}")).collect();
        assert_eq!(tids.len(), 6, "{tids:?}");
        assert!(tids[2].contains("\"c\"") && tids[5].contains("\"b\""), "{tids:?}");
    }
}
