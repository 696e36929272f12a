//! Builds the page and embeds its files into the crate.
//!
//! The sources in `page/` are copied to the build folder, where npm installs their dependencies and builds them: the crate's own folder
//! is never written to. `npm ci` runs only when the lock file differs from the one installed last. A packaged crate has no `page/` but
//! the finished page in `built_page/` (`npm run package` makes it), and needs no npm.
//!
//! Without npm, or with `RATTLEBACK_SKIP_PAGE` set, the crate builds all the same and serves a page with the instructions to build the real one.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What npm needs to build the page.
const SOURCES: [&str; 6] =
    ["src", "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=RATTLEBACK_SKIP_PAGE");
    println!("cargo:rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let skipped = env::var_os("RATTLEBACK_SKIP_PAGE").is_some_and(|value| !value.is_empty() && value != "0");
    let mut list = String::from(
        "/// Every file of the page; none if it was not built.\npub static FILES: &[PageFile] = &[\n",
    );
    if !skipped && let Some(page) = page(&root, &out) {
        collect(&page, &page, &mut list)?;
    }
    list.push_str("];\n");
    fs::write(out.join("page_files.rs"), list)
}

/// (folder of the crate, build folder) ⇒ folder of the finished page: built from its sources if they are there and npm is, else the one
/// that the package carries.
fn page(root: &Path, out: &Path) -> Option<PathBuf> {
    let (source, carried) = (root.join("page"), root.join("built_page"));
    if carried.is_dir() {
        println!("cargo:rerun-if-changed={}", carried.display());
    }
    let mut reason = "there are neither its sources nor a finished page".to_owned();
    if source.is_dir() {
        for part in SOURCES {
            println!("cargo:rerun-if-changed={}", source.join(part).display());
        }
        let built = out.join("page");
        match build(&source, &out.join("page_source"), &built) {
            Ok(()) => return Some(built),
            Err(failure) => reason = failure,
        }
    }
    if carried.join("index.html").is_file() {
        return Some(carried);
    }
    println!("cargo:warning=the viewer's page was not built: {reason}");
    None
}

/// Copies the sources to a work folder, installs their dependencies there and builds the page.
fn build(source: &Path, work: &Path, built: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    for part in SOURCES {
        let (from, to) = (source.join(part), work.join(part));
        // A file that was deleted must not stay behind.
        let _ = fs::remove_dir_all(&to);
        copy(&from, &to).map_err(|error| failed(&from, error))?;
    }
    let lock = work.join("package-lock.json");
    let lock = fs::read(&lock).map_err(|error| failed(&lock, error))?;
    let stamp = work.join("node_modules/.installed-lock");
    if fs::read(&stamp).ok().as_ref() != Some(&lock) {
        let arguments = [
            "ci",
            "--prefer-offline",
            "--no-audit",
            "--no-fund",
            "--fetch-retries=2",
            "--fetch-timeout=60000",
        ];
        npm(work, &arguments)?;
        fs::write(&stamp, &lock).map_err(|error| failed(&stamp, error))?;
    }
    let _ = fs::remove_dir_all(built);
    let built = built.to_str().ok_or("the build folder has no UTF-8 name")?;
    npm(work, &["run", "--silent", "build", "--", "--outDir", built])
}

/// Copies a file, or a folder with everything in it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(name)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("npm cannot be started ({error})"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(12)..].join(" | ");
    Err(format!("npm {} failed: {last}", arguments[0]))
}

/// Adds every file under a folder to the list.
fn collect(root: &Path, folder: &Path, list: &mut String) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, list)?;
            continue;
        }
        let media_type = match path.extension().and_then(|extension| extension.to_str()) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            _ => "application/octet-stream",
        };
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let bytes = path.to_string_lossy();
        let line = format!(
            "PageFile {{ path: {name:?}, media_type: {media_type:?}, bytes: include_bytes!({bytes:?}) }},"
        );
        let _ = writeln!(list, "{line}");
    }
    Ok(())
}
