//! Sends the events to the store through [`Sink`], like any reader of traces.
//!
//! Columns in files are read in pieces, so reading takes a few nanoseconds per event and almost no
//! memory. With events in memory, [`write()`] measures the store alone.

use std::path::Path;

use anyhow::{Context, Result};
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::ingest::{BuildOptions, Built};
use nprof_engine::model::{
    FieldId, FieldSpec, NameId, Nesting, RankInfo, Sink, SliceForm, SliceRecord, TableId, TableKind,
    TableSpec, TrackId, TrackSpec, Unit, Value,
};
use nprof_engine::native::{WriteError, write_segment};

use crate::generate::Meta;
use crate::generate::files::Fixed;
use crate::generate::text::ENGINES;
use crate::source::{EventSource, NumberSource, TextSource};

/// Number of rows that are read at once.
const PIECE_ROWS: usize = 1 << 14;

/// Writes the events of `source` to the segment `path`.
pub fn write(source: EventSource<'_>, path: &Path) -> Result<Built> {
    write_segment(path, BuildOptions::default(), |sink, _| fill(source, sink)).map_err(|error| match error {
        WriteError::Io(error) => anyhow::Error::from(error).context(format!("writing {}", path.display())),
        WriteError::Engine(error) => {
            anyhow::Error::from(error).context(format!("writing {}", path.display()))
        }
        WriteError::Read(error) => error,
    })
}

/// Sends all events of `source` to a sink.
pub fn fill(source: EventSource<'_>, sink: &mut dyn Sink) -> Result<()> {
    let meta = source.meta()?;
    sink.rank(RankInfo { source: "bench".to_owned(), ..RankInfo::default() });
    instructions(source, &meta, sink)?;
    transfers(source, &meta, sink)?;
    samples(source, &meta, sink)
}

/// A column of numbers, read in pieces.
struct NumberColumn<'e, T> {
    numbers: NumberSource<'e, T>,
    values: Vec<T>,
}

impl<'e, T: Fixed> NumberColumn<'e, T> {
    fn open(source: EventSource<'e>, name: &str) -> Result<Self> {
        Ok(Self { numbers: source.numbers(name)?, values: Vec::new() })
    }

    fn read(&mut self, rows: usize) -> Result<()> {
        self.numbers.read(rows, &mut self.values)
    }
}

/// A column of codes for a dictionary. Its texts are numbered by first occurrence, so each is read
/// and named in the first piece that contains it.
struct TextColumn<'e, T> {
    codes: NumberColumn<'e, T>,
    texts: TextSource<'e>,
    names: Vec<NameId>,
    /// Names of the piece's rows.
    values: Vec<NameId>,
}

impl<'e, T: Fixed + Into<u32>> TextColumn<'e, T> {
    fn open(source: EventSource<'e>, name: &str) -> Result<Self> {
        Ok(Self {
            codes: NumberColumn::open(source, name)?,
            texts: source.texts(name)?,
            names: Vec::new(),
            values: Vec::new(),
        })
    }

    fn read(&mut self, rows: usize, sink: &mut dyn Sink) -> Result<()> {
        self.codes.read(rows)?;
        let codes = self.codes.values.iter().map(|&code| -> u32 { code.into() });
        let last = codes.clone().max().unwrap_or(0) as usize;
        while self.names.len() <= last {
            let text = self.texts.read()?.context("a dictionary ends before its codes")?;
            self.names.push(sink.name(text)?);
        }
        self.values.clear();
        self.values.extend(codes.map(|code| self.names[code as usize]));
        Ok(())
    }

    fn value(&self, at: usize) -> Value<'static> {
        Value::Name(self.values[at])
    }
}

/// Calls `piece` until all rows of each track are read, with the track number and the number of
/// rows.
fn pieces(rows: &[u64], mut piece: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
    for (track, &rows) in rows.iter().enumerate() {
        let mut left = usize::try_from(rows)?;
        while left > 0 {
            let count = left.min(PIECE_ROWS);
            piece(track, count)?;
            left -= count;
        }
    }
    Ok(())
}

fn table(sink: &mut dyn Sink, name: &str, kind: TableKind, name_key: &str, doc: &str) -> Result<TableId> {
    let spec = TableSpec::new(name, kind, doc).named_by(name_key);
    Ok(sink.table(spec)?)
}

