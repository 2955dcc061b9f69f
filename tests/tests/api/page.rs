//! The page's files: who gets them, and what browsers are told of them. What the page does is
//! tested in a browser, with the real binary.

use outwatch_tests::stub::{Stub, answers};

use super::world::World;

const FILES: [(&str, &str); 4] = [
    ("/", "text/html; charset=utf-8"),
    ("/page/main.js", "text/javascript; charset=utf-8"),
    ("/page/rows.css", "text/css; charset=utf-8"),
    ("/page/icon.svg", "image/svg+xml"),
];

fn stub() -> Stub {
    Stub::with([("a", answers(10))])
}

#[tokio::test]
async fn the_page_needs_no_secret_for_it_holds_no_data() {
    let world = World::with(&stub(), |api| api.secret("hush")).await;
    for (path, kind) in FILES {
        let answer = world.client.get(path).await;
        assert_eq!((answer.status.as_u16(), path), (200, path));
        assert_eq!(answer.headers["content-type"], kind);
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert!(!answer.body.is_empty());
    }
    let missing = world.client.get("/page/nothing.js").await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn a_browser_that_has_a_file_is_not_sent_it_again() {
    let world = World::of(&stub()).await;
    for (path, _) in FILES {
        let first = world.client.get(path).await;
        let tag = first.headers["etag"].to_str().expect("a text");
        assert_eq!(first.headers["cache-control"], "no-cache");
        let again = world.client.clone().with("if-none-match", tag);
        let again = again.get(path).await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
        let other = world.client.clone().with("if-none-match", "\"other\"");
        assert_eq!(other.get(path).await.body, first.body);
    }
}

#[tokio::test]
async fn the_page_may_reach_nothing_but_its_server_and_run_nothing_but_its_files() {
    let world = World::of(&stub()).await;
    for (path, _) in FILES {
        let answer = world.client.get(path).await;
        let policy = answer.headers["content-security-policy"].to_str();
        let policy: Vec<_> = policy.expect("a text").split("; ").map(str::trim).collect();
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(&rule), "{path}: {policy:?} lacks {rule}");
        }
        assert!(
            !policy.iter().any(|rule| rule.contains("unsafe")),
            "{policy:?}"
        );
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
    }
}
