//! One pass of tests over many SOCKS outbounds: the processor, the memory and the time
//! that it takes each program. It must not know how each is told to test.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use outwatch::{Cache as _, FileCache};
use outwatch_tests::peers::Port;
use serde_json::Value;

use crate::median;
use crate::program::{Program, Programs};
use crate::running::Running;
use crate::servers::{Site, Socks};

const SIZES: [usize; 2] = [1_000, 5_000];
const PASSES: usize = 3;

/// One pass.
struct Pass {
    /// How many outbounds have an answer.
    answered: usize,
    /// From the first request that came to the site to the last, in seconds.
    wall: f64,
    processor: f64,
}

/// Measures, and prints a table.
pub(crate) fn compare(programs: &Programs) {
    println!("\nA pass over SOCKS outbounds, the median of {PASSES}:\n");
    println!("| outbounds | | answered | wall | CPU per test | resident | at the most |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for outbounds in SIZES {
        for program in Program::ALL {
            measure(programs, program, outbounds);
        }
    }
}

fn measure(programs: &Programs, program: Program, outbounds: usize) {
    let (socks, site, port) = (Socks::start(), Site::start(), Port::reserve());
    let (server, port) = (socks.port.number(), port.number());
    let running = program.tests(programs, outbounds, server, &site.url(), port);
    let (passes, memory) = match program {
        Program::Outwatch => by_itself(running, &site, outbounds),
        Program::SingBox | Program::Mihomo => asked(&running, &site, port),
    };
    let of = |figure: fn(&Pass) -> f64| median(passes.iter().map(figure).collect());
    let answered: Vec<String> = passes.iter().map(|it| it.answered.to_string()).collect();
    println!(
        "| {outbounds} | {} | {} | {:.2} s | {:.0} µs | {:.0} MiB | {:.0} MiB |",
        program.name(),
        answered.join(", "),
        of(|pass| pass.wall),
        of(|pass| pass.processor) / outbounds as f64 * 1e6,
        memory.0,
        memory.1,
    );
}

/// Passes that an API asks for.
fn asked(running: &Running, site: &Site, port: u16) -> (Vec<Pass>, (f64, f64)) {
    let url = site.url();
    let passes = (0..PASSES).map(|_| {
        // sing-box tests at its start, too.
        let (processor, requests) = (running.settled(), site.asked_at().len());
        let path = format!("/group/auto/delay?timeout=5000&url={url}");
        let answer: Value = serde_json::from_str(&get(port, &path)).expect("JSON");
        let delays = answer.as_object().expect("delays by tag");
        Pass {
            answered: delays
                .values()
                .filter(|delay| delay.as_u64() > Some(0))
                .count(),
            wall: span(&site.asked_at()[requests..]),
            processor: running.settled() - processor,
        }
    });
    (passes.collect(), running.memory())
}

/// Passes that come at intervals.
fn by_itself(running: Running, site: &Site, outbounds: usize) -> (Vec<Pass>, (f64, f64)) {
    let mut passes = Vec::new();
    let mut start = 0.0;
    // The first one begins before there is anything to compare with.
    for _ in 0..=PASSES {
        let (processor, requests) = (running.settled(), site.asked_at().len());
        let mut asked = site.asked_at();
        while asked.len() < requests + outbounds {
            sleep(Duration::from_millis(50));
            asked = site.asked_at();
        }
        let processor = running.settled() - processor;
        let asked = &site.asked_at()[requests..];
        start = asked[0];
        passes.push(Pass {
            answered: asked.len(),
            wall: span(asked),
            processor,
        });
    }
    passes.remove(0);
    let memory = running.memory();
    let folder = running.end();
    // The site tells who asked; what was saved tells for whom the answer came in time.
    let answered = saved_since(&folder.path().join("results.redb"), start);
    if let Some(last) = passes.last_mut() {
        last.answered = answered;
    }
    (passes, memory)
}

fn saved_since(path: &Path, start: f64) -> usize {
    let cache = FileCache::open(path).expect("what was saved");
    let pairs = cache.get_prefix("").expect("what was saved");
    let since = |value: &[u8]| {
        let pair: Value = serde_json::from_slice(value).unwrap_or_default();
        // The clock of a test is read when its cycle begins.
        pair["ok_at"]
            .as_f64()
            .is_some_and(|at| at / 1000.0 > start - 1.0)
    };
    pairs.iter().filter(|(_, value)| since(value)).count()
}

fn span(times: &[f64]) -> f64 {
    times.last().unwrap_or(&0.0) - times.first().unwrap_or(&0.0)
}

fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the API");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").expect("the API");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the API");
    let body = answer
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned());
    body.unwrap_or_default()
}
