//! The owner of a connection. For a connection within this machine, Linux tells the user of the
//! other end, so the user of the server needs no token.
//!
//! The tables `/proc/net/tcp` and `tcp6` have a row for each socket. The row of the other end has
//! the two addresses of the connection, exchanged. The owner is looked up once a connection. Cost:
//! one pass over the tables, about a microsecond a row.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Tables of the sockets in the network namespace of this process.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// The user id that Linux shows for users of another namespace.
const UNMAPPED_UID: u32 = 65_534;
/// States of a socket that a process holds open: established, and closed for writing only.
const OPEN_STATES: [&str; 3] = ["01", "04", "05"];
/// Bits of an IPv6 address that name a network. One machine can have all addresses of its network.
const NETWORK_BITS: u32 = 64;

/// The owner of a connection's other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Peer {
    /// The user who runs this server, on this machine.
    SameUser,
    /// Another user of this machine; `None` if Linux does not tell which.
    Local(Option<u32>),
    /// Another machine: its IPv4 address, or its IPv6 network.
    Remote(IpAddr),
}

impl Peer {
    /// The owner of the connection from `remote` to `local`, the addresses as the server sees
    /// them.
    #[must_use]
    pub fn of(remote: SocketAddr, local: SocketAddr) -> Self {
        let (remote, local) = (canonical(remote), canonical(local));
        if !remote.ip().is_loopback() {
            return Self::Remote(network(remote.ip()));
        }
        let tables = TABLES.iter().filter_map(|path| std::fs::read_to_string(path).ok());
        let owner = tables.filter_map(|table| owner(&table, remote, local)).next();
        match owner {
            Some(uid) if uid == rustix::process::geteuid().as_raw() && uid != UNMAPPED_UID => Self::SameUser,
            owner => Self::Local(owner),
        }
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn network(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << NETWORK_BITS)).into(),
    }
}

/// The user id of the socket that is bound to `own` and connected to `other`.
fn owner(table: &str, own: SocketAddr, other: SocketAddr) -> Option<u32> {
    table.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, of, to, state, _, _, _, uid, _, inode, ..] = &words[..] else { return None };
        // A socket that its process has closed stays in the table with the user 0 and no inode. It
        // must not count as one of root.
        let is_open = OPEN_STATES.contains(&state) && inode != "0";
        (is_open && address(of)? == own && address(to)? == other).then(|| uid.parse().ok())?
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
    use std::net::{TcpListener, TcpStream};

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
        assert_eq!(owner(table, own.parse().unwrap(), other.parse().unwrap()), expected, "{own} to {other}");
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
            let _ = owner(&TABLE[..cut], "127.0.0.1:50000".parse().unwrap(), server.parse().unwrap());
        }
    }

    #[test]
    fn closed_sockets_do_not_count_as_those_of_root() {
        for port in [50_001, 50_002] {
            check_owner(TABLE, &format!("127.0.0.1:{port}"), "127.0.0.1:3001", None);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_user_of_this_process_is_recognised() {
        for place in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(place) else { continue };
            let mut address = listener.local_addr().unwrap();
            if address.ip().is_unspecified() {
                address.set_ip(Ipv4Addr::LOCALHOST.into());
            }
            let _client = TcpStream::connect(address).unwrap();
            let (server, remote) = listener.accept().unwrap();
            assert_eq!(Peer::of(remote, server.local_addr().unwrap()), Peer::SameUser, "{place}");
        }
    }

    #[test]
    fn another_machine_counts_by_its_address_or_network() {
        let local = "10.0.0.1:3001".parse().unwrap();
        let of = |remote: &str| Peer::of(remote.parse().unwrap(), local);
        assert_eq!(of("10.0.0.2:5"), Peer::Remote("10.0.0.2".parse().unwrap()));
        assert_eq!(of("[::ffff:10.0.0.2]:5"), of("10.0.0.2:6"));
        assert_eq!(of("[2001:db8::1]:5"), of("[2001:db8::ffff:2]:6"));
        assert_ne!(of("[2001:db8:0:1::1]:5"), of("[2001:db8::1]:5"));
    }
}
