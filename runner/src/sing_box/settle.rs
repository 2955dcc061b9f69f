//! From a config to one that sing-box takes: an outbound that it refuses is left out,
//! and the others go on (D-6). It must not know how sing-box is run.

use std::ops::Range;

use super::SingBoxError;
use super::child_config::{Keys, Written};
use super::outbounds::Outbounds;
use super::program::Program;
use super::refusal::{Place, Refusal};
use super::secrets;
use super::selections::Selections;
use crate::proxy_core::Kind;
use crate::report::{Problem, Severity};

/// After so many refusals it is not the outbounds that are wrong.
const REFUSALS: usize = 1000;

/// Outbounds that are checked at once after one of them all was refused.
const PART: usize = 100;

/// Its words for a type that it does not have: no outbound of that type will do.
const NO_SUCH_TYPE: &str = "unknown outbound type";

/// What of a config is used, and what there is to say about the rest.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) outbounds: Outbounds,
    /// Deprecated things in it that sing-box takes when asked to.
    pub(super) allowed: Vec<String>,
    pub(super) problems: Vec<Problem>,
    refusals: usize,
    /// What it is called in words to people.
    program: String,
}

impl Settled {
    /// Has sing-box check the config until it has nothing against it.
    ///
    /// # Errors
    /// What it has against something other than an outbound.
    pub(super) async fn new(
        program: &Program,
        outbounds: Outbounds,
        selections: &Selections,
    ) -> Result<Self, SingBoxError> {
        let mut settled = Self {
            outbounds,
            allowed: Vec::new(),
            problems: Vec::new(),
            refusals: 0,
            program: format!("sing-box {}", program.version()),
        };
        let all = settled.outbounds.entries.len();
        if settled.refused(program, selections, 0..all).await? {
            // Each check finds one more. Those of parts are as many, but small.
            for start in (0..all).step_by(PART) {
                let part = start..all.min(start + PART);
                while settled.refused(program, selections, part.clone()).await? {}
            }
            // What only shows in the whole.
            while settled.refused(program, selections, 0..all).await? {}
        }
        Ok(settled)
    }

    /// Has the outbounds at these places checked, and gives way once if one is refused.
    async fn refused(
        &mut self,
        program: &Program,
        selections: &Selections,
        places: Range<usize>,
    ) -> Result<bool, SingBoxError> {
        // Nobody listens during a check.
        let keys = Keys {
            password: "unused".to_owned(),
            api_secret: program.has_clash_api.then(|| "unused".to_owned()),
        };
        let written = Written::part(&self.outbounds, places, selections, &keys);
        let Some(said) = program.check(&written.text, &self.allowed).await? else {
            return Ok(false);
        };
        self.give_way(&said, &written).map_err(|problem| {
            let mut problems = std::mem::take(&mut self.problems);
            problems.push(problem);
            SingBoxError::Refused(problems)
        })?;
        Ok(true)
    }

    /// Gives way to what sing-box `said` about a config, if that makes it take the rest.
    ///
    /// # Errors
    /// What it said, where that does not help.
    pub(super) fn give_way(&mut self, said: &str, written: &Written) -> Result<(), Problem> {
        let is_tag = |tag: &str| self.outbounds.find(tag).is_some();
        let Refusal { place, words } = Refusal::read(said, is_tag);
        self.refusals += 1;
        if self.refusals > REFUSALS {
            return Err(self.problem(Severity::Error, String::new(), &words));
        }
        let (entry, path) = match place {
            Place::Path(path) => written.in_file(&path, &self.outbounds.entries),
            Place::Tag(tag) => match self.outbounds.find(&tag) {
                Some((index, entry)) => (Some(index), entry.path.clone()),
                None => (None, String::new()),
            },
            Place::Deprecated(name) if !self.allowed.contains(&name) => {
                self.allowed.push(name);
                let problem = self.problem(Severity::Warning, String::new(), &words);
                self.problems.push(problem);
                return Ok(());
            }
            Place::Deprecated(_) | Place::Unknown => (None, String::new()),
        };
        match entry {
            Some(index) if self.outbounds.why_left_out(index).is_none() => {
                self.leave_out(index, path, &words);
                Ok(())
            }
            _ => Err(self.problem(Severity::Error, path, &words)),
        }
    }

