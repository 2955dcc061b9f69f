//! The page in a real Chromium, over the real binary and proxies on loopback.

mod hostile;
mod keys;
mod link;
mod looks;
mod many;
mod rows;
mod visitor;
mod world;
