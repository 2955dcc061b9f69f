//! How far a list of tests has come, drawn on standard error while somebody looks.
//! It must not know what is tested.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that goes away when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    worked: u64,
}

impl Progress {
    /// What progress is drawn on; nothing is, unless standard error is a terminal.
    pub(crate) fn surface() -> MultiProgress {
        MultiProgress::with_draw_target(ProgressDrawTarget::stderr())
    }

    /// A bar for `total` tests.
    pub(crate) fn new(surface: &MultiProgress, total: usize) -> Self {
        let bar = surface.add(ProgressBar::new(total.try_into().unwrap_or(u64::MAX)));
        let style = ProgressStyle::with_template("{spinner} {pos}/{len} tested {wide_bar} {msg}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        Self { bar, worked: 0 }
    }

    /// One more is done.
    pub(crate) fn done(&mut self, worked: bool) {
        self.worked += u64::from(worked);
        self.bar.inc(1);
        let failed = self.bar.position() - self.worked;
        self.bar
            .set_message(format!("{} worked, {failed} did not", self.worked));
    }

    /// All are done; something else is waited for.
    pub(crate) fn waits_for(&self, what: &'static str) {
        self.bar.set_message(what);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
