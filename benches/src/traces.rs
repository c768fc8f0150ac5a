//! Traces of any size from a fixed recipe, for the readers' benches.

use std::io::{self, Write};

use nprof_capture::formats::ntff::fixture::{BEGIN, EVENT, TraceFixture, row_access, word};
use nprof_engine::makers::neuron::Engine;

/// Number of threads of the host, and of streams of the device.
const THREADS: u64 = 6;

/// Writes a trace of about this many bytes in the format of PyTorch's profiler. Returns the number
/// of its events.
pub fn kineto(size_bytes: u64, out: &mut impl Write) -> io::Result<u64> {
    const NAMES: [&str; 6] = [
        "aten::linear",
        "aten::addmm",
        "cudaLaunchKernel",
        "void at::native::vectorized_elementwise_kernel<4, at::native::GeluFunctor<c10::Half>, at::detail::Array<char*, 2>>(int)",
        "aten::native_layer_norm",
        "Memcpy HtoD (Pinned -> Device)",
    ];
    const HEAD: &str = "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n";
    out.write_all(HEAD.as_bytes())?;
    let (mut written, mut line, mut count) = (HEAD.len() as u64, Vec::new(), 0_u64);
    while written < size_bytes {
        line.clear();
        let (start_ns, thread) = (1_700_000_000_000_000_000 + count * 731, count % THREADS);
        let (us, ns) = (start_ns / 1000, start_ns % 1000);
        let name = NAMES[(count * 7 % 6) as usize];
        let comma = if count > 0 { ",\n" } else { "" };
        if count % 16 == 15 {
            write!(
                line,
                "{comma}  {{\n    \"ph\": \"s\", \"id\": {count}, \"pid\": 4117, \"tid\": {thread}, \"ts\": {us}.{ns:03},\n    \
                 \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"\n  }}"
            )?;
        } else if thread < THREADS / 2 {
            write!(
                line,
                "{comma}  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{name}\", \"pid\": 4117, \"tid\": {thread},\n    \
                 \"ts\": {us}.{ns:03}, \"dur\": {}.{:03},\n    \"args\": {{\n      \"External id\": {count},\"Record function id\": 0, \
                 \"Ev Idx\": {count}, \"Input Dims\": [[4096, 1024], [1024, {}], []]\n    }}\n  }}",
                count % 90,
                count % 1000,
                count % 7 * 128
            )?;
        } else {
            write!(
                line,
                "{comma}  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{name}\", \"pid\": 0, \"tid\": {},\n    \
                 \"ts\": {us}.{ns:03}, \"dur\": {}.{:03},\n    \"args\": {{\n      \"External id\": {count},\n      \
                 \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": {}, \"correlation\": {count},\n      \
                 \"registers per thread\": 32,\n      \"shared memory\": 0,\n      \"blocks per SM\": 12.5,\n      \
                 \"warps per SM\": 50.25,\n      \"grid\": [1350, 1, 1],\n      \"block\": [128, 1, 1],\n      \
                 \"est. achieved occupancy %\": {}\n    }}\n  }}",
                7 + thread,
                count % 90,
                count % 1000,
                7 + thread,
                count % 101
            )?;
        }
        out.write_all(&line)?;
        written += line.len() as u64;
        count += 1;
    }
    out.write_all(b"\n  ],\n  \"traceName\": \"generated\"\n}\n")?;
    Ok(count)
}

/// The bytes of a device trace of about this size: matrix products in a loop, with transfers and
/// semaphores.
#[must_use]
pub fn ntff(size_bytes: u64) -> Vec<u8> {
    /// Bytes of the records of one loop turn: six instructions, four packets and three semaphores.
    const TURN_BYTES: u64 = 16 * (6 * 2 + 4 * 3 + 3);
    let program = [
        word(0xb8, &[(16, &[0, 0x41, 0, 0xc0]), (12, &[0, 9, 16]), (32, &[8, 0, 1]), (36, &[64])]),
        word(0x01, &[(16, &row_access(0x300, 64)), (32, &[7])]),
        word(0x02, &[(16, &row_access(0x300, 64)), (32, &[7]), (48, &row_access(0x200_0000, 64))]),
        word(0xa4, &[(4, &[5, 9, 0, 0, 16]), (12, &[3])]),
        word(0x21, &[(16, &row_access(0x200_0000, 64)), (32, &[0xaa, 7, 64]), (48, &row_access(0x300, 64))]),
        word(0xa5, &[]),
    ];
    let mut trace = TraceFixture::new(&program);
    let mut ticks = BEGIN + 10;
    for turn in 0..size_bytes / TURN_BYTES {
        for pc in 1..7 {
            let engine = if pc < 4 { Engine::Tensor } else { Engine::Scalar };
            trace.run(engine, pc, ticks, ticks + 40 + turn % 3);
            ticks += 50;
        }
        for packet in 0..4 {
            let dma_engine = (turn % 2) as u8;
            trace.packet(dma_engine, 1, ticks + packet, ticks + 30 + packet, 4096);
        }
        for value in 0..3 {
            trace.record(EVENT, 0xf3_0105, 7, value, ticks + u64::from(value));
        }
    }
    trace.bytes()
}
