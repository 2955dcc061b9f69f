//! What a person types, as it comes. It must not know what any key means.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::crossterm::event::{self, KeyEvent, KeyEventKind};
use tokio::sync::mpsc;

/// How long the end of listening may go unnoticed.
const LOOK_UP: Duration = Duration::from_millis(200);

/// What comes from a terminal.
pub(super) enum Event {
    Key(KeyEvent),
    /// The terminal is of another size.
    Resized,
}

/// Listens to a terminal until it is dropped, on a thread of its own: reading waits.
pub(super) struct Keys {
    events: mpsc::UnboundedReceiver<Event>,
    over: Arc<AtomicBool>,
}

impl Keys {
    /// # Errors
    /// When the system has no thread for it.
    pub(super) fn listen() -> io::Result<Self> {
        let (sender, events) = mpsc::unbounded_channel();
        let over = Arc::new(AtomicBool::new(false));
        let noticed = over.clone();
        std::thread::Builder::new()
            .name("outwatch-keys".to_owned())
            .spawn(move || listen(&sender, &noticed))?;
        Ok(Self { events, over })
    }

    /// What comes next; none when the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn listen(events: &mpsc::UnboundedSender<Event>, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let event = match event::poll(LOOK_UP) {
            Ok(false) => continue,
            Ok(true) => event::read(),
            Err(error) => Err(error),
        };
        let told = match event {
            Ok(event::Event::Key(key)) if key.kind != KeyEventKind::Release => {
                events.send(Event::Key(key))
            }
            Ok(event::Event::Resize(..)) => events.send(Event::Resized),
            Ok(_) => Ok(()),
            Err(_) => return,
        };
        if told.is_err() {
            return;
        }
    }
}
