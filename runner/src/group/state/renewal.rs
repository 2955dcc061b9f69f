//! A group whose config was changed goes on from where it was. It must not know why it
//! was changed.

use std::mem;

use super::State;
use crate::group::NETWORKS;
use crate::group::policy::Policy;
use crate::proxy_core::Network;

impl State {
    /// Takes over what the group of this tag knew, by the tags of its members, and where
    /// it led by results; where a person had it lead is saved, and so known already.
    pub(in crate::group) fn take_over(&mut self, before: &mut Self) {
        for member in &mut self.members {
            let known = before.find(&member.tag);
            if let Some(standing) = known.and_then(|known| before.standing(known)) {
                member.standing = standing.clone();
            }
        }
        if self.plan.policy == before.plan.policy && self.tags().eq(before.tags()) {
            mem::swap(&mut self.spread, &mut before.spread);
        }
        for network in NETWORKS {
            self.take_over_lead(network, before);
        }
    }

    fn take_over_lead(&mut self, network: Network, before: &Self) {
        let led = before.lead(network).map(|member| before.tag(member));
        let kept = led.and_then(|tag| self.find(tag));
        if let Some(member) = kept
            && matches!(self.plan.policy, Policy::LowestDelay { .. })
        {
            self.turn_to(network, member);
        }
        if self.lead(network) == kept {
            // Its connections are as if made through this group.
            self.lead_mut(network).cut = before.lead_of(network).cut.clone();
        } else if before.plan.interrupts {
            before.lead_of(network).cut.cancel();
        }
    }
}
