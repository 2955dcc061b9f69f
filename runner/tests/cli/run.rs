//! `outwatch run` against the demo's world.

use outwatch_demo_world::{Proxy, World};
use serde_json::Value;

use crate::scene::{Running, Scene, Shot};

/// Runs `check` on a world of one fast proxy while that lives.
fn on_stage(check: impl FnOnce(&Scene)) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let world = runtime.block_on(async {
        let mut world = World::start().await?;
        world.add(Proxy::socks("fast")).await?;
        Ok::<_, std::io::Error>(world)
    });
    let world = world.expect("loopback");
    check(&Scene::with("config.json", world.config()));
}

#[test]
fn the_log_on_standard_error_tells_what_happens_and_ctrl_c_ends_it_well() {
    on_stage(|scene| {
        let mut command = scene.outwatch(["run", "-c", "config.json"]);
        let mut running = Running::start(&mut command);
        let line = running.logs("MONITORING");
        assert!(line.contains("INFO"), "{line}");
        running.signal("INT");
        let shot = running.end();
        assert_eq!((shot.code, shot.stdout.as_str()), (Some(0), ""), "{shot}");
    });
}

#[test]
fn updates_come_as_json_lines_and_sigterm_ends_it_well() {
    on_stage(|scene| {
        let mut command = scene.outwatch(["run", "-c", "config.json", "--format", "jsonl"]);
        let mut running = Running::start(command.args(["--log-level", "off"]));
        let line = running.says(r#""state":"ok""#);
        let report: Value = serde_json::from_str(&line).expect("a JSON object");
        assert_eq!(report["tag"], "fast");
        running.signal("TERM");
        let shot = running.end();
        assert_eq!((shot.code, shot.stderr.as_str()), (Some(0), ""), "{shot}");
    });
}

#[test]
fn tsv_updates_begin_with_a_header_and_repeat_nothing() {
    on_stage(|scene| {
        let mut command = scene.outwatch(["run", "-c", "config.json", "--format", "tsv"]);
        let mut running = Running::start(&mut command);
        running.says("Example Transit");
        running.signal("INT");
        let shot = running.end();
        let lines: Vec<&str> = shot.stdout.lines().collect();
        assert!(lines[0].starts_with("tag\tkind\t"), "{shot}");
        assert!(lines.windows(2).all(|pair| pair[0] != pair[1]), "{shot}");
    });
}

#[test]
fn p1_results_of_the_last_run_are_there_at_the_next_start() {
    on_stage(|scene| {
        let start = |scene: &Scene| {
            let args = [
                "run",
                "-c",
                "config.json",
                "--cache",
                "saved.redb",
                "--format",
                "jsonl",
            ];
            Running::start(&mut scene.outwatch(args))
        };
        let mut first = start(scene);
        first.says("Example Transit");
        first.signal("INT");
        assert_eq!(first.end().code, Some(0));

        let mut second = start(scene);
        let report: Value = serde_json::from_str(&second.says("fast")).expect("JSON");
        assert_eq!(
            (&report["state"], &report["from_cache"]),
            (&"cached".into(), &true.into())
        );
        assert_eq!(report["ip_from_cache"], true);
        second.signal("INT");
        assert_eq!(second.end().code, Some(0));
    });
}

#[test]
fn a_live_table_needs_a_terminal() {
    on_stage(|scene| {
        let shot = scene.run(["run", "-c", "config.json", "--format", "table"]);
        assert_eq!(shot.code, Some(2), "{shot}");
        assert!(
            shot.stderr.contains("a live table needs a terminal"),
            "{shot}"
        );
    });
}

#[test]
fn a_bad_config_starts_nothing() {
    let scene = Scene::with("config.json", r#"{ "outbounds": 1 }"#);
    let shot = Shot::of(&mut scene.outwatch(["run", "-c", "config.json"]));
    assert_eq!((shot.code, shot.stdout.as_str()), (Some(3), ""), "{shot}");
}
