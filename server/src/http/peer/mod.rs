//! The owner of a connection. For a connection within this machine, Linux tells the user of the
//! other end, so the user of the server needs no token.
//!
//! The other end is a socket too. It has the two addresses of the connection, exchanged. Its owner
//! is looked up once a connection.

#[cfg(target_os = "linux")]
mod diag;
mod table;

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The user id that Linux shows for users of another namespace.
const UNMAPPED_UID: u32 = 65_534;
/// States of a socket that a process holds open: established, and closed for writing only.
const OPEN_STATES: [u8; 3] = [1, 4, 5];
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

/// Facts about a socket from Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SocketOwner {
    uid: u32,
    state: u8,
    inode: u32,
}

impl SocketOwner {
    /// The user, if a process holds the socket open. A socket that its process has closed stays for
    /// a while, with the user 0 and no inode. It must not count as one of root.
    fn uid_if_open(self) -> Option<u32> {
        (OPEN_STATES.contains(&self.state) && self.inode != 0).then_some(self.uid)
    }
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
        match uid_of(remote, local) {
            Some(uid) if uid == rustix::process::geteuid().as_raw() && uid != UNMAPPED_UID => Self::SameUser,
            uid => Self::Local(uid),
        }
    }
}

#[cfg(target_os = "linux")]
fn uid_of(own: SocketAddr, other: SocketAddr) -> Option<u32> {
    let asked = diag::owner(own, other);
    // Linux has the server's own end for certain. If it does not know this one, it cannot answer.
    let owner = asked.or_else(|| match diag::owner(other, own) {
        Some(_) => None,
        None => table::owner(own, other),
    });
    owner.and_then(SocketOwner::uid_if_open)
}

#[cfg(not(target_os = "linux"))]
fn uid_of(own: SocketAddr, other: SocketAddr) -> Option<u32> {
    table::owner(own, other).and_then(SocketOwner::uid_if_open)
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

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    /// A connection: the client's end, the server's end, and the client's address.
    fn connection(place: &str) -> Option<(TcpStream, TcpStream, SocketAddr)> {
        let listener = TcpListener::bind(place).ok()?;
        let mut address = listener.local_addr().unwrap();
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        let client = TcpStream::connect(address).unwrap();
        let (server, remote) = listener.accept().unwrap();
        Some((client, server, remote))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_user_of_this_process_is_recognised() {
        for place in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let Some((_client, server, remote)) = connection(place) else { continue };
            assert_eq!(Peer::of(remote, server.local_addr().unwrap()), Peer::SameUser, "{place}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn both_sources_tell_the_same() {
        let (_client, server, remote) = connection("127.0.0.1:0").unwrap();
        let local = server.local_addr().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        for owner in [diag::owner(remote, local), table::owner(remote, local)].into_iter().flatten() {
            assert_eq!(owner.uid_if_open(), Some(uid), "{owner:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_closed_socket_has_no_user_even_if_the_server_is_root() {
        let (client, server, remote) = connection("127.0.0.1:0").unwrap();
        drop(client);
        assert_eq!(Peer::of(remote, server.local_addr().unwrap()), Peer::Local(None));
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
