//! `outwatch completions` and `outwatch man`: each verb is in them.

use crate::scene::{Scene, VERBS};

#[test]
fn every_shell_completes_every_verb() {
    let scene = Scene::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let shot = scene.run(["completions", shell]);
        assert_eq!((shot.code, shot.stderr.as_str()), (Some(0), ""));
        for verb in VERBS {
            assert!(shot.stdout.contains(verb), "{shell} completes {verb}");
        }
    }
    // As bash reads it.
    scene.write("completions", scene.run(["completions", "bash"]).stdout);
    let words = "COMP_WORDS=(outwatch ru); COMP_CWORD=1; _outwatch outwatch ru outwatch; echo ${COMPREPLY[@]}";
    let mut bash = scene.shell();
    bash.args(["bash", "-c", &format!(". ./completions; {words}")]);
    assert_eq!(crate::scene::Shot::of(&mut bash).stdout, "run\n");
}

#[test]
fn every_verb_has_a_page() {
    let scene = Scene::new();
    let page = scene.run(["man"]);
    assert!(page.stdout.contains(".TH outwatch 1"), "{page}");
    assert!(page.stdout.contains("Exit codes"), "{page}");
    assert_eq!(scene.run(["man", "pages"]).code, Some(0));
    for verb in VERBS {
        let path = scene.path(&format!("pages/outwatch-{verb}.1"));
        let page = std::fs::read_to_string(path).expect("a page");
        assert!(page.contains("Examples:"), "{verb} teaches");
    }
}
