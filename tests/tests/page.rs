//! The page in a real browser.

mod page {
    mod browser;
}
