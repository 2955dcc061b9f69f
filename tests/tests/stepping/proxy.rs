//! An HTTP proxy that answers for every site itself, so that nothing leaves loopback. It
//! must not know who asks.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Answers 204, and at `/json` as an IP service whose every visitor has one address.
/// Refuses tunnels.
pub(crate) struct Proxy {
    address: SocketAddr,
}

impl Proxy {
    pub(crate) fn start(ip: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("its address");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || answer(stream, ip));
            }
        });
        Self { address }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

/// One answer; a visitor that goes away before needs none.
fn answer(mut stream: TcpStream, ip: &str) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let Some(request) = lines.next() else { return };
    // The headers end with an empty line.
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let body = format!(r#"{{"ip":"{ip}","country":"NL"}}"#);
    let answer = if request.starts_with("CONNECT ") {
        "HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n".to_owned()
    } else if request.contains("/json ") {
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
    } else {
        "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned()
    };
    let _ = stream.write_all(answer.as_bytes());
}
