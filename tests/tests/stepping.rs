//! The engine that is stepped from outside: what the component is, and the example's host
//! of it in Python.

mod stepping {
    mod contract;
    mod proxy;
    mod python;
    mod world;
}
