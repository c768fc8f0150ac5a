//! Destination of an output: links are followed until a file, a pipe, a device or an open
//! descriptor is found.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use nprof_engine::native::directory_of;
use rustix::io::Errno;

/// Links that are followed before a path counts as a circle of links, as in the kernel.
const MAX_LINKS: usize = 40;
/// Number of the descriptor of standard output.
const STANDARD_OUTPUT: &str = "1";

/// A place for output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputPlace {
    /// Standard output: `-`, `/dev/stdout`, a link to it.
    StandardOutput,
    /// A pipe, a device, or another descriptor of a process. It is written, never replaced.
    InPlace(PathBuf),
    /// A file or a folder, which can be missing. It is replaced as a whole.
    File(PathBuf),
}

impl OutputPlace {
    /// The place that a user named.
    ///
    /// # Errors
    /// If its links form a circle.
    pub fn named(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::StandardOutput);
        }
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            match descriptor(&path) {
                Some(DescriptorOwner::Own)
                    if path.file_name().is_some_and(|name| name == STANDARD_OUTPUT) =>
                {
                    return Ok(Self::StandardOutput);
                }
                // To follow its link further would find a file that has another position.
                Some(DescriptorOwner::Own | DescriptorOwner::Other) => return Ok(Self::InPlace(path)),
                None => {}
            }
            let Ok(target) = fs::read_link(&path) else { return Ok(Self::of_target(path)) };
            path = directory_of(&path).join(target);
        }
        Err(Errno::LOOP.into())
    }

    fn of_target(path: PathBuf) -> Self {
        let is_special = path.metadata().is_ok_and(|of| !of.is_file() && !of.is_dir());
        if is_special { Self::InPlace(path) } else { Self::File(path) }
    }
}

/// The process of a descriptor.
enum DescriptorOwner {
    Own,
    Other,
}

/// The owner of the descriptor that this path names, such as `/dev/fd/3`; `None` for other paths.
fn descriptor(path: &Path) -> Option<DescriptorOwner> {
    let folder = fs::canonicalize(directory_of(path)).ok()?;
    if folder == Path::new("/dev/fd") {
        return Some(DescriptorOwner::Own);
    }
    let names: Vec<&str> =
        folder.components().map(Component::as_os_str).map_while(|name| name.to_str()).collect();
    match names[..] {
        ["/", "proc", process, "fd"] | ["/", "proc", process, "task", _, "fd"] => {
            let is_own = process.parse() == Ok(std::process::id());
            Some(if is_own { DescriptorOwner::Own } else { DescriptorOwner::Other })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[track_caller]
    fn check(path: impl AsRef<Path>, expected: OutputPlace) {
        let path = path.as_ref();
        assert_eq!(OutputPlace::named(path).unwrap(), expected, "{}", path.display());
    }

    #[test]
    fn a_dash_and_names_of_the_first_descriptor_are_standard_output() {
        check("-", OutputPlace::StandardOutput);
        check("-.json", OutputPlace::File("-.json".into()));
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"] {
            check(name, OutputPlace::StandardOutput);
        }
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("/dev/stdout", &link).unwrap();
        check(&link, OutputPlace::StandardOutput);
    }

    #[test]
    fn descriptors_and_devices_are_written_in_place() {
        assert!(matches!(OutputPlace::named(Path::new("/dev/fd/2")).unwrap(), OutputPlace::InPlace(_)));
        check("/proc/1/fd/1", OutputPlace::InPlace("/proc/1/fd/1".into()));
        check("/dev/null", OutputPlace::InPlace("/dev/null".into()));
    }

    #[test]
    fn links_lead_to_files_that_need_not_exist() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        symlink("sub/next", at("link")).unwrap();
        fs::create_dir(at("sub")).unwrap();
        symlink("../file", at("sub/next")).unwrap();
        check(at("link"), OutputPlace::File(at("sub/../file")));
        symlink("round", at("round")).unwrap();
        assert!(OutputPlace::named(&at("round")).is_err());
    }
}
