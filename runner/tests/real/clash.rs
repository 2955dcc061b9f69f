//! Clash's surface of the real binary: what it answers, beside a real sing-box and a real
//! mihomo, and a dashboard that people use, in a real browser.

mod answers;
mod dashboard;
mod shapes;
mod streams;
mod world;
