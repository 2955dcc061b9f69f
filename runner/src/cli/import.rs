//! `outwatch import`: makes a config of share links. It must not know any kind of link.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use outwatch::config::{self, LoadOptions};
use outwatch::links::{self, Links, Why};

use super::exit::Exit;
use super::failure::Failure;
use super::output::text;
use super::terminal;

/// Make a config of share links or a subscription
///
/// Reads a list of links (ss, trojan, vless, vmess, socks, http, hysteria2, tuic, wireguard), one
/// a line, in base64 or not, and writes a config with all that can be used, a group that chooses
/// by itself and one to choose in. What cannot be used is told by its line, with the reason, and
/// stops nothing. Entries that only tell what is left of a subscription are passed over.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The links; `-` reads standard input
    #[arg(value_name = "FILE")]
    links: PathBuf,
    /// Write the config to this file, which only its owner can read, and not to standard
    /// output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "output")]
    force: bool,
    /// Write nothing when a link cannot be used
    #[arg(long)]
    strict: bool,
}

const HELP: &str = "\
Examples:
  outwatch import links.txt -o config.json         A config of the links in a file
  curl -s ADDRESS | outwatch import - -o mine.json A config of a subscription
  outwatch import links.txt | outwatch test -c -   Test them all at once

What the links keep secret is in the config, and nowhere else. Ends with 3 when no link
can be used.";

/// More text than this is no list of links.
const LARGEST: u64 = 128 * 1024 * 1024;

/// Carries it out.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (name, text) = contents(&args.links)?;
    let links = links::read(&text);
    let wrong = tell(&name, &links);
    if links.shared.is_empty() {
        return Err(nothing(&name, &text));
    }
    if args.strict && wrong > 0 {
        let message = format!("{} cannot be used", counted(wrong, "link"));
        return Err(Failure::new(Exit::Config, message));
    }
    let mut json = serde_json::to_string_pretty(&links.config())
        .map_err(|error| Failure::unexpected("cannot write the config").because(&error))?;
    json.push('\n');
    match &args.output {
        None => terminal::stdout().write_all(json.as_bytes())?,
        Some(path) => {
            write(path, &json, args.force)?;
            conclude(path, &links, wrong);
        }
    }
    Ok(Exit::Fine)
}

/// The text, and what messages call it.
fn contents(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let (name, from): (_, io::Result<Box<dyn Read>>) = if path == Path::new("-") {
        ("standard input".to_owned(), Ok(Box::new(io::stdin())))
    } else {
        let file = File::open(path);
        (
            path.display().to_string(),
            file.map(|file| Box::new(file) as _),
        )
    };
    let mut text = Vec::new();
    let read = from.and_then(|from| from.take(LARGEST).read_to_end(&mut text));
    match read {
        Ok(_) => Ok((name, text)),
        Err(error) => {
            Err(Failure::new(Exit::Config, format!("cannot read {name}")).because(&error))
        }
    }
}

/// Tells what is doubtful, line by line; gives how many links cannot be used.
fn tell(name: &str, links: &Links) -> usize {
    let mut told: Vec<(usize, &str, String)> = Vec::new();
    for left in &links.left_out {
        let link = called(&left.scheme, &left.name);
        let severity = match left.why {
            Why::Notice => "note",
            Why::Wrong(_) => "error",
        };
        told.push((left.line, severity, format!("{link}{}", left.why)));
    }
    for shared in &links.shared {
        let doubts = shared.doubts.iter();
        told.extend(doubts.map(|doubt| {
            let message = format!("{}{doubt}", called("", &shared.tag));
            (shared.line, "warning", message)
        }));
    }
    told.sort_by_key(|(line, ..)| *line);
    let inside = if links.was_encoded { " (decoded)" } else { "" };
    let mut stderr = terminal::stderr();
    for (line, severity, message) in &told {
        let (name, message) = (text::line(name), text::line(message));
        // When standard error is closed, nobody listens.
        let _ = writeln!(stderr, "{name}{inside}:{line}: {severity}: {message}");
    }
    told.iter()
        .filter(|(_, severity, _)| *severity == "error")
        .count()
}

/// How a message about a link begins.
fn called(scheme: &str, name: &str) -> String {
    match (scheme, name) {
        ("", "") => String::new(),
        (scheme, "") => format!("{scheme}: "),
        ("", name) => format!("\"{name}\": "),
        (scheme, name) => format!("{scheme} \"{name}\": "),
    }
}

fn nothing(name: &str, text: &[u8]) -> Failure {
    let failure = Failure::new(
        Exit::Config,
        format!("there is no link in {name} to be used"),
    );
    if config::read(name, text, &LoadOptions::default())
        .config
        .is_some()
    {
        return failure.hint(format!(
            "this is a config already: outwatch check -c {name}"
        ));
    }
    failure
}

/// Writes the file as a whole or not at all.
fn write(path: &Path, json: &str, force: bool) -> Result<(), Failure> {
    let failed = |error: &io::Error| {
        let path = path.display();
        if error.kind() == io::ErrorKind::AlreadyExists {
            return Failure::new(Exit::Usage, format!("there is a file `{path}` already"))
                .hint("choose another name, or write over it: --force");
        }
        Failure::unexpected(format!("cannot write `{path}`")).because(error)
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let written = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
    let mut written = written.map_err(|error| failed(&error))?;
    written
        .write_all(json.as_bytes())
        .map_err(|error| failed(&error))?;
    let kept = if force {
        written.persist(path)
    } else {
        written.persist_noclobber(path)
    };
    kept.map(|_| ()).map_err(|error| failed(&error.error))
}

fn conclude(path: &Path, links: &Links, wrong: usize) {
    let used = counted(links.shared.len(), "outbound");
    let but = match wrong {
        0 => String::new(),
        wrong => format!("; {} cannot be used", counted(wrong, "link")),
    };
    let path = text::line(&path.display().to_string());
    // When standard error is closed, nobody listens.
    let _ = writeln!(
        terminal::stderr(),
        "{used} in {path}{but}\n\nNext: outwatch test -c {path}"
    );
}

fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}
