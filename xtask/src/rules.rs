//! Keeps docs/RULES.md: under each rule of that list the rooms that keep it and the
//! tests that show it. It must not know what any rule says.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};

use crate::run::{root, say};
use tree::{Rule, Tree};

mod tree;

const DOCUMENT: &str = "docs/RULES.md";

/// What stands before the generated parts of a rule.
const ROOMS: &str = "- kept in ";
const TESTS: &str = "- shown by ";

/// What becomes of a document that is not what the tree says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Write,
    Fail,
}

pub(crate) fn rules(then: Then) -> Result<()> {
    let path = root().join(DOCUMENT);
    let current = std::fs::read_to_string(&path).with_context(|| format!("no {DOCUMENT}"))?;
    let tree = Tree::read(&root())?;
    let listed = listed(&current);
    let missing = missing(&listed, &tree);
    if !missing.is_empty() {
        bail!("{DOCUMENT}:\n  {}", missing.join("\n  "));
    }
    let fresh = render(&current, &tree);
    match then {
        _ if fresh == current => {}
        Then::Write => std::fs::write(&path, fresh)?,
        Then::Fail => bail!("{DOCUMENT} is not current; `cargo xtask rules` writes it anew"),
    }
    say(&format!("rules: {} rules, each with a test", listed.len()));
    Ok(())
}

/// The rules that the document lists.
fn listed(document: &str) -> BTreeSet<Rule> {
    document.lines().filter_map(rule_of).collect()
}

/// Rules without a room or a test, and names of rules that are not listed.
fn missing(listed: &BTreeSet<Rule>, tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for rule in listed {
        if !tree.tests.contains_key(rule) {
            problems.push(format!("{rule} has no test: none carries it in its name"));
        }
        if !tree.rooms.contains_key(rule) {
            problems.push(format!("{rule} has no room: no comment names it"));
        }
    }
    let letters: BTreeSet<char> = listed.iter().map(|rule| rule.letter).collect();
    let named = tree.tests.iter().map(|(rule, files)| (rule, files.keys()));
    for (rule, mut files) in named {
        if letters.contains(&rule.letter) && !listed.contains(rule) {
            let file = files.next().map_or("", String::as_str);
            problems.push(format!(
                "{rule} is not a rule, but a test in {file} names it"
            ));
        }
    }
    problems
}

/// The rule that a line begins: `**T-1** ...`.
fn rule_of(line: &str) -> Option<Rule> {
    let (name, _) = line.strip_prefix("**")?.split_once("** ")?;
    name.parse().ok()
}

/// The document with the generated parts of every rule written anew; all else stays.
fn render(document: &str, tree: &Tree) -> String {
    let mut text = String::new();
    let mut rule = None;
    let finish = |text: &mut String, rule: &mut Option<Rule>| {
        if let Some(rule) = rule.take() {
            generated(text, rule, tree);
        }
    };
    for line in document.lines() {
        if line.starts_with(ROOMS) || line.starts_with(TESTS) {
            continue;
        }
        if line.is_empty() {
            finish(&mut text, &mut rule);
        }
        rule = rule_of(line).or(rule);
        text.push_str(line);
        text.push('\n');
    }
    finish(&mut text, &mut rule);
    text
}

fn generated(text: &mut String, rule: Rule, tree: &Tree) {
    let rooms = tree.rooms.get(&rule).into_iter().flatten();
    let rooms: Vec<String> = rooms.map(|room| format!("[{room}](../{room})")).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{ROOMS}{}", rooms.join(", "));
    for (file, names) in tree.tests.get(&rule).into_iter().flatten() {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(text, "{TESTS}[{file}](../{file}): {}", names.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::default();
        tree.take(
            "engine/src/urls.rs",
            "// C-4: the next.\n\n#[cfg(test)]\nmod tests {\n    // C-5\n    #[test]\n    fn c4_next() {}\n}\n",
        );
        tree
    }

    #[test]
    fn a_rule_gets_its_rooms_and_tests_and_all_else_stays() {
        let document = "# Rules\n\n**C-4** The next\naddress.\n- kept in nothing\n\nEnd.\n";
        let expected = "# Rules\n\n**C-4** The next\naddress.\n\
            - kept in [engine/src/urls.rs](../engine/src/urls.rs)\n\
            - shown by [engine/src/urls.rs](../engine/src/urls.rs): `c4_next`\n\nEnd.\n";
        let written = render(document, &tree());
        assert_eq!(written, expected);
        assert_eq!(
            render(&written, &tree()),
            written,
            "writing twice changes nothing"
        );
    }

    #[test]
    fn a_rule_without_a_test_and_a_test_of_no_rule_are_told() {
        let listed = listed("**C-5** A lost test.\n");
        let problems = missing(&listed, &tree()).join("\n");
        assert!(problems.contains("C-5 has no test"), "{problems}");
        assert!(problems.contains("C-5 has no room"), "{problems}");
        assert!(problems.contains("C-4 is not a rule"), "{problems}");
    }
}
