//! Owners of sockets from `/proc/net/tcp` and `tcp6`, for systems without [`super::diag`].
//!
//! The tables have a row for each socket. Cost: a pass over all rows, some milliseconds for a
//! thousand sockets. Linux writes a table page by page, so a row can be missing while others come
//! and go.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{SocketOwner, canonical};

/// Tables of the sockets in the network namespace of this process.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// A row can be missing in one reading.
const READINGS: usize = 3;

/// The owner of the socket that is bound to `own` and connected to `other`.
pub(super) fn owner(own: SocketAddr, other: SocketAddr) -> Option<SocketOwner> {
    let tables = || TABLES.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    (0..READINGS).flat_map(|_| tables()).find_map(|table| owner_in(&table, own, other))
}

fn owner_in(table: &str, own: SocketAddr, other: SocketAddr) -> Option<SocketOwner> {
    table.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, of, to, state, _, _, _, uid, _, inode, ..] = &words[..] else { return None };
        if address(of)? != own || address(to)? != other {
            return None;
        }
        let state = u8::from_str_radix(state, 16).ok()?;
        Some(SocketOwner { uid: uid.parse().ok()?, state, inode: inode.parse().ok()? })
    })
}

/// Parses `0100007F:0BB9`: words of 32 bits in the byte order of the machine, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(ip.get(8 * at..8 * (at + 1))?, 16).ok()?.to_ne_bytes());
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.as_flattened().try_into().ok()?;
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB9 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0
   1: 0100007F:0BB9 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 112 1 0
   2: 0100007F:C350 0100007F:0BB9 01 00000000:00000000 00:00000000 00000000  1001        0 113 1 0
   3: 0100007F:C351 0100007F:0BB9 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0
   4: 0100007F:C352 0100007F:0BB9 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   5: 0100007F:C353 0100007F:0BB9 05 00000000:00000000 00:00000000 00000000  1003        0 114 1 0
";
    const TABLE_6: &str = "\
  sl  local_address                         remote_address                        st ...
   0: 00000000000000000000000001000000:C350 00000000000000000000000001000000:0BB9 01 0:0 00:0 0  1004        0 115
   1: 0000000000000000FFFF00000100007F:C354 0000000000000000FFFF00000100007F:0BB9 01 0:0 00:0 0  1005        0 116
";

    #[track_caller]
    fn check_owner(table: &str, own: &str, other: &str, expected: Option<u32>) {
        let owner = owner_in(table, own.parse().unwrap(), other.parse().unwrap());
        assert_eq!(owner.and_then(SocketOwner::uid_if_open), expected, "{own} to {other}");
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn the_row_of_the_other_end_has_its_user() {
        let server = "127.0.0.1:3001";
        check_owner(TABLE, "127.0.0.1:50000", server, Some(1001));
        check_owner(TABLE, "127.0.0.1:50003", server, Some(1003));
        check_owner(TABLE, "127.0.0.1:50009", server, None);
        check_owner(TABLE, "127.0.0.1:50000", "127.0.0.1:3002", None);
        check_owner(TABLE_6, "[::1]:50000", "[::1]:3001", Some(1004));
        // A socket for IPv6 that speaks IPv4, as Java opens them.
        check_owner(TABLE_6, "127.0.0.1:50004", server, Some(1005));
        for cut in 0..TABLE.len() {
            let _ = owner_in(&TABLE[..cut], "127.0.0.1:50000".parse().unwrap(), server.parse().unwrap());
        }
    }

    #[test]
    fn closed_sockets_do_not_count_as_those_of_root() {
        for port in [50_001, 50_002] {
            check_owner(TABLE, &format!("127.0.0.1:{port}"), "127.0.0.1:3001", None);
        }
    }
}
