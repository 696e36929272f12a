//! `rattleback view`: a page in the browser.

use crate::arguments::{SceneFiles, View};
use crate::failure::Failure;
use crate::record::is_recording;
use crate::scene_file;
use rattleback_dynamics::Registry;
use rattleback_scene::recording::Recording;
use rattleback_viewer::session::SessionContent;
use rattleback_viewer::{Server, ServerOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;

/// Serves until Ctrl-C.
pub fn view(options: &View, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let content = content(options.scene.as_deref(), options.files, registry)?;
    let served = ServerOptions {
        address: options.listen,
        port: options.port,
        playing: !options.paused,
        ..ServerOptions::default()
    };
    let server = Server::start(content, served).map_err(Failure::failed)?;
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    if !Server::has_page() {
        let _ =
            writeln!(io::stderr(), "the page is not in this program: build it again where npm is installed");
    }
    if !options.listen.is_loopback() {
        let _ = writeln!(
            io::stderr(),
            "every host that can reach {} and has this address can control the scene",
            options.listen
        );
    }
    if !options.no_open {
        open_browser(&server.url());
    }
    let (stop, stopped) = mpsc::channel();
    ctrlc::set_handler(move || {
        let _ = stop.send(());
    })
    .map_err(Failure::failed)?;
    let _ = stopped.recv();
    Ok(())
}

/// The content to show; errors in it are reported before a page opens.
fn content(name: Option<&str>, files: SceneFiles, registry: &Registry) -> Result<SessionContent, Failure> {
    let Some(name) = name else { return Ok(SessionContent::Gallery) };
    let path = Path::new(name);
    if is_recording(path) {
        let recording = Recording::open(path, registry).map_err(Failure::input)?;
        if let Some(loss) = recording.loss() {
            let _ = writeln!(io::stderr(), "{loss}");
        }
        return Ok(SessionContent::Recording(name.into(), Box::new(recording)));
    }
    let scene = scene_file::open(name, files)?;
    scene_file::build(&scene, registry)?;
    Ok(SessionContent::Scene(name.into(), Box::new(scene)))
}

/// Opens the page in the default browser; a failure is ignored, since the address is printed.
fn open_browser(url: &str) {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let _ = Command::new(program)
        .args(first)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
