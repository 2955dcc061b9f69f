//! How a core changes while its monitor runs. It must not know what becomes of the
//! results.

use outwatch_engine::{Input, Outbound};

use super::core::{outbound, tag};
use super::{Core, Event, World};

impl World {
    /// The core with a change in it; none of another kind of event.
    pub(super) fn other_core(&mut self, event: Event) -> Option<Input> {
        let mut core = self.core.clone();
        let random = &mut self.random;
        let many = core.outbounds.len() as u64;
        let at = usize::try_from(random.below(many.max(1))).expect("small");
        let new = tag(random);
        let one = core.outbounds.get_mut(at);
        match (event, one) {
            (Event::OtherOutbounds, _) => core = Core::random(random),
            (Event::NoOutbounds, _) => core.outbounds.clear(),
            (Event::OutboundAdded, _) => core.outbounds.push(outbound(random, new)),
            (Event::SameOutbounds, _) => {}
            (Event::OrderChanged, _) => core.outbounds.rotate_left(at),
            (Event::OutboundRemoved, Some(_)) => drop(core.outbounds.remove(at)),
            (Event::ServerChanged, Some(one)) => one.fingerprint.push('x'),
            (Event::KindChanged, Some(one)) => one.kind = outbound(random, new).kind,
            (Event::TypeChanged, Some(one)) => one.type_name.push('x'),
            (Event::DetourRewired, Some(one)) => one.detour = (!random.one_in(3)).then_some(new),
            (Event::MembersChanged, Some(one)) => one.members = vec![new, tag(random), tag(random)],
            (Event::LoopOfDetours, Some(_)) => ring(&mut core.outbounds, |one, next| {
                one.detour = Some(next);
            }),
            (Event::LoopOfGroups, Some(_)) => ring(&mut core.outbounds, |one, next| {
                one.members.push(next);
            }),
            (Event::TagTwice, Some(one)) => {
                let copy = Outbound {
                    kind: outbound(random, new).kind,
                    ..one.clone()
                };
                core.outbounds.push(copy);
            }
            _ => return None,
        }
        Some(Input::Outbounds {
            selections: core.selections(),
            outbounds: core.outbounds,
        })
    }
}

/// Links every entry to the next, the last to the first.
fn ring(outbounds: &mut [Outbound], link: impl Fn(&mut Outbound, String)) {
    let tags: Vec<String> = outbounds.iter().map(|one| one.tag.clone()).collect();
    let next = tags.iter().cycle().skip(1);
    for (one, next) in outbounds.iter_mut().zip(next) {
        link(one, next.clone());
    }
}
