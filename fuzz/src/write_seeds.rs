//! `nprof-fuzz-seeds DIRECTORY` writes a folder for each target into DIRECTORY, for libFuzzer.

use std::fs;
use std::path::PathBuf;

use nprof_fuzz::seeds::{Result, made};

fn main() -> Result<()> {
    let directory = std::env::args_os().nth(1).ok_or("say where to: nprof-fuzz-seeds DIRECTORY")?;
    for seeds in made()? {
        let folder = PathBuf::from(&directory).join(seeds.target);
        fs::create_dir_all(&folder)?;
        for (number, input) in seeds.inputs.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:02}")), input)?;
        }
    }
    Ok(())
}
