//! The text of a config's `experimental.monitoring` block, read into the engine's
//! options and written from them. It must not know the rest of the file, nor what
//! the engine does with an option.
//!
//! ```
//! let (options, warnings) = outwatch_options::read(r#"{ "interval": "1m30s" }"#)?;
//! assert_eq!(options.interval.as_secs(), 90);
//! assert_eq!(options.workers, 10, "what is left out has its default");
//! assert!(warnings.is_empty());
//!
//! let problems = outwatch_options::read(r#"{ "workers": 0 }"#).unwrap_err();
//! assert_eq!(problems[0].path, "workers");
//! assert_eq!(problems[0].message, "must be at least 1 (found 0)");
//! # Ok::<(), Vec<outwatch_options::Problem>>(())
//! ```

mod duration;
mod fields;
mod given;
mod json;
mod status;
mod web_address;
mod wording;

pub use outwatch_engine::Options;

/// Something wrong or doubtful in the options (F-3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `workers`, `urls[1]`, `ipv6_declared["a b"]`; empty for the whole
    /// text.
    pub path: String,
    /// What is wrong, with the value found and what is accepted. A sentence whose
    /// subject is the path.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Reads the text of the block: strict JSON, an object. Empty text means `{}`.
///
/// Gives the options, all defaults filled in, and the warnings: unknown and
/// retired fields, and keys that are given twice (the last one counts).
///
/// # Errors
///
/// Every error of the text, in the order of the text; for text that is no JSON
/// object, that alone.
pub fn read(text: &str) -> Result<(Options, Vec<Problem>), Vec<Problem>> {
    let (values, mut warnings) = json::object(text).map_err(|problem| vec![problem])?;
    let mut options = Options::default();
    let mut errors = Vec::new();
    for given in given::Given::each(&values) {
        match fields::read(&mut options, &given) {
            Ok(warning) => warnings.extend(warning),
            Err(problems) => errors.extend(problems),
        }
    }
    if errors.is_empty() {
        Ok((options, warnings))
    } else {
        Err(errors)
    }
}

/// Writes options as a JSON object of all fields, durations as strings, such that
/// [`read`] gives the same options without a warning.
pub fn write(options: &Options) -> String {
    fields::write(options)
}

#[cfg(test)]
mod tests;
