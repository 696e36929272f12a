//! Builds the page with npm and puts its files into the crate.
//!
//! `npm ci` runs only when the lock file is not the one installed last. Without npm, or with `RATTLEBACK_SKIP_PAGE` set, the
//! crate builds all the same and serves a page that says how to get the real one.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=RATTLEBACK_SKIP_PAGE");
    println!("cargo:rerun-if-changed=build.rs");
    let source = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("page");
    for part in ["src", "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"]
    {
        println!("cargo:rerun-if-changed={}", source.join(part).display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let built = out.join("page");
    let skipped = env::var_os("RATTLEBACK_SKIP_PAGE").is_some_and(|value| !value.is_empty() && value != "0");
    let mut list = String::from(
        "/// Every file of the page; none if it was not built.\npub static FILES: &[PageFile] = &[\n",
    );
    if !skipped {
        match build(&source, &built) {
            Ok(()) => collect(&built, &built, &mut list)?,
            Err(reason) => println!("cargo:warning=the viewer's page was not built: {reason}"),
        }
    }
    list.push_str("];\n");
    fs::write(out.join("page_files.rs"), list)
}

/// Installs what the page needs and builds it.
fn build(source: &Path, built: &Path) -> Result<(), String> {
    let lock =
        fs::read(source.join("package-lock.json")).map_err(|error| format!("package-lock.json: {error}"))?;
    let stamp = source.join("node_modules/.installed-lock");
    if fs::read(&stamp).ok().as_ref() != Some(&lock) {
        npm(source, &["ci", "--no-audit", "--no-fund", "--fetch-retries=2", "--fetch-timeout=60000"])?;
        fs::write(&stamp, &lock).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    let _ = fs::remove_dir_all(built);
    let built = built.to_str().ok_or("the build folder has no UTF-8 name")?;
    npm(source, &["run", "--silent", "build", "--", "--outDir", built])
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
