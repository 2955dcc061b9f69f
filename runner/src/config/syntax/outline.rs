//! What is open at a place in a JSON text: the way in for a text that is broken
//! behind that place. It must not know what is broken, nor why.

use jsonc_parser::common::Range;
use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

/// What surrounds one place of a text.
#[derive(Debug, Default)]
pub(super) struct Outline {
    open: Vec<Bracket>,
    /// The last string before the place that has a line break inside.
    pub(super) torn_string: Option<Range>,
}

/// No path that helps anybody is longer.
const LEVELS: usize = 20;

/// A list or an object that is not closed.
#[derive(Debug)]
pub(super) struct Bracket {
    /// Byte offset of the bracket.
    pub(super) at: usize,
    step: Step,
}

/// What is being read inside a bracket.
#[derive(Debug)]
enum Step {
    Index(usize),
    Key(Option<String>),
}

impl Outline {
    /// What surrounds the byte `at` of `text`.
    pub(super) fn at(text: &str, at: usize) -> Self {
        let mut outline = Self::default();
        let mut scanner = Scanner::new(text, &ScannerOptions::default());
        while let Ok(Some(token)) = scanner.scan() {
            if scanner.token_start() >= at {
                break;
            }
            let range = Range::new(scanner.token_start(), scanner.token_end());
            if let Token::String(_) = &token
                && text
                    .get(range.start..range.end)
                    .is_some_and(|raw| raw.contains(['\n', '\r']))
            {
                outline.torn_string = Some(range);
            }
            outline.pass(token, range.start);
        }
        outline
    }

    /// The innermost bracket.
    pub(super) fn innermost(&self) -> Option<&Bracket> {
        self.open.last()
    }

    /// The path of the value being read, or of one far enough inside.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for Bracket { step, .. } in self.open.iter().take(LEVELS) {
            match step {
                Step::Index(index) => path.push_str(&format!("[{index}]")),
                Step::Key(Some(key)) if path.is_empty() => path.push_str(key),
                Step::Key(Some(key)) => path.extend([".", key]),
                Step::Key(None) => {}
            }
        }
        path
    }

    fn pass(&mut self, token: Token<'_>, at: usize) {
        match token {
            Token::OpenBrace => self.open.push(Bracket {
                at,
                step: Step::Key(None),
            }),
            Token::OpenBracket => self.open.push(Bracket {
                at,
                step: Step::Index(0),
            }),
            Token::CloseBrace | Token::CloseBracket => {
                self.open.pop();
            }
            Token::Comma => match self.open.last_mut().map(|bracket| &mut bracket.step) {
                Some(Step::Index(index)) => *index += 1,
                Some(Step::Key(key)) => *key = None,
                None => {}
            },
            Token::String(text) => {
                if let Some(Bracket {
                    step: Step::Key(key @ None),
                    ..
                }) = self.open.last_mut()
                {
                    *key = Some(text.into_owned());
                }
            }
            _ => {}
        }
    }
}
