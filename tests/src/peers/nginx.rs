//! nginx: web servers with the answers that tests ask for, and an IP service that
//! tells every visitor their address. It must not know through what visitors came.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::authority::Leaf;
use super::exits::{EXITS, Exit};
use super::port::Port;
use super::process::{Process, Room};
use super::programs;

/// Where the module that lets an answer wait may be installed.
const MODULE_FOLDERS: [&str; 3] = [
    "/usr/lib/nginx/modules",
    "/usr/lib64/nginx/modules",
    "/usr/local/lib/nginx/modules",
];

/// What every site answers.
const LOCATIONS: &str = r#"
        location = /generate_204 { return 204; }
        location = /page { return 200 "a page\n"; }
        location = /error { return 500 "an error\n"; }
        location = /tired { return 429 "too many\n"; }
        location = /moved { return 302 /page; }
        location = /login { return 302 http://login.test/portal; }
        location = /slow { echo_sleep 0.4; echo slow; }
        location = /never { echo_sleep 600; echo never; }
        location = /ip {
            default_type application/json;
            return 200 '{"ip":"$remote_addr","country_code":"$country","region":"$region","city":"$city","asn":"AS$asn","org":"$org"}';
        }
"#;

/// A running nginx.
///
/// Each site has these paths: `/generate_204` (204), `/page` (200), `/error` (500),
/// `/tired` (429), `/moved` (302 to `/page`), `/login` (302 to another host), `/slow`
/// (200 after 400 ms), `/never`, and `/ip`: JSON in ipapi.co's shape about the address
/// that the visitor came from, as told in [`EXITS`].
#[derive(Debug)]
pub struct Nginx {
    _process: Process,
    ports: Vec<Port>,
}

/// A virtual server on a port of its own.
#[derive(Clone, Copy, Debug)]
pub enum Site<'a> {
    /// In the clear.
    Plain,
    /// Over TLS.
    Tls(&'a Leaf),
}

impl Nginx {
    /// How long `/slow` takes to answer.
    pub const SLOW: Duration = Duration::from_millis(400);

    /// One plain site.
    pub fn plain() -> Self {
        Self::start(&[Site::Plain])
    }

    /// Several sites, numbered from 0.
    pub fn start(sites: &[Site<'_>]) -> Self {
        let room = Room::new();
        let ports: Vec<Port> = sites.iter().map(|_| Port::reserve()).collect();
        let config = room.file("nginx.conf", &config(sites, &ports, &room));
        let mut command = Command::new(programs::debian("nginx", "nginx-light"));
        command
            .arg("-p")
            .arg(room.path())
            .arg("-c")
            .arg(config)
            .args(["-e", "stderr"]);
        let awaited: Vec<&Port> = ports.iter().collect();
        Self {
            _process: Process::start(command, room, &awaited),
            ports,
        }
    }

    /// Where a site listens on 127.0.0.1.
    ///
    /// # Panics
    /// When there is no such site.
    pub fn port(&self, site: usize) -> u16 {
        self.ports[site].number()
    }

    /// `http://127.0.0.1:PORT/path` of the first site.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port(0))
    }
}

fn config(sites: &[Site<'_>], ports: &[Port], room: &Room) -> String {
    let mut text = format!(
        "load_module {};\n\
         daemon off;\nmaster_process off;\npid nginx.pid;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n    access_log off;\n",
        echo_module()
    );
    for folder in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        let _ = writeln!(text, "    {folder}_temp_path {folder};");
    }
    map(&mut text, "country", |exit| exit.country.to_owned());
    map(&mut text, "region", |exit| exit.region.to_owned());
    map(&mut text, "city", |exit| exit.city.to_owned());
    map(&mut text, "asn", |exit| exit.asn.to_string());
    map(&mut text, "org", |exit| exit.org.to_owned());
    for (index, (site, port)) in sites.iter().zip(ports).enumerate() {
        let port = port.number();
        let _ = match site {
            Site::Plain => writeln!(text, "    server {{\n        listen 127.0.0.1:{port};"),
            Site::Tls(leaf) => {
                let certificate = room.file(&format!("{index}.pem"), &leaf.certificate);
                let key = room.file(&format!("{index}.key"), &leaf.key);
                writeln!(
                    text,
                    "    server {{\n        listen 127.0.0.1:{port} ssl;\n        \
                     ssl_certificate {};\n        ssl_certificate_key {};",
                    certificate.display(),
                    key.display()
                )
            }
        };
        text += LOCATIONS;
        text += "    }\n";
    }
    text += "}\n";
    text
}

/// What `$name` is to a visitor from each exit.
fn map(text: &mut String, name: &str, value: impl Fn(&Exit) -> String) {
    let _ = writeln!(text, "    map $remote_addr ${name} {{");
    for exit in &EXITS {
        let _ = writeln!(text, "        {} \"{}\";", exit.address, value(exit));
    }
    text.push_str("    }\n");
}

fn echo_module() -> String {
    MODULE_FOLDERS
        .iter()
        .map(|folder| Path::new(folder).join("ngx_http_echo_module.so"))
        .find(|module| module.is_file())
        .unwrap_or_else(|| {
            panic!(
                "nginx's echo module is not installed: run `cargo xtask setup` or \
                 `apt-get install libnginx-mod-http-echo`"
            )
        })
        .display()
        .to_string()
}
