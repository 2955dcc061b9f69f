//! A table that redraws itself in place on a terminal.
//! It must not know why the reports change.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use outwatch::Report;

use super::output::{self, table};
use super::terminal;

/// Lines below the table, for the count of what is not shown and the cursor.
const MARGIN: usize = 2;

/// The table; it goes away when it is dropped.
pub(crate) struct Live {
    drawn: ProgressBar,
}

impl Live {
    /// What a live table is drawn on; nothing is, unless standard output is a
    /// terminal.
    pub(crate) fn surface() -> MultiProgress {
        MultiProgress::with_draw_target(ProgressDrawTarget::stdout())
    }

    /// An empty table.
    pub(crate) fn new(surface: &MultiProgress) -> Self {
        let drawn = surface.add(ProgressBar::no_length());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            drawn.set_style(style);
        }
        Self { drawn }
    }

    /// Shows these reports now, as many as the terminal has lines for.
    pub(crate) fn show(&self, mut reports: Vec<Report>) {
        output::sort(&mut reports);
        let (width, height) = terminal::size().unwrap_or((80, 24));
        // The heading takes a line too.
        let room = usize::from(height).saturating_sub(MARGIN + 1).max(1);
        let hidden = reports.len().saturating_sub(room);
        let shown = reports.get(..reports.len() - hidden).unwrap_or_default();
        let mut table = table::render(shown, Some(width));
        if hidden > 0 {
            table.push_str(&format!("and {hidden} more"));
        }
        self.drawn.set_message(terminal::for_stdout(&table));
        self.drawn.tick();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.drawn.finish_and_clear();
    }
}
