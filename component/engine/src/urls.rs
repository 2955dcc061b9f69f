//! The address that tests use, and which one comes after it (C-4). It must not know
//! how tests went.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The test addresses, one of them current.
#[derive(Debug)]
pub(crate) struct Urls {
    list: Vec<Arc<str>>,
    current: usize,
    /// The address before the running cycle tried others.
    before: Option<usize>,
}

impl Urls {
    /// From a list that is not empty.
    pub(crate) fn new(urls: &[String]) -> Self {
        let list = urls.iter().map(|url| Arc::from(url.as_str())).collect();
        Self {
            list,
            current: 0,
            before: None,
        }
    }

    pub(crate) fn current(&self) -> Arc<str> {
        self.list
            .get(self.current)
            .cloned()
            .unwrap_or_else(|| Arc::from(""))
    }

    /// Moves to the next address, going round until all were tried; then restores
    /// the first and gives false.
    pub(crate) fn advance(&mut self) -> bool {
        let before = *self.before.get_or_insert(self.current);
        self.current = (self.current + 1) % self.list.len().max(1);
        if self.current == before {
            self.before = None;
        }
        self.before.is_some()
    }

    /// The address that is in use once no cycle tries others.
    pub(crate) fn settled(&self) -> Option<&str> {
        let settled = self.before.unwrap_or(self.current);
        self.list.get(settled).map(|url| &**url)
    }

    /// Uses an address, if it is one of the list.
    pub(crate) fn choose(&mut self, url: &str) {
        if let Some(known) = self.list.iter().position(|known| **known == *url) {
            self.current = known;
        }
    }

    /// The current address works: it stays.
    pub(crate) fn keep(&mut self) {
        self.before = None;
    }

    /// The cycle that tried others was broken off: back to the address before it.
    pub(crate) fn restore(&mut self) {
        if let Some(before) = self.before.take() {
            self.current = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Urls {
        Urls::new(&["a", "b", "c"].map(String::from))
    }

    #[test]
    fn c4_each_address_is_tried_once_and_then_the_first_is_back() {
        let mut urls = three();
        assert!(urls.advance() && &*urls.current() == "b");
        assert!(urls.advance() && &*urls.current() == "c");
        assert!(!urls.advance() && &*urls.current() == "a");
    }

    #[test]
    fn c4_from_the_last_address_the_way_goes_round() {
        let mut urls = three();
        urls.advance();
        urls.advance();
        urls.keep();
        assert!(urls.advance() && &*urls.current() == "a");
        urls.restore();
        assert_eq!(&*urls.current(), "c");
    }

    #[test]
    fn c4_a_single_address_has_no_next() {
        let mut urls = Urls::new(&[String::from("a")]);
        assert!(!urls.advance());
        assert_eq!(&*urls.current(), "a");
    }
}
