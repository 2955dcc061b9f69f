//! Writing behind the back, to a target that fails when told. These tests must not
//! know any file.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

/// What a target does with the next write.
enum Next {
    Take,
    Fail,
}

/// Says when a write begins, waits for what to do, and keeps what it took.
struct Scripted {
    begun: Sender<Vec<Change>>,
    next: Receiver<Next>,
    taken: Taken,
}

type Taken = Arc<Mutex<BTreeMap<String, Option<Vec<u8>>>>>;

impl Target for Scripted {
    fn write(&mut self, changes: &[Change]) -> Result<(), String> {
        self.begun.send(changes.to_vec()).expect("the test listens");
        match self.next.recv() {
            // The test has ended its script.
            Ok(Next::Take) | Err(_) => {
                self.taken
                    .lock()
                    .expect("unpoisoned")
                    .extend(changes.iter().cloned());
                Ok(())
            }
            Ok(Next::Fail) => Err("disk full".to_owned()),
        }
    }
}

/// A writer and the other ends of its target. The script ends before the writer,
/// which waits for its target.
struct World {
    next: Sender<Next>,
    writer: Writer,
    begun: Receiver<Vec<Change>>,
    taken: Taken,
}

impl World {
    fn new() -> Self {
        let (begun_sender, begun) = channel();
        let (next, next_receiver) = channel();
        let taken = Arc::default();
        let target = Scripted {
            begun: begun_sender,
            next: next_receiver,
            taken: Arc::clone(&taken),
        };
        let writer = Writer::start(Pairs::default(), target).expect("a thread");
        Self {
            writer,
            begun,
            next,
            taken,
        }
    }

    fn set(&self, key: &str, value: &str) {
        let set = [(key.to_owned(), value.as_bytes().to_vec())];
        self.writer.update(&[], &set).expect("small");
    }

    fn then(&self, next: Next) {
        self.next.send(next).expect("the target listens");
    }

    /// What the next write is of, as `key=value` words.
    fn begun(&self) -> String {
        words(self.begun.recv().expect("the thread runs"))
    }

    fn taken(&self) -> String {
        words(self.taken.lock().expect("unpoisoned").clone())
    }
}

impl<F: FnMut(&[Change]) -> Result<(), String> + Send + 'static> Target for F {
    fn write(&mut self, changes: &[Change]) -> Result<(), String> {
        self(changes)
    }
}

/// A writer to a disk that can be full, which then does as `fail` does; and what
/// the disk took.
fn on_a_disk(
    fail: impl Fn() -> Result<(), String> + Send + 'static,
) -> (Writer, Arc<AtomicBool>, Taken) {
    let (full, taken) = (Arc::new(AtomicBool::new(false)), Taken::default());
    let target = {
        let (full, taken) = (Arc::clone(&full), Arc::clone(&taken));
        move |changes: &[Change]| {
            if full.load(Ordering::SeqCst) {
                return fail();
            }
            taken
                .lock()
                .expect("unpoisoned")
                .extend(changes.iter().cloned());
            Ok(())
        }
    };
    (
        Writer::start(Pairs::default(), target).expect("a thread"),
        full,
        taken,
    )
}

fn words(changes: impl IntoIterator<Item = Change>) -> String {
    let word = |(key, value): Change| match value {
        Some(value) => format!("{key}={}", value.escape_ascii()),
        None => format!("{key} gone"),
    };
    changes.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn p3_nobody_waits_for_a_write_and_reads_see_what_is_not_written_yet() {
    let world = World::new();
    world.set("a", "1");
    assert_eq!(world.begun(), "a=1");
    // The target is at work and does not end it.
    world.set("a", "2");
    let read = world
        .writer
        .read(|pairs| pairs.get("a").map(<[u8]>::to_vec));
    assert_eq!(read.as_deref(), Some(&b"2"[..]));
    assert_eq!(world.taken(), "");
}

#[test]
fn p3_changes_made_during_a_write_are_written_together_after_it() {
    let world = World::new();
    world.set("a", "1");
    assert_eq!(world.begun(), "a=1");
    world.set("b", "1");
    world.set("b", "2");
    world
        .writer
        .update(&["a".to_owned()], &[("c".to_owned(), b"1".to_vec())])
        .expect("small");
    world.then(Next::Take);
    assert_eq!(world.begun(), "a gone b=2 c=1");
    world.then(Next::Take);
    assert_eq!(world.writer.flush(), Ok(()));
    assert_eq!(world.taken(), "a gone b=2 c=1");
}

#[test]
fn p3_what_does_not_change_is_not_written() {
    let world = World::new();
    world.then(Next::Take);
    world.set("a", "1");
    assert_eq!(world.writer.flush(), Ok(()));
    world.set("a", "1");
    world
        .writer
        .update(&["nothing".to_owned()], &[])
        .expect("small");
    assert_eq!(world.writer.flush(), Ok(()));
    assert_eq!(world.begun.try_iter().count(), 1);
}

#[test]
fn p3_a_failed_write_is_told_by_flush_and_made_up_for_with_the_next_change() {
    let (writer, full, taken) = on_a_disk(|| Err("disk full".to_owned()));
    let set = |key: &str| {
        let set = [(key.to_owned(), vec![])];
        writer.update(&[], &set).expect("small");
    };
    full.store(true, Ordering::SeqCst);
    set("a");
    assert_eq!(
        writer.flush(),
        Err(CacheError::Unavailable("disk full".to_owned()))
    );
    assert_eq!(
        writer.read(|pairs| pairs.keys()),
        ["a"],
        "it stays readable"
    );

    full.store(false, Ordering::SeqCst);
    set("b");
    assert_eq!(writer.flush(), Ok(()));
    assert_eq!(words(taken.lock().expect("unpoisoned").clone()), "a= b=");
}

#[test]
fn p3_flush_tries_again_what_could_not_be_written() {
    let (writer, full, taken) = on_a_disk(|| panic!("as the test asked"));
    full.store(true, Ordering::SeqCst);
    writer
        .update(&[], &[("a".to_owned(), vec![])])
        .expect("small");
    let flushed = writer.flush();
    assert!(
        matches!(flushed, Err(CacheError::Unavailable(_))),
        "a panic is a failure too"
    );
    full.store(false, Ordering::SeqCst);
    assert_eq!(writer.flush(), Ok(()));
    assert_eq!(words(taken.lock().expect("unpoisoned").clone()), "a=");
}

#[test]
fn p3_dropping_waits_until_everything_is_written() {
    let world = World::new();
    let World {
        writer,
        begun,
        next,
        taken,
    } = world;
    let set = |key: &str| {
        let set = [(key.to_owned(), vec![])];
        writer.update(&[], &set).expect("small");
    };
    set("a");
    assert_eq!(words(begun.recv().expect("the thread runs")), "a=");
    set("b");
    next.send(Next::Fail).expect("the target listens");
    next.send(Next::Take).expect("the target listens");
    drop(writer);
    assert_eq!(words(taken.lock().expect("unpoisoned").clone()), "a= b=");
}
