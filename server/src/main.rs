//! The `nprof` binary; see the library of this crate.

fn main() -> std::process::ExitCode {
    nprof_server::cli::run()
}
