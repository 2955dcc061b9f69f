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
/// With five, the median still went from run to run by a tenth.
const PASSES: usize = 15;

/// Measures, and prints a table.
pub(crate) fn compare(programs: &Programs) {
    println!("\nA pass over SOCKS outbounds, the median of {PASSES}:\n");
    println!("| outbounds | | answered | wall | CPU per test | resident | at the most |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for outbounds in SIZES {
        let start = |program| Tester::start(programs, program, outbounds);
        let mut testers = Program::ALL.map(start);
        for tester in &testers {
            tester.running.settled();
        }
        // By turns: what else the machine does is to meet all of them alike.
        for _ in 0..PASSES {
            for tester in &mut testers {
                let pass = tester.pass();
                tester.passes.push(pass);
            }
        }
        for tester in testers {
            tester.print();
        }
    }
}

/// A program that tests, and what its passes took.
struct Tester {
    program: Program,
    outbounds: usize,
    running: Running,
    site: Site,
    port: Port,
    passes: Vec<Pass>,
    _socks: Socks,
}

/// One pass.
struct Pass {
    /// How many outbounds have an answer.
    answered: usize,
    /// The first request that came to the site, in seconds since 1970.
    start: f64,
    /// From that to the last, in seconds.
    wall: f64,
    processor: f64,
}

impl Tester {
    fn start(programs: &Programs, program: Program, outbounds: usize) -> Self {
        let (socks, site, port) = (Socks::start(), Site::start(), Port::reserve());
        let (server, number) = (socks.port.number(), port.number());
        Self {
            program,
            outbounds,
            running: program.tests(programs, outbounds, server, &site.url(), number),
            site,
            port,
            passes: Vec::new(),
            _socks: socks,
        }
    }

    fn pass(&self) -> Pass {
        let processor = self.running.settled();
        let requests = self.site.asked_at().len();
        let answered = match self.program {
            // It comes by itself. The site tells who asked.
            Program::Outwatch => {
                while self.site.asked_at().len() < requests + self.outbounds {
                    sleep(Duration::from_millis(50));
                }
                self.outbounds
            }
            Program::SingBox | Program::Mihomo => self.ask(),
        };
        let processor = self.running.settled() - processor;
        let asked = &self.site.asked_at()[requests..];
        Pass {
            answered,
            start: asked[0],
            wall: asked[asked.len() - 1] - asked[0],
            processor,
        }
    }

    /// Has it test by its API; gives how many answered.
    fn ask(&self) -> usize {
        let url = self.site.url();
        let path = format!("/group/auto/delay?timeout=5000&url={url}");
        let answer = get(self.port.number(), &path);
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let delays = answer.as_object().expect("delays by tag");
        let worked = delays.values().filter(|delay| delay.as_u64() > Some(0));
        worked.count()
    }

    fn print(mut self) {
        let (resident, peak) = self.running.memory();
        if self.program == Program::Outwatch {
            let folder = self.running.end();
            // What was saved tells for whom the answer came in time.
            if let Some(last) = self.passes.last_mut() {
                last.answered = saved_since(&folder.path().join("results.redb"), last.start);
            }
        }
        let passes = &self.passes;
        let of = |figure: fn(&Pass) -> f64| median(passes.iter().map(figure).collect());
        let answered = || passes.iter().map(|pass| pass.answered);
        println!(
            "| {} | {} | {} to {} | {:.2} s | {:.0} µs | {resident:.0} MiB | {peak:.0} MiB |",
            self.outbounds,
            self.program.name(),
            answered().min().unwrap_or_default(),
            answered().max().unwrap_or_default(),
            of(|pass| pass.wall),
            of(|pass| pass.processor) / self.outbounds as f64 * 1e6,
        );
    }
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
