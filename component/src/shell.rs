//! The one monitor of this instance, the inputs it has not seen yet, and those who
//! wait for it. It must not step the monitor: `run` does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::task::Waker;

use futures::StreamExt as _;
use futures::channel::{mpsc, oneshot};
use outwatch_engine::{
    AskError, Filter, Input, Monitor, Report, Setup, SubscriberId, Ticket, Update,
};
use outwatch_words::{self as words, types};

use crate::bindings::exports::outwatch::monitor::control;
use crate::bindings::wit_stream;
use crate::{convert, host};

thread_local! {
    static SHELL: RefCell<Option<Shell>> = const { RefCell::new(None) };
}

/// What an instance holds between two calls.
pub(crate) struct Shell {
    pub(crate) monitor: Monitor,
    /// What happened since the last step, in order.
    pub(crate) inbox: Vec<Input>,
    /// The task of `run`, while it waits.
    pub(crate) waker: Option<Waker>,
    pub(crate) phase: Phase,
    tickets: BTreeMap<Ticket, oneshot::Sender<Result<Report, AskError>>>,
    subscribers: BTreeMap<SubscriberId, mpsc::UnboundedSender<Update>>,
    /// How many streams have not closed.
    pub(crate) streams: usize,
    last_id: u64,
}

/// How far an instance has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Started,
    Running,
    Stopped,
}

/// Does `f` with the shell; nothing before a successful start.
pub(crate) fn with<R>(f: impl FnOnce(&mut Shell) -> R) -> Option<R> {
    SHELL.with_borrow_mut(|shell| shell.as_mut().map(f))
}

/// Makes the monitor from the options' text and what the host has.
pub(crate) fn start(text: &str) -> Result<Vec<types::Problem>, Vec<types::Problem>> {
    if with(|_| ()).is_some() {
        let message = "the monitor is already started".to_owned();
        return Err(vec![types::Problem {
            path: String::new(),
            message,
            hint: None,
        }]);
    }
    let (options, warnings) = outwatch_options::read(text).map_err(words::problems_out)?;
    let (outbounds, selections) = host::outbounds();
    let saved = host::saved();
    let setup = Setup {
        options,
        outbounds,
        selections,
        saved,
        seed: host::seed(),
    };
    let monitor = Monitor::new(setup, host::now());
    SHELL.set(Some(Shell {
        monitor,
        inbox: Vec::new(),
        waker: None,
        phase: Phase::Started,
        tickets: BTreeMap::new(),
        subscribers: BTreeMap::new(),
        streams: 0,
        last_id: 0,
    }));
    Ok(words::problems_out(warnings))
}

/// Adds an input and wakes the loop.
pub(crate) fn push(input: Input) {
    with(|shell| shell.push(input));
}

/// Asks for a test and waits for its answer.
pub(crate) async fn ask(tag: String) -> Result<Report, AskError> {
    let answer = with(|shell| {
        let (sender, answer) = oneshot::channel();
        if shell.phase != Phase::Stopped {
            let ticket = Ticket(shell.next_id());
            shell.tickets.insert(ticket, sender);
            shell.push(Input::Ask { ticket, tag });
        }
        answer
    });
    match answer {
        // A sender that was dropped means that the loop has ended.
        Some(answer) => answer.await.unwrap_or(Err(AskError::Stopped)),
        None => Err(AskError::UnknownTag),
    }
}

/// Opens a stream of updates and starts the task that feeds it.
pub(crate) fn subscribe(filter: Filter) -> wit_bindgen::StreamReader<control::Update> {
    let (mut writer, reader) = wit_stream::new::<control::Update>();
    let subscription = with(|shell| {
        if shell.phase == Phase::Stopped {
            return None;
        }
        let (sender, updates) = mpsc::unbounded();
        let subscriber = SubscriberId(shell.next_id());
        shell.subscribers.insert(subscriber, sender);
        shell.streams += 1;
        shell.push(Input::Subscribe { subscriber, filter });
        Some((subscriber, updates))
    });
    if let Some((subscriber, mut updates)) = subscription.flatten() {
        wit_bindgen::spawn_local(async move {
            while let Some(update) = updates.next().await {
                let unread = writer.write_all(vec![convert::update_out(update)]).await;
                if !unread.is_empty() {
                    break;
                }
                push(Input::Taken(subscriber));
            }
            drop(writer);
            with(|shell| shell.closed(subscriber));
        });
    }
    reader
}

impl Shell {
    pub(crate) fn push(&mut self, input: Input) {
        if self.phase == Phase::Stopped {
            return;
        }
        self.inbox.push(input);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// A stream has closed, since its reader went away or the monitor has stopped.
    fn closed(&mut self, subscriber: SubscriberId) {
        self.subscribers.remove(&subscriber);
        self.streams = self.streams.saturating_sub(1);
        self.push(Input::Unsubscribe(subscriber));
        self.wake();
    }

    pub(crate) fn answer(&mut self, ticket: Ticket, result: Result<Report, AskError>) {
        if let Some(sender) = self.tickets.remove(&ticket) {
            // One who no longer waits needs no answer.
            let _ = sender.send(result);
        }
    }

    pub(crate) fn publish(&mut self, subscriber: SubscriberId, update: Update) {
        if let Some(sender) = self.subscribers.get(&subscriber) {
            // A pump that is gone has said so already.
            let _ = sender.unbounded_send(update);
        }
    }

    /// Ends every wait: tickets are answered with `stopped`, streams close.
    pub(crate) fn close(&mut self) {
        self.phase = Phase::Stopped;
        self.inbox.clear();
        self.tickets.clear();
        self.subscribers.clear();
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
