//! What to do about each kind of error. It must not know how a test was done.

use outwatch::ErrorKind;

/// What a person can do about it, in a sentence.
pub(super) fn on(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::DialRefused => {
            "nothing listens there: check `server` and `server_port`, and whether the server runs"
        }
        ErrorKind::DialTimeout => {
            "no answer to the connection: the address is wrong, the server is down, or something \
             on the way drops its packets; try another network"
        }
        ErrorKind::DnsFail => {
            "the name does not resolve: check its spelling, and whether your resolver knows it"
        }
        ErrorKind::DnsTimeout => {
            "the resolver does not answer: check the network's DNS, or give the server's address"
        }
        ErrorKind::NoRoute => {
            "this machine has no way to the address: check the network, and IPv6 if it is one of \
             those"
        }
        ErrorKind::ProxyAuth => "the proxy does not know this account: check user and password",
        ErrorKind::ProxyHandshake => {
            "what answers does not speak this protocol, or refuses the target: check the type, \
             the port, the transport's path and host"
        }
        ErrorKind::TlsFail => {
            "TLS did not come about: check `tls.server_name` and whether the server speaks TLS \
             there; some networks cut it by name"
        }
        ErrorKind::TlsCert => {
            "the certificate is not to be trusted: it is for another name, has run out, or \
             somebody on the way shows one of theirs; check `tls.server_name` and the clock"
        }
        ErrorKind::HttpStatus => {
            "the way works, and the test address answered something else than expected: a portal \
             or a filter may answer in its place; compare `urls` and `expected_status`"
        }
        ErrorKind::HttpMalformed => {
            "what came back is no HTTP: something on the way answers in the test address's place"
        }
        ErrorKind::Eof | ErrorKind::Reset => {
            "the connection was cut: servers do that on a wrong password, uuid or method, and \
             filters do it to protocols they know; check the secrets, then try another transport"
        }
        ErrorKind::Timeout => {
            "it connects and then nothing comes: the server may not reach the test address, or \
             the deadline (`on_demand_timeouts`) is short for so slow a way"
        }
        ErrorKind::Stuck => "the core never came back with an answer: this is a fault of the core",
        ErrorKind::Canceled => "the test was given up before it was over: ask again",
        ErrorKind::Unsupported => {
            "this core cannot do what the outbound asks for: with `--core sing-box` it may work"
        }
        _ => "the text says what is known; `--log-level debug` tells more",
    }
}
