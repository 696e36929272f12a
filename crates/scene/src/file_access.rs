//! Which files a scene may read.
//!
//! A scene from an untrusted source must not read other files of the user: the files that a scene names must be in its own folder or
//! below it, also after symbolic links are resolved, unless the caller allows more.

use std::path::{Component, Path, PathBuf};

/// Which files a scene may name: included files, meshes and their buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileAccess {
    /// Those in the folder of the scene and below it.
    #[default]
    SceneFolder,
    /// Any. For scenes that are trusted as a program would be.
    Anywhere,
}

impl FileAccess {
    /// (folder of the scene, path as seen from there) ⇒ where the file really is; a reason if that is nowhere, or not allowed.
    pub(crate) fn locate(self, folder: &Path, path: &Path) -> Result<PathBuf, String> {
        // An empty folder is the current one.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let real = |path: &Path| std::fs::canonicalize(path).map_err(|error| error.to_string());
        if self == Self::Anywhere {
            return real(&folder.join(path));
        }
        let outside = "it lies outside of the scene's folder; --allow-outside lets a scene read any file";
        // By its name first, so that not even the existence of other files shows.
        if !leads_inside(path) {
            return Err(outside.into());
        }
        let (root, file) = (real(folder)?, real(&folder.join(path))?);
        if file.starts_with(root) { Ok(file) } else { Err(outside.into()) }
    }
}

/// Whether a path, taken literally, stays below where it starts.
fn leads_inside(path: &Path) -> bool {
    let mut depth = 0i32;
    path.components().all(|part| {
        depth += match part {
            Component::Normal(_) => 1,
            Component::CurDir => 0,
            Component::ParentDir => -1,
            Component::RootDir | Component::Prefix(_) => return false,
        };
        depth >= 0
    })
}
