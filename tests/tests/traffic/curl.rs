//! curl through the `mixed` inbound to a real web server.

use outwatch::inbound::Serving;
use outwatch_tests::peers::{Authority, Curl, Nginx, Port, Site};

use super::world::{direct, for_all, for_ann};

/// curl in a thread of its own, through this proxy of the inbound.
async fn curl(serving: &Serving, proxy: &str, arguments: &[&str]) -> Curl {
    let proxy = proxy.replace("HERE", &serving.address().to_string());
    let arguments: Vec<String> = ["-x", &proxy]
        .iter()
        .chain(arguments)
        .map(|&argument| argument.to_owned())
        .collect();
    let run = tokio::task::spawn_blocking(move || Curl::run(arguments));
    run.await.expect("curl's thread")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_proxy_that_curl_knows_opens_the_page() {
    let web = Nginx::plain();
    let (ann, all) = (for_ann(&direct()), for_all(&direct()));
    let by_name = format!("http://localhost:{}/page", web.port(0));
    for (serving, proxy) in [
        (&ann, "socks5h://ann:secret@HERE"),
        (&ann, "socks5://ann:secret@HERE"),
        (&ann, "http://ann:secret@HERE"),
        (&all, "socks5h://HERE"),
        (&all, "socks4a://HERE"),
        (&all, "socks4://HERE"),
        (&all, "http://HERE"),
    ] {
        let curl = curl(serving, proxy, &["--ipv4", &by_name]).await;
        assert_eq!(
            (curl.code, curl.output.as_str()),
            (0, "a page\n"),
            "{proxy}: {}",
            curl.errors
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn https_goes_through_connect_and_socks() {
    let authority = Authority::new("a test");
    let web = Nginx::start(&[Site::Tls(&authority.leaf(&["localhost"]))]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let roots = folder.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).expect("writing into a temporary folder");
    let roots = roots.to_str().expect("a plain path");
    let url = format!("https://localhost:{}/page", web.port(0));
    let ann = for_ann(&direct());
    for proxy in ["http://ann:secret@HERE", "socks5h://ann:secret@HERE"] {
        let curl = curl(&ann, proxy, &["--cacert", roots, &url]).await;
        assert_eq!(
            (curl.code, curl.output.as_str()),
            (0, "a page\n"),
            "{proxy}: {}",
            curl.errors
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_requests_share_one_connection() {
    let web = Nginx::plain();
    let ann = for_ann(&direct());
    let urls = ["/page", "/moved", "/error"].map(|path| web.url(path));
    let format = "%{http_code} %{num_connects}\n";
    let arguments = [
        "-o",
        "/dev/null",
        "-o",
        "/dev/null",
        "-o",
        "/dev/null",
        "-w",
        format,
    ]
    .into_iter()
    .chain(urls.iter().map(String::as_str));
    let arguments: Vec<&str> = arguments.collect();
    let curl = curl(&ann, "http://ann:secret@HERE", &arguments).await;
    assert_eq!(curl.output, "200 1\n302 0\n500 0\n", "{}", curl.errors);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_407_and_a_refused_login() {
    let web = Nginx::plain();
    let ann = for_ann(&direct());
    let url = web.url("/page");
    let http = curl(&ann, "http://ann:guess@HERE", &["-w", "%{http_code}", &url]).await;
    let words = "this proxy does not know this username and password\n407";
    assert_eq!((http.code, http.output.as_str()), (0, words));
    let tunnel = curl(&ann, "http://ann:guess@HERE", &["--proxytunnel", &url]).await;
    assert!(
        tunnel.code != 0 && tunnel.errors.contains("407"),
        "{tunnel:?}"
    );
    for proxy in ["socks5h://ann:guess@HERE", "socks5h://HERE"] {
        let socks = curl(&ann, proxy, &[&url]).await;
        assert_eq!(socks.code, 97, "{socks:?}");
        assert_eq!(socks.output, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_destination_has_its_code() {
    let nobody = Port::reserve();
    let all = for_all(&direct());
    let url = format!("http://127.0.0.1:{}/", nobody.number());
    let socks = curl(&all, "socks5h://HERE", &[&url]).await;
    assert!(
        socks.code == 97 && socks.errors.contains("(5)"),
        "{socks:?}"
    );
    let http = curl(&all, "http://HERE", &["-w", "%{http_code}", &url]).await;
    assert!(http.output.ends_with("502"), "{http:?}");
    assert!(http.output.contains("refused the connection"), "{http:?}");
}
