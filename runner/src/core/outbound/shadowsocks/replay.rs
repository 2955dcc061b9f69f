//! Which packets of a server were heard before: somebody on the way may send one again. It
//! must not know what they hold.

/// How far a packet may be behind the newest one of its session.
const WINDOW: u64 = 1024;

/// Bits of one word of the window.
const WORD: u64 = 64;

/// Sessions that the server has begun for one way: the current one, and the one before, whose
/// packets may still be under way.
#[derive(Default)]
pub(super) struct Sessions {
    current: Option<(u64, Window)>,
    before: Option<(u64, Window)>,
}

impl Sessions {
    /// Whether this packet was not heard before.
    pub(super) fn is_new(&mut self, session: u64, packet: u64) -> bool {
        let both = [&mut self.current, &mut self.before];
        let known = both
            .into_iter()
            .flatten()
            .find(|(known, _)| *known == session);
        if let Some((_, window)) = known {
            return window.is_new(packet);
        }
        self.before = self.current.take();
        let (_, window) = self.current.insert((session, Window::default()));
        window.is_new(packet)
    }
}

/// The last packets of one session.
#[derive(Default)]
struct Window {
    /// One more than the highest number heard.
    next: u64,
    /// A bit for each number of the window, in a ring.
    heard: [u64; (WINDOW / WORD) as usize],
}

impl Window {
    fn is_new(&mut self, packet: u64) -> bool {
        if packet == u64::MAX || packet.saturating_add(WINDOW) < self.next {
            return false;
        }
        // What enters the window was not heard yet.
        let entering = self.next.max((packet + 1).saturating_sub(WINDOW))..=packet;
        for number in entering {
            *self.word(number) &= !(1 << (number % WORD));
        }
        self.next = self.next.max(packet + 1);
        let bit = 1 << (packet % WORD);
        let word = self.word(packet);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn word(&mut self, number: u64) -> &mut u64 {
        let place = usize::try_from(number % WINDOW / WORD).unwrap_or_default();
        &mut self.heard[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_new_once_in_any_order_within_the_window() {
        let mut sessions = Sessions::default();
        for packet in [0, 5, 3, 1_000, 4, 1_024] {
            assert!(sessions.is_new(7, packet), "{packet}");
            assert!(!sessions.is_new(7, packet), "{packet} again");
        }
        assert!(sessions.is_new(7, 2), "1022 behind the newest");
        assert!(!sessions.is_new(7, 0), "it fell out of the window");
        assert!(sessions.is_new(7, 5_000));
        assert!(!sessions.is_new(7, 1_025), "as did this one, unheard");
        assert!(sessions.is_new(7, 5_000 - 1_023));
        assert!(sessions.is_new(7, u64::MAX - 1));
        assert!(!sessions.is_new(7, u64::MAX), "there is no next");
    }

    #[test]
    fn a_new_session_counts_anew_and_the_one_before_is_remembered() {
        let mut sessions = Sessions::default();
        assert!(sessions.is_new(1, 0));
        assert!(sessions.is_new(2, 0));
        assert!(!sessions.is_new(1, 0));
        assert!(sessions.is_new(1, 1));
        assert!(!sessions.is_new(2, 0));
    }
}
