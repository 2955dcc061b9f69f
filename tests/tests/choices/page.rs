//! The tables of docs/GROUPS.md. It must not know what they say.

use std::path::Path;

/// One table of the page, as a test has seen it.
pub(crate) struct Table {
    name: &'static str,
    lines: String,
}

impl Table {
    pub(crate) fn new(name: &'static str, columns: &[&str]) -> Self {
        let lines = String::new();
        let mut table = Self { name, lines };
        table.row(columns);
        table.lines += &format!("|{}\n", "---|".repeat(columns.len()));
        table
    }

    pub(crate) fn row(&mut self, cells: &[&str]) {
        self.lines += &format!("| {} |\n", cells.join(" | "));
    }

    /// Fails unless the page shows the same.
    pub(crate) fn stands_on_the_page(&self) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/GROUPS.md");
        let page = std::fs::read_to_string(&path).expect("docs/GROUPS.md");
        let begin = format!(
            "<!-- {}: begin. OUTWATCH_UPDATE_DOCS=1 in the test's environment rewrites it -->\n",
            self.name
        );
        let (before, rest) = page.split_once(&begin).expect("where the table begins");
        let end = format!("<!-- {}: end -->\n", self.name);
        let (written, after) = rest.split_once(&end).expect("where the table ends");
        if std::env::var_os("OUTWATCH_UPDATE_DOCS").is_some() {
            let page = [before, &begin, "\n", &self.lines, "\n", &end, after].concat();
            std::fs::write(&path, page).expect("the page can be written");
        } else {
            let seen = similar::TextDiff::from_lines(written.trim(), self.lines.trim());
            assert!(
                written.trim() == self.lines.trim(),
                "docs/GROUPS.md says otherwise than what was seen:\n{}",
                seen.unified_diff()
            );
        }
    }
}
