//! What is fuzzed, as ordinary functions from bytes to nothing: each panics when what
//! it checks does not hold. None may know who makes the bytes.

mod answer;
mod inputs;
mod links;
mod options;
mod saved;
mod script;

pub use answer::service_answer;
pub use inputs::inputs;
pub use links::links;
pub use options::options;
pub use saved::saved_pairs;

/// A target: does nothing, or panics.
pub type Target = fn(&[u8]);

/// Every target, by the name of its folder of `fuzz/corpus`.
pub const TARGETS: [(&str, Target); 5] = [
    ("options", options),
    ("service_answer", service_answer),
    ("saved_pairs", saved_pairs),
    ("inputs", inputs),
    ("links", links),
];

/// Whether text from outside is fit to be shown: on one line, bounded, without control
/// characters.
pub(crate) fn is_clean(text: &str, most_chars: usize) -> bool {
    text.chars().count() <= most_chars && !text.chars().any(char::is_control)
}
