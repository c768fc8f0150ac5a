//! Streams drawn as text: a sign is a picosecond.

use super::super::KinetoClass;
use super::kernel_slice::{KernelSlice, LaunchCall, StreamSlices};

/// A stream for each drawing: a run of `#` is a slice.
pub(super) fn streams(drawn: &[(KinetoClass, &str)]) -> Vec<StreamSlices> {
    let stream = |(number, &(class, text)): (usize, &(KinetoClass, &str))| {
        let spans = runs(text).into_iter();
        let slices = spans.map(|(start_ps, end_ps)| KernelSlice::drawn(class, start_ps, end_ps, None));
        StreamSlices { name: format!("stream {number}"), slices: slices.collect() }
    };
    drawn.iter().enumerate().map(stream).collect()
}

/// A stream whose slices were launched by the runs of another drawing, in their order.
pub(super) fn launched(slices: &str, calls: &str) -> Vec<StreamSlices> {
    let calls = runs(calls).into_iter().map(|(start_ps, end_ps)| LaunchCall { start_ps, end_ps });
    let slices = runs(slices).into_iter().zip(calls.map(Some).chain(std::iter::repeat(None)));
    let slice =
        |((start_ps, end_ps), launch)| KernelSlice::drawn(KinetoClass::Compute, start_ps, end_ps, launch);
    vec![StreamSlices { name: "stream 7".to_owned(), slices: slices.map(slice).collect() }]
}

fn runs(text: &str) -> Vec<(i64, i64)> {
    let signs: Vec<u8> = text.bytes().chain([b' ']).collect();
    let is_start = |at: &usize| signs[*at] == b'#' && (*at == 0 || signs[*at - 1] != b'#');
    let end = |start: usize| (start..).find(|at| signs[*at] != b'#').unwrap_or(start);
    let span = |start: usize| (start as i64, end(start) as i64);
    (0..signs.len()).filter(is_start).map(span).collect()
}
