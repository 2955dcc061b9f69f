//! The command `outwatch`: a thin door to [`cli`], which is written against the
//! library as any embedder sees it. It must not know anything else.

mod cli;

/// Tests and connections are many small allocations, which it makes at less cost than
/// the systems' own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
