//! The users of an inbound. It must not know how a name and a password were sent.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Who may use an inbound; everybody when there are none.
///
/// Names and passwords are kept as digests and compared in constant time: how long a
/// refusal takes says nothing of how close a guess was, and no password can be printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Users(Vec<(Arc<str>, [u8; 32])>);

impl Users {
    pub(super) fn add(&mut self, name: &str, password: &str) {
        let digest = digest(name.as_bytes(), password.as_bytes());
        self.0.push((name.into(), digest));
    }

    /// Anybody is welcome.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The user with this name and password.
    pub(super) fn find(&self, name: &[u8], password: &[u8]) -> Option<Arc<str>> {
        let given = digest(name, password);
        let mut found = None;
        // All are looked at, so that the time does not tell which one it is.
        for (name, wanted) in &self.0 {
            if bool::from(wanted.ct_eq(&given)) {
                found = Some(Arc::clone(name));
            }
        }
        found
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

fn digest(name: &[u8], password: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    // The length tells `ab` and `c` from `a` and `bc`.
    digest.update(name.len().to_le_bytes());
    digest.update(name);
    digest.update(password);
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_known_by_name_and_password_alone() {
        let mut users = Users::default();
        users.add("ann", "secret");
        users.add("annsec", "ret");
        assert_eq!(users.find(b"ann", b"secret").as_deref(), Some("ann"));
        assert_eq!(users.find(b"annsec", b"ret").as_deref(), Some("annsec"));
        for (name, password) in [("ann", ""), ("", "secret"), ("ann", "Secret"), ("", "")] {
            let found = users.find(name.as_bytes(), password.as_bytes());
            assert_eq!(found, None, "{name}:{password}");
        }
    }

    #[test]
    fn a_password_is_not_printed() {
        let mut users = Users::default();
        users.add("ann", "secret");
        assert_eq!(format!("{users:?}"), r#"["ann"]"#);
    }
}
