//! The program's allocator, and what it gives back to the system. It must not know what
//! is allocated.

/// Tests and connections are many small allocations, which it makes at less cost than
/// the systems' own allocators.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Gives back what this thread has freed, which the allocator keeps for the next time. To
/// be called after something that took far more than it leaves: a config that was read, a
/// component that was compiled.
#[allow(unsafe_code, reason = "it touches only what is free")]
pub(crate) fn give_back() {
    unsafe { libmimalloc_sys::mi_collect(true) }
}
