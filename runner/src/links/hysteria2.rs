//! `hysteria2://` and `hy2://`: `password@server:ports?…#name`. It must not know any other
//! scheme.

use serde_json::json;

use super::draft::{Draft, word};
use super::link::{Link, read_port};
use super::{parts, tls};

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let server = link.server()?;
    let hopping = link.get(&["mport"]).unwrap_or(&server.ports);
    let many = hopping.contains([',', '-']).then(|| ranges(hopping));
    let many = many.transpose()?;
    let port = match &many {
        // sing-box wants one all the same, and does not use it.
        Some(_) => first_port(hopping)?,
        None => server.port_or(Some(443))?,
    };
    let mut draft = Draft::outbound("hysteria2", link, &server, port);
    draft.put_some("server_ports", many);
    // One with a name and a password stands there as it is sent.
    let password = link
        .account()
        .or_else(|| link.get(&["auth"]).map(str::to_owned));
    draft.put_some("password", password);
    for (field, names) in [
        ("up_mbps", ["upmbps", "up"]),
        ("down_mbps", ["downmbps", "down"]),
    ] {
        draft.put_some(
            field,
            link.get(&names).and_then(|mbps| mbps.parse::<u32>().ok()),
        );
    }
    match link.get(&["obfs"]) {
        None | Some("none") => {}
        Some("salamander") => {
            let password = link
                .get(&["obfs-password", "obfs_password"])
                .ok_or("its `obfs` has no `obfs-password`")?;
            draft.put(
                "obfs",
                json!({ "type": "salamander", "password": password }),
            );
        }
        Some(other) => {
            let other = word(other);
            return Err(format!("its `obfs`, {other}, is nothing that is read here"));
        }
    }
    tls::of_quic(link, &mut draft);
    Ok(draft)
}

/// `443,5000-6000` as sing-box writes it.
fn ranges(ports: &str) -> Result<Vec<String>, String> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (read_port(from)?, read_port(to)?);
        match from <= to {
            true => Ok(format!("{from}:{to}")),
            false => Err("a range of its ports ends before it begins".to_owned()),
        }
    };
    parts::of(Some(ports)).into_iter().map(range).collect()
}

fn first_port(ports: &str) -> Result<u16, String> {
    read_port(ports.split([',', '-']).next().unwrap_or_default())
}
