//! Links that open on one machine only.

/// Why nobody else can open a link, and what to send instead. `None` if others can.
#[must_use]
pub fn hint(link: &str) -> Option<&'static str> {
    let (scheme, rest) = link.split_once(':')?;
    if scheme.eq_ignore_ascii_case("file") {
        return Some("It opens on this machine only: send the file, and the end of the link from # on");
    }
    let authority = rest.trim_start_matches('/').split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => host.split(':').next()?,
    };
    let name = name.to_ascii_lowercase();
    let is_here = name == "localhost" || name.ends_with(".localhost") || name == "::1";
    let is_here = is_here || name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    is_here.then_some("It opens on this machine only: to share the view, download it as an HTML file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_this_machine_have_a_hint() {
        for link in [
            "http://127.0.0.1:3001/profile/a?v=2",
            "http://127.1.2.3/",
            "http://localhost:3001/profile/a",
            "https://nprof.LOCALHOST",
            "http://[::1]:3001/profile/a",
        ] {
            assert!(hint(link).is_some_and(|said| said.contains("HTML file")), "{link}");
        }
        assert!(hint("file:///tmp/run.html#/profile/a").is_some_and(|said| said.contains("from # on")));
        for link in [
            "https://host.example/127.0.0.1",
            "http://10.0.0.1:3001/profile/localhost",
            "http://localhost.example/",
            "http://[2001:db8::1]/",
            "",
        ] {
            assert_eq!(hint(link), None, "{link}");
        }
    }
}
