//! `experimental.clash_api`, by sing-box's names: where the API listens and who may ask. It
//! must not know what is answered.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::findings::Findings;
use super::model::ClashApi;
use super::sections::{Fields, unknown};
use super::wording::{field, quoted};

const PATH: &str = "experimental.clash_api";

/// Its fields in sing-box. Those that are read here come first; the others are about what
/// it downloads and its modes.
const FIELDS: [&str; 14] = [
    "external_controller",
    "secret",
    "access_control_allow_origin",
    "access_control_allow_private_network",
    "external_ui",
    "external_ui_download_url",
    "external_ui_download_detour",
    "default_mode",
    "store_mode",
    "store_selected",
    "store_fakeip",
    "cache_file",
    "cache_id",
    "mode_list",
];

pub(super) fn read(clash_api: &Map<String, Value>, findings: &mut Findings) -> ClashApi {
    unknown(PATH, clash_api, &FIELDS, findings);
    let mut fields = Fields::of(PATH, clash_api, findings);
    let controller = fields.string("external_controller").unwrap_or_default();
    let secret = fields.string("secret").unwrap_or_default();
    let allow_origins = fields.strings("access_control_allow_origin");
    let allow_private_network = fields.bool("access_control_allow_private_network");
    let listen = match controller.as_str() {
        "" => None,
        text => match listen_address(text) {
            Ok(address) => Some(address),
            Err(wrong) => {
                findings
                    .warning(
                        field(PATH, "external_controller"),
                        format!("{wrong}; there is no API"),
                    )
                    .hint =
                    Some(r#"write an address and a port, such as "127.0.0.1:9090""#.to_owned());
                None
            }
        },
    };
    ClashApi {
        listen,
        secret,
        allow_origins,
        allow_private_network: allow_private_network.unwrap_or_default(),
        external_ui: external_ui(clash_api, findings),
    }
}

/// The folder of a dashboard. Who names one that is to be downloaded is told that it is not.
fn external_ui(clash_api: &Map<String, Value>, findings: &mut Findings) -> Option<PathBuf> {
    let mut fields = Fields::of(PATH, clash_api, findings);
    let folder = fields.string("external_ui").unwrap_or_default();
    let download = fields.string("external_ui_download_url");
    if download.is_some_and(|url| !url.is_empty()) {
        let message = "nothing is downloaded: a dashboard's files must be there";
        findings
            .warning(field(PATH, "external_ui_download_url"), message)
            .hint = Some("unpack them into the folder that `external_ui` names".to_owned());
    }
    (!folder.is_empty()).then(|| folder.into())
}

/// Where to listen: an address and a port; `localhost` stands for 127.0.0.1, and no address
/// for all there are.
///
/// # Errors
/// What is wrong, for people.
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let wrong = || format!("{} is no address with a port", quoted(text));
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    let ip = match host {
        "" => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => return Err(wrong()),
    };
    Ok(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_sing_box_reads_it() {
        for (text, address) in [
            ("127.0.0.1:9090", "127.0.0.1:9090"),
            ("[::1]:9090", "[::1]:9090"),
            ("localhost:0", "127.0.0.1:0"),
            (":9090", "[::]:9090"),
            ("0.0.0.0:80", "0.0.0.0:80"),
        ] {
            assert_eq!(listen_address(text), Ok(address.parse().unwrap()), "{text}");
        }
        for wrong in [
            "",
            "9090",
            "127.0.0.1",
            "example.com:80",
            "::1:x",
            "localhost:65536",
        ] {
            assert!(listen_address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_dashboard_is_taken_from_its_folder_and_not_downloaded() {
        let fields = serde_json::json!({
            "external_ui": "yacd", "external_ui_download_url": "https://example.com/yacd.zip",
            "external_ui_download_detour": "direct",
        });
        let mut findings = Findings::default();
        let read = read(fields.as_object().unwrap(), &mut findings);
        assert_eq!(read.external_ui, Some("yacd".into()));
        let (problems, failed) = findings.finish(false);
        assert!(!failed);
        let paths: Vec<&str> = problems.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["experimental.clash_api.external_ui_download_url"]);
    }

    #[test]
    fn the_secret_is_not_printed() {
        let fields = serde_json::json!({ "secret": "hush", "external_controller": ":1" });
        let mut findings = Findings::default();
        let read = read(fields.as_object().unwrap(), &mut findings);
        assert_eq!(read.secret, "hush");
        assert!(!format!("{read:?}").contains("hush"));
    }
}
