//! Every call of nprof that changes files or directories.
//!
//! *Invariant.* The store, segments and exports change files only through this module. So a test
//! can watch the calls below a directory and refuse each of them (`watch`, feature `fixture`).
//! A call that a signal interrupts is repeated.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, open, renameat_with};
use rustix::io::Errno;

#[cfg(feature = "fixture")]
pub mod watch;

/// A call that changes files or directories. Files without a name are told apart by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the arguments of the call")]
pub enum DiskCall<'a> {
    CreateDir(&'a Path),
    CreateFile {
        file: u64,
        path: &'a Path,
    },
    CreateUnnamed {
        file: u64,
        directory: &'a Path,
    },
    /// Appends these bytes.
    Write {
        file: u64,
        bytes: &'a [u8],
    },
    SyncFile(u64),
    SyncDir(&'a Path),
    /// Gives a file a name that is free.
    Link {
        file: u64,
        to: &'a Path,
    },
    /// Gives a file with a name a second one, which is free.
    SecondName {
        of: &'a Path,
        to: &'a Path,
    },
    Rename {
        from: &'a Path,
        to: &'a Path,
    },
    Exchange {
        one: &'a Path,
        other: &'a Path,
    },
    RemoveFile(&'a Path),
    RemoveDir(&'a Path),
}

/// A file that this process writes.
#[derive(Debug)]
pub struct DiskFile {
    file: File,
    #[cfg(feature = "fixture")]
    watched: watch::Watched,
}

impl DiskFile {
    /// Creates a file with this name, for reading and writing. The umask decides its permissions.
    ///
    /// # Errors
    /// If the name is taken or the directory cannot be written.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        Self::create(
            path,
            |file| DiskCall::CreateFile { file, path },
            || OpenOptions::new().read(true).write(true).create_new(true).open(path),
        )
    }

    /// Opens a file for writing. Creates it if it is missing, and keeps its content.
    pub fn open_or_create(path: &Path) -> io::Result<Self> {
        let open = || OpenOptions::new().write(true).open(path);
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match Self::create_new(path) {
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Self::of(open()?, path)),
                created => created,
            },
            opened => Ok(Self::of(opened?, path)),
        }
    }

    #[cfg_attr(not(feature = "fixture"), expect(unused_variables, reason = "only tests watch"))]
    fn of(file: File, place: &Path) -> Self {
        Self {
            file,
            #[cfg(feature = "fixture")]
            watched: watch::Watched::below(place),
        }
    }

    /// Creates a file without a name, for reading and writing. It vanishes with its last handle,
    /// unless [`DiskFile::link`] names it. The umask decides its permissions.
    ///
    /// # Errors
    /// `Unsupported` if the file system knows no such files. Other errors if the directory cannot
    /// be written.
    pub fn create_unnamed(directory: &Path) -> io::Result<Self> {
        // `link` finds the file there.
        if !Path::new("/proc/self/fd").exists() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        Self::create(
            directory,
            |file| DiskCall::CreateUnnamed { file, directory },
            || {
                open(directory, flags, Mode::from_raw_mode(0o666)).map(File::from).map_err(
                    |errno| match errno {
                        Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL => io::ErrorKind::Unsupported.into(),
                        errno => errno.into(),
                    },
                )
            },
        )
    }

    fn create<'a>(
        place: &Path,
        call: impl Fn(u64) -> DiskCall<'a>,
        create: impl Fn() -> io::Result<File>,
    ) -> io::Result<Self> {
        #[cfg(feature = "fixture")]
        let watched = watch::Watched::below(place);
        #[cfg(feature = "fixture")]
        let create = || watched.ask(&call(watched.file)).and_then(|_| create());
        #[cfg(not(feature = "fixture"))]
        let _ = (place, call);
        Ok(Self {
            file: again(create)?,
            #[cfg(feature = "fixture")]
            watched,
        })
    }

    /// The open file, for calls that change nothing.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// A second handle of the same file.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            file: self.file.try_clone()?,
            #[cfg(feature = "fixture")]
            watched: self.watched.clone(),
        })
    }

    /// Writes all bytes at this offset.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        #[cfg(feature = "fixture")]
        again(|| self.watched.ask(&DiskCall::Write { file: self.watched.file, bytes }))?;
        self.file.write_all_at(bytes, offset)
    }

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    /// If the disk refuses. The content can be lost then.
    pub fn sync(&self) -> io::Result<()> {
        #[cfg(feature = "fixture")]
        if !again(|| self.watched.ask(&DiskCall::SyncFile(self.watched.file)))? {
            return Ok(());
        }
        again(|| self.file.sync_all())
    }

    /// Names a file without a name. The name must be free and in the same file system.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken. Other errors if the directory cannot be written.
    pub fn link(&self, to: &Path) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let from = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        again(|| {
            #[cfg(feature = "fixture")]
            self.watched.ask(&DiskCall::Link { file: self.watched.file, to })?;
            Ok(linkat(CWD, &from, CWD, to, AtFlags::SYMLINK_FOLLOW)?)
        })
    }
}

impl Write for &DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(feature = "fixture")]
        if let Err(error) = self.watched.ask(&DiskCall::Write { file: self.watched.file, bytes }) {
            if self.watched.is_torn() {
                (&self.file).write_all(&bytes[..bytes.len() / 2])?;
            }
            return Err(error);
        }
        (&self.file).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.file).flush()
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}