fn field(sink: &mut dyn Sink, table: TableId, name: &str, unit: Unit) -> Result<FieldId> {
    Ok(sink.field(table, FieldSpec::new(name, unit, "", ""))?)
}

fn slice_tracks(
    sink: &mut dyn Sink,
    group: &str,
    sort: i64,
    names: impl Iterator<Item = String>,
    table: TableId,
) -> Result<Vec<TrackId>> {
    let parent = sink.track(TrackSpec::group(group, None, sort))?;
    let track = |(sort, name): (i64, String)| {
        let track = sink.track(TrackSpec::slices(&name, Some(parent), table, Nesting::Concurrent, sort))?;
        sink.in_order(track)?;
        Ok(track)
    };
    (0..).zip(names).map(track).collect()
}

fn ps_from_ns(ns: u64) -> Result<i64> {
    Ok(i64::try_from(ns)? * PS_PER_NS)
}

fn instructions(events: EventSource<'_>, meta: &Meta, sink: &mut dyn Sink) -> Result<()> {
    let of = table(sink, "instruction", TableKind::Slices, "opcode", "What the engines executed.")?;
    let engines = slice_tracks(sink, "Engines", 0, ENGINES.iter().map(|&name| name.to_owned()), of)?;
    let fields = ["operands", "hlo_name", "layer_path", "nki_source_location"]
        .iter()
        .map(|name| field(sink, of, name, Unit::None))
        .collect::<Result<Vec<_>>>()?;
    let pc_field = field(sink, of, "pc", Unit::Hexadecimal)?;
    let mut start = NumberColumn::<u64>::open(events, "instruction.start")?;
    let mut duration = NumberColumn::<u32>::open(events, "instruction.duration")?;
    let mut pc = NumberColumn::<u32>::open(events, "instruction.pc")?;
    let mut opcode = TextColumn::<u8>::open(events, "instruction.opcode")?;
    let mut operands = TextColumn::<u32>::open(events, "instruction.operands")?;
    let mut hlo = TextColumn::<u16>::open(events, "instruction.hlo_name")?;
    let mut layer = TextColumn::<u16>::open(events, "instruction.layer_path")?;
    let mut source = TextColumn::<u16>::open(events, "instruction.nki_source_location")?;
    pieces(&meta.instructions, |engine, rows| {
        start.read(rows)?;
        duration.read(rows)?;
        pc.read(rows)?;
        opcode.read(rows, sink)?;
        operands.read(rows, sink)?;
        hlo.read(rows, sink)?;
        layer.read(rows, sink)?;
        source.read(rows, sink)?;
        for at in 0..rows {
            let values = [
                (fields[0], operands.value(at)),
                (fields[1], hlo.value(at)),
                (fields[2], layer.value(at)),
                (fields[3], source.value(at)),
                (pc_field, Value::Int(i64::from(pc.values[at]))),
            ];
            sink.slice(&SliceRecord {
                track: engines[engine],
                start_ps: ps_from_ns(start.values[at])?,
                duration_ps: i64::from(duration.values[at]) * PS_PER_NS,
                name: opcode.values[at],
                form: SliceForm::Complete,
                fields: &values,
            })?;
        }
        Ok(())
    })
}

