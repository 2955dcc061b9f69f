//! The real binary over a real sing-box: chosen or found, killed, and gone with it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use outwatch_tests::peers::{Authority, Nginx, Protocols, sing_box_program};
use serde_json::{Value, json};

use crate::process::Scene;

/// Far beyond what a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often the processes of this machine are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

fn of_sing_box() -> String {
    format!("sing-box={}", sing_box_program().display())
}

/// A config with an outbound that only sing-box dials, and one for both.
fn config(servers: &Protocols, web: &Nginx) -> Value {
    json!({
        "outbounds": [servers.outbound("vmess"), servers.outbound("socks")],
        "experimental": { "monitoring": {
            "urls": [web.url("/generate_204")], "ip_lookup": false, "interval": "100ms",
        } },
    })
}

fn servers() -> Protocols {
    Protocols::start(&Authority::new("Real Authority").leaf(&["127.0.0.1"]))
}

/// The children of a process, and theirs.
fn descendants(id: u32) -> Vec<u32> {
    let parent = |process: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(") ")?;
        rest.split(' ').nth(1)?.parse().ok()
    };
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let ids: Vec<u32> = processes
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .collect();
    let children = ids
        .iter()
        .copied()
        .filter(|process| parent(*process) == Some(id));
    children
        .flat_map(|child| std::iter::once(child).chain(descendants(child)))
        .collect()
}

fn runs(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

#[test]
fn d6_the_sing_box_that_is_named_dials_what_the_native_core_cannot() {
    let (web, servers) = (Nginx::plain(), servers());
    let scene = Scene::new(&config(&servers, &web));
    let tested = scene.test_with(&["--core", &of_sing_box()]);
    assert_eq!(tested.code, Some(0), "{:#?}", tested.logged);
    assert_eq!(tested.reports.len(), 2);
    assert!(
        tested.reports.iter().all(|report| report["state"] == "ok"),
        "{:#?}",
        tested.reports
    );
    assert_eq!(scene.files(), ["config.json"]);

    let tested = scene.test_with(&["--core", "native"]);
    let of = |tag: &str| tested.reports.iter().find(|report| report["tag"] == tag);
    assert_eq!(
        of("vmess").map(|report| &report["state"]),
        Some(&json!("not_ready"))
    );
    assert_eq!(
        of("socks").map(|report| &report["state"]),
        Some(&json!("ok"))
    );
}

#[test]
fn d6_the_sing_box_on_path_is_taken_when_the_config_needs_it_and_can_be_had() {
    let (web, servers) = (Nginx::plain(), servers());
    let scene = Scene::new(&config(&servers, &web));
    let program = sing_box_program();
    scene.program("sing-box", &format!("exec '{}' \"$@\"", program.display()));
    let tested = scene.test_with(&[]);
    assert_eq!(tested.code, Some(0), "{:#?}", tested.logged);
    assert!(
        tested.reports.iter().all(|report| report["state"] == "ok"),
        "{:#?}",
        tested.reports
    );
    assert!(
        tested
            .logged
            .iter()
            .any(|line| line.contains("sing-box 1.")),
        "{:#?}",
        tested.logged
    );

    scene.program("sing-box", "echo 'sing-box version 0.9'");
    let tested = scene.test_with(&[]);
    let warned = |line: &&String| line.contains("WARN") && line.contains("the native core dials");
    assert!(
        tested.logged.iter().any(|line| warned(&line)),
        "{:#?}",
        tested.logged
    );
    let ok = tested
        .reports
        .iter()
        .filter(|report| report["state"] == "ok");
    assert_eq!(ok.count(), 1, "{:#?}", tested.reports);
}

#[test]
fn f4_what_sing_box_refuses_is_told_with_its_line_in_the_file() {
    let scene = Scene::new(&json!({ "outbounds": [
        { "type": "direct", "tag": "good" },
        { "type": "shadowsocks", "tag": "bad", "server": "127.0.0.1", "server_port": 1,
          "method": "rot13", "password": "x" },
    ] }));
    let of_sing_box = of_sing_box();
    let (code, stdout, stderr) =
        scene.output(&["check", "-c", "config.json", "--core", &of_sing_box]);
    assert_eq!(code, Some(0), "{stderr}");
    let place =
        stderr.contains("config.json:1:") && stderr.contains("warning: outbounds[1]: sing-box");
    assert!(
        place && stderr.contains("unknown method: rot13"),
        "{stderr}"
    );
    assert!(stdout.contains("bad (shadowsocks): sing-box"), "{stdout}");
    let (code, _, stderr) = scene.output(&["check", "-c", "config.json", "--core", "sing-box=/no"]);
    assert_eq!(code, Some(2), "{stderr}");
}

#[test]
fn no_process_and_no_file_is_left_when_outwatch_is_killed_or_ends() {
    let (web, servers) = (Nginx::plain(), servers());
    let scene = Scene::new(&config(&servers, &web));
    for killed in [true, false] {
        let mut running = scene.run_with(&["--core", &of_sing_box()]);
        running.until_report("a success", |report| {
            report["tag"] == "vmess" && report["state"] == "ok"
        });
        let started = descendants(running.id());
        let named = |id: &u32| fs::read_link(format!("/proc/{id}/exe")).unwrap_or_default();
        let programs: Vec<PathBuf> = started.iter().map(named).collect();
        let sing_box = fs::canonicalize(sing_box_program()).expect("it is installed");
        assert!(programs.contains(&sing_box), "{programs:?}");
        if killed {
            running.kill();
            let deadline = Instant::now() + PATIENCE;
            while started.iter().any(|id| runs(*id)) {
                assert!(Instant::now() < deadline, "{started:?} are still there");
                thread::sleep(LOOK_EVERY);
            }
        } else {
            assert_eq!(running.terminate(), Some(0));
            assert!(!started.iter().any(|id| runs(*id)), "{started:?}");
        }
        assert_eq!(scene.files(), ["config.json", "results.redb"]);
    }
}
