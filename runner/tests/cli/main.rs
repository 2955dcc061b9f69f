//! The real binary, verb by verb, as a shell sees it: exit code, standard output,
//! standard error. Where something has to answer, it is the demo's world.

mod check;
mod completions;
mod component;
mod demo;
mod docs;
mod examples;
mod explain;
mod help;
mod import;
mod run;
mod scene;
mod screen;
mod terminal;
mod test;