fn transfers(events: EventSource<'_>, meta: &Meta, sink: &mut dyn Sink) -> Result<()> {
    let of = table(sink, "dma", TableKind::Slices, "tensor", "What the queues moved.")?;
    let queues = slice_tracks(sink, "Queues", 1, (0..meta.dmas.len()).map(|queue| format!("q{queue}")), of)?;
    let size_field = field(sink, of, "size", Unit::Bytes)?;
    let src_field = field(sink, of, "src", Unit::None)?;
    let dst_field = field(sink, of, "dst", Unit::None)?;
    let id_field = field(sink, of, "dma_id", Unit::None)?;
    let mut start = NumberColumn::<u64>::open(events, "dma.start")?;
    let mut duration = NumberColumn::<u32>::open(events, "dma.duration")?;
    let mut size = NumberColumn::<u32>::open(events, "dma.size")?;
    let mut src = TextColumn::<u8>::open(events, "dma.src")?;
    let mut dst = TextColumn::<u8>::open(events, "dma.dst")?;
    let mut tensor = TextColumn::<u16>::open(events, "dma.tensor")?;
    let mut id = NumberColumn::<u32>::open(events, "dma.dma_id")?;
    pieces(&meta.dmas, |queue, rows| {
        start.read(rows)?;
        duration.read(rows)?;
        size.read(rows)?;
        src.read(rows, sink)?;
        dst.read(rows, sink)?;
        tensor.read(rows, sink)?;
        id.read(rows)?;
        for at in 0..rows {
            let fields = [
                (size_field, Value::Int(i64::from(size.values[at]))),
                (src_field, src.value(at)),
                (dst_field, dst.value(at)),
                (id_field, Value::Int(i64::from(id.values[at]))),
            ];
            sink.slice(&SliceRecord {
                track: queues[queue],
                start_ps: ps_from_ns(start.values[at])?,
                duration_ps: i64::from(duration.values[at]) * PS_PER_NS,
                name: tensor.values[at],
                form: SliceForm::Complete,
                fields: &fields,
            })?;
        }
        Ok(())
    })
}

fn samples(events: EventSource<'_>, meta: &Meta, sink: &mut dyn Sink) -> Result<()> {
    let of = table(sink, "counter", TableKind::Samples, "", "What followed from the transfers.")?;
    let group = sink.track(TrackSpec::group("Counters", None, 2))?;
    let pending = TrackSpec::counter("pending_dma", Some(group), of, Unit::Count, 0);
    let throughput = TrackSpec::counter("dma_throughput", Some(group), of, Unit::Bytes, 1);
    // Counters are written one by one, because each is sorted by time separately.
    counter::<u16>(events, meta, pending, sink)?;
    counter::<u32>(events, meta, throughput, sink)
}

fn counter<T: Fixed + Into<u32>>(
    events: EventSource<'_>,
    meta: &Meta,
    spec: TrackSpec,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut start = NumberColumn::<u64>::open(events, "counter.start")?;
    let mut value = NumberColumn::<T>::open(events, &format!("counter.{}", spec.name))?;
    let track = sink.track(spec)?;
    sink.in_order(track)?;
    pieces(&[meta.samples], |_, rows| {
        start.read(rows)?;
        value.read(rows)?;
        for (&start, &value) in start.values.iter().zip(&value.values) {
            sink.sample(track, ps_from_ns(start)?, f64::from(value.into()), &[])?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;
    use nprof_engine::exec::Work;
    use nprof_engine::native::SegmentFile;
    use nprof_engine::query::{self, HitPage, SearchPattern};

    use super::*;
    use crate::generate::files::read_texts;
    use crate::generate::{GeneratorSettings, generate};
    use crate::source::LoadedEvents;

    #[test]
    fn every_row_arrives_with_its_texts() {
        let directory = tempfile::tempdir().unwrap();
        let meta = generate(directory.path(), &GeneratorSettings::standard(50_000)).unwrap();
        let path = directory.path().join("rank_0.nseg");
        let loaded = LoadedEvents::read(directory.path()).unwrap();
        let from_memory = write(EventSource::Memory(&loaded), &path).unwrap();
        let built = write(EventSource::Files(directory.path()), &path).unwrap();
        assert_eq!(built, from_memory);
        assert_eq!(built.events, meta.rows() + meta.samples, "a microsecond has two samples");
        assert_eq!(built.warnings, []);
        let segment = SegmentFile::open_file(&path).unwrap();
        let tracks = query::slice::tracks(&segment, None);
        assert_eq!(tracks.len(), ENGINES.len() + meta.dmas.len());
        let all =
            query::selection::select(&segment, &tracks[..1], Interval::new(0, i64::MAX), Work::IN_PLACE)
                .unwrap();
        assert_eq!(all.count, meta.instructions[0]);
        let texts = read_texts(directory.path(), "instruction.operands").unwrap();
        let rows = query::search::find(
            &segment,
            &SearchPattern::text(texts.lines().next().unwrap()),
            HitPage::first(1),
            Work::IN_PLACE,
        )
        .unwrap()
        .rows;
        assert!(!rows.is_empty());
    }
}
