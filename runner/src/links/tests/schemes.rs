//! What each scheme's links become, field by field.

use serde_json::json;

use super::{only, refused};

const UUID: &str = "b831381d-6324-4d53-ad4f-8cda48b30811";
const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

#[test]
fn shadowsocks_is_read_in_its_new_form_and_in_its_old_one() {
    let expected = json!({
        "type": "shadowsocks", "tag": "A", "server": "192.0.2.1", "server_port": 8388,
        "method": "aes-256-gcm", "password": "pass:w@rd",
    });
    for link in [
        "ss://YWVzLTI1Ni1nY206cGFzczp3QHJk@192.0.2.1:8388#A",
        "ss://YWVzLTI1Ni1nY206cGFzczp3QHJk@192.0.2.1:8388/#A",
        "ss://aes-256-gcm:pass%3Aw%40rd@192.0.2.1:8388/?plugin=#A",
        // All of it.
        "ss://YWVzLTI1Ni1nY206cGFzczp3QHJkQDE5Mi4wLjIuMTo4Mzg4#A",
        "ss://YWVzLTI1Ni1nY206cGFzczp3QHJkQDE5Mi4wLjIuMTo4Mzg4Cg==#A",
    ] {
        assert_eq!(only(link), expected, "{link}");
    }
}

#[test]
fn shadowsocks_keeps_the_plugins_of_sing_box_and_names_others() {
    let account = "ss://YWVzLTI1Ni1nY206YQ@192.0.2.1:8388/";
    let with = only(&format!(
        "{account}?plugin=simple-obfs%3Bobfs%3Dhttp%3Bobfs-host%3Da.example"
    ));
    assert_eq!(with["plugin"], "obfs-local");
    assert_eq!(with["plugin_opts"], "obfs=http;obfs-host=a.example");
    assert_eq!(
        refused(&format!("{account}?plugin=kcptun%3Bkey%3Dx")),
        "its plugin, `kcptun`, is none of sing-box"
    );
}

#[test]
fn shadowsocks_of_2022_needs_a_key_of_its_length() {
    let link = |key: &str| format!("ss://2022-blake3-aes-128-gcm:{key}@192.0.2.1:1");
    let good = only(&link("MDEyMzQ1Njc4OWFiY2RlZg%3D%3D"));
    assert_eq!(good["password"], "MDEyMzQ1Njc4OWFiY2RlZg==");
    assert_eq!(
        refused(&link("c2hvcnQ%3D")),
        "`2022-blake3-aes-128-gcm` takes a key of 16 bytes in base64, and its password is none"
    );
    assert_eq!(
        refused("ss://cmM0Om5vdA@192.0.2.1:1"),
        "its method is none of sing-box"
    );
}

#[test]
fn trojan_has_tls_unless_it_says_otherwise() {
    assert_eq!(
        only(
            "trojan://s%23cret@example.org?sni=front.example&alpn=h2%2Chttp/1.1&allowInsecure=1#A"
        ),
        json!({
            "type": "trojan", "tag": "A", "server": "example.org", "server_port": 443,
            "password": "s#cret",
            "tls": {
                "enabled": true, "server_name": "front.example",
                "alpn": ["h2", "http/1.1"], "insecure": true,
            },
        })
    );
    assert!(
        only("trojan://a@example.org:80?security=none")
            .get("tls")
            .is_none()
    );
}

#[test]
fn vless_is_read_with_reality_and_vision() {
    let link = format!(
        "vless://{UUID}@192.0.2.1:443?encryption=none&flow=xtls-rprx-vision-udp443&security=reality\
         &sni=example.org&fp=firefox&pbk=jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0&sid=0123abcd\
         &type=tcp&headerType=none#A"
    );
    assert_eq!(
        only(&link),
        json!({
            "type": "vless", "tag": "A", "server": "192.0.2.1", "server_port": 443, "uuid": UUID,
            "flow": "xtls-rprx-vision",
            "tls": {
                "enabled": true, "server_name": "example.org",
                "utls": { "enabled": true, "fingerprint": "firefox" },
                "reality": {
                    "enabled": true, "short_id": "0123abcd",
                    "public_key": "jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0",
                },
            },
        })
    );
    assert_eq!(
        refused(&link.replace("jNXHt1y", "")),
        "its `pbk` is no key of REALITY"
    );
    assert_eq!(
        refused(&link.replace("0123abcd", "xyz")),
        "its `sid` is no short id of REALITY"
    );
    let vision = link.replace("xtls-rprx-vision-udp443", "xtls-rprx-direct");
    assert_eq!(
        refused(&vision),
        "its `flow`, `xtls-rprx-direct`, is nothing that sing-box has"
    );
}

