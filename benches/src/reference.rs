//! The right answers by a full scan. The stores' answers are compared with them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::figure::AnswerSummary;
use crate::generate::Meta;
use crate::generate::files::{ColumnReader, Fixed, read_texts};
use crate::questions::Questions;

/// The instructions of one engine with the columns that the questions need.
struct EngineRows {
    start: Vec<u64>,
    duration: Vec<u32>,
    pc: Vec<u32>,
    operands: Vec<u32>,
    hlo: Vec<u16>,
    /// Bytes of the row's texts.
    text_bytes: Vec<u32>,
}

/// The lengths and the matches of a dictionary's texts.
struct TextLengths {
    text: String,
}

impl TextLengths {
    fn lengths(&self) -> Vec<u32> {
        self.text.lines().map(|line| line.len() as u32).collect()
    }

    fn matches(&self, needle: &str) -> Vec<bool> {
        self.text.lines().map(|line| line.contains(needle)).collect()
    }
}

struct InstructionReader {
    start: ColumnReader<u64>,
    duration: ColumnReader<u32>,
    pc: ColumnReader<u32>,
    opcode: CodeReader<u8>,
    operands: CodeReader<u32>,
    hlo: CodeReader<u16>,
    layer: CodeReader<u16>,
    source: CodeReader<u16>,
}

fn texts(directory: &Path, column: &str) -> Result<TextLengths> {
    Ok(TextLengths { text: read_texts(directory, column)? })
}

/// Reads codes of texts.
struct CodeReader<T> {
    codes: ColumnReader<T>,
    /// Length of the text of each code.
    lengths: Vec<u32>,
}

impl<T: Fixed + Into<u32>> CodeReader<T> {
    fn open(directory: &Path, column: &str) -> Result<Self> {
        let lengths = texts(directory, column)?.lengths();
        Ok(Self { codes: ColumnReader::open(directory, column)?, lengths })
    }

    /// Reads codes and adds the lengths of their texts.
    fn add_lengths(&mut self, text_bytes: &mut [u32]) -> Result<Vec<T>> {
        let mut codes = Vec::new();
        self.codes.read(text_bytes.len(), &mut codes)?;
        for (bytes, &code) in text_bytes.iter_mut().zip(&codes) {
            let code: u32 = code.into();
            *bytes += self.lengths[code as usize];
        }
        Ok(codes)
    }
}

impl InstructionReader {
    fn open(directory: &Path) -> Result<Self> {
        Ok(Self {
            start: ColumnReader::open(directory, "instruction.start")?,
            duration: ColumnReader::open(directory, "instruction.duration")?,
            pc: ColumnReader::open(directory, "instruction.pc")?,
            opcode: CodeReader::open(directory, "instruction.opcode")?,
            operands: CodeReader::open(directory, "instruction.operands")?,
            hlo: CodeReader::open(directory, "instruction.hlo_name")?,
            layer: CodeReader::open(directory, "instruction.layer_path")?,
            source: CodeReader::open(directory, "instruction.nki_source_location")?,
        })
    }

    fn engine(&mut self, count: usize) -> Result<EngineRows> {
        let (mut start, mut duration, mut pc) = (Vec::new(), Vec::new(), Vec::new());
        self.start.read(count, &mut start)?;
        self.duration.read(count, &mut duration)?;
        self.pc.read(count, &mut pc)?;
        let mut text_bytes = vec![0; count];
        self.opcode.add_lengths(&mut text_bytes)?;
        let operands = self.operands.add_lengths(&mut text_bytes)?;
        let hlo = self.hlo.add_lengths(&mut text_bytes)?;
        self.layer.add_lengths(&mut text_bytes)?;
        self.source.add_lengths(&mut text_bytes)?;
        Ok(EngineRows { start, duration, pc, operands, hlo, text_bytes })
    }
}

impl EngineRows {
    fn end(&self, at: usize) -> u64 {
        self.start[at] + u64::from(self.duration[at])
    }

    /// Rows that overlap `[start, end)` and start at or after `from`.
    fn window(&self, from: u64, start: u64, end: u64) -> AnswerSummary {
        let mut answer = AnswerSummary::default();
        for at in self.overlapping(from, start, end) {
            let sum = u64::from(self.duration[at]) + u64::from(self.pc[at]) + u64::from(self.text_bytes[at]);
            answer.add(AnswerSummary { rows: 1, sum });
        }
        answer
    }

    fn overlapping(&self, from: u64, start: u64, end: u64) -> impl Iterator<Item = usize> + '_ {
        let first = self.start.partition_point(|&at| at < from);
        let last = self.start.partition_point(|&at| at < end).max(first);
        (first..last).filter(move |&at| self.end(at) > start)
    }

    /// Number of rows that overlap a span, and their time in it.
    fn span(&self, start: u64, end: u64) -> AnswerSummary {
        let inside = |at: usize| self.end(at).min(end) - self.start[at].max(start);
        let rows = self.overlapping(0, start, end);
        rows.fold(AnswerSummary::default(), |sum, at| AnswerSummary {
            rows: sum.rows + 1,
            sum: sum.sum + inside(at),
        })
    }

    /// Number and full time of the rows that start in a span.
    fn started(&self, start: u64, end: u64) -> AnswerSummary {
        let first = self.start.partition_point(|&at| at < start);
        let last = self.start.partition_point(|&at| at < end);
        let sum = self.duration[first..last].iter().map(|&duration| u64::from(duration)).sum();
        AnswerSummary { rows: (last - first) as u64, sum }
    }
}

/// The right answers by question: W1, W2, Z1, G1 (overlapping, clipped), G1-starts (by start), S1.
/// Stores without an interval type answer G1-starts instead of G1.
pub fn answers(
    directory: &Path,
    meta: &Meta,
    questions: &Questions,
) -> Result<BTreeMap<String, AnswerSummary>> {
    let mut answers: BTreeMap<String, AnswerSummary> = BTreeMap::new();
    let mut add = |name: &str, answer| answers.entry(name.to_owned()).or_default().add(answer);
    let operands = texts(directory, "instruction.operands")?;
    let operations = texts(directory, "instruction.hlo_name")?;
    let matches: Vec<_> =
        questions.needles.iter().map(|n| (operands.matches(n), operations.matches(n))).collect();
    let mut reader = InstructionReader::open(directory)?;
    for (engine, &count) in meta.instructions.iter().enumerate() {
        let rows = reader.engine(count as usize)?;
        for window in questions.windows.iter().filter(|window| window.engine_index == engine) {
            let (start, end) = (window.start_ns, window.end_ns);
            add("W1", rows.window(start.saturating_sub(questions.lookback_ns), start, end));
            add("W2", rows.window(0, start, end));
        }
        add("Z1", rows.started(0, u64::MAX));
        for &(start, end) in &questions.spans {
            add("G1", rows.span(start, end));
            add("G1-starts", rows.started(start, end));
        }
        for (operands, operations) in &matches {
            let pairs = rows.operands.iter().zip(&rows.hlo);
            let found = pairs
                .filter(|&(&text, &name)| operands[text as usize] || operations[usize::from(name)])
                .count();
            add("S1", AnswerSummary { rows: found as u64, sum: 0 });
        }
    }
    Ok(answers)
}
