//! The help, the version, and command lines that are wrong.

use crate::scene::{Scene, VERBS, assert_shot};

#[test]
fn without_a_verb_it_says_where_to_start() {
    let shot = Scene::new().run([]);
    assert_eq!(shot.code, Some(2));
    assert!(shot.stderr.contains("outwatch demo"), "{shot}");
    assert_eq!(shot.stdout, "");
}

#[test]
fn help_goes_to_standard_output_and_ends_with_0() {
    for verb in VERBS {
        let shot = Scene::new().run([verb, "--help"]);
        assert_eq!(shot.code, Some(0), "{shot}");
        assert!(
            shot.stdout.contains("Examples:\n  outwatch "),
            "{verb} teaches: {shot}"
        );
        assert_eq!(shot.stderr, "");
    }
}

#[test]
fn the_help_lists_the_exit_codes() {
    assert_shot!(Scene::new().run(["--help"]), @"
    exit code: 0
    ----- stdout
    Monitors the outbounds of a proxy core: delay, exit IP, country and network of each.

    Outwatch reads a sing-box style config file, opens a test address through each outbound, times the
    answer, and finds out where the traffic comes out. It needs nothing but the file.

    Usage: outwatch <COMMAND>

    Commands:
      check  Check a config: what is wrong, what would be tested, how groups lead
      test  Test outbounds once, and show delay, exit IP, country and network, fastest first
      run  Monitor until Ctrl-C: tests in cycles, with the reasons on standard error
      explain  Explain one test: what was tried when, how long each part took, and what to do
      import  Make a config of share links or a subscription
      demo  See it work: a little world of good and bad proxies, inside this process
      component  Show what is in a component: contract, version, imports, exports, size, sha256
      completions  Print what a shell needs to complete this program's arguments
      man  Print the manual page, or write those of all verbs into a folder

    Options:
      -h, --help
      Print help (see a summary with '-h')

      -V, --version
      Print version

    Start here:
      outwatch demo  See it work; needs no config and no network
      outwatch check -c config.json  What is in a config, and what is wrong with it
      outwatch test -c config.json  Test everything once, fastest first
      outwatch run -c config.json  Keep an eye on it until Ctrl-C
      outwatch explain TAG -c config.json
      One test, step by step, and what to do about it
      outwatch import links.txt  Make a config of share links

    Exit codes:
      0  fine
      1  something unexpected went wrong
      2  the command line is wrong, or names a tag that is not in the config
      3  the config is wrong
      4  the component cannot be used
      5  test, explain: no outbound worked
      130  interrupted

    Results go to standard output, everything else to standard error. Colours only show
    on a terminal, and never with NO_COLOR set.
    ");
}

#[test]
fn the_version_is_the_packages() {
    let shot = Scene::new().run(["--version"]);
    assert_eq!(
        shot.stdout,
        concat!("outwatch ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn a_verb_with_a_slip_is_guessed() {
    assert_shot!(Scene::new().run(["chek"]), @"
    exit code: 2
    ----- stderr
    error: unrecognized subcommand 'chek'

      tip: a similar subcommand exists: 'check'

    Usage: outwatch <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn a_verb_without_its_config_says_what_is_missing() {
    assert_shot!(Scene::new().run(["test"]), @"
    exit code: 2
    ----- stderr
    error: the following required arguments were not provided:
      --config <FILE>

    Usage: outwatch test --config <FILE> [TAG]...

    For more information, try '--help'.
    ");
}

#[test]
fn flags_that_exclude_each_other_are_a_wrong_command_line() {
    let shot = Scene::new().run(["run", "-c", "a.json", "--cache", "x", "--no-cache"]);
    assert_eq!(shot.code, Some(2));
}

#[test]
fn colour_only_shows_where_it_is_wanted() {
    let scene = Scene::new();
    let coloured = |name: &str, value: &str| {
        let mut command = scene.outwatch(["check", "-c", "missing.json"]);
        crate::scene::Shot::of(command.env("CLICOLOR_FORCE", "1").env(name, value))
            .stderr
            .contains('\u{1b}')
    };
    assert!(coloured("TERM", "xterm"), "asked for, even in a pipe");
    assert!(!coloured("NO_COLOR", "1"), "NO_COLOR has the last word");
    let piped = scene.run(["check", "-c", "missing.json"]);
    assert!(!piped.stderr.contains('\u{1b}'), "none in a pipe");
}
