//! `bench viewer`: frames per second that a client receives while the simulation runs.

use crate::failure::Failure;
use crate::table::{Table, number};
use rattleback_viewer::measure;
use std::io::Write;

/// (bodies, seconds, threads that simulate) ⇒ a table.
pub fn viewer(bodies: u32, seconds: u32, threads: Option<u32>, out: &mut dyn Write) -> Result<(), Failure> {
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get().min(8) as u32);
    let threads = threads.unwrap_or_else(cores);
    let seen = measure::stream(bodies as usize, f64::from(seconds), threads).map_err(Failure::failed)?;
    let mut table = Table::headless();
    for (what, value) in [
        ("bodies", seen.bodies.to_string()),
        ("threads that simulate", threads.to_string()),
        ("frames/s", number(seen.frames_per_second, 4)),
        ("bodies that moved in a frame", number(seen.moved_per_frame, 4)),
        ("MB/s", number(seen.megabytes_per_second, 4)),
        ("steps/s of 1/60 s", number(seen.steps_per_second, 4)),
        ("longest wait for a frame, ms", number(seen.longest_gap_ms, 4)),
        ("processor time of the simulating thread, ms/frame", shown(seen.player_ms)),
        ("processor time of the sending thread, ms/frame", shown(seen.server_ms)),
    ] {
        table.row(vec![what.into(), value]);
    }
    table.write(out)?;
    Ok(())
}

fn shown(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(|| "not reported by this system".into(), |ms| number(ms, 3))
}
