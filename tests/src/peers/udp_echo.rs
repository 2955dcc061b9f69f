//! A server that says every datagram again. It must not know who speaks.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};

use super::background::Background;

/// Listens on 127.0.0.1 until dropped.
#[derive(Debug)]
pub struct UdpEcho {
    _runtime: Background,
    port: u16,
    last: Arc<Mutex<Option<IpAddr>>>,
}

impl UdpEcho {
    /// Starts one.
    ///
    /// # Panics
    /// When nothing can be listened on.
    pub fn start() -> Self {
        let runtime = Background::start();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = socket.local_addr().expect("a bound socket").port();
        socket
            .set_nonblocking(true)
            .expect("a socket that does not block");
        let last = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&last);
        runtime.spawn(async move {
            let socket = tokio::net::UdpSocket::from_std(socket).expect("one of the runtime");
            let mut buffer = vec![0; 64 * 1024];
            loop {
                // A visitor that is gone is no error of the next.
                if let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                    *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(from.ip());
                    let _ = socket.send_to(&buffer[..length], from).await;
                }
            }
        });
        Self {
            _runtime: runtime,
            port,
            last,
        }
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where the last datagram came from.
    pub fn last_visitor(&self) -> Option<IpAddr> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
