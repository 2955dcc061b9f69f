//! The command `outwatch`: a thin door to [`cli`], which is written against the
//! library as any embedder sees it. It must not know anything else.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
