//! A user of the real binary's inbound, and the servers it leads to. It must not know
//! what happens to them.

use outwatch_tests::peers::{Curl, Inbound, SingBox};

use crate::process::Running;

const METHOD: &str = "2022-blake3-aes-128-gcm";
const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";

/// A shadowsocks server in a process of its own.
pub(crate) fn shadowsocks() -> SingBox {
    SingBox::start([Inbound::shadowsocks(METHOD, KEY)])
}

/// Where the inbound listens, as the log says it.
pub(crate) fn inbound_port(running: &mut Running) -> String {
    port_in(&running.logged(") go through "))
}

/// The port in a line of the log that says where an inbound listens.
pub(crate) fn port_in(line: &str) -> String {
    let port = line
        .split_once("127.0.0.1:")
        .and_then(|(_, rest)| rest.split_whitespace().next());
    port.expect("an address").to_owned()
}

/// The status of a site, asked for through a proxy.
pub(crate) fn status(proxy: &str, site: &str) -> String {
    let answer = Curl::run(["-x", proxy, "-o", "/dev/null", "-w", "%{http_code}", site]);
    assert_eq!(answer.code, 0, "{answer:?}");
    answer.output
}
