//! Reads one line of sing-box's log. It must not know what came before or after it.

use std::net::SocketAddr;

use super::child_config::INBOUND;

/// A line such as `ERROR[0001] [2551382068 3ms] connection: …`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogLine<'a> {
    pub(super) level: Level,
    /// The connection that it is about.
    pub(super) connection: Option<u32>,
    /// `SOURCE: MESSAGE`.
    pub(super) text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Info,
    Warn,
    Error,
}

/// What a line means to us.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    /// Our inbound listens.
    Listens(SocketAddr),
    /// The API listens.
    ApiListens(SocketAddr),
    /// All is up.
    Started,
    /// A connection of ours came in, from this port.
    CameIn { port: u16 },
    /// A connection of ours came to nothing.
    Failed { words: &'a str },
    /// What an outbound or endpoint says of itself; `named` begins with its tag.
    Says { named: &'a str },
    /// Nothing.
    Other,
}

impl<'a> LogLine<'a> {
    /// None for what is no line of the log, and for those below `info`.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let (level, rest) = line.split_once('[')?;
        let level = match level {
            "INFO" => Level::Info,
            "WARN" => Level::Warn,
            "ERROR" | "FATAL" | "PANIC" => Level::Error,
            _ => return None,
        };
        let (_, rest) = rest.split_once("] ")?;
        let connection = connection(rest);
        Some(Self {
            level,
            connection: connection.map(|(id, _)| id),
            text: connection.map_or(rest, |(_, text)| text),
        })
    }

    pub(super) fn meaning(&self) -> Meaning<'a> {
        let text = self.text;
        let Some(_) = self.connection else {
            return self.of_no_connection();
        };
        if let Some(rest) = after_inbound(text) {
            let port = rest
                .strip_prefix("inbound connection from ")
                .and_then(|from| from.parse::<SocketAddr>().ok());
            return port.map_or(Meaning::Other, |from| Meaning::CameIn { port: from.port() });
        }
        match text.split_once(": ") {
            Some(("connection" | "router", words)) if self.level == Level::Error => {
                Meaning::Failed { words }
            }
            _ => Meaning::Other,
        }
    }

    fn of_no_connection(&self) -> Meaning<'a> {
        let text = self.text;
        let address = |text: &str| text.parse().ok();
        if text.starts_with("sing-box started") {
            return Meaning::Started;
        }
        if let Some(at) = after_inbound(text).and_then(|t| t.strip_prefix("tcp server started at "))
        {
            return address(at).map_or(Meaning::Other, Meaning::Listens);
        }
        if let Some(at) = text.strip_prefix("clash-api: restful api listening at ") {
            return address(at).map_or(Meaning::Other, Meaning::ApiListens);
        }
        let named = ["outbound/", "endpoint/"]
            .into_iter()
            .find_map(|kind| text.strip_prefix(kind))
            .and_then(|typed| typed.split_once('['));
        named.map_or(Meaning::Other, |(_, named)| Meaning::Says { named })
    }
}

/// The tag and the words in `tag]: words`. A tag may hold anything, so all ends that it
/// may have are tried.
pub(super) fn said_by(named: &str, is_tag: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    named
        .match_indices("]: ")
        .filter_map(|(end, mark)| Some((named.get(..end)?, named.get(end + mark.len()..)?)))
        .find(|(tag, _)| is_tag(tag))
}

/// The words in `open connection to a.test:80 using outbound/socks[tag]: words`.
pub(super) fn cause<'a>(words: &'a str, tag: &str) -> &'a str {
    let end = format!("[{tag}]: ");
    words.split_once(&end).map_or(words, |(_, cause)| cause)
}

fn connection(text: &str) -> Option<(u32, &str)> {
    let (bracket, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let (id, _duration) = bracket.split_once(' ')?;
    Some((id.parse().ok()?, rest))
}

fn after_inbound(text: &str) -> Option<&str> {
    text.strip_prefix("inbound/socks[")?
        .strip_prefix(INBOUND)?
        .strip_prefix("]: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(line: &str) -> Meaning<'_> {
        LogLine::read(line).map_or(Meaning::Other, |line| line.meaning())
    }

    #[test]
    fn the_lines_of_a_start_say_where_it_listens() {
        let line = "INFO[0000] inbound/socks[outwatch]: tcp server started at 127.0.0.1:40369";
        assert_eq!(
            meaning(line),
            Meaning::Listens("127.0.0.1:40369".parse().unwrap())
        );
        let line = "INFO[0000] clash-api: restful api listening at 127.0.0.1:45515";
        assert_eq!(
            meaning(line),
            Meaning::ApiListens("127.0.0.1:45515".parse().unwrap())
        );
        assert_eq!(
            meaning("INFO[0000] sing-box started (0.03s)"),
            Meaning::Started
        );
    }

    #[test]
    fn the_lines_of_a_failed_dial_carry_its_connection_and_the_cause() {
        let line = "INFO[0001] [2551382068 0ms] inbound/socks[outwatch]: inbound connection from 127.0.0.1:54948";
        assert_eq!(meaning(line), Meaning::CameIn { port: 54948 });
        assert_eq!(LogLine::read(line).unwrap().connection, Some(2_551_382_068));
        let line = "ERROR[0001] [2551382068 1.25s] connection: open connection to a.test:9 using \
                    outbound/direct[d x[y]]: dial tcp 127.0.0.1:9: connect: connection refused";
        let Meaning::Failed { words } = meaning(line) else {
            panic!("{:?}", meaning(line))
        };
        assert_eq!(
            cause(words, "d x[y]"),
            "dial tcp 127.0.0.1:9: connect: connection refused"
        );
        assert_eq!(cause(words, "other"), words);
    }

    #[test]
    fn d4_what_an_endpoint_says_of_itself_is_found_whatever_its_tag() {
        let line =
            "INFO[0007] endpoint/tailscale[a]: b]: Waiting for authentication: https://x.test/a";
        let Meaning::Says { named } = meaning(line) else {
            panic!("{:?}", meaning(line))
        };
        let said = said_by(named, |tag| tag == "a]: b");
        assert_eq!(
            said,
            Some(("a]: b", "Waiting for authentication: https://x.test/a"))
        );
    }

    #[test]
    fn what_is_no_line_of_the_log_means_nothing() {
        for line in [
            "",
            "goroutine 1 [running]:",
            "INFO",
            "INFO[",
            "INFO[0001] ",
            "INFO[0001] [",
            "[1 2] x",
            "DEBUG[0000] router: x",
            "ERROR[0001] [x 1ms] connection: y",
            "INFO[0001] [1 0ms] inbound/socks[outwatch]: inbound connection from nowhere",
            "INFO[0001] [99999999999 0ms] inbound/socks[outwatch]: inbound connection from 1.1.1.1:1",
        ] {
            assert_eq!(meaning(line), Meaning::Other, "{line}");
        }
    }
}
