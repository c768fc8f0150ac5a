//! Rules of the allocator: what it keeps of memory that was freed.

/// Blocks of this many bytes are returned to the system when they are freed.
///
/// By default glibc raises this limit up to 32 MiB, whenever it has freed such a block. Columns
/// that grow then leave holes among smaller blocks: an ingest of five million records of AIU
/// traces took 620 MB instead of 505.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: i32 = 2 << 20;
/// Free bytes at the end of a heap that are kept for the next request: twice [`LARGE_BYTES`], as
/// glibc keeps the two apart.
///
/// Once the limit for large blocks is fixed, glibc keeps 128 KiB. A thread that cuts tiles then
/// gives its memory back after each tile and asks for it again: 11 page faults a tile, a tenth of
/// its time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: i32 = 2 * LARGE_BYTES;

/// Sets the rules for this process.
pub fn set_rules() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::libc::{M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, mallopt};
        for (rule, value) in [(M_MMAP_THRESHOLD, LARGE_BYTES), (M_TRIM_THRESHOLD, KEPT_BYTES)] {
            #[expect(unsafe_code, reason = "the allocator's settings have no safe interface")]
            // SAFETY: the call changes a number that the allocator reads under its own lock.
            let is_set = unsafe { mallopt(rule, value) } == 1;
            if !is_set {
                tracing::debug!("the allocator keeps its own rule {rule}");
            }
        }
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    const BLOCK_LEN: usize = 24 << 20;
    const BLOCKS: usize = 6;

    fn own_bytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }

    /// Page faults of this thread.
    fn page_faults() -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, after_name) = stat.rsplit_once(')').unwrap();
        after_name.split_ascii_whitespace().nth(7).unwrap().parse().unwrap()
    }

    #[test]
    fn small_blocks_are_kept_for_the_next_request() {
        const ROUNDS: u64 = 100;
        const PAGES: usize = 256;
        set_rules();
        let round = || {
            let blocks: Vec<Box<[u8]>> = (0..PAGES).map(|_| vec![1; 4096].into()).collect();
            assert_eq!(blocks.len(), PAGES);
        };
        // A thread has a heap of its own, whose end is free after each round.
        let of_thread = move || {
            round();
            let before = page_faults();
            (0..ROUNDS).for_each(|_| round());
            page_faults() - before
        };
        let faults = std::thread::spawn(of_thread).join().unwrap();
        assert!(faults < ROUNDS * PAGES as u64 / 10, "{faults} page faults");
    }

    #[test]
    fn freed_blocks_go_back_to_the_system() {
        set_rules();
        // Without the setting, the end of this block raises the limit.
        drop(vec![1_u8; BLOCK_LEN]);
        let blocks: Vec<(Vec<u8>, Box<[u8]>)> =
            (0..BLOCKS).map(|_| (vec![1; BLOCK_LEN], vec![1; 4096].into())).collect();
        let before = own_bytes();
        // A small block behind each large one keeps the end of the memory in use.
        let kept: Vec<Box<[u8]>> = blocks.into_iter().map(|(_, small)| small).collect();
        let freed = before.saturating_sub(own_bytes());
        assert!(freed >= (BLOCKS - 1) * BLOCK_LEN, "{freed} bytes were returned");
        assert_eq!(kept.len(), BLOCKS);
    }
}
