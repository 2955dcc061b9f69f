//! `outwatch component`: the one built in, and files that are none.

use crate::scene::{Scene, assert_shot};

#[test]
fn the_one_built_in_imports_the_contract_and_nothing_else() {
    assert_shot!(Scene::new().run(["component"]), @"
    exit code: 0
    ----- stdout
    contract  outwatch:monitor@0.1.0
    version  outwatch-monitor [version]
    usable  yes, by this program
    size  [n] bytes
    sha256  [sha256]
    imports
      wasi:clocks/types@0.3.0
      outwatch:monitor/types@0.1.0
      wasi:http/types@0.3.0
      outwatch:monitor/outbounds@0.1.0
      outwatch:monitor/cache@0.1.0
      outwatch:monitor/log@0.1.0
      wasi:clocks/monotonic-clock@0.3.0
      wasi:clocks/system-clock@0.3.0
      wasi:random/random@0.3.0
    exports
      outwatch:monitor/control@0.1.0
      outwatch:monitor/hooks@0.1.0
      outwatch:monitor/handover@0.1.0
    ");
}

#[test]
fn a_file_shows_the_same_as_the_one_built_in() {
    let scene = Scene::with("engine.wasm", outwatch::Component::embedded_bytes());
    let of_file = scene.run(["component", "engine.wasm"]);
    assert_eq!(of_file.stdout, scene.run(["component"]).stdout);
}

#[test]
fn a_file_that_is_none_is_told_by_its_looks() {
    let scene = Scene::with("config.json", "{}");
    assert_shot!(scene.run(["component", "config.json"]), @"
    exit code: 4
    ----- stderr
    error: `config.json` is no component: it is JSON, maybe a config

    hint: `outwatch component` without a file shows what one looks like
    ");
}

#[test]
fn a_missing_file_is_told_by_name() {
    assert_shot!(Scene::new().run(["component", "missing.wasm"]), @"
    exit code: 4
    ----- stderr
    error: cannot read the component `missing.wasm`
    caused by: No such file or directory (os error 2)
    ");
}

#[test]
fn a_component_of_another_contract_is_shown_and_refused() {
    // The smallest component: it imports and exports nothing.
    let scene = Scene::with("other.wasm", b"\0asm\x0d\0\x01\0");
    assert_shot!(scene.run(["component", "other.wasm"]), @"
    exit code: 4
    ----- stdout
    contract  none that this program knows of
    version  it does not say
    usable  no
    size  8 bytes
    sha256  [sha256]
    imports
      nothing
    exports
      nothing
    ----- stderr
    error: this program cannot host `other.wasm`
    caused by: the given component is no engine: it exports nothing; this runner hosts outwatch:monitor@0.1.0
    ");
}

#[test]
fn a_damaged_component_is_told_not_to_be_one() {
    let bytes = outwatch::Component::embedded_bytes();
    let half = bytes.get(..bytes.len() / 2).expect("half of it");
    let shot = Scene::with("half.wasm", half).run(["component", "half.wasm"]);
    assert_eq!((shot.code, shot.stdout.as_str()), (Some(4), ""), "{shot}");
    assert!(
        shot.stderr
            .contains("`half.wasm` is no component: it is damaged: "),
        "{shot}"
    );
}

#[test]
fn a_verb_that_is_given_none_ends_with_4_and_says_where_to_look() {
    let config = r#"{ "outbounds": [{ "type": "block", "tag": "b" }] }"#;
    let scene = Scene::with("c.json", config);
    scene.write("text.wasm", "(component)");
    let shot = scene.run(["check", "-c", "c.json", "--component", "text.wasm"]);
    assert_eq!(shot.code, Some(4), "{shot}");
    assert!(
        shot.stderr
            .contains("hint: `outwatch component text.wasm` shows"),
        "{shot}"
    );
}

#[test]
fn code_is_compiled_beforehand_into_a_file() {
    let scene = Scene::new();
    assert_shot!(scene.run(["component", "--precompile", "engine.code"]), @"
    exit code: 0
    ");
    assert_shot!(scene.run(["component", "engine.code"]), @"
    exit code: 4
    ----- stderr
    error: `engine.code` is no component: it is an ELF file: a program, or a compiled component

    hint: `outwatch component` without a file shows what one looks like
    ");
}

#[test]
fn code_for_another_architecture_is_refused() {
    let words = [
        "component",
        "--precompile",
        "out",
        "--target",
        "s390x-linux",
    ];
    let shot = Scene::new().run(words);
    assert_eq!(shot.code, Some(4));
    let wrong = "failed to compile for `s390x-linux`, which must have the architecture of ";
    assert!(shot.stderr.contains(wrong), "{}", shot.stderr);
}
