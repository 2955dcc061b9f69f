//! Groups whose config changes while they are used.

use tokio_util::sync::CancellationToken;

use super::{Scene, failed, ok};
use crate::group::{GroupPlan, Policy};
use crate::proxy_core::{Network, Outbound, ProxyCore as _};

const LOWEST: Policy = Policy::LowestDelay { tolerance_ms: 50 };
const INTERRUPTS: bool = true;

fn plan(policy: Policy, interrupts: bool) -> GroupPlan {
    GroupPlan {
        interrupts,
        ..GroupPlan::new("g", policy)
    }
}

impl Scene {
    fn first(plan: GroupPlan, members: &[&str]) -> Self {
        let members = members.iter().map(|&tag| Outbound::new(tag, "x"));
        Self::built(plan, members.collect(), Default::default())
    }

    /// The same after its config was changed to that.
    fn changed(&self, plan: GroupPlan, members: &[&str]) -> Self {
        let next = Self {
            cache: self.cache.clone(),
            ..Self::first(plan.clone(), members)
        };
        let groups = self.groups.renewed(next.core.clone(), [plan]);
        Self { groups, ..next }
    }

    fn cut(&self) -> CancellationToken {
        let mut pick = self.pick("x.test").unwrap();
        pick.cuts.remove(0)
    }
}

#[test]
fn g5_a_group_that_is_changed_goes_on_from_where_it_led_by_the_results_it_knew() {
    let scene = Scene::first(plan(LOWEST, false), &["a", "b", "c"]);
    scene.hears(&[ok("a", 300, 1), ok("b", 30, 1), ok("c", 200, 1)]);
    assert_eq!(scene.lead().as_deref(), Some("b"));

    let changed = scene.changed(plan(LOWEST, false), &["d", "c", "b"]);
    assert_eq!(
        changed.lead().as_deref(),
        Some("b"),
        "though d is the first"
    );
    assert!(changed.hears(&[failed("b")]));
    assert_eq!(changed.lead().as_deref(), Some("c"), "known to work");

    let without = changed.changed(plan(LOWEST, false), &["d", "b"]);
    assert_eq!(without.lead().as_deref(), Some("d"), "its member is gone");
}

#[test]
fn g1_a_selector_that_is_changed_keeps_a_persons_choice_and_else_has_its_default() {
    let of = |default: &str| GroupPlan {
        default: Some(default.into()),
        ..plan(Policy::Selected, false)
    };
    let scene = Scene::first(of("a"), &["a", "b", "c"]);
    let changed = scene.changed(of("b"), &["a", "b", "c"]);
    assert_eq!(changed.lead().as_deref(), Some("b"), "nobody had chosen");
    changed.groups.select("g", "c").unwrap();
    let changed = changed.changed(of("a"), &["a", "b", "c"]);
    assert_eq!(changed.lead().as_deref(), Some("c"));
}

#[test]
fn connections_end_by_a_change_only_where_the_group_interrupts_and_leads_elsewhere() {
    for interrupts in [INTERRUPTS, false] {
        let scene = Scene::first(plan(LOWEST, INTERRUPTS), &["a", "b"]);
        let cut = scene.cut();
        let same = scene.changed(plan(LOWEST, interrupts), &["b", "a"]);
        assert!(!cut.is_cancelled(), "it still leads to a");
        same.hears(&[failed("a"), ok("b", 10, 1)]);
        assert_eq!(cut.is_cancelled(), interrupts, "by the changed config");

        let scene = Scene::first(plan(LOWEST, INTERRUPTS), &["a", "b"]);
        let cut = scene.cut();
        let _elsewhere = scene.changed(plan(LOWEST, interrupts), &["b"]);
        assert!(cut.is_cancelled(), "a is gone");
    }
}

#[test]
fn g6_sticky_sessions_outlast_a_change_that_does_not_touch_their_group() {
    let sticky = Policy::StickySessions {
        ratio: 2.0,
        ttl: std::time::Duration::from_secs(600),
    };
    let names = ["x.test", "y.test", "z.test", "x.test"];
    let scene = Scene::first(plan(sticky, false), &["a", "b", "c"]);
    scene.hears(&[ok("a", 10, 1), ok("b", 10, 1), ok("c", 10, 1)]);
    let before = scene.tags(names);
    let backwards = names.into_iter().rev();
    let changed = scene.changed(plan(sticky, false), &["a", "b", "c"]);
    let mut after = changed.tags(backwards);
    after.reverse();
    assert_eq!(after, before);
    assert_eq!(changed.core.selected("g", Network::Tcp), None);
}
