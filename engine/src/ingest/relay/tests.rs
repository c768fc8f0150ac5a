//! Compares a relayed build with a direct one.

use super::*;
use crate::ingest::{BuildOptions, Builder, Player};
use crate::model::{Bind, FlowPhase, Nesting, TableKind, Unit};
use crate::spill::MemoryScratch;

/// Ids of the definitions that [`define`] makes.
struct Defined {
    slices: TableId,
    side: TableId,
    /// Fields of slices, then of samples and of side rows.
    number: FieldId,
    text: FieldId,
    named: FieldId,
    unit: FieldId,
    note: FieldId,
    sorted: TrackId,
    ordered: TrackId,
    counter: TrackId,
    arrow: NameId,
    /// Templates of two numbers, and of one.
    short: TemplateId,
    long: TemplateId,
    of_sample: TemplateId,
}

/// Defines tables, fields, tracks and templates of every kind, some twice.
fn define(sink: &mut dyn Sink) -> Result<Defined> {
    let table = |name: &str, kind| TableSpec::new(name, kind, "");
    let slices = sink.table(table("slices", TableKind::Slices))?;
    let samples = sink.table(table("samples", TableKind::Samples))?;
    let side = sink.table(table("side", TableKind::Side))?;
    assert_eq!(sink.table(table("slices", TableKind::Slices))?, slices);
    let mut field = |table, name: &str| sink.field(table, FieldSpec::new(name, Unit::None, "", ""));
    let (number, text, named, unit) =
        (field(slices, "number")?, field(slices, "text")?, field(slices, "named")?, field(samples, "of")?);
    let (note, number_again) = (field(side, "note")?, field(slices, "number")?);
    assert_eq!(number_again, number);
    let group = sink.track(TrackSpec::group("all", None, 0))?;
    let sorted = sink.track(TrackSpec::slices("sorted", Some(group), slices, Nesting::Calls, 0))?;
    let ordered = sink.track(TrackSpec::slices("ordered", Some(group), slices, Nesting::Concurrent, 1))?;
    let counter = sink.track(TrackSpec::counter("counter", Some(group), samples, Unit::Count, 2))?;
    sink.in_order(ordered)?;
    let arrow = sink.name("arrow")?;
    let parts = [(number, TemplateValue::Int(1)), (text, TemplateValue::Fixed(Value::Text("fixed")))];
    let short = sink.template(slices, &parts)?;
    let parts =
        [(named, TemplateValue::Fixed(Value::Name(arrow))), (text, TemplateValue::Fixed(Value::Json("[]")))];
    let parts = [&parts[..], &[(number, TemplateValue::Float(0))]].concat();
    let long = sink.template(slices, &parts)?;
    let of_sample = sink.template(samples, &[(unit, TemplateValue::Float(0))])?;
    Ok(Defined {
        slices,
        side,
        number,
        text,
        named,
        unit,
        note,
        sorted,
        ordered,
        counter,
        arrow,
        short,
        long,
        of_sample,
    })
}

/// Tells slice `at`: by its fields, or by one of the templates.
fn tell_slice(sink: &mut dyn Sink, defined: &Defined, at: i64) -> Result<SliceKey> {
    let &Defined { number, text, named, sorted, ordered, short, long, .. } = defined;
    let name = sink.name(&format!("name {}", at % 70))?;
    let (words, json) = (format!("text {}", at % 1_000), format!("[{at}]"));
    let of_number =
        [Value::Int(-at), Value::Uint(u64::MAX), Value::Float(0.5), Value::Bool(true)][at as usize % 4];
    let of_text = if at % 3 == 0 { Value::Json(&json) } else { Value::Text(&words) };
    let fields = [(number, of_number), (text, of_text), (named, Value::Name(name))];
    let (track, start_ps) = if at % 2 == 0 { (sorted, at * 7_919 % 6_000) } else { (ordered, at) };
    let fields = &fields[..at as usize % 4];
    let slice = SliceRecord { track, start_ps, duration_ps: 5, name, form: SliceForm::Complete, fields };
    let bare = SliceRecord { fields: &fields[..0], ..slice };
    let numbers = [NumberBits::from(0.5), NumberBits::from(at)];
    match at / 500 % 3 {
        0 => sink.slice(&slice),
        1 => sink.slice_by(Filled { template: short, numbers: &numbers }, &bare),
        _ => sink.slice_by(Filled { template: long, numbers: &numbers[..1] }, &bare),
    }
}

/// Makes every kind of call a few thousand times.
fn tell(sink: &mut dyn Sink) -> Result<()> {
    let defined = define(sink)?;
    let Defined { slices, side, unit, note, sorted, counter, arrow, of_sample, .. } = defined;
    let mut before = None;
    for at in 0..6_000_i64 {
        let key = tell_slice(sink, &defined, at)?;
        if let Some(before) = before.replace(key).filter(|_| at % 5 == 0) {
            sink.link(before, key, arrow)?;
        }
        sink.sample(counter, at, at as f64, &[(unit, Value::Name(arrow))][..at as usize % 2])?;
        let numbers = [NumberBits::from(0.5)];
        sink.sample_by(Filled { template: of_sample, numbers: &numbers }, counter, at, 1.0)?;
        sink.row(side, &[(note, Value::Text(&format!("text {}", at % 1_000)))])?;
        if at % 10 == 0 {
            let (phase, bind) =
                (if at % 20 == 0 { FlowPhase::Start } else { FlowPhase::End }, Bind::Enclosing);
            let point =
                FlowPoint { key: at as u64 / 20, track: sorted, time_ps: at, phase, bind, name: arrow };
            sink.flow_point(point)?;
        }
        sink.warn(WarningKind::MissingData, "nothing", &|| format!("at {at}"));
    }
    sink.describe_track(sorted, TrackSpec::slices("renamed", None, slices, Nesting::Calls, 0))?;
    sink.rank(RankInfo { source: "test".to_owned(), ..RankInfo::default() });
    Ok(())
}