#[test]
fn transports_are_read_with_what_is_theirs() {
    let transport = |query: &str| {
        let link = format!("vless://{UUID}@192.0.2.1:443?security=tls&{query}");
        only(&link)["transport"].clone()
    };
    assert_eq!(
        transport("type=ws&path=%2Ftunnel%3Fed%3D2048&host=front.example"),
        json!({
            "type": "ws", "path": "/tunnel", "headers": { "Host": "front.example" },
            "max_early_data": 2048, "early_data_header_name": "Sec-WebSocket-Protocol",
        })
    );
    assert_eq!(
        transport("type=httpupgrade&path=/a&host=b"),
        json!({ "type": "httpupgrade", "path": "/a", "host": "b" })
    );
    assert_eq!(
        transport("type=grpc&serviceName=a+b&mode=gun"),
        json!({ "type": "grpc", "service_name": "a+b" })
    );
    assert_eq!(
        transport("type=tcp&headerType=http&host=a,b"),
        json!({ "type": "http", "path": "/", "host": ["a", "b"] })
    );
    assert_eq!(
        refused(&format!("vless://{UUID}@192.0.2.1:443?type=xhttp")),
        "it travels in `xhttp`, which sing-box has not"
    );
}

#[test]
fn a_websocket_is_offered_as_nothing_but_http_1() {
    let link = format!(
        "vless://{UUID}@192.0.2.1:443?security=tls&type=ws&alpn=h2,http/1.1&host=a.example"
    );
    let tls = &only(&link)["tls"];
    assert_eq!(tls["alpn"], json!(["http/1.1"]));
    // The site is whom TLS asks for where the link says nothing else.
    assert_eq!(tls["server_name"], "a.example");
}

#[test]
fn vmess_is_read_as_an_object_in_base64_and_in_the_standard_form() {
    use ::base64::Engine as _;
    let object = json!({
        "v": "2", "ps": "🇩🇪 A", "add": "192.0.2.1", "port": "443", "id": UUID, "aid": 0,
        "scy": "auto", "net": "ws", "type": "none", "host": "front.example", "path": "/t",
        "tls": "tls", "sni": "", "alpn": "", "fp": "",
    });
    let packed = ::base64::engine::general_purpose::STANDARD.encode(object.to_string());
    let standard = format!(
        "vmess://{UUID}@192.0.2.1:443?encryption=auto&type=ws&host=front.example&path=%2Ft\
         &security=tls#%F0%9F%87%A9%F0%9F%87%AA%20A"
    );
    let expected = json!({
        "type": "vmess", "tag": "🇩🇪 A", "server": "192.0.2.1", "server_port": 443, "uuid": UUID,
        "security": "auto",
        "transport": { "type": "ws", "path": "/t", "headers": { "Host": "front.example" } },
        "tls": { "enabled": true, "server_name": "front.example" },
    });
    for link in [format!("vmess://{packed}"), standard] {
        assert_eq!(only(&link), expected, "{link}");
    }
    for broken in [
        "vmess://",
        "vmess://bm90IGpzb24=",
        "vmess://example.org:443",
    ] {
        assert_eq!(
            refused(broken),
            "it is neither an object in base64 nor uuid@server:port"
        );
    }
}

