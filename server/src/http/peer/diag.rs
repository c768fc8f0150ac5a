//! The owner of one socket, asked of Linux by its addresses (sock_diag(7)). Cost: some
//! microseconds, whatever the number of sockets.
//!
//! A request is a header and `inet_diag_req_v2`; the answer is a header and `inet_diag_msg`. Fields
//! have the byte order of the machine, but ports and addresses that of the network.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use nix::libc;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

use super::SocketOwner;

/// Bytes of `nlmsghdr`.
const HEADER_BYTES: usize = 16;
/// Bytes of the header and `inet_diag_req_v2`.
const REQUEST_BYTES: usize = HEADER_BYTES + 56;
/// Bytes of the header and `inet_diag_msg`.
const ANSWER_BYTES: usize = HEADER_BYTES + 72;
/// `SOCK_DIAG_BY_FAMILY`, the type of the request and of its answer. Errors have another one.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// Places in an answer, counted from its start.
const TYPE_AT: usize = 4;
const STATE_AT: usize = HEADER_BYTES + 1;
const UID_AT: usize = HEADER_BYTES + 64;
const INODE_AT: usize = HEADER_BYTES + 68;

/// The owner of the socket that is bound to `own` and connected to `other`. `None` if there is no
/// such socket, or if Linux does not answer such questions.
pub(super) fn owner(own: SocketAddr, other: SocketAddr) -> Option<SocketOwner> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let linux =
        socket(AddressFamily::Netlink, SockType::Datagram, flags, SockProtocol::NetlinkSockDiag).ok()?;
    send(linux.as_raw_fd(), &request(own, other)?, MsgFlags::empty()).ok()?;
    let mut answer = [0; 512];
    // Linux has answered when it has taken the request.
    let count = recv(linux.as_raw_fd(), &mut answer, MsgFlags::empty()).ok()?;
    parse(answer.get(..count)?)
}

fn request(own: SocketAddr, other: SocketAddr) -> Option<Vec<u8>> {
    let family = match (own.ip(), other.ip()) {
        (IpAddr::V4(_), IpAddr::V4(_)) => libc::AF_INET,
        (IpAddr::V6(_), IpAddr::V6(_)) => libc::AF_INET6,
        _ => return None,
    };
    let mut request = Vec::with_capacity(REQUEST_BYTES);
    request.extend(u32::try_from(REQUEST_BYTES).ok()?.to_ne_bytes());
    request.extend(BY_FAMILY.to_ne_bytes());
    request.extend(REQUEST.to_ne_bytes());
    // Number of the request, and the sender, which Linux knows.
    request.extend([0; 8]);
    request.extend([u8::try_from(family).ok()?, u8::try_from(libc::IPPROTO_TCP).ok()?, 0, 0]);
    // Any state.
    request.extend(u32::MAX.to_ne_bytes());
    request.extend(own.port().to_be_bytes());
    request.extend(other.port().to_be_bytes());
    request.extend(address(own.ip()));
    request.extend(address(other.ip()));
    // Any interface, any cookie.
    request.extend(0_u32.to_ne_bytes());
    request.extend([u8::MAX; 8]);
    debug_assert_eq!(request.len(), REQUEST_BYTES);
    Some(request)
}

fn address(ip: IpAddr) -> [u8; 16] {
    let mut bytes = [0; 16];
    match ip {
        IpAddr::V4(ip) => bytes[..4].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => bytes = ip.octets(),
    }
    bytes
}

fn parse(answer: &[u8]) -> Option<SocketOwner> {
    let answer: &[u8; ANSWER_BYTES] = answer.first_chunk()?;
    let word = |at: usize| Some(u32::from_ne_bytes(*answer.get(at..)?.first_chunk()?));
    let kind = u16::from_ne_bytes(*answer[TYPE_AT..].first_chunk()?);
    (kind == BY_FAMILY).then_some(SocketOwner {
        uid: word(UID_AT)?,
        state: answer[STATE_AT],
        inode: word(INODE_AT)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_answer_counts() {
        let mut answer = [0; ANSWER_BYTES];
        answer[TYPE_AT..][..2].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        answer[STATE_AT] = 1;
        answer[UID_AT..][..4].copy_from_slice(&1000_u32.to_ne_bytes());
        answer[INODE_AT..][..4].copy_from_slice(&7_u32.to_ne_bytes());
        assert_eq!(parse(&answer), Some(SocketOwner { uid: 1000, state: 1, inode: 7 }));
        for count in 0..ANSWER_BYTES {
            assert_eq!(parse(&answer[..count]), None);
        }
        // An error, for example of an unknown socket.
        answer[TYPE_AT..][..2].copy_from_slice(&2_u16.to_ne_bytes());
        assert_eq!(parse(&answer), None);
    }
}
