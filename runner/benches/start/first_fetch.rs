//! The time from the start of the program to its first connection to a server. It must not
//! know what the connection is for.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

/// Milliseconds, with this folder as the user's cache.
pub(crate) fn after(cache: &TempDir) -> f64 {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    let folder = TempDir::new().expect("a temporary folder");
    let config = serde_json::json!({
        "outbounds": [{
            "type": "socks", "tag": "one", "server": "127.0.0.1", "server_port": port,
        }],
        "experimental": { "monitoring": { "ip_lookup": false } },
    });
    let file = folder.path().join("config.json");
    fs::write(&file, config.to_string()).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_outwatch"));
    command
        .args(["run", "--core", "native", "--log-level", "error", "--cache"])
        .arg(folder.path().join("results.redb"))
        .arg("-c")
        .arg(&file)
        .env("XDG_CACHE_HOME", cache.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let since = Instant::now();
    let _running = Killed(command.spawn().expect("the program"));
    server.accept().expect("a connection");
    since.elapsed().as_secs_f64() * 1e3
}

/// Ends with its scope.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Both fail only for one that is gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
