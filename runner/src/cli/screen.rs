//! The live table: it takes the whole terminal, follows a monitor and does what keys ask
//! for, and gives the terminal back on every end. It must not know what is monitored, nor
//! what any key means.

mod choosing;
mod draw;
mod keys;
mod rows;
mod state;

use std::io;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use jiff::Timestamp;
use outwatch::{Measurement, Monitor, TestError, Updates};
use ratatui::DefaultTerminal;
use tokio::time::{Instant, interval, sleep_until};

use super::journal::Pane;
use super::terminal;
use draw::{Paint, Scene};
use keys::{Event, Keys};
use state::{State, Wish};

pub(crate) use choosing::Choosing;

/// The least time between two drawings, however much changes.
const FRAME: Duration = Duration::from_millis(50);

/// Ages are drawn anew so often.
const SECOND: Duration = Duration::from_secs(1);

/// Shows what goes on until the monitor ends or a person wants it to end.
///
/// # Errors
/// When the terminal cannot be drawn on.
pub(crate) async fn show(name: &str, mut updates: Updates, choosing: &Choosing) -> io::Result<()> {
    let monitor = &choosing.monitor;
    let mut screen = Screen::open(name)?;
    let mut keys = Keys::listen()?;
    let mut asked = Asked::default();
    let mut second = interval(SECOND);
    loop {
        let drawing = screen.draws_at;
        tokio::select! {
            update = updates.next() => match update {
                Some(update) => screen.change(|state| state.learn(update)),
                None => return Ok(()),
            },
            event = keys.next() => match event {
                Some(Event::Key(key)) => {
                    let mut wish = None;
                    screen.change(|state| wish = state.key(key));
                    match wish {
                        Some(Wish::End) => return Ok(()),
                        Some(wish) => screen.change(|state| carry_out(wish, state, monitor, choosing, &mut asked)),
                        None => {}
                    }
                }
                Some(Event::Resized) => screen.change(|_| {}),
                // Nobody is there any more.
                None => return Ok(()),
            },
            Some(answer) = asked.answers.next() => screen.change(|state| answer.take(state, choosing)),
            () = screen.pane.news() => screen.change(|_| {}),
            _ = second.tick() => screen.change(|state| follow(state, choosing)),
            () = wait(drawing) => {
                asked.history(&screen.state, monitor);
                screen.draw()?;
            }
        }
    }
}

/// Does what a key asks for.
fn carry_out(
    wish: Wish,
    state: &mut State,
    monitor: &Monitor,
    choosing: &Choosing,
    asked: &mut Asked,
) {
    match wish {
        Wish::Test(tags) => {
            let count = tags.len();
            for tag in tags {
                asked.test(tag, monitor);
            }
            if count > 1 {
                state.say(format!("{count} tests asked for"));
            }
        }
        Wish::Open(group) => state.enter(choosing.group(&group)),
        Wish::Select { group, member } => match choosing.select(&group, &member) {
            Ok(()) => {
                state.enter(choosing.group(&group));
                state.say(format!("{group} leads to {member}"));
            }
            Err(error) => state.say(error.to_string()),
        },
        Wish::End => {}
    }
}

/// Groups that were gone into may lead elsewhere by now.
fn follow(state: &mut State, choosing: &Choosing) {
    let open: Vec<String> = state.groups.iter().map(|group| group.tag.clone()).collect();
    for group in open {
        state.enter(choosing.group(&group));
    }
}

/// The terminal, and what is on it. It is given back when this is dropped, and before a
/// panic is told.
struct Screen {
    terminal: DefaultTerminal,
    pane: Pane,
    state: State,
    name: String,
    paint: Paint,
    /// When the next drawing is due; none where nothing changed.
    draws_at: Option<Instant>,
    drawn_at: Instant,
}

impl Screen {
    fn open(name: &str) -> io::Result<Self> {
        let terminal = ratatui::try_init()?;
        let paint = match terminal::stdout_has_colour() {
            true => Paint::Coloured,
            false => Paint::Plain,
        };
        let now = Instant::now();
        Ok(Self {
            terminal,
            pane: Pane::open(),
            state: State::default(),
            name: name.to_owned(),
            paint,
            draws_at: Some(now),
            drawn_at: now,
        })
    }

    /// Changes what is looked at, which is drawn soon.
    fn change(&mut self, change: impl FnOnce(&mut State)) {
        change(&mut self.state);
        let next = (self.drawn_at + FRAME).max(Instant::now());
        self.draws_at.get_or_insert(next);
    }

    fn draw(&mut self) -> io::Result<()> {
        self.draws_at = None;
        self.drawn_at = Instant::now();
        let height = self.terminal.size()?.height;
        let log = self.pane.last(usize::from(height));
        let scene = Scene {
            name: &self.name,
            log: &log,
            now: Timestamp::now(),
            paint: self.paint,
        };
        let state = &mut self.state;
        self.terminal
            .draw(|frame| draw::draw(frame, state, &scene))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// What was asked of the monitor and is not answered.
#[derive(Default)]
struct Asked {
    answers: FuturesUnordered<BoxFuture<'static, Answer>>,
    /// Whose measurements were asked for last, and of which report.
    history: Option<(String, u64)>,
}

enum Answer {
    Tested(String, Result<(), TestError>),
    History(String, u64, Vec<Measurement>),
}

impl Asked {
    fn test(&mut self, tag: String, monitor: &Monitor) {
        let monitor = monitor.clone();
        self.answers.push(Box::pin(async move {
            let tested = monitor.test(tag.as_str()).await.map(|_| ());
            Answer::Tested(tag, tested)
        }));
    }

    /// Asks for the measurements that are needed, once.
    fn history(&mut self, state: &State, monitor: &Monitor) {
        let wanted = state.history_wanted();
        if wanted.is_none() || wanted == self.history {
            return;
        }
        self.history.clone_from(&wanted);
        let monitor = monitor.clone();
        self.answers
            .extend(wanted.map(|(tag, revision)| -> BoxFuture<'static, Answer> {
                Box::pin(async move {
                    let known = monitor.measurements(vec![tag.clone()]).await;
                    Answer::History(tag, revision, known.into_iter().next().unwrap_or_default())
                })
            }));
    }
}

impl Answer {
    fn take(self, state: &mut State, choosing: &Choosing) {
        match self {
            // What came of it is in the row.
            Self::Tested(_, Ok(())) => follow(state, choosing),
            Self::Tested(tag, Err(error)) => state.say(format!("{tag}: {error}")),
            Self::History(tag, revision, known) => state.remember(tag, revision, known),
        }
    }
}

async fn wait(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}
