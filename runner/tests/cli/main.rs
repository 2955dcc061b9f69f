//! The real binary, verb by verb, as a shell sees it: exit code, standard output,
//! standard error. Where something has to answer, it is the demo's world.

mod check;
mod component;
mod demo;
mod docs;
mod help;
mod import;
mod run;
mod scene;
mod terminal;
mod test;
