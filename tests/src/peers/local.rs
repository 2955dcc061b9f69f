//! A server inside the test's own process. It must not know what is done with a
//! connection.

use std::net::Ipv4Addr;

use tokio::net::{TcpListener, TcpStream};

use super::background::Background;

/// Listens on 127.0.0.1 until dropped, which closes every connection.
#[derive(Debug)]
pub(super) struct Local {
    _runtime: Background,
    port: u16,
}

impl Local {
    /// Serves each connection by a future of its own.
    ///
    /// # Panics
    /// When nothing can be listened on.
    pub(super) fn serve<F>(each: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = Background::start();
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound listener").port();
        listener
            .set_nonblocking(true)
            .expect("a listener that does not block");
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a listener of the runtime");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(each(stream));
            }
        });
        Self {
            _runtime: runtime,
            port,
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}
