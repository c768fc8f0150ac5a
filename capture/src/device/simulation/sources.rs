//! The program's source code, which ships with the simulated device, and the stack frames that lead
//! into it.

use super::op::{
    ACTIVATIONS, COLLECTIVE, FIRST_ACTIVATION, FIRST_TRIGGER, FIRST_VECTOR, GPSIMD, HOST, INPUT_WAIT,
    OUTPUT_WAIT, PACE, RELOAD_WAIT, WEIGHTS_WAIT,
};
use super::place::LayerPart;
use super::queue::Move;

/// A file of the program's source code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceFile {
    /// Name of the file.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

const TRAIN: SourceFile = SourceFile { name: "train.py", text: include_str!("sources/train.py") };
const MODEL: SourceFile = SourceFile { name: "model.py", text: include_str!("sources/model.py") };
const ATTENTION: SourceFile = SourceFile { name: "attention.py", text: include_str!("sources/attention.py") };
const MLP: SourceFile = SourceFile { name: "mlp.py", text: include_str!("sources/mlp.py") };

/// The source code of the program. Stack frames and source locations lead into it.
pub const SOURCES: [SourceFile; 4] = [TRAIN, MODEL, ATTENTION, MLP];

/// A call on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallFrame {
    /// Position of the file in [`SOURCES`].
    pub(super) file: usize,
    pub(super) function: &'static str,
    /// Line of the file, from 1.
    pub(super) line: usize,
    /// Position of the caller among the frames.
    pub(super) caller: Option<usize>,
}

/// All frames of the program.
#[derive(Debug)]
pub(super) struct Frames(pub(super) Vec<CallFrame>);

/// The first line of a file that has this text, from 1.
fn line_of(file: SourceFile, part: &str) -> Option<usize> {
    file.text.lines().position(|line| line.contains(part)).map(|at| at + 1)
}

/// The innermost call of an instruction: file, function and a part of the line.
fn call_of(at: usize, part: LayerPart) -> (SourceFile, &'static str, &'static str) {
    let (file, kernel) = match part {
        LayerPart::Attention => (ATTENTION, "attention_kernel"),
        LayerPart::Mlp => (MLP, "mlp_kernel"),
    };
    let trigger = at.checked_sub(FIRST_TRIGGER).and_then(|kind| Move::ALL.get(kind));
    let line = match (at, trigger) {
        (WEIGHTS_WAIT | PACE, _) | (_, Some(Move::Weights)) => "nl.load(weights[",
        (INPUT_WAIT, _) | (_, Some(Move::Input)) => "nl.load(hidden[",
        (_, Some(Move::Save)) => "nl.store(scratch[",
        (RELOAD_WAIT, _) | (_, Some(Move::Reload)) => "nl.load(scratch[",
        (OUTPUT_WAIT, _) | (_, Some(Move::Output)) => "nl.store(output[",
        (HOST, _) => return (TRAIN, "train", "    step(model"),
        (COLLECTIVE, _) => {
            return match part {
                LayerPart::Attention => (MODEL, "Layer.self_attn", "collectives.all_gather("),
                LayerPart::Mlp => (MODEL, "Layer.mlp", "collectives.all_reduce("),
            };
        }
        _ if at < FIRST_ACTIVATION => "nisa.nc_matmul(",
        _ if at < FIRST_ACTIVATION + ACTIVATIONS => "nisa.activation(",
        _ if (FIRST_VECTOR..GPSIMD).contains(&at) => "nisa.tensor_tensor(",
        (GPSIMD, _) => "nisa.iota(",
        // The barrier ends the kernel.
        _ => "return output",
    };
    (file, kernel, line)
}

/// The calls that lead to a function, innermost first.
fn callers(function: &str) -> &'static [(SourceFile, &'static str, &'static str)] {
    const STEP: (SourceFile, &str, &str) = (TRAIN, "step", "model(batch.tokens)");
    const LOOP: (SourceFile, &str, &str) = (TRAIN, "train", "    step(model");
    match function {
        "attention_kernel" => &[
            (MODEL, "Layer.self_attn", "attention_kernel(hidden"),
            (MODEL, "Transformer.__call__", "layer.self_attn("),
            STEP,
            LOOP,
        ],
        "mlp_kernel" => &[
            (MODEL, "Layer.mlp", "mlp_kernel(hidden"),
            (MODEL, "Transformer.__call__", "layer.mlp("),
            STEP,
            LOOP,
        ],
        "Layer.self_attn" => &[(MODEL, "Transformer.__call__", "layer.self_attn("), STEP, LOOP],
        "Layer.mlp" => &[(MODEL, "Transformer.__call__", "layer.mlp("), STEP, LOOP],
        _ => &[],
    }
}

/// Line of the model that calls the kernel of a part, from 1.
pub(super) fn line_in_model(part: LayerPart) -> usize {
    let (_, kernel, _) = call_of(0, part);
    callers(kernel).first().and_then(|&(file, _, line)| line_of(file, line)).unwrap_or(1)
}

impl Frames {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// The innermost frame of an instruction. The frames that lead to it are added if they are new.
    pub(super) fn of(&mut self, at: usize, part: LayerPart) -> usize {
        let innermost = call_of(at, part);
        let mut caller = None;
        for &(file, function, line) in callers(innermost.1).iter().rev().chain([&innermost]) {
            let number = SOURCES.iter().position(|other| other.name == file.name).unwrap_or(0);
            let line = line_of(file, line).unwrap_or(1);
            let frame = CallFrame { file: number, function, line, caller };
            let known = self.0.iter().position(|other| *other == frame);
            caller = Some(known.unwrap_or_else(|| {
                self.0.push(frame);
                self.0.len() - 1
            }));
        }
        caller.unwrap_or(0)
    }

    /// File and line of a frame.
    pub(super) fn location(&self, frame: usize) -> String {
        let frame = &self.0[frame];
        format!("{}:{}", SOURCES[frame.file].name, frame.line)
    }

    /// Ids of a frame and of its callers, innermost first. Ids count from 1.
    pub(super) fn stack(&self, frame: usize) -> String {
        let stack = std::iter::successors(Some(frame), |&frame| self.0[frame].caller);
        let ids: Vec<String> = stack.map(|frame| (frame + 1).to_string()).collect();
        format!("[{}]", ids.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::OPS;
    use super::*;

    #[test]
    fn every_instruction_has_a_line_that_says_what_it_does() {
        let mut frames = Frames::new();
        for part in LayerPart::ALL {
            for at in 0..OPS {
                let (file, function, line) = call_of(at, part);
                assert_eq!(file.text.matches(line).count(), 1, "{line} in {}", file.name);
                let frame = frames.of(at, part);
                let text = file.text.lines().nth(frames.0[frame].line - 1).unwrap();
                assert!(text.contains(line), "{text}");
                assert!(file.text.contains(&format!("def {}(", function.rsplit('.').next().unwrap())));
                assert!(frames.stack(frame).ends_with(",1]") || frames.stack(frame) == "[1]");
            }
        }
        for frame in &frames.0 {
            let line = SOURCES[frame.file].text.lines().nth(frame.line - 1).unwrap();
            assert!(!line.trim_start().starts_with("def") && !line.is_empty(), "{frame:?}: {line}");
        }
    }
}
