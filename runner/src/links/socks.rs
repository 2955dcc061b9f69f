//! `socks://`, `socks5://`, `socks4://`, with `user:password@`, plain or in base64. It must
//! not know any other scheme.

use super::credentials::{unpacked, user_and_password};
use super::draft::Draft;
use super::link::{Link, Server};

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let (account, server) = account_and_server(link)?;
    let mut draft = Draft::outbound("socks", link, &server, server.port_or(Some(1080))?);
    match link.scheme.as_str() {
        "socks4" => draft.put("version", "4"),
        "socks4a" => draft.put("version", "4a"),
        _ => draft.put("version", "5"),
    }
    if let Some(account) = account {
        let (user, password) = user_and_password(&account);
        draft.put("username", user);
        draft.put_some("password", password);
    }
    Ok(draft)
}

/// The whole of both may be in base64.
fn account_and_server(link: &Link) -> Result<(Option<String>, Server), String> {
    let whole = link
        .account
        .is_none()
        .then(|| unpacked(&link.place))
        .flatten();
    match whole.as_deref().and_then(|whole| whole.rsplit_once('@')) {
        Some((account, place)) => Ok((Some(account.to_owned()), Server::read(place)?)),
        None => Ok((link.account(), link.server()?)),
    }
}
