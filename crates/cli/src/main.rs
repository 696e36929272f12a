//! The `rattleback` program: runs scenes, measures meshes, validates the physics.
//!
//! Results go to stdout, progress, warnings and errors to stderr. Exit codes: 0 success, 1 failure (of a check, a step, a disk),
//! 2 invalid input, 130 interrupted by Ctrl-C.

mod accuracy_report;
mod arguments;
mod bench;
mod bench_impulse;
mod bench_multibody;
mod bench_spaces;
mod bench_viewer;
mod bowling;
mod chart;
mod check;
mod compare;
mod components;
mod convert;
mod decompose;
mod distance;
mod distance_field;
mod export;
mod failure;
mod gate;
mod info;
mod mesh;
mod micro;
mod new_scene;
mod poses;
mod record;
mod render;
mod resume_file;
mod run;
mod scene_file;
mod shape_literal;
mod study;
mod summary;
mod table;
mod validate;
mod view;

use arguments::{Arguments, Bench, Command};
use clap::Parser;
use failure::Failure;
use rattleback_dynamics::Registry;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let result = dispatch(arguments.command, &mut out);
    // The output of a command that fails at its end is printed all the same.
    let flushed = out.flush().map_err(Failure::from);
    // Discards what is left in the buffer of a closed pipe.
    let (_, _) = out.into_parts();
    let result = match (result, flushed) {
        (Ok(()), flushed) => flushed,
        (failed, _) => failed,
    };
    match result {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            // An error of a closed stderr cannot be reported.
            let _ = writeln!(io::stderr(), "rattleback: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(command: Command, out: &mut dyn Write) -> Result<(), Failure> {
    let registry = Registry::default();
    match command {
        Command::Run(options) => run::run(&options, &registry, out),
        Command::Compare(options) => compare::compare(&options, &registry, out),
        Command::View(options) => view::view(&options, &registry, out),
        Command::Render(options) => render::render(&options, &registry, out),
        Command::Export(options) => export::export(&options, &registry, out),
        Command::Check(options) => check::check(&options, &registry, out),
        Command::Convert(options) => convert::convert(&options, &registry, out),
        Command::New { file, study: false } => new_scene::new_scene(&file, out),
        Command::New { file, study: true } => new_scene::new_study(&file, out),
        Command::Schema => check::schema(&registry, out),
        Command::Scenes => components::scenes(out),
        Command::Components { kind, name } => {
            components::show(kind.as_deref(), name.as_deref(), &registry, out)
        }
        Command::Info(options) => info::info(&options, out),
        Command::Distance(options) => distance::show(&options, out),
        Command::Decompose(options) => decompose::decompose(&options, out),
        Command::Sdf(options) => distance_field::sdf(&options, out),
        Command::Validate(options) => validate::validate(&options, &registry, out),
        Command::Poses(options) => poses::poses(&options, &registry, out),
        Command::Gate(options) => gate::gate(&options, &registry, out),
        Command::Array(options) => micro::array(&options, &registry, out),
        Command::Stepper(options) => micro::stepper(&options, &registry, out),
        Command::Study(options) => study::study(&options, &registry, out),
        Command::Bowling(options) => bowling::bowling(&options, out),
        Command::Bench { benchmark: Bench::FreeBodies { bodies, steps, threads } } => {
            bench::free_bodies(bodies, steps, threads, out)
        }
        Command::Bench { benchmark: Bench::Spaces(options) } => bench_spaces::spaces(&options, out),
        Command::Bench { benchmark: Bench::Impulse(options) } => {
            bench_impulse::impulse(&options, &registry, out)
        }
        Command::Bench { benchmark: Bench::Multibody(options) } => bench_multibody::multibody(&options, out),
        Command::Bench { benchmark: Bench::Viewer { bodies, seconds, threads } } => {
            bench_viewer::viewer(bodies, seconds, threads, out)
        }
    }
}
