//! Packed packets: together they unpack to what the length of their file allows, and a cancellation
//! is heard within each of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use nprof_engine::base;
use nprof_engine::exec::{Cancel, Work};

use super::super::fixture::{ProtoMessage, event, packet, trace, zlib};
use super::{INSTANT, limit, record, try_record, warnings};
use crate::error::Error;

const TOO_MANY: &str =
    "packed packets that unpack to more bytes than a file of this length may hold; the rest is not read";

/// A packet that zstd has packed.
fn zstd(bytes: &[u8]) -> ProtoMessage {
    ProtoMessage::new().number(10, 1).bytes(133, &zstd::encode_all(bytes, 0).unwrap())
}

#[test]
fn all_packed_packets_of_a_file_share_one_allowance() {
    let instant = packet(1, 100, 11, &event(INSTANT, 1, &"n".repeat(1_000)));
    let list = trace(&vec![instant; 1_000]);
    let (list_len, packed) = (list.len(), zstd(&list));
    // Each of them alone is allowed, as are the first ones together.
    let bytes = trace(&vec![packed.clone(); 100]);
    let most = limit::packets(bytes.len() as u64) as usize;
    assert!((20 * list_len..80 * list_len).contains(&most), "{most} of {list_len} each");
    let recorder = record(&bytes);
    let read = recorder.slices.len();
    assert!(read > 15_000 && read * list_len / 1_000 <= most, "{read}");
    let left_out = 100 - (read / 1_000) as u64;
    assert_eq!(warnings(&recorder), [(TOO_MANY.to_owned(), left_out)]);
    assert_eq!(record(&trace(&vec![packed; 9])).slices.len(), 9_000);
}

#[test]
fn a_list_that_ends_where_the_allowance_ends_is_whole() {
    let list =
        trace(&[packet(1, 100, 11, &event(INSTANT, 1, "a")), packet(1, 101, 11, &event(INSTANT, 1, "b"))]);
    let bytes = trace(&[ProtoMessage::new().message(50, &zlib(&list))]);
    let read = |most_unpacked: usize| {
        let scratch = nprof_engine::spill::MemoryScratch::default();
        let (space, most_unpacked) = (nprof_engine::spill::Space::new(&scratch), most_unpacked as u64);
        let mut recorder = nprof_engine::fixture::Recorder::default();
        let context = super::PacketContext { space, origin: None, most_unpacked };
        super::super::read(&mut &*bytes, context, &mut recorder, &mut |_| {}).unwrap();
        (recorder.slices.len(), warnings(&recorder).iter().any(|(what, _)| what == TOO_MANY))
    };
    assert_eq!(read(list.len()), (2, false));
    assert_eq!(read(list.len() - 1), (1, true));
    assert_eq!(read(list.len() / 2), (1, true));
    assert_eq!(read(0), (0, true));
}

#[test]
fn a_cancellation_is_heard_within_a_packed_packet() {
    // Empty packets never reach the sink.
    for of in [ProtoMessage::new(), ProtoMessage::new().number(8, 1)] {
        let list = trace(&vec![of; 50_000]);
        for packed in [zstd(&list), ProtoMessage::new().number(10, 1).message(50, &zlib(&list))] {
            let looks = AtomicUsize::new(0);
            let look = || looks.fetch_add(1, Ordering::Relaxed) >= 1_000;
            let read = try_record(&trace(&[packed]), Work { cancel: Cancel::when(&look), ..Work::IN_PLACE });
            assert!(matches!(read, Err(Error::Engine(base::Error::Cancelled))), "{read:?}");
            assert!(looks.into_inner() < 2_000);
        }
    }
}

#[test]
fn many_short_packets_of_zstd_use_one_window() {
    // Bytes that the frame says to need: a window of 16 MiB for a few bytes.
    let list = trace(&[packet(1, 100, 11, &event(INSTANT, 1, "a"))]);
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(24).unwrap();
    std::io::Write::write_all(&mut encoder, &list).unwrap();
    let frame = ProtoMessage(encoder.finish().unwrap());
    let recorder = record(&trace(&vec![ProtoMessage::new().message(133, &frame); 2_000]));
    assert_eq!((recorder.slices.len(), warnings(&recorder)), (2_000, Vec::new()));
}
