//! The `nprof` binary; see the library beside it.

fn main() -> std::process::ExitCode {
    nprof_server::cli::run()
}
