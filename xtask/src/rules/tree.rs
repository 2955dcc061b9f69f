//! Reads the sources: which rooms name a rule in a comment, which tests carry one in
//! their name. It must not know which rules there are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context as _, Result};

/// Where sources that keep or show rules are.
const FOLDERS: [&str; 5] = ["benches", "component", "demo-world", "runner", "tests"];

/// A rule's name, such as `T-10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    pub(super) letter: char,
    number: u32,
}

impl FromStr for Rule {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (letter, number) = text.split_once('-').ok_or(())?;
        Self::of(letter, number).ok_or(())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.letter, self.number)
    }
}

impl Rule {
    fn of(letter: &str, number: &str) -> Option<Self> {
        let mut letters = letter.chars();
        let letter = letters.next().filter(char::is_ascii_alphabetic)?;
        let digits = !number.is_empty() && number.chars().all(|char| char.is_ascii_digit());
        let one = letters.next().is_none() && digits;
        let letter = letter.to_ascii_uppercase();
        one.then(|| number.parse().ok())?
            .map(|number| Self { letter, number })
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) rooms: BTreeMap<Rule, BTreeSet<String>>,
    /// By rule and file.
    pub(super) tests: BTreeMap<Rule, BTreeMap<String, Vec<String>>>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        for folder in FOLDERS {
            tree.walk(root, Path::new(folder))?;
        }
        Ok(tree)
    }

    fn walk(&mut self, root: &Path, folder: &Path) -> Result<()> {
        let entries = std::fs::read_dir(root.join(folder));
        let entries = entries.with_context(|| format!("failed to list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let path = folder.join(&name);
            if entry.file_type()?.is_dir() {
                if name != "target" {
                    self.walk(root, &path)?;
                }
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(entry.path());
                let text = text.with_context(|| format!("failed to read {}", path.display()))?;
                self.take(&path.to_string_lossy().replace('\\', "/"), &text);
            }
        }
        Ok(())
    }

    /// Takes one file.
    pub(super) fn take(&mut self, path: &str, text: &str) {
        let mut in_room = path.contains("/src/")
            && !path.contains("/tests/")
            && !path.ends_with("/tests.rs")
            && !path.starts_with("tests/");
        let mut marked_as_test = false;
        for line in text.lines().map(str::trim) {
            in_room &= line != "#[cfg(test)]";
            if let Some((_, comment)) = line.split_once("//").filter(|_| in_room) {
                for rule in words(comment).filter_map(|word| word.parse().ok()) {
                    self.rooms.entry(rule).or_default().insert(path.into());
                }
            }
            if line.starts_with("#[") {
                marked_as_test |= is_test(line);
            } else if let Some(name) = function(line)
                && std::mem::take(&mut marked_as_test)
            {
                self.take_test(path, name);
            }
        }
    }

    fn take_test(&mut self, path: &str, name: &str) {
        let rules = name.split('_').filter_map(|part| {
            let (letter, number) = part.split_at_checked(1)?;
            Rule::of(letter, number)
        });
        for rule in rules {
            let names = self.tests.entry(rule).or_default();
            names.entry(path.into()).or_default().push(name.into());
        }
    }
}

/// What may be the name of a rule.
fn words(comment: &str) -> impl Iterator<Item = &str> {
    comment.split(|char: char| !char.is_ascii_alphanumeric() && char != '-')
}

/// `#[test]`, `#[tokio::test]`, with arguments or without.
fn is_test(attribute: &str) -> bool {
    let path = attribute.trim_start_matches("#[").split([']', '(']).next();
    path.is_some_and(|path| path == "test" || path.ends_with("::test"))
}

fn function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let words = ["pub", "async", "const", "unsafe"];
    let plain = before.split_whitespace().all(|word| words.contains(&word));
    plain.then_some(rest)?.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(tree: &Tree) -> Vec<String> {
        tree.tests.keys().map(Rule::to_string).collect()
    }

    #[test]
    fn tests_are_told_from_other_functions() {
        let mut tree = Tree::default();
        let text = "#[test]\nfn t1_t2_ipv6_a() {}\n\nfn t3_helper() {}\n\
            #[tokio::test(start_paused = true)]\nasync fn d10_b() {}\n";
        tree.take("tests/tests/a.rs", text);
        assert_eq!(rules(&tree), ["D-10", "T-1", "T-2"]);
    }

    #[test]
    fn rooms_are_named_by_comments_outside_of_tests() {
        let mut tree = Tree::default();
        tree.take(
            "a/src/b.rs",
            "let x = 1; // T-1, UTF-8 (T-2).\n#[cfg(test)]\n// T-3\n",
        );
        tree.take("a/src/tests/c.rs", "// T-4\n");
        let rooms: Vec<String> = tree.rooms.keys().map(Rule::to_string).collect();
        assert_eq!(rooms, ["T-1", "T-2"]);
    }
}
