//! The text format of Prometheus: one line for each value, with labels that keep whatever a
//! tag holds apart. It must not know what is measured.

use std::fmt::Write as _;

/// What a metric does over time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Goes up and down.
    Gauge,
    /// Goes up, until a restart.
    Counter,
}

/// Metrics, one after the other.
#[derive(Default)]
pub(super) struct Text {
    written: String,
    name: &'static str,
}

impl Text {
    /// Begins a metric, whose values follow.
    pub(super) fn metric(&mut self, name: &'static str, kind: Kind, help: &str) -> &mut Self {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(self.written, "# HELP {name} {help}\n# TYPE {name} {kind}");
        self.name = name;
        self
    }

    /// A value of the metric that was begun last.
    pub(super) fn line(&mut self, labels: &[(&str, &str)], value: f64) {
        self.written.push_str(self.name);
        let mut before = '{';
        for (name, text) in labels {
            self.written.push(before);
            self.written.push_str(name);
            self.written.push_str("=\"");
            self.text(text);
            self.written.push('"');
            before = ',';
        }
        if !labels.is_empty() {
            self.written.push('}');
        }
        let _ = writeln!(self.written, " {value}");
    }

    pub(super) fn finish(self) -> String {
        self.written
    }

    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\\' => self.written.push_str("\\\\"),
                '"' => self.written.push_str("\\\""),
                '\n' => self.written.push_str("\\n"),
                // What reads this may end there: its picture stands for it.
                '\0' => self.written.push('\u{2400}'),
                c => self.written.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_tag_holds_stays_in_its_label() {
        let mut text = Text::default();
        text.metric("up", Kind::Gauge, "Whether.");
        text.line(&[("tag", "a\"} 1\nb\\"), ("flag", "🇩🇪")], 0.25);
        text.line(&[], 3.0);
        assert_eq!(
            text.finish(),
            "# HELP up Whether.\n# TYPE up gauge\n\
             up{tag=\"a\\\"} 1\\nb\\\\\",flag=\"🇩🇪\"} 0.25\nup 3\n"
        );
    }
}
