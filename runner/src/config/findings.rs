//! Collects what is wrong with a config while it is read. It must not know what
//! any of it means.

use crate::report::{Problem, Severity};

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    problems: Vec<Problem>,
}

impl Findings {
    /// Nothing can be started like this. The caller may set the hint.
    pub(super) fn error(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.add(Severity::Error, path.into(), message.into())
    }

    /// It works all the same. The caller may set the hint.
    pub(super) fn warning(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.add(Severity::Warning, path.into(), message.into())
    }

    /// All problems, and whether one of them is an error.
    pub(super) fn finish(mut self, strict: bool) -> (Vec<Problem>, bool) {
        if strict {
            for problem in &mut self.problems {
                problem.severity = Severity::Error;
            }
        }
        let failed = self
            .problems
            .iter()
            .any(|problem| problem.severity == Severity::Error);
        (self.problems, failed)
    }

    fn add(&mut self, severity: Severity, path: String, message: String) -> &mut Problem {
        self.problems.push_mut(Problem {
            severity,
            path,
            message,
            hint: None,
        })
    }
}