    fn leave_out(&mut self, index: usize, path: String, words: &str) {
        let Some(entry) = self.outbounds.entries.get(index) else {
            return;
        };
        let (words, type_name) = (
            secrets::without(&entry.options, words),
            entry.type_name.clone(),
        );
        let mut problem = self.problem(Severity::Warning, path, &words);
        problem.hint = Some("it cannot be tested; the others are not concerned".to_owned());
        self.problems.push(problem);
        let why = format!("{} refuses it: {words}", self.program);
        let alike: Vec<usize> = if words.starts_with(NO_SUCH_TYPE) {
            let all = self.outbounds.entries.iter().enumerate();
            all.filter(|(_, entry)| entry.type_name == type_name && entry.kind != Kind::Group)
                .map(|(index, _)| index)
                .collect()
        } else {
            vec![index]
        };
        for index in alike {
            self.outbounds.leave_out(index, why.clone());
        }
    }

    fn problem(&self, severity: Severity, path: String, words: &str) -> Problem {
        Problem {
            severity,
            path,
            message: format!("{} refuses it: {words}", self.program),
            hint: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sing_box::testing::config;

    fn settled() -> Settled {
        let config = config(&json!({ "outbounds": [
            { "type": "odd", "tag": "one" },
            { "type": "socks", "tag": "two", "password": "hunter22" },
            { "type": "odd", "tag": "three" },
            { "type": "direct", "tag": "four" },
        ] }));
        Settled {
            outbounds: Outbounds::new(&config),
            allowed: Vec::new(),
            problems: Vec::new(),
            refusals: 0,
            program: "sing-box 1.99".to_owned(),
        }
    }

    fn give_way(settled: &mut Settled, said: &str) -> Result<(), Problem> {
        let keys = Keys {
            password: String::new(),
            api_secret: None,
        };
        let written = Written::new(&settled.outbounds, &Selections::default(), &keys);
        settled.give_way(said, &written)
    }

    #[test]
    fn d6_an_outbound_that_is_refused_is_left_out_and_told_in_sing_box_s_words() {
        let mut settled = settled();
        let said = "FATAL[0000] decode config at stdin: outbounds[1].x: bad value hunter22";
        give_way(&mut settled, said).unwrap();
        assert_eq!(
            settled.outbounds.why_left_out(1),
            Some("sing-box 1.99 refuses it: bad value …")
        );
        let [problem] = settled.problems.as_slice() else {
            panic!("{:?}", settled.problems)
        };
        assert_eq!(
            (problem.severity, problem.path.as_str()),
            (Severity::Warning, "outbounds[1].x")
        );
        assert_eq!(problem.message, "sing-box 1.99 refuses it: bad value …");
        // What comes now is the third in the user's file.
        let said = "FATAL[0000] initialize outbound[1]: whatever";
        give_way(&mut settled, said).unwrap();
        assert!(settled.outbounds.why_left_out(2).is_some());
    }

    #[test]
    fn d6_a_type_that_it_does_not_have_is_told_once() {
        let mut settled = settled();
        let said = "FATAL[0000] decode config at stdin: outbounds[0]: unknown outbound type: odd";
        give_way(&mut settled, said).unwrap();
        assert_eq!(settled.problems.len(), 1);
        let left_out = [0, 1, 2, 3].map(|index| settled.outbounds.why_left_out(index).is_some());
        assert_eq!(left_out, [true, false, true, false]);
    }

    #[test]
    fn f4_what_is_wrong_elsewhere_is_an_error_with_its_place() {
        let said = "FATAL[0000] decode config at stdin: dns.servers[0]: legacy DNS server formats";
        let problem = give_way(&mut settled(), said).unwrap_err();
        assert_eq!(
            (problem.severity, problem.path.as_str()),
            (Severity::Error, "dns.servers[0]")
        );
        let said = "FATAL[0000] initializing certificate store: invalid certificate PEM strings";
        let problem = give_way(&mut settled(), said).unwrap_err();
        assert!(
            problem.message.contains("invalid certificate PEM"),
            "{problem:?}"
        );
    }

    #[test]
    fn something_deprecated_is_allowed_once_and_told() {
        let mut settled = settled();
        let said = "ERROR[0000] x is deprecated\nFATAL[0000] set environment variable ENABLE_DEPRECATED_X=true";
        give_way(&mut settled, said).unwrap();
        assert_eq!(settled.allowed, ["ENABLE_DEPRECATED_X"]);
        assert!(settled.problems[0].message.contains("x is deprecated"));
        assert!(give_way(&mut settled, said).is_err());
    }
}