/// Creates a directory. The umask decides its permissions.
///
/// # Errors
/// If the name is taken or the directory above cannot be written.
pub fn create_dir(path: &Path) -> io::Result<()> {
    asked(path, &DiskCall::CreateDir(path), || fs::create_dir(path))
}

/// Creates a directory that other users can neither list nor enter.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    asked(path, &DiskCall::CreateDir(path), || DirBuilder::new().mode(0o700).create(path))
}

/// Creates a directory and the directories above it, if they are missing. They survive a power
/// failure.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_dir_all(parent)?;
    }
    match create_dir(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created.and_then(|()| sync_dir(directory_of(path))),
    }
}

/// Gives a file a second name in the same file system. The name must be free.
///
/// # Errors
/// If the file system has one name for each file, or the directory of the name cannot be written.
pub fn second_name(of: &Path, to: &Path) -> io::Result<()> {
    asked(to, &DiskCall::SecondName { of, to }, || fs::hard_link(of, to))
}

/// Renames a file or a directory. An existing file is replaced.
///
/// # Errors
/// If a directory cannot be written, or a directory with content is in the place.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    asked(to, &DiskCall::Rename { from, to }, || fs::rename(from, to))
}

/// Exchanges two names in one step.
///
/// # Errors
/// `Unsupported` if the file system cannot do that. Other errors if a directory cannot be written.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let exchanged = asked(other, &DiskCall::Exchange { one, other }, || {
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    });
    exchanged.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => io::ErrorKind::Unsupported.into(),
        _ => error,
    })
}

/// Removes a file.
///
/// # Errors
/// If there is no such file or its directory cannot be written.
pub fn remove_file(path: &Path) -> io::Result<()> {
    asked(path, &DiskCall::RemoveFile(path), || fs::remove_file(path))
}

/// Removes an empty directory.
///
/// # Errors
/// If there is no such directory, it has content, or the directory above cannot be written.
pub fn remove_dir(path: &Path) -> io::Result<()> {
    asked(path, &DiskCall::RemoveDir(path), || fs::remove_dir(path))
}

/// Removes a directory with all of its content. A missing directory is no error.
///
/// # Errors
/// If something in it cannot be removed.
pub fn remove_dir_all(path: &Path) -> io::Result<()> {
    #[cfg(feature = "fixture")]
    if watch::Watched::below(path).is_watched() {
        return remove_step_by_step(path);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes a directory like [`remove_dir_all`], with a call for each name. The function of the
/// standard library also resists an attacker who exchanges a directory for a link meanwhile.
#[cfg(feature = "fixture")]
fn remove_step_by_step(path: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_step_by_step(&entry.path())?;
        } else {
            remove_file(&entry.path())?;
        }
    }
    remove_dir(path)
}

/// Makes changes of names in this directory survive a power failure.
///
/// # Errors
/// If the disk refuses. The changes can be lost then.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    #[cfg(feature = "fixture")]
    if !again(|| watch::Watched::below(path).ask(&DiskCall::SyncDir(path)))? {
        return Ok(());
    }
    again(|| File::open(path)?.sync_all())
}

/// A name in this directory that nothing else has, with this prefix.
#[must_use]
pub fn fresh_name(directory: &Path, prefix: &str) -> PathBuf {
    let random = RandomState::new().build_hasher().finish();
    directory.join(format!("{prefix}{random:016x}"))
}

fn asked<T>(place: &Path, call: &DiskCall<'_>, make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    #[cfg(feature = "fixture")]
    let watched = watch::Watched::below(place);
    #[cfg(feature = "fixture")]
    let make = || watched.ask(call).and_then(|_| make());
    #[cfg(not(feature = "fixture"))]
    let _ = (place, call);
    again(make)
}

/// Repeats a call that a signal interrupted.
fn again<T>(call: impl Fn() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            made => return made,
        }
    }
}

/// The directory of a file.
#[must_use]
pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::watch::{CallVerdict, Watching};
    use super::*;

    #[track_caller]
    fn check_removal(directory: &Path) {
        let [kept, removed] = ["kept", "removed"].map(|name| directory.join(name));
        create_dir_all(&kept).unwrap();
        create_dir_all(&removed.join("a/b")).unwrap();
        for path in [kept.join("file"), removed.join("a/file")] {
            DiskFile::create_new(&path).unwrap();
        }
        std::os::unix::fs::symlink(&kept, removed.join("a/link")).unwrap();
        remove_dir_all(&removed).unwrap();
        remove_dir_all(&removed).unwrap();
        assert!(!removed.exists() && kept.join("file").exists());
    }

    #[test]
    fn a_directory_is_removed_with_its_content_and_links_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        check_removal(directory.path());
        let watched = tempfile::tempdir().unwrap();
        let _watching = Watching::below(watched.path(), |_| CallVerdict::Make);
        check_removal(watched.path());
    }

    #[test]
    fn a_file_is_created_once_and_keeps_its_content() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let mut file = DiskFile::open_or_create(&path).unwrap();
        file.write_all(b"one").unwrap();
        assert!(DiskFile::create_new(&path).is_err());
        let _watching = Watching::below(directory.path(), |call| panic!("{call:?}"));
        drop(DiskFile::open_or_create(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }
}
