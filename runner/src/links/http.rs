//! `http://` and `https://` of a proxy: `user:password@server:port#name`. It must not know
//! any other scheme.

use super::credentials::user_and_password;
use super::draft::Draft;
use super::link::Link;
use super::tls::{self, Unsaid};

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let over_tls = link.scheme == "https";
    let server = link.server()?;
    let names_a_proxy = link.account.is_some() || !server.ports.is_empty();
    if !link.path().is_empty() || !names_a_proxy {
        return Err("this is the address of a page, not of a proxy".to_owned());
    }
    let port = server.port_or(Some(if over_tls { 443 } else { 80 }))?;
    let mut draft = Draft::outbound("http", link, &server, port);
    if let Some(account) = link.account() {
        let (user, password) = user_and_password(&account);
        draft.put("username", user);
        draft.put_some("password", password);
    }
    if over_tls {
        tls::read(link, Unsaid::On, &mut draft)?;
    }
    Ok(draft)
}
