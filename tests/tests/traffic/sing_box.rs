//! A real sing-box behind an inbound, and one in front of it.

use outwatch_tests::peers::{Curl, Inbound, Nginx, SingBox};

use super::world::for_all;

#[tokio::test(flavor = "multi_thread")]
async fn traffic_leaves_through_a_real_server_which_resolves_its_names() {
    let web = Nginx::plain();
    let server = SingBox::start([Inbound::mixed().account("me", "pw")]);
    let all = for_all(&server.outbound(0, "out"));
    let url = format!("http://{}:{}/page", SingBox::SECRET_NAME, web.port(0));
    for kind in ["socks5h", "http"] {
        let proxy = format!("{kind}://{}", all.address());
        let arguments = ["-x".to_owned(), proxy, url.clone()];
        let run = tokio::task::spawn_blocking(move || Curl::run(arguments));
        let curl = run.await.expect("curl's thread");
        assert_eq!(
            (curl.code, curl.output.as_str()),
            (0, "a page\n"),
            "{}",
            curl.errors
        );
    }
}
