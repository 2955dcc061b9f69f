//! What can happen to saved pairs between two runs. It must not know what a pair
//! stands for.

use outwatch_engine::SAVED_PREFIX;

use super::World;

/// A pair of a later version of the engine: it must survive.
pub(crate) const NEWER: (&str, &[u8]) = ("result/newer/of another tag", br#"{"v":9,"x":[1]}"#);

/// A kind of damage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CacheFault {
    Untouched,
    CutOff,
    FlippedByte,
    Emptied,
    Foreign,
    Newer,
    OfGoneTags,
    WrongTypes,
    HugeNumbers,
}

impl CacheFault {
    pub(crate) const ALL: [Self; 9] = [
        Self::Untouched,
        Self::CutOff,
        Self::FlippedByte,
        Self::Emptied,
        Self::Foreign,
        Self::Newer,
        Self::OfGoneTags,
        Self::WrongTypes,
        Self::HugeNumbers,
    ];
}

impl World {
    pub(super) fn spoil_pairs(&mut self) {
        let fault = self.random.pick(&CacheFault::ALL);
        self.note(&fault);
        for (key, value) in &mut self.pairs {
            if key == NEWER.0 || self.random.one_in(2) {
                continue;
            }
            let at = self.random.below(value.len() as u64 + 1);
            let at = usize::try_from(at).expect("a short value");
            match fault {
                CacheFault::CutOff => value.truncate(at),
                CacheFault::FlippedByte => {
                    if let Some(byte) = value.get_mut(at) {
                        *byte ^= 1 << self.random.below(8);
                    }
                }
                CacheFault::Emptied => value.clear(),
                CacheFault::WrongTypes => {
                    *value = br#"{"v":1,"saved_at":"x","delay_ms":[]}"#.to_vec();
                }
                CacheFault::HugeNumbers => {
                    let text = format!(
                        r#"{{"v":1,"saved_at":{0},"delay_ms":4294967295,"url":"","ok_at":{0}}}"#,
                        u64::MAX
                    );
                    *value = text.into_bytes();
                }
                CacheFault::Untouched
                | CacheFault::Foreign
                | CacheFault::Newer
                | CacheFault::OfGoneTags => {}
            }
        }
        match fault {
            CacheFault::Foreign => {
                let key = format!("{SAVED_PREFIX}nothing of ours");
                self.pairs.insert(key, b"\xff\x00SQLite".to_vec());
            }
            CacheFault::Newer => {
                self.pairs.insert(NEWER.0.into(), NEWER.1.into());
            }
            CacheFault::OfGoneTags => self.add_pairs_of_gone_tags(),
            _ => {}
        }
    }

    /// Some are recent and some are too old to be kept.
    fn add_pairs_of_gone_tags(&mut self) {
        for nth in 0..40u64 {
            let saved_at = (self.wall_ms + self.now_ms).saturating_sub(nth * 86_400_000);
            let value = format!(
                r#"{{"v":1,"saved_at":{saved_at},"delay_ms":5,"url":"u","ok_at":{saved_at}}}"#
            );
            self.pairs
                .insert(format!("{SAVED_PREFIX}0/gone-{nth}"), value.into_bytes());
        }
    }
}
