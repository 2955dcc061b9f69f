//! From notices of the system to changes: a notice after which the network looks as
//! before is none. It must not know where notices come from.

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::look::Look;
use super::source::Source;

/// How long after a notice the network is looked at once more: an address is told when it
/// is there, and the routes that come with it a moment later are told by nothing.
const AFTERMATH: Duration = Duration::from_secs(1);

/// The least time between two looks, however fast the notices come.
const LEAST: Duration = Duration::from_millis(100);

/// The changes of a network.
pub struct Changes {
    source: Box<dyn Source>,
    last: Look,
    /// When to look next, if there was a notice.
    next: Option<Instant>,
    /// When to look for the last time, if there is no notice any more.
    aftermath: Option<Instant>,
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl Changes {
    pub(super) fn new(source: Box<dyn Source>, now: Look) -> Self {
        Self {
            source,
            last: now,
            next: None,
            aftermath: None,
        }
    }

    /// Waits until the network is another one than at the last call, or than at the
    /// start: other interfaces or addresses, or another default way. Loopback, link-local
    /// addresses and the private half of IPv6 addresses are left out. It may be dropped
    /// at any moment, which loses no change.
    pub async fn next(&mut self) {
        loop {
            let due = earlier(self.next, self.aftermath);
            let wait = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = wait => if self.is_another() {
                    return;
                },
                () = self.source.notice() => {
                    let now = Instant::now();
                    self.next.get_or_insert(now + LEAST);
                    self.aftermath = Some(now + AFTERMATH);
                }
            }
        }
    }

    /// Looks, and tells whether the network changed since the last look.
    fn is_another(&mut self) -> bool {
        self.next = None;
        self.aftermath = self.aftermath.filter(|at| *at > Instant::now());
        match self.source.look() {
            Some(look) if look != self.last => {
                self.last = look;
                true
            }
            Some(_) | None => false,
        }
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use tokio::sync::mpsc;
    use tokio::time::{sleep, timeout};

    use super::*;

    /// A network that a test rewires.
    struct Fake {
        notices: mpsc::UnboundedReceiver<()>,
        ip: Arc<Mutex<Option<&'static str>>>,
        looks: Arc<Mutex<u32>>,
    }

    #[async_trait]
    impl Source for Fake {
        async fn notice(&mut self) {
            if self.notices.recv().await.is_none() {
                std::future::pending::<()>().await;
            }
        }

        fn look(&mut self) -> Option<Look> {
            *self.looks.lock().unwrap() += 1;
            Some(seen(*self.ip.lock().unwrap()))
        }
    }

    fn seen(ip: Option<&str>) -> Look {
        let mut look = Look::default();
        if let Some(ip) = ip {
            look.address("eth0", ip.parse().unwrap());
        }
        look
    }

    struct Bench {
        changes: Changes,
        notify: mpsc::UnboundedSender<()>,
        ip: Arc<Mutex<Option<&'static str>>>,
        looks: Arc<Mutex<u32>>,
    }

    fn bench() -> Bench {
        let (notify, notices) = mpsc::unbounded_channel();
        let ip = Arc::new(Mutex::new(Some("192.0.2.1")));
        let looks = Arc::default();
        let source = Fake {
            notices,
            ip: Arc::clone(&ip),
            looks: Arc::clone(&looks),
        };
        Bench {
            changes: Changes::new(Box::new(source), seen(Some("192.0.2.1"))),
            notify,
            ip,
            looks,
        }
    }

    impl Bench {
        fn set(&self, ip: Option<&'static str>) {
            *self.ip.lock().unwrap() = ip;
        }

        /// How many changes there are until nothing more happens.
        async fn changes(&mut self) -> u32 {
            let mut count = 0;
            while timeout(AFTERMATH * 60, self.changes.next()).await.is_ok() {
                count += 1;
            }
            count
        }
    }

    #[tokio::test(start_paused = true)]
    async fn e4_another_address_is_one_change() {
        let mut bench = bench();
        bench.set(Some("192.0.2.2"));
        bench.notify.send(()).unwrap();
        assert_eq!(bench.changes().await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn e4_repeated_notices_of_a_network_that_is_the_same_are_none() {
        let mut bench = bench();
        for _ in 0..1_000 {
            bench.notify.send(()).unwrap();
        }
        assert_eq!(bench.changes().await, 0);
        // One look soon, one in the end.
        assert_eq!(*bench.looks.lock().unwrap(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn e4_a_route_that_comes_after_its_address_is_seen() {
        let mut bench = bench();
        bench.notify.send(()).unwrap();
        let ip = Arc::clone(&bench.ip);
        tokio::spawn(async move {
            sleep(AFTERMATH / 2).await;
            *ip.lock().unwrap() = Some("192.0.2.2");
        });
        assert_eq!(bench.changes().await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn e4_losing_the_network_and_finding_it_again_are_two() {
        let mut bench = bench();
        bench.set(None);
        bench.notify.send(()).unwrap();
        bench.changes.next().await;
        bench.set(Some("192.0.2.1"));
        bench.notify.send(()).unwrap();
        assert_eq!(bench.changes().await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_dropped_loses_no_change() {
        let mut bench = bench();
        bench.set(Some("192.0.2.2"));
        bench.notify.send(()).unwrap();
        assert!(timeout(LEAST / 2, bench.changes.next()).await.is_err());
        assert_eq!(bench.changes().await, 1);
    }
}
