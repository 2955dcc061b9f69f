//! What Outwatch's groups choose beside those of other cores, on the same delays. The
//! tables of docs/GROUPS.md are what is seen here.

mod choices {
    mod balancing;
    mod datagrams;
    mod failing;
    mod ours;
    mod page;
    mod single;
    mod three;
    mod world;
}
