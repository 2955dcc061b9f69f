//! The OpenAPI document, held against the answers by schemathesis: it asks every path with
//! what the document allows and with what it does not.

use outwatch::group::{GroupPlan, Policy};
use outwatch_tests::peers::api_checks;
use outwatch_tests::stub::{Stub, answers, refuses};
use tokio::process::Command;

use super::world::World;

#[tokio::test]
async fn every_answer_is_as_the_document_says() {
    let stub = Stub::with([("a", answers(2)), ("b/🇩🇪", refuses(2))]);
    stub.add_group("g", &["a", "b/🇩🇪"], None);
    stub.add_group("h", &["a", "b/🇩🇪"], None);
    let plans = [
        GroupPlan::new("g", Policy::LowestDelay { tolerance_ms: 50 }),
        GroupPlan::new("h", Policy::Selected),
    ];
    let world = World::choosing_with(&stub, plans, |api| api.secret("hush")).await;
    let client = world.client.clone().knowing("hush");
    client.post("/api/v1/test").await.fine();
    let base = format!("http://{}/api/v1", world.serving.address());
    // It leaves what it found out where it runs.
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new("python3")
        .current_dir(&folder)
        .args([
            "-m",
            "schemathesis.cli",
            "run",
            &format!("{base}/openapi.json"),
        ])
        .args([
            "--url",
            &base,
            "--no-color",
            "--seed",
            "1",
            "--generation-database",
            "none",
        ])
        .args([
            "--phases",
            "examples,coverage,fuzzing",
            "--max-examples",
            "10",
        ])
        .args(["--header", "Authorization: Bearer hush"])
        // Which tags there are, and of which type, the document does not know.
        .args(["--exclude-checks", "positive_data_acceptance"])
        // They do not end.
        .args(["--exclude-path", "/events"])
        .env("PYTHONPATH", api_checks().canonicalize().expect("a folder"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .kill_on_drop(true)
        .output()
        .await
        .expect("python3");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
}
