//! Every rule of the engine as a story on virtual time. The names carry the rule's
//! number.

mod world;

mod asked;
mod cycles;
mod one_test;
