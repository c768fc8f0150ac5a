#![allow(warnings)]
use nprof_benches::generate::{self, files::*, Settings, text::ENGINES};
use nprof_engine::ingest::BuildOptions;
use nprof_engine::model::*;
use nprof_engine::native::{SegmentFile, write_segment};
use std::time::Instant;

const CHUNK: usize = 65536;
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse::<f64>().unwrap() as u64;
    let settings = Settings::standard(n);
    let dir = generate::cache(&settings);
    let meta = generate::generate(&dir, &settings).unwrap();
    let path = std::path::PathBuf::from("/tmp/scratch.nseg");
    let t = Instant::now();
    let c0 = cpu();
    let built = write_segment(&path, BuildOptions::default(), |sink| -> Result<(), nprof_engine::base::Error> {
        let table = sink.table(TableSpec { name: "instruction".into(), kind: TableKind::Slices, name_key: "opcode".into(), doc: String::new() })?;
        let dma = sink.table(TableSpec { name: "dma".into(), kind: TableKind::Slices, name_key: "tensor".into(), doc: String::new() })?;
        let ctr = sink.table(TableSpec { name: "counter".into(), kind: TableKind::Samples, name_key: "".into(), doc: String::new() })?;
        let f = |sink: &mut dyn Sink, t, n| sink.field(t, FieldSpec::named(n));
        let (pc, ops, hlo, layer, nki) = (f(sink, table, "pc")?, f(sink, table, "operands")?, f(sink, table, "hlo_name")?, f(sink, table, "layer_path")?, f(sink, table, "nki")?);
        let intern = |sink: &mut dyn Sink, c: &str| -> Vec<NameId> { let t = read_texts(&dir, c).unwrap(); t.lines().map(|l| sink.name(l).unwrap()).collect() };
        let n_op = intern(sink, "instruction.opcode"); let n_hlo = intern(sink, "instruction.hlo_name"); let n_layer = intern(sink, "instruction.layer_path"); let n_nki = intern(sink, "instruction.nki_source_location");
        let n_tensor = intern(sink, "dma.tensor"); let n_src = intern(sink, "dma.src"); let n_dst = intern(sink, "dma.dst");
        let t0 = Instant::now();
        let n_ops = intern(sink, "instruction.operands");
        eprintln!("rss {} hwm {}", rss(), hwm()); eprintln!("interned {} in {:?}", n_ops.len(), t0.elapsed());
        macro_rules! col { ($t:ty, $n:expr) => { (ColumnReader::<$t>::open(&dir, $n).unwrap(), Vec::<$t>::new()) } }
        let mut st = col!(u64, "instruction.start"); let mut du = col!(u32, "instruction.duration"); let mut p = col!(u32, "instruction.pc"); let mut op = col!(u8, "instruction.opcode"); let mut oo = col!(u32, "instruction.operands"); let mut hh = col!(u16, "instruction.hlo_name"); let mut ll = col!(u16, "instruction.layer_path"); let mut nn = col!(u16, "instruction.nki_source_location");
        for (e, rows) in meta.instructions.iter().enumerate() {
            let track = sink.track(TrackSpec::slices(ENGINES[e], None, table, Nesting::Concurrent, 0))?;
            sink.in_order(track)?;
            let mut left = *rows as usize;
            while left > 0 {
                let k = left.min(CHUNK); left -= k;
                macro_rules! rd { ($c:ident) => { $c.0.read(k, &mut $c.1).unwrap() } }
                rd!(st); rd!(du); rd!(p); rd!(op); rd!(oo); rd!(hh); rd!(ll); rd!(nn);
                for i in 0..k {
                    sink.slice(&SliceRecord { track, start_ps: st.1[i] as i64 * 1000, duration_ps: du.1[i] as i64 * 1000, name: n_op[op.1[i] as usize], form: Form::Complete,
                        fields: &[(pc, Value::Int(p.1[i] as i64)), (ops, Value::Name(n_ops[oo.1[i] as usize])), (hlo, Value::Name(n_hlo[hh.1[i] as usize])), (layer, Value::Name(n_layer[ll.1[i] as usize])), (nki, Value::Name(n_nki[nn.1[i] as usize]))] })?;
                }
            }
        }
        eprintln!("after instr rss {} hwm {}", rss(), hwm());
        let (size, src, dst, id) = (f(sink, dma, "size")?, f(sink, dma, "src")?, f(sink, dma, "dst")?, f(sink, dma, "dma_id")?);
        let mut st = col!(u64, "dma.start"); let mut du = col!(u32, "dma.duration"); let mut sz = col!(u32, "dma.size"); let mut sr = col!(u8, "dma.src"); let mut ds = col!(u8, "dma.dst"); let mut tn = col!(u16, "dma.tensor"); let mut di = col!(u32, "dma.dma_id");
        for (q, rows) in meta.dmas.iter().enumerate() {
            let track = sink.track(TrackSpec::slices(&format!("q{q}"), None, dma, Nesting::Concurrent, 0))?;
            sink.in_order(track)?;
            let mut left = *rows as usize;
            while left > 0 {
                let k = left.min(CHUNK); left -= k;
                macro_rules! rd { ($c:ident) => { $c.0.read(k, &mut $c.1).unwrap() } }
                rd!(st); rd!(du); rd!(sz); rd!(sr); rd!(ds); rd!(tn); rd!(di);
                for i in 0..k {
                    sink.slice(&SliceRecord { track, start_ps: st.1[i] as i64 * 1000, duration_ps: du.1[i] as i64 * 1000, name: n_tensor[tn.1[i] as usize], form: Form::Complete,
                        fields: &[(size, Value::Int(sz.1[i] as i64)), (src, Value::Name(n_src[sr.1[i] as usize])), (dst, Value::Name(n_dst[ds.1[i] as usize])), (id, Value::Int(di.1[i] as i64))] })?;
                }
            }
        }
        eprintln!("after dma rss {} hwm {}", rss(), hwm());
        for name in ["pending_dma", "dma_throughput"] {
            let track = sink.track(TrackSpec::counter(name, None, ctr, Unit::Count, 0))?;
            sink.in_order(track)?;
            let mut st = col!(u64, "counter.start");
            let mut v16 = None; let mut v32 = None;
            if std::fs::metadata(dir.join(format!("counter.{name}.bin"))).map(|m| m.len()).unwrap_or(0) == meta.samples * 2 { v16 = Some(col!(u16, &format!("counter.{name}"))) } else { v32 = Some(col!(u32, &format!("counter.{name}"))) }
            let mut left = meta.samples as usize;
            while left > 0 {
                let k = left.min(CHUNK); left -= k;
                st.0.read(k, &mut st.1).unwrap();
                let vals: Vec<f64> = if let Some(c) = &mut v16 { c.0.read(k, &mut c.1).unwrap(); c.1.iter().map(|v| *v as f64).collect() } else { let c = v32.as_mut().unwrap(); c.0.read(k, &mut c.1).unwrap(); c.1.iter().map(|v| *v as f64).collect() };
                for i in 0..k { sink.sample(track, st.1[i] as i64 * 1000, vals[i], &[])?; }
            }
        }
        eprintln!("end rss {} hwm {}", rss(), hwm());
        Ok(())
    });
    let built = match built { Ok(b) => b, Err(e) => panic!("{e:?}") };
    let s = t.elapsed().as_secs_f64(); let c = cpu() - c0;
    let rows = built.events as f64;
    println!("{} events {s:.2} s wall {c:.2} s cpu: {:.2} M/s wall, {:.0} ns cpu/event; {:.3} B/event; peak {} MiB", built.events, rows / s / 1e6, c / rows * 1e9, built.bytes as f64 / rows, hwm());
    let seg = SegmentFile::open_file(&path).unwrap().unwrap();
    let a = seg.anatomy().unwrap();
    for t in &a.tables { for c in &t.columns { println!("  {:12} {:12} {:8.4} B/row  {:?}", t.name, c.name, c.bytes as f64 / t.rows as f64, c.codecs); } }
    println!("  dict {:?} {:.4}/event, pyramid {:.4}, other {:.4}", a.dictionary, a.dictionary.1 as f64 / rows, a.pyramid_bytes as f64 / rows, a.other_bytes as f64 / rows);
    let f = seg.footer();
    for c in &f.columns { if c.postings.len > 0 { println!("   postings {:?} {:?} {}", c.role, c.kind, c.postings.len); } }
    let (d, p, pr, to): (u64, u64, u64, u64) = (f.columns.iter().map(|c| c.directory.len as u64).sum(), f.columns.iter().map(|c| c.postings.len as u64).sum(), f.tracks.iter().map(|t| t.program.len as u64).sum(), f.tracks.iter().map(|t| t.totals.len as u64).sum());
    println!("  directories {:.4} postings {:.4} programs {:.4} totals {:.4} blocks {:.4}", d as f64 / rows, p as f64 / rows, pr as f64 / rows, to as f64 / rows, f.tables.iter().map(|t| t.blocks.len as u64).sum::<u64>() as f64 / rows);
}
fn cpu() -> f64 { let s = std::fs::read_to_string("/proc/self/stat").unwrap(); let v: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect(); (v[11].parse::<f64>().unwrap() + v[12].parse::<f64>().unwrap()) / 100.0 }
fn rss() -> u64 { std::fs::read_to_string("/proc/self/status").unwrap().lines().find_map(|l| l.strip_prefix("VmRSS:")).and_then(|l| l.trim().split(' ').next().unwrap().parse::<u64>().ok()).unwrap_or(0) / 1024 }
fn hwm() -> u64 { std::fs::read_to_string("/proc/self/status").unwrap().lines().find_map(|l| l.strip_prefix("VmHWM:")).and_then(|l| l.trim().split(' ').next().unwrap().parse::<u64>().ok()).unwrap_or(0) / 1024 }
