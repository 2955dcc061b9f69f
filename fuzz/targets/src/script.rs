//! Bytes read as a script: one byte, one choice. Letters and digits come first in every
//! choice, so that a corpus can be written and read by people. It must not know what is
//! chosen.

/// What is left of the bytes.
pub(crate) struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next byte, until there is none.
    pub(crate) fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// One of so many: `0` to `9` are the first ten. The first at the end of the bytes.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let byte = self.next().unwrap_or(b'0');
        usize::from(byte.wrapping_sub(b'0')) % count
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
