//! The program's allocator, and what it gives back to the system. It must not know what
//! is allocated.

use std::time::Duration;
use std::{panic, thread};

use tokio::sync::watch;
use tokio::time::timeout;

/// Tests and connections are many small allocations, which it makes at less cost than
/// the systems' own allocators.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Gives back what this thread has freed, which the allocator keeps for the next time. To
/// be called after something that took far more than it leaves: a config that was read, a
/// component that was compiled.
#[allow(unsafe_code, reason = "it touches only what is free")]
pub(crate) fn give_back() {
    unsafe { libmimalloc_sys::mi_collect(true) }
}

/// Does what takes far more than it leaves in a thread of its own. What it leaves does not
/// stand between what it took, and all of that goes back.
pub(crate) fn apart<T: Send>(work: impl Fn() -> T + Sync) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, &work) {
            Ok(thread) => {
                let done = thread.join();
                done.unwrap_or_else(|panic| panic::resume_unwind(panic))
            }
            // No more threads can be had.
            Err(_) => work(),
        }
    })
}

/// As much as the first thread of a program has, for what is nested deep.
const STACK: usize = 8 * 1024 * 1024;

/// How long there is no news after a burst of it.
const QUIET: Duration = Duration::from_secs(1);

/// Gives back, after each burst of news, what it took to take it in: as much as there are
/// outbounds, for a moment.
pub(crate) async fn give_back_after(mut news: watch::Receiver<()>) {
    while news.changed().await.is_ok() {
        while let Ok(Ok(())) = timeout(QUIET, news.changed()).await {}
        give_back();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[test]
    fn what_is_done_apart_has_a_deep_stack_and_gives_what_it_made() {
        fn depth(left: u32) -> u32 {
            let room = std::hint::black_box([0_u8; 1024]);
            let below = if left == 0 { 0 } else { depth(left - 1) };
            below + 1 + u32::from(room[0])
        }
        assert_eq!(apart(|| depth(2_500)), 2_501);
    }

    #[test]
    #[should_panic(expected = "in there")]
    fn a_panic_apart_is_no_other_than_here() {
        apart(|| panic!("in there"));
    }

    #[tokio::test(start_paused = true)]
    async fn it_waits_for_the_end_of_a_burst_and_ends_with_who_has_news() {
        let (news, listener) = watch::channel(());
        let giving_back = tokio::spawn(give_back_after(listener));
        let began = Instant::now();
        for _ in 0..3 {
            news.send_replace(());
            tokio::time::sleep(QUIET / 2).await;
        }
        drop(news);
        giving_back.await.unwrap();
        assert!(began.elapsed() < QUIET * 3, "it holds nobody up");
    }
}
