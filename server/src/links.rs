//! Links to a server, for people.

use std::net::{IpAddr, SocketAddr};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nprof_engine::wire::percent::percent_encoded;

use crate::http::token::{PARAMETER, Token};
use crate::listener::Listening;

/// Links to a server by each of its addresses.
#[derive(Debug, Clone)]
pub struct Links {
    /// URLs of the server without a slash at the end, `localhost` first if it leads there.
    bases: Vec<String>,
    token: Option<Token>,
}

impl Links {
    /// Links to a server of this process. They contain its token.
    #[must_use]
    pub fn of(listening: &Listening) -> Self {
        let address = listening.address();
        Self { bases: bases(address, &own_addresses()), token: Some(listening.access().token.clone()) }
    }

    /// Links to a server on this machine, for the user who runs it.
    #[must_use]
    pub fn of_same_user(port: u16) -> Self {
        Self { bases: vec![format!("http://localhost:{port}")], token: None }
    }

    /// Links to the list of profiles, or to a profile. In ASCII: terminals end a link at other
    /// letters.
    pub fn to(&self, slug: Option<&str>) -> impl Iterator<Item = String> {
        let query = self.token.as_ref().map_or_else(String::new, |token| {
            let text = token.text();
            format!("?{PARAMETER}={text}")
        });
        let path = path(slug);
        self.bases.iter().map(move |base| format!("{base}{path}{query}"))
    }

    /// The link for the browser of the user who runs the server, if it needs no token. A token on
    /// the command line of a browser would be visible to all users of the machine.
    #[must_use]
    pub fn without_token(&self, slug: Option<&str>) -> Option<String> {
        let base = self.bases.first().filter(|base| base.starts_with("http://localhost:"))?;
        Some(format!("{base}{}", path(slug)))
    }
}

fn path(slug: Option<&str>) -> String {
    slug.map_or_else(|| "/".to_owned(), |slug| format!("/profile/{}", percent_encoded(slug)))
}

/// Addresses under which a server with this bound address is reached.
fn bases(bound: SocketAddr, own: &[IpAddr]) -> Vec<String> {
    let (ip, port) = (bound.ip(), bound.port());
    let base = |ip: IpAddr| format!("http://{}", SocketAddr::new(ip, port));
    let localhost = format!("http://localhost:{port}");
    if ip.is_loopback() {
        return vec![localhost];
    }
    if !ip.is_unspecified() {
        return vec![base(ip)];
    }
    let reached = own.iter().filter(|own| own.is_ipv4() || ip.is_ipv6()).map(|&own| base(own));
    std::iter::once(localhost).chain(reached).collect()
}

/// The addresses of this machine that other machines can reach.
fn own_addresses() -> Vec<IpAddr> {
    let Ok(interfaces) = getifaddrs() else { return Vec::new() };
    let is_up = |flags: InterfaceFlags| {
        flags.contains(InterfaceFlags::IFF_UP) && !flags.contains(InterfaceFlags::IFF_LOOPBACK)
    };
    let up = interfaces.filter(|interface| is_up(interface.flags)).filter_map(|interface| interface.address);
    let ips = up.filter_map(|address| {
        let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
    });
    // An address of one link is of no use without the name of the link.
    ips.filter(|ip| !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_bases(bound: &str, expected: &[&str]) {
        let own = ["10.0.0.5", "2001:db8::5"].map(|ip| ip.parse().unwrap());
        assert_eq!(bases(bound.parse().unwrap(), &own), expected, "{bound}");
    }

    #[test]
    fn links_have_the_addresses_that_lead_to_the_server() {
        check_bases("127.0.0.1:3001", &["http://localhost:3001"]);
        check_bases("[::1]:3001", &["http://localhost:3001"]);
        check_bases("10.0.0.5:80", &["http://10.0.0.5:80"]);
        check_bases("[2001:db8::5]:80", &["http://[2001:db8::5]:80"]);
        check_bases("0.0.0.0:3001", &["http://localhost:3001", "http://10.0.0.5:3001"]);
        let all = ["http://localhost:3001", "http://10.0.0.5:3001", "http://[2001:db8::5]:3001"];
        check_bases("[::]:3001", &all);
    }

    #[test]
    fn links_contain_the_token_except_those_for_a_command_line() {
        let token = Token::random().unwrap();
        let query = format!("?token={}", token.text());
        let links = Links { bases: vec!["http://localhost:1".to_owned()], token: Some(token) };
        assert_eq!(links.to(None).next().unwrap(), format!("http://localhost:1/{query}"));
        assert_eq!(links.to(Some("ü")).next().unwrap(), format!("http://localhost:1/profile/%C3%BC{query}"));
        assert_eq!(links.without_token(Some("a")).unwrap(), "http://localhost:1/profile/a");
        assert_eq!(Links::of_same_user(3).to(None).next().unwrap(), "http://localhost:3/");
        let beyond = Links { bases: vec!["http://10.0.0.5:1".to_owned()], token: None };
        assert_eq!(beyond.without_token(None), None);
    }
}
