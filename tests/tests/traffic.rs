//! Users' traffic: real clients through the inbounds, and the host's real network.

mod traffic {
    mod curl;
    mod network;
    mod sing_box;
    mod world;
}
