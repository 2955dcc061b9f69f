//! Every rule of the engine as a story on virtual time. The names carry the rule's
//! number.

#[path = "../shared/grammar.rs"]
mod grammar;
mod world;

mod asked;
mod cycles;
mod detours;
mod events;
mod handover;
mod idle;
mod ip;
mod log;
mod network;
mod one_test;
mod results;
mod saved;
mod updates;
