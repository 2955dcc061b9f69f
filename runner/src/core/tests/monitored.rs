//! A monitor over the native core, where only both together show a rule.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::server::Acceptor;

use super::servers::Server;
use super::{Names, core};
use crate::fetch::Trust;
use crate::testing::{Authority, read_head, report};
use crate::{Ipv6, Ipv6Source, Monitor, Report};

/// A site called `web.test`, and the names that its clients asked for in TLS.
async fn site(authority: &Authority) -> (Server, Arc<Mutex<Vec<Option<String>>>>) {
    let config = authority.server("web.test");
    let names = Arc::new(Mutex::new(Vec::new()));
    let asked = names.clone();
    let server = Server::start(move |stream| {
        let (config, asked) = (config.clone(), asked.clone());
        async move {
            let Ok(start) = LazyConfigAcceptor::new(Acceptor::default(), stream).await else {
                return;
            };
            let name = start.client_hello().server_name().map(str::to_owned);
            asked.lock().unwrap().push(name);
            let Ok(mut stream) = start.into_stream(config).await else {
                return;
            };
            read_head(&mut stream).await;
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
            stream.write_all(answer).await.ok();
            stream.shutdown().await.ok();
        }
    })
    .await;
    (server, names)
}

/// What a proxy is asked for, and what the site is, when a monitor with `verify_ipv6`
/// tests a proxy whose core knows these addresses of the site.
async fn tested_with(
    addresses: &[&str],
    wanted: impl Fn(&Report) -> bool,
) -> (Report, Vec<String>, Vec<Option<String>>, u16) {
    let authority = Authority::new("known");
    let ((web, names), proxy) = (site(&authority).await, Server::socks5(None).await);
    let mut core = core(json!([
        { "type": "socks", "tag": "out", "server": "127.0.0.1", "server_port": proxy.port() },
    ]));
    core.trust = Trust::none()
        .with_extra(authority.pem().as_bytes())
        .unwrap();
    core.resolver = Names::new([("web.test", addresses)]);
    let url = format!("https://web.test:{}/generate_204", web.port());
    let options = json!({ "verify_ipv6": true, "ip_lookup": false, "urls": [url] });
    let monitor = Monitor::builder(core).options(options.to_string());
    let monitor = monitor.start().await.expect("a monitor");
    let report = report(&monitor, "out", wanted).await;
    monitor.stop().await.expect("a good end");
    let names = names.lock().unwrap().clone();
    (report, proxy.asked(), names, web.port())
}

#[tokio::test]
async fn v2_the_ipv6_address_of_the_core_is_dialed_with_the_name_of_the_url_for_tls() {
    let verified = |report: &Report| report.ipv6 != Ipv6::Unknown;
    let (report, dialed, names, port) = tested_with(&["127.0.0.1", "::1"], verified).await;
    assert_eq!(report.ipv6, Ipv6::Yes);
    assert_eq!(report.ipv6_source, Some(Ipv6Source::Verified));
    let by_name_then_address = [format!("web.test:{port}"), format!("[::1]:{port}")];
    assert_eq!(dialed, by_name_then_address);
    assert_eq!(names, [Some("web.test".into()), Some("web.test".into())]);
}

#[tokio::test]
async fn v2_a_name_without_an_ipv6_address_leaves_it_unknown_and_the_test_a_success() {
    let tested = |report: &Report| report.delay_ms.is_some();
    let (report, dialed, _, port) = tested_with(&["127.0.0.1"], tested).await;
    assert_eq!((report.ipv6, report.ipv6_source), (Ipv6::Unknown, None));
    assert_eq!(dialed, [format!("web.test:{port}")]);
}