/// Plays each batch at once.
struct AtOnce<'b, 'a> {
    builder: &'b mut Builder<'a>,
    player: Player,
    batches: usize,
}

impl Carrier for AtOnce<'_, '_> {
    fn carry(&mut self, mut batch: CallBatch) -> Result<CallBatch> {
        self.batches += 1;
        self.player.play(&mut batch, self.builder)?;
        Ok(batch)
    }
}

#[test]
fn a_relayed_build_is_the_same_to_the_byte() {
    // All texts fit in the dictionary, some fit, or none fits.
    [BuildOptions::default().dictionary_bytes, 3_000, 0].into_iter().for_each(check_a_relayed_build);
}

#[track_caller]
fn check_a_relayed_build(dictionary_bytes: usize) {
    let scratch = MemoryScratch::default();
    let options = BuildOptions { dictionary_bytes, ..BuildOptions::default() };
    let mut direct = Vec::new();
    let mut builder = Builder::new(&scratch, &mut direct, options).unwrap();
    tell(&mut builder).unwrap();
    let built = builder.finish().unwrap();
    assert_eq!(built.warnings[0].count, 6_000);

    let mut relayed = Vec::new();
    let mut builder = Builder::new(&scratch, &mut relayed, options).unwrap();
    let mut carrier = AtOnce { builder: &mut builder, player: Player::default(), batches: 0 };
    let mut relay = Relay::new(&scratch, &mut carrier, dictionary_bytes);
    tell(&mut relay).unwrap();
    let warnings = relay.end().unwrap();
    assert!(carrier.batches > 3, "{} batches", carrier.batches);
    builder.warned(&warnings);
    assert_eq!(builder.finish().unwrap(), built);
    assert!(relayed == direct, "{} and {} bytes", relayed.len(), direct.len());
}

/// Tells `rows` of an ordered track and of an ordered counter by template. The builder clamps times
/// after `far_from`.
fn tell_runs(sink: &mut dyn Sink, rows: i64, far_from: i64) -> Result<()> {
    let spec = |name: &str, kind| TableSpec::new(name, kind, "");
    let slices = sink.table(spec("slices", TableKind::Slices))?;
    let samples = sink.table(spec("samples", TableKind::Samples))?;
    let field = sink.field(slices, FieldSpec::named("number"))?;
    let track = sink.track(TrackSpec::slices("track", None, slices, Nesting::Concurrent, 0))?;
    let counter = sink.track(TrackSpec::counter("counter", None, samples, Unit::Count, 1))?;
    sink.in_order(track)?;
    sink.in_order(counter)?;
    let template = sink.template(slices, &[(field, TemplateValue::Int(0))])?;
    let nothing = sink.template(samples, &[])?;
    let mut before = None;
    for at in 0..rows {
        let name = sink.name(if at % 3 == 0 { "a" } else { "b" })?;
        let start_ps = if at >= far_from { i64::MAX - rows + at } else { at };
        let form = SliceForm::Complete;
        let slice = SliceRecord { track, start_ps, duration_ps: 1, name, form, fields: &[] };
        let key = sink.slice_by(Filled { template, numbers: &[NumberBits::from(at * 7)] }, &slice)?;
        sink.sample_by(Filled { template: nothing, numbers: &[] }, counter, at, at as f64)?;
        if let Some(before) = before.replace(key) {
            sink.link(before, key, name)?;
        }
    }
    Ok(())
}

#[test]
fn runs_are_the_same_as_rows() {
    // Runs that are cut at the end of a group, and runs with times that are clamped.
    for (rows, far_from) in [(140_000, i64::MAX), (3_000, 2_000)] {
        let (scratch, mut direct, mut relayed) = (MemoryScratch::default(), Vec::new(), Vec::new());
        let options = BuildOptions::default();
        let mut builder = Builder::new(&scratch, &mut direct, options).unwrap();
        tell_runs(&mut builder, rows, far_from).unwrap();
        let built = builder.finish().unwrap();
        let mut builder = Builder::new(&scratch, &mut relayed, options).unwrap();
        let mut carrier = AtOnce { builder: &mut builder, player: Player::default(), batches: 0 };
        let mut relay = Relay::new(&scratch, &mut carrier, options.dictionary_bytes);
        tell_runs(&mut relay, rows, far_from).unwrap();
        relay.end().unwrap();
        assert_eq!(builder.finish().unwrap(), built);
        assert!(relayed == direct, "{} and {} bytes", relayed.len(), direct.len());
        assert_eq!(built.warnings.is_empty(), far_from == i64::MAX);
    }
}

#[test]
fn an_error_of_the_builder_reaches_the_reader() {
    struct Full;
    impl Carrier for Full {
        fn carry(&mut self, _: CallBatch) -> Result<CallBatch> {
            Err(Error::Storage { what: "full" })
        }
    }
    let scratch = MemoryScratch::default();
    let mut carrier = Full;
    let mut relay = Relay::new(&scratch, &mut carrier, 0);
    let told = tell(&mut relay);
    assert_eq!(told, Err(Error::Storage { what: "full" }));
}