#[test]
fn socks_is_read_with_and_without_an_account() {
    let expected = json!({
        "type": "socks", "tag": "A", "server": "192.0.2.1", "server_port": 1080, "version": "5",
        "username": "ann", "password": "open",
    });
    for link in [
        "socks://ann:open@192.0.2.1#A",
        "socks5://YW5uOm9wZW4@192.0.2.1:1080#A",
        "socks://YW5uOm9wZW5AMTkyLjAuMi4xOjEwODA=#A",
    ] {
        assert_eq!(only(link), expected, "{link}");
    }
    let bare = only("socks4a://192.0.2.1:9050#A");
    assert_eq!(
        (&bare["version"], bare.get("username")),
        (&json!("4a"), None)
    );
}

#[test]
fn http_is_a_proxy_only_where_it_looks_like_one() {
    assert_eq!(
        only("https://ann:open@proxy.example#A"),
        json!({
            "type": "http", "tag": "A", "server": "proxy.example", "server_port": 443,
            "username": "ann", "password": "open", "tls": { "enabled": true },
        })
    );
    assert_eq!(only("http://192.0.2.1:3128/#A")["server_port"], 3128);
    for page in [
        "https://t.me/channel",
        "https://example.org",
        "http://example.org:80/list",
    ] {
        assert_eq!(
            refused(page),
            "this is the address of a page, not of a proxy"
        );
    }
}

#[test]
fn hysteria2_is_read_with_hopping_ports_and_obfuscation() {
    assert_eq!(
        only(
            "hy2://ann:open@example.org:443,5000-6000/?obfs=salamander&obfs-password=x&insecure=1#A"
        ),
        json!({
            "type": "hysteria2", "tag": "A", "server": "example.org", "server_port": 443,
            "server_ports": ["443:443", "5000:6000"], "password": "ann:open",
            "obfs": { "type": "salamander", "password": "x" },
            "tls": { "enabled": true, "insecure": true },
        })
    );
    let hopping = only("hysteria2://a@192.0.2.1:443?mport=5000-6000");
    assert_eq!(hopping["server_ports"], json!(["5000:6000"]));
    assert_eq!(
        refused("hy2://a@192.0.2.1:6000-5000"),
        "a range of its ports ends before it begins"
    );
}

#[test]
fn tuic_is_read_with_its_uuid_and_password() {
    assert_eq!(
        only(&format!(
            "tuic://{UUID}:open@192.0.2.1:443?congestion_control=bbr&alpn=h3&udp_relay_mode=native#A"
        )),
        json!({
            "type": "tuic", "tag": "A", "server": "192.0.2.1", "server_port": 443,
            "uuid": UUID, "password": "open", "congestion_control": "bbr",
            "udp_relay_mode": "native", "tls": { "enabled": true, "alpn": ["h3"] },
        })
    );
    assert_eq!(
        refused("tuic://ann:open@192.0.2.1:443"),
        "what stands for its uuid is none"
    );
}

#[test]
fn wireguard_is_an_endpoint_whatever_its_parameters_are_called() {
    let expected = json!({
        "type": "wireguard", "tag": "A", "address": ["10.0.0.2/32", "fd00::2/128"],
        "private_key": KEY, "mtu": 1280,
        "peers": [{
            "address": "192.0.2.1", "port": 51820, "public_key": KEY,
            "allowed_ips": ["0.0.0.0/0", "::/0"], "reserved": [1, 2, 3],
        }],
    });
    let encoded = KEY.replace('=', "%3D");
    for link in [
        format!(
            "wireguard://{encoded}@192.0.2.1:51820?publickey={encoded}&reserved=1,2,3&address=10.0.0.2/32,fd00::2/128&mtu=1280#A"
        ),
        format!(
            "wg://192.0.2.1:51820/?pk={encoded}&peer_pk={encoded}&local_address=10.0.0.2,fd00::2&reserved=AQID&mtu=1280#A"
        ),
    ] {
        assert_eq!(only(&link), expected, "{link}");
    }
    let link = format!("wireguard://{encoded}@192.0.2.1?publickey=c2hvcnQ&address=10.0.0.2");
    assert_eq!(refused(&link), "its public key is none of WireGuard");
}
