//! Which outbounds carry datagrams: those that can, all the way to their server. It must
//! not know how they do.

use super::node::{Node, Role, Route};
use crate::proxy_core::Network;

/// Adds UDP to what is listed of all that carry it. What a group carries any member does;
/// it leads datagrams to those.
pub(super) fn list(nodes: &mut [Node]) {
    // Each round finds what rests on the finds of the round before.
    loop {
        let found: Vec<usize> = (0..nodes.len())
            .filter(|&index| !listed(nodes, index) && carries(nodes, index))
            .collect();
        if found.is_empty() {
            return;
        }
        for index in found {
            nodes[index].listed.networks.push(Network::Udp);
        }
    }
}

fn listed(nodes: &[Node], index: usize) -> bool {
    let node = nodes.get(index);
    node.is_some_and(|node| node.listed.networks.contains(&Network::Udp))
}

fn carries(nodes: &[Node], index: usize) -> bool {
    match nodes.get(index).map(|node| &node.role) {
        Some(Role::Outbound { protocol, route }) => {
            match (protocol.carrier_of_datagrams(), route) {
                (None, _) | (_, Route::Nowhere(_)) => false,
                (Some(Network::Udp), Route::Detour(detour)) => listed(nodes, *detour),
                (Some(_), Route::Sockets(_)) | (Some(Network::Tcp), Route::Detour(_)) => true,
            }
        }
        Some(Role::Group(group)) => group.members().any(|member| listed(nodes, member)),
        Some(Role::Unsupported(_)) | None => false,
    }
}
