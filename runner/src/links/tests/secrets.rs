//! What is said about links holds none of their secrets.

use super::super::read;

const SECRET: &str = "s3cr3t-s3cr3t-s3cr3t";

/// Links that are wrong in many ways, with the secret wherever one may be.
fn broken() -> Vec<String> {
    let wrong = [
        "trojan://{}:443",
        "trojan://{}@",
        "trojan://{}@:443",
        "trojan://a/{}@b@c d:443",
        "trojan://x@[{}",
        "trojan://x@192.0.2.1:{}",
        "vless://{}@192.0.2.1:443?security=xtls",
        "vless://{}@192.0.2.1:443?encryption={}",
        "vless://{}@192.0.2.1:443?security=reality&pbk={}",
        "vless://x@192.0.2.1:443?security=reality&pbk=jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0&sid={}",
        "ss://{}@192.0.2.1:1",
        "ss://{}",
        "ss://{}:aes-256-gcm@192.0.2.1:1",
        "ss://2022-blake3-aes-128-gcm:{}@192.0.2.1:1",
        "vmess://{}",
        "vmess://{}@192.0.2.1:x",
        "tuic://{}:x@192.0.2.1:1",
        "tuic://x:{}@192.0.2.1:1",
        "hy2://{}@192.0.2.1:x",
        "hy2://x@192.0.2.1:1?obfs=salamander&obfs-password=",
        "wireguard://{}@192.0.2.1?address=10.0.0.1",
        "wireguard://x@192.0.2.1?address={}",
        "socks://{}@:x",
        "http://{}/x",
        "{}://x",
        "{}",
    ];
    let links = wrong.iter().map(|link| link.replace("{}", SECRET));
    links.collect()
}

#[test]
fn no_reason_and_no_debug_output_tells_a_secret() {
    for link in broken() {
        let links = read(link.as_bytes());
        assert_eq!(links.shared.len(), 0, "{link}");
        assert_eq!(links.left_out.len(), 1, "{link}");
        let told = format!("{links:?} {}", links.left_out[0].why);
        assert!(!told.contains(SECRET), "{link}: {told}");
    }
}

#[test]
fn what_can_be_used_keeps_its_secret_to_the_config() {
    let links = read(format!("trojan://{SECRET}@192.0.2.1:443#A").as_bytes());
    assert!(!format!("{links:?}").contains(SECRET));
    assert!(links.config().to_string().contains(SECRET));
}
