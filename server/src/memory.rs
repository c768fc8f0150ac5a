//! The allocator's rule for large blocks.

/// Blocks of this many bytes are returned to the system when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 2 << 20;

/// Makes the allocator return large blocks to the system as soon as they are freed.
///
/// By default glibc raises its limit for such blocks up to 32 MiB, whenever it has freed one.
/// Columns that grow then leave holes among smaller blocks: an ingest of five million records of
/// AIU traces took 620 MB instead of 505.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::libc::{M_MMAP_THRESHOLD, mallopt};
        #[expect(unsafe_code, reason = "the allocator's settings have no safe interface")]
        // SAFETY: the call changes a number that the allocator reads under its own lock.
        let is_set = unsafe { mallopt(M_MMAP_THRESHOLD, LARGE) } == 1;
        if !is_set {
            tracing::debug!("the allocator keeps its own rule for large blocks");
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

    #[test]
    fn freed_blocks_go_back_to_the_system() {
        return_large_blocks();
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
