//! Random numbers by seed. It must not know what they decide.

/// The generator of splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    /// True in one of so many cases.
    pub(crate) fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        let at = usize::try_from(self.below(choices.len() as u64)).expect("a small list");
        choices[at].clone()
    }

    /// One of the choices, each as often as its weight says.
    pub(crate) fn weighted<T: Copy>(&mut self, choices: &[(T, u64)]) -> T {
        let mut at = self.below(choices.iter().map(|(_, weight)| weight).sum());
        for &(choice, weight) in choices {
            match at.checked_sub(weight) {
                Some(rest) => at = rest,
                None => return choice,
            }
        }
        unreachable!("the number is below the sum of all weights")
    }
}
