//! What the compared programs reach: a SOCKS server, and a site that writes down when it
//! was asked. It must not know who asks.

use std::fs;
use std::process::Command;

use outwatch_tests::peers::{Port, sing_box_program};
use serde_json::json;

use crate::running::Running;

/// A SOCKS server in a process of its own.
pub(crate) struct Socks {
    _running: Running,
    pub(crate) port: Port,
}

impl Socks {
    pub(crate) fn start() -> Self {
        let port = Port::reserve();
        let config = json!({
            "log": { "disabled": true },
            "inbounds": [{
                "type": "mixed", "tag": "in", "listen": "127.0.0.1", "listen_port": port.number(),
            }],
            "outbounds": [{ "type": "direct", "tag": "direct" }],
        });
        let running = Running::start(port.number(), |folder| {
            let file = folder.join("config.json");
            fs::write(&file, config.to_string()).expect("a file");
            let mut command = Command::new(sing_box_program());
            command.args(["run", "-c"]).arg(file);
            command
        });
        Self {
            _running: running,
            port,
        }
    }
}

/// A site that answers 204, in a process of its own.
pub(crate) struct Site {
    running: Running,
    port: Port,
}

impl Site {
    pub(crate) fn start() -> Self {
        let port = Port::reserve();
        let number = port.number();
        let config = format!(
            // With one process: a worker stays when its master is killed.
            "master_process off; daemon off; pid pid; error_log stderr;\n\
             events {{ worker_connections 8192; }}\n\
             http {{\n\
             log_format at '$msec'; access_log requests at;\n\
             server {{ listen 127.0.0.1:{number} backlog=4096; location / {{ return 204; }} }}\n\
             }}\n"
        );
        let running = Running::start(number, |folder| {
            let file = folder.join("nginx.conf");
            fs::write(&file, config).expect("a file");
            let mut command = Command::new("nginx");
            command
                .args(["-e", "stderr", "-p"])
                .arg(folder)
                .arg("-c")
                .arg(file);
            command
        });
        Self { running, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/generate_204", self.port.number())
    }

    /// When it was asked, in seconds since 1970, from the oldest on.
    pub(crate) fn asked_at(&self) -> Vec<f64> {
        let log = fs::read_to_string(self.running.folder().join("requests"));
        let log = log.unwrap_or_default();
        let whole_lines = log
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        whole_lines
            .filter_map(|line| line.trim().parse().ok())
            .collect()
    }
}
