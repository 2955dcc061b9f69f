//! What share links become leads through the servers they name, as sing-box and its own
//! check see it.

use std::process::Command;

use outwatch::links;
use outwatch_tests::peers::{Authority, Nginx, Protocols, sing_box_program};
use serde_json::Value;

use super::world::{answer, core_of};

/// The link that shares an outbound of [`Protocols`].
fn link(outbound: &Value) -> String {
    let text = |field: &str| {
        outbound[field]
            .as_str()
            .unwrap_or_default()
            .replace('=', "%3D")
    };
    let place = format!("127.0.0.1:{}", outbound["server_port"]);
    let (uuid, password) = (text("uuid"), text("password"));
    let type_name = text("type");
    let link = match type_name.as_str() {
        "hysteria2" => format!("hy2://{password}@{place}?insecure=1"),
        "trojan" => format!("trojan://{password}@{place}?allowInsecure=1"),
        "tuic" => format!("tuic://{uuid}:{password}@{place}?allow_insecure=1"),
        "vmess" => format!("vmess://{uuid}@{place}?encryption=auto"),
        "vless" => format!("vless://{uuid}@{place}?encryption=none"),
        "shadowsocks" => format!("ss://{}:{password}@{place}", text("method")),
        other => format!("{other}://{}:{password}@{place}", text("username")),
    };
    format!("{link}#{type_name}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_every_protocol_leads_through_its_server() {
    let web = Nginx::plain();
    let leaf = Authority::new("Server Authority").leaf(&["127.0.0.1"]);
    let servers = Protocols::start(&leaf);
    let list = Protocols::TYPES.map(|type_name| link(&servers.outbound(type_name)));
    let links = links::read(list.join("\n").as_bytes());
    assert_eq!(links.left_out, []);
    let core = core_of(&links.config()).await;
    for type_name in Protocols::TYPES {
        let response = answer(&core, type_name, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{type_name}");
    }
    core.stop().await;
}

/// Links with all that the other test's servers have not. Without `fp` and REALITY: the
/// sing-box of PyPI is built without uTLS.
const OTHERS: &str = "\
ss://YWVzLTI1Ni1nY206YQ@192.0.2.1:8388/?plugin=simple-obfs%3Bobfs%3Dhttp%3Bobfs-host%3Da.example
ss://YWVzLTI1Ni1jZmI6YQ@192.0.2.1:8388?uot=1
trojan://a@[2001:db8::1]:443?type=grpc&serviceName=x&alpn=h2
vless://b831381d-6324-4d53-ad4f-8cda48b30811@a.example:443?security=tls&flow=xtls-rprx-vision&packetEncoding=xudp
vless://any-text-is-a-user@192.0.2.1:443?security=tls&type=ws&path=/a%3Fed%3D2048&host=b.example&alpn=h2,http/1.1
vmess://b831381d-6324-4d53-ad4f-8cda48b30811@192.0.2.1:80?type=tcp&headerType=http&host=a,b&alterId=4
vmess://b831381d-6324-4d53-ad4f-8cda48b30811@192.0.2.1:443?type=httpupgrade&host=a&security=tls
vless://b831381d-6324-4d53-ad4f-8cda48b30811@192.0.2.1:443?type=quic&security=tls
socks4a://192.0.2.1:1080
https://a:b@proxy.example:8443?sni=front.example
hy2://a@192.0.2.1:443,5000-6000?obfs=salamander&obfs-password=b&upmbps=20&downmbps=100
tuic://b831381d-6324-4d53-ad4f-8cda48b30811:a@192.0.2.1:443?congestion_control=bbr&udp_relay_mode=quic&alpn=h3&reduce_rtt=1&disable_sni=1
wireguard://MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY%3D@wg.example:51820?publickey=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY%3D&presharedkey=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY%3D&reserved=1,2,3&address=10.0.0.2/32,fd00::2&mtu=1280&keepalive=25
";

#[test]
fn sing_box_itself_accepts_the_config_that_links_become() {
    let links = links::read(OTHERS.as_bytes());
    assert_eq!(links.left_out, []);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config.json");
    std::fs::write(&file, links.config().to_string()).expect("the folder can be written");
    let output = Command::new(sing_box_program())
        .args(["check", "--disable-color", "-c"])
        .arg(&file)
        .output();
    let output = output.expect("sing-box runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{:#}", links.config());
}
