//! Finds out which program answers at a port. A minimal HTTP client for nprof's own server.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::routes::health::Health;

/// Timeout. nprof's own server answers in a millisecond.
const PATIENCE: Duration = Duration::from_secs(2);
/// Limit of the answer. nprof's own answer has some hundred bytes.
const MAX_ANSWER_BYTES: u64 = 16 << 10;

/// The health report of the server at this port, if the server is nprof.
pub(super) async fn health(host: Option<IpAddr>, port: u16) -> Option<Health> {
    let host = host.filter(|ip| !ip.is_unspecified()).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    tokio::time::timeout(PATIENCE, ask(host, port)).await.ok()?
}

async fn ask(host: IpAddr, port: u16) -> Option<Health> {
    let mut stream = TcpStream::connect((host, port)).await.ok()?;
    let request =
        format!("GET /api/health HTTP/1.0\r\nHost: localhost:{port}\r\nAccept: application/json\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER_BYTES).read_to_string(&mut answer).await.ok()?;
    parse(&answer)
}

fn parse(answer: &str) -> Option<Health> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let is_ok = head.lines().next()?.split(' ').nth(1) == Some("200");
    let health: Health = serde_json::from_str(body).ok()?;
    (is_ok && health.service == "nprof").then_some(health)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_answer_counts() {
        let health = Health::of(std::path::Path::new("/"));
        let body = serde_json::to_string(&health).unwrap();
        assert_eq!(parse(&format!("HTTP/1.0 200 OK\r\na: b\r\n\r\n{body}")), Some(health));
        for other in ["", "HTTP/1.0 200 OK\r\n\r\n{}", &format!("HTTP/1.0 404 No\r\n\r\n{body}"), &body] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
