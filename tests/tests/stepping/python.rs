//! The host of examples/step in Python, over proxies on loopback.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use outwatch_tests::peers::{Port, wasmtime_for_python};

use super::proxy::Proxy;
use super::world::{component, root};

/// For all lines, on a machine busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

const OPTIONS: &str = r#"{
    "urls": ["http://site.test/generate_204"],
    "ipinfo_url": "http://ip.test/json"
}"#;

/// A running host. Dropping it kills the process.
struct Host {
    child: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Host {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new("python3")
            .arg(root().join("examples/step/monitor.py"))
            .arg(component())
            .args(arguments)
            .env("PYTHONPATH", wasmtime_for_python())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("python3");
        let (sender, lines) = channel();
        read(child.stdout.take().expect("its output"), sender.clone());
        read(child.stderr.take().expect("its errors"), sender);
        Self {
            child,
            lines,
            heard: Vec::new(),
        }
    }

    /// Reads until a line that begins so has come, and gives it.
    fn hear(&mut self, beginning: &str) -> String {
        loop {
            if let Some(line) = self.heard.iter().find(|line| line.starts_with(beginning)) {
                return line.clone();
            }
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.heard.push(line),
                Err(error) => panic!("no {beginning:?} ({error}) in {:#?}", self.heard),
            }
        }
    }

    /// Interrupts it as a person does, and sees it end well.
    fn interrupt(mut self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.expect("kill").success());
        self.hear("info MONITORING event=stopped");
        let code = self.child.wait().expect("its end").code();
        self.heard.extend(self.lines.iter());
        let failed = self.heard.iter().any(|line| line.starts_with("Traceback"));
        assert!(code == Some(0) && !failed, "{code:?}: {:#?}", self.heard);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends every line on until there are no more.
fn read(output: impl Read + Send + 'static, lines: Sender<String>) {
    thread::spawn(move || {
        let output = BufReader::new(output).lines();
        output
            .map_while(Result::ok)
            .try_for_each(|line| lines.send(line))
    });
}

#[test]
fn a_host_in_python_tells_delays_errors_and_exits() {
    let proxy = Proxy::start("81.2.69.142");
    let nobody = Port::reserve();
    let good = format!("good=http://127.0.0.1:{}", proxy.port());
    let dead = format!("dead=http://127.0.0.1:{}", nobody.number());
    let mut host = Host::start(&["--options", OPTIONS, &good, &dead]);

    let line = host.hear("good ok ");
    let words: Vec<_> = line.split(' ').collect();
    let delay: u64 = words[2].parse().expect("a delay");
    assert!(delay >= 1, "{line}");
    assert_eq!(&words[3..], ["ms", "81.2.69.142"]);
    host.hear("dead failed dial-refused: ");

    host.hear("info MONITORING event=result tag=\"good\" reason=cycle attempts=1 state=ok ");
    host.hear("info MONITORING event=result tag=\"dead\" reason=cycle attempts=1 state=failed kind=dial_refused ");

    host.interrupt();
}

#[test]
fn t2_a_host_in_python_gives_up_at_the_deadline() {
    // The system takes connections for it; nobody answers.
    let deaf = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = deaf.local_addr().expect("its address");
    let options = r#"{"url_test_timeout": "300ms"}"#;
    let mut host = Host::start(&["--options", options, &format!("deaf=http://{address}")]);
    // The default address is https: it waits for the proxy's tunnel.
    host.hear("deaf failed dial-timeout: ");
    host.interrupt();
}

#[test]
fn p1_a_host_in_python_keeps_results_for_the_next_run() {
    let proxy = Proxy::start("81.2.69.142");
    let good = format!("good=http://127.0.0.1:{}", proxy.port());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cache = folder.path().join("cache").display().to_string();
    let arguments = ["--options", OPTIONS, "--cache", &cache, &good];

    let mut first = Host::start(&arguments);
    first.hear("good ok ");
    first.interrupt();

    let mut second = Host::start(&arguments);
    second.hear("good cached ");
    second.interrupt();
}

#[test]
fn f3_a_host_in_python_is_told_what_is_wrong_with_its_options() {
    let mut host = Host::start(&["--options", r#"{"workers": 0}"#, "direct"]);
    host.hear("options: workers: must be at least 1 (found 0)");
    assert_eq!(host.child.wait().expect("its end").code(), Some(1));
}
