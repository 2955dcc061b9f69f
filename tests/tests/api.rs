//! The API over HTTP, of a monitor over a stub core.

mod api {
    mod engine;
    mod events;
    mod groups;
    mod guard;
    mod metrics;
    mod openapi;
    mod outbounds;
    mod page;
    mod stopping;
    mod world;
}
