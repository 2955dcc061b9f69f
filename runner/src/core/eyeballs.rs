//! Happy eyeballs (RFC 8305): of several addresses of one host, the first that
//! answers. It must not know sockets or names.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

/// "Connection Attempt Delay" of RFC 8305, section 5.
pub(super) const STAGGER: Duration = Duration::from_millis(250);

/// Which family goes first, or goes at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Preference {
    /// As the resolver sorted them (RFC 6724).
    #[default]
    Resolver,
    PreferV4,
    PreferV6,
    OnlyV4,
    OnlyV6,
}

/// Sorts addresses so that the families take turns, the preferred one first.
pub(super) fn interleave(addresses: Vec<SocketAddr>, preference: Preference) -> Vec<SocketAddr> {
    let v6_first = match preference {
        Preference::Resolver => addresses.first().is_some_and(SocketAddr::is_ipv6),
        Preference::PreferV6 | Preference::OnlyV6 => true,
        Preference::PreferV4 | Preference::OnlyV4 => false,
    };
    let (v6, v4): (Vec<_>, Vec<_>) = addresses.into_iter().partition(SocketAddr::is_ipv6);
    let (first, second) = match preference {
        Preference::OnlyV4 => (v4, Vec::new()),
        Preference::OnlyV6 => (v6, Vec::new()),
        _ if v6_first => (v6, v4),
        _ => (v4, v6),
    };
    let mut sorted = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        let pair = (first.next(), second.next());
        if pair == (None, None) {
            return sorted;
        }
        sorted.extend(pair.0);
        sorted.extend(pair.1);
    }
}

/// Connects to the first address that answers. The next one is tried `stagger`
/// after the last, or as soon as one fails; the losers are dropped.
///
/// # Errors
/// When all failed: each with its error, in the order they failed.
pub(super) async fn race<T, F>(
    addresses: Vec<SocketAddr>,
    stagger: Duration,
    connect: impl Fn(SocketAddr) -> F,
) -> Result<T, Vec<(SocketAddr, io::Error)>>
where
    F: Future<Output = io::Result<T>>,
{
    if let [only] = addresses[..] {
        return connect(only).await.map_err(|error| vec![(only, error)]);
    }
    let mut waiting = addresses.into_iter();
    let mut running = FuturesUnordered::new();
    let mut failures = Vec::new();
    loop {
        if let Some(address) = waiting.next() {
            let attempt = connect(address);
            running.push(async move { (address, attempt.await) });
        } else if running.is_empty() {
            return Err(failures);
        }
        tokio::select! {
            Some((address, result)) = running.next() => match result {
                Ok(connected) => return Ok(connected),
                Err(error) => failures.push((address, error)),
            },
            () = tokio::time::sleep(stagger), if waiting.len() > 0 => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    fn addresses(list: &[&str]) -> Vec<SocketAddr> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn families_take_turns_starting_with_the_resolvers_first() {
        let found = addresses(&["[::1]:1", "[::2]:1", "1.1.1.1:1", "2.2.2.2:1"]);
        assert_eq!(
            interleave(found.clone(), Preference::Resolver),
            addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "2.2.2.2:1"])
        );
        assert_eq!(
            interleave(found.clone(), Preference::PreferV4),
            addresses(&["1.1.1.1:1", "[::1]:1", "2.2.2.2:1", "[::2]:1"])
        );
        assert_eq!(
            interleave(found, Preference::OnlyV6),
            addresses(&["[::1]:1", "[::2]:1"])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_first_address_costs_one_stagger() {
        let start = Instant::now();
        let winner = race(
            addresses(&["[::1]:1", "1.1.1.1:1"]),
            STAGGER,
            |address| async move {
                if address.is_ipv6() {
                    sleep(Duration::from_secs(60)).await;
                }
                sleep(Duration::from_millis(30)).await;
                Ok(address)
            },
        )
        .await;
        assert_eq!(winner.unwrap(), addresses(&["1.1.1.1:1"])[0]);
        assert_eq!(start.elapsed(), STAGGER + Duration::from_millis(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_address_makes_room_for_the_next_at_once() {
        let start = Instant::now();
        let winner = race(
            addresses(&["[::1]:1", "1.1.1.1:1"]),
            STAGGER,
            |address| async move {
                sleep(Duration::from_millis(5)).await;
                if address.is_ipv6() {
                    Err(io::ErrorKind::ConnectionRefused.into())
                } else {
                    Ok(())
                }
            },
        )
        .await;
        assert!(winner.is_ok());
        assert_eq!(start.elapsed(), Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_may_still_win_after_the_second_has_started() {
        let winner = race(
            addresses(&["[::1]:1", "1.1.1.1:1"]),
            STAGGER,
            |address| async move {
                sleep(if address.is_ipv6() {
                    STAGGER * 2
                } else {
                    STAGGER * 3
                })
                .await;
                Ok(address)
            },
        )
        .await;
        assert!(winner.unwrap().is_ipv6());
    }

    #[tokio::test(start_paused = true)]
    async fn every_failure_is_told() {
        let result: Result<(), _> = race(
            addresses(&["[::1]:1", "1.1.1.1:1"]),
            STAGGER,
            |_| async move { Err(io::ErrorKind::ConnectionRefused.into()) },
        )
        .await;
        assert_eq!(result.unwrap_err().len(), 2);
    }
}
