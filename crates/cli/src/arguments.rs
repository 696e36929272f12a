//! Arguments of the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use rattleback_scene::FileAccess;
use std::path::PathBuf;

/// Trustworthy physics at real-time speed.
#[derive(Debug, Parser)]
#[command(name = "rattleback", version, arg_required_else_help = true)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scene, record it, plot it.
    Run(Run),
    /// Run a scene under several simulators, and compare energy, momentum, overlap and cost, and where they diverge.
    Compare(Compare),
    /// Show a scene or a recording in the browser; without one, a gallery of the built-in scenes.
    #[command(after_help = VIEW_HELP)]
    View(View),
    /// Draw a scene into PNG files, without a browser.
    Render(Render),
    /// Turn a recording into a glTF animation, or into CSV or Parquet tables.
    Export(Export),
    /// Read a scene, build it and try one step; print a summary, warnings, or the first error.
    Check(Check),
    /// Write a scene in another format, with present names of keys; it builds the same world.
    Convert(Convert),
    /// Write a template of a scene: a file (.toml) or a script (.rhai); or of a study.
    New {
        /// Path; an existing file is not overwritten.
        file: PathBuf,
        /// A study of a scene instead of a scene.
        #[arg(long)]
        study: bool,
    },
    /// Print the JSON Schema of scene files, for completion and validation in editors.
    Schema,
    /// List the built-in scenes.
    Scenes,
    /// List the components of scenes: shapes, materials, forces, joints, integrators, simulators.
    Components {
        /// Only this kind, such as `force`.
        kind: Option<String>,
        /// Only this one, with all its properties.
        #[arg(requires = "kind")]
        name: Option<String>,
    },
    /// Report on a mesh: volume, mass, inertia, bounds, and whether it is a valid solid.
    Info(Info),
    /// Decompose a solid into convex parts.
    Decompose(Decompose),
    /// Distance or penetration depth of two bodies, and their contact points.
    #[command(after_help = DISTANCE_HELP)]
    Distance(Distance),
    /// Convert a solid to a signed distance field, and the field back to a mesh.
    Sdf(Sdf),
    /// Check the physics against closed forms, conservation laws and published numbers.
    Validate(Validate),
    /// With which probability does a dropped part come to rest on each face?
    #[command(after_help = POSES_HELP)]
    Poses(Box<Poses>),
    /// How does a gate of a feeder turn, pass or reject parts, and which gates deliver them alike?
    #[command(after_help = GATE_HELP)]
    Gate(Box<GateOptions>),
    /// How fast does an array of micro-actuators feed a flat part?
    #[command(after_help = ARRAY_HELP)]
    Array(ArrayOptions),
    /// How far does an impact-driven micro stepper move its slider?
    #[command(after_help = STEPPER_HELP)]
    Stepper(MicroOptions),
    /// Vary parameters of a scene, measure results, and show which parameter has which effect.
    #[command(after_help = STUDY_HELP)]
    Study(Study),
    /// Compare straight balls and hooks at ten pins.
    Bowling(Bowling),
    /// Measure the speed.
    Bench {
        /// What to measure.
        #[command(subcommand)]
        benchmark: Bench,
    },
}

const RUN_HELP: &str = "\
Examples:
  rattleback run free-fall --plot flight.png
  rattleback run scene.toml --for 10 --record out.csv --every 4
  rattleback run scene.toml --plot out.svg --channels energy,momentum,ball.z,ball.omega_y

Channels: energy (or energy.total, .kinetic, .potential, .drift), momentum and angular_momentum (or .x, .y, .z), and
of each body NAME.position (x, y, z), NAME.velocity (vx, vy, vz), NAME.omega (omega_x, …; world frame), NAME.body_omega
(body_omega_x, …; body frame), NAME.orientation (qw, qx, qy, qz), NAME.speed, NAME.kinetic_energy.

--record out.csv writes two tables. out.csv has a row for each time and each body that is not static:
  time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,omega_x,omega_y,omega_z
out.energy.csv has a row for each time:
  time,kinetic_energy,potential_energy,energy,px,py,pz,lx,ly,lz
--record out.parquet writes the same two tables as Parquet files.
SI units; positions of the body frame, velocities of the centre of mass, everything in the world frame.";

const VIEW_HELP: &str = "\
Examples:
  rattleback view                       the gallery of built-in scenes
  rattleback view scene.toml            one scene
  rattleback view run.rbrec             a recording made by `rattleback run SCENE --record run.rbrec`

The page is served to this machine only, under an address with a secret token; Ctrl-C ends the server.";

const DISTANCE_HELP: &str = "\
Examples:
  rattleback distance part.obj bin.stl --at 0,0,0.1 --png view.png
  rattleback distance box:1,2,3 sphere:0.5 --at 1.2,0,0
  rattleback distance capsule:0.2,1 cylinder:0.3,1 --at 0.6,0,0 --turn 90,0,0

Shapes, with lengths in metres: box:LENGTH,WIDTH,HEIGHT  sphere:RADIUS  capsule:RADIUS,HEIGHT (without its caps)
cylinder:RADIUS,HEIGHT  cone:RADIUS,HEIGHT  ellipsoid:A,B,C (semi-axes). Axes of round shapes are along z.";

const POSES_HELP: &str = "\
Examples:
  rattleback poses part.stl --unit mm                            all estimates, 2000 drops of each kind
  rattleback poses part.stl --unit mm --until 1% --report part.html --resume part.drops
  rattleback poses part.stl --unit mm --method none              by geometry alone, at once
  rattleback poses part.stl --unit mm --compare measured.csv     errors against measured counts

measured.csv has a line for each pose, `1,476`: its number in the table and its count or share. Poses that cannot be told
apart are one line: `1+2,310`. Poses are numbered by decreasing quasi-static probability, the same way whatever is dropped how.";

/// Which files a scene may read.
#[derive(Clone, Copy, Debug, Args)]
pub struct SceneFiles {
    /// Let the scene read included files and meshes outside of its folder too.
    #[arg(long)]
    pub allow_outside: bool,
}

impl SceneFiles {
    /// As the scene crate calls it.
    pub const fn access(self) -> FileAccess {
        if self.allow_outside { FileAccess::Anywhere } else { FileAccess::SceneFolder }
    }
}

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct Run {
    /// A scene file, or the name of a built-in scene (see `rattleback scenes`).
    pub scene: String,
    /// Time to simulate, rounded up to whole steps [default: the duration of the scene].
    #[arg(long = "for", value_name = "SECONDS", allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Time step [default: that of the scene].
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub dt: Option<f64>,
    /// Another simulator than the scene's (see `rattleback components simulator`).
    #[arg(long, value_name = "NAME")]
    pub simulator: Option<String>,
    /// Another integrator than the scene's (see `rattleback components integrator`).
    #[arg(long, value_name = "NAME")]
    pub integrator: Option<String>,
    /// Write poses and velocities to this file: as tables (.csv or .parquet, with energies in a second file), or as a recording (.rbrec).
    #[arg(long, value_name = "FILE.csv|FILE.parquet|FILE.rbrec")]
    pub record: Option<PathBuf>,
    /// Steps between two records or samples.
    #[arg(long, value_name = "STEPS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Draw channels over time.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Channels to draw, separated by commas [default: those of the scene].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "plot")]
    pub channels: Vec<String>,
    /// Write the final state to this file, to resume from.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Start from a saved state instead of the beginning of the scene.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Keep no energy ledger: no work in the summary, no report of energy that a passive scene gains.
    #[arg(long)]
    pub no_ledger: bool,
    /// Print errors only.
    #[arg(long, short)]
    pub quiet: bool,
    /// Which files it may read.
    #[command(flatten)]
    pub files: SceneFiles,
}

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// A scene file, or the name of a built-in scene (see `rattleback scenes`).
    pub scene: String,
    /// Which simulators, separated by commas; the others are compared with the first [default: that of the scene, then all others].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub simulators: Vec<String>,
    /// Time to simulate, rounded up to whole steps [default: the duration of the scene].
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time: Option<f64>,
    /// Time step [default: that of the scene].
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub dt: Option<f64>,
    /// Draw energy, momentum, overlap, contact force, cost and distance over time.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Which files it may read.
    #[command(flatten)]
    pub files: SceneFiles,
}

/// Options of `view`.
#[derive(Debug, Args)]
pub struct View {
    /// A scene file, the name of a built-in scene, or a recording (.rbrec) [default: the gallery].
    pub scene: Option<String>,
    /// Port to serve the page on; 0 takes any that is free.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Address to serve the page on. Every host that can reach it and has the token can control the scene.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: std::net::IpAddr,
    /// Do not open the browser.
    #[arg(long)]
    pub no_open: bool,
    /// Start paused.
    #[arg(long)]
    pub paused: bool,
    /// Which files it may read.
    #[command(flatten)]
    pub files: SceneFiles,
}

/// Options of `render`.
#[derive(Debug, Args)]
pub struct Render {
    /// A scene file, the name of a built-in scene, or a recording (.rbrec).
    pub scene: String,
    /// Output file; with --frames, a number is inserted before the extension.
    #[arg(long, value_name = "FILE.png")]
    pub png: PathBuf,
    /// Time of the scene, s; with --frames, that of the last picture [default: the beginning, or the end of the scene].
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub time: Option<f64>,
    /// Width and height in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub size: String,
    /// Number of pictures, evenly from the beginning to --time.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: Option<u32>,
    /// Dark background.
    #[arg(long)]
    pub dark: bool,
    /// Which files it may read.
    #[command(flatten)]
    pub files: SceneFiles,
}

/// Options of `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// A recording made by `rattleback run SCENE --record FILE.rbrec`.
    pub recording: PathBuf,
    /// Write meshes and animation to this file, for Blender and other programs that read glTF.
    #[arg(long, value_name = "FILE.glb", required_unless_present_any = ["csv", "parquet"])]
    pub gltf: Option<PathBuf>,
    /// Write poses and velocities to this file, and energies to a second one, as `run --record FILE.csv` does.
    #[arg(long, value_name = "FILE.csv")]
    pub csv: Option<PathBuf>,
    /// The same tables as Parquet files.
    #[arg(long, value_name = "FILE.parquet")]
    pub parquet: Option<PathBuf>,
    /// Take every n-th state.
    #[arg(long, value_name = "STATES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// A scene file, a script, a sandbox script, a robot (URDF, MJCF), or the name of a built-in scene.
    pub scene: String,
    /// Write it as TOML in a standard layout, without comments.
    #[arg(long, value_name = "FILE.toml")]
    pub toml: Option<PathBuf>,
    /// Which files it may read.
    #[command(flatten)]
    pub files: SceneFiles,
}

/// Options of `convert`.
#[derive(Debug, Args)]
pub struct Convert {
    /// A scene file (.toml, .json), a script (.rhai), a sandbox script (.sandbox, .gravitas), or the name of a built-in scene.
    pub scene: String,
    /// Output: TOML or JSON, in one file, with includes and defaults filled in. It must be in the same folder if the scene names meshes.
    #[arg(value_name = "FILE.toml|FILE.json")]
    pub out: PathBuf,
    /// Which files it may read.
    #[command(flatten)]
    pub files: SceneFiles,
}

/// Options of `info`.
#[derive(Debug, Args)]
pub struct Info {
    /// An OBJ, STL, glTF or GLB file.
    pub mesh: PathBuf,
    /// kg/m³.
    #[arg(long, default_value_t = 1000.0, allow_negative_numbers = true)]
    pub density: f64,
    /// What one unit of the file is; results are in SI.
    #[arg(long, value_enum, default_value_t = Unit::M)]
    pub unit: Unit,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Options of `decompose`.
#[derive(Debug, Args)]
pub struct Decompose {
    /// An OBJ, STL, glTF or GLB file of a closed surface.
    pub mesh: PathBuf,
    /// Write the parts to this file, a group each.
    #[arg(long, value_name = "FILE.obj")]
    pub out: Option<PathBuf>,
    /// Parts may extend beyond the solid by this fraction of its size: fewer parts, and fast for meshes of thousands of
    /// faces [default: exact parts].
    #[arg(long, value_name = "FRACTION", allow_negative_numbers = true)]
    pub error: Option<f64>,
    /// Most parts, with --error.
    #[arg(long, value_name = "COUNT", default_value_t = 64, requires = "error")]
    pub parts: u32,
}

/// Options of `distance`.
#[derive(Debug, Args)]
pub struct Distance {
    /// An OBJ, STL, glTF or GLB file, or a shape such as `box:1,2,3`; results are in its frame.
    pub first: String,
    /// The second one.
    pub second: String,
    /// Position of the second, in metres [default: 0,0,0].
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', allow_hyphen_values = true)]
    pub at: Vec<f64>,
    /// Rotation vector of the second, in degrees [default: 0,0,0].
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', allow_hyphen_values = true)]
    pub turn: Vec<f64>,
    /// Contacts nearer than this, in metres.
    #[arg(long, default_value_t = 0.0)]
    pub margin: f64,
    /// Write both meshes, the nearest points and the contact points to this file.
    #[arg(long, value_name = "FILE.obj")]
    pub obj: Option<PathBuf>,
    /// Draw both bodies, the nearest points and the contact points to this file.
    #[arg(long, value_name = "FILE.png")]
    pub png: Option<PathBuf>,
}

/// Options of `sdf`.
#[derive(Debug, Args)]
pub struct Sdf {
    /// An OBJ, STL, glTF or GLB file of a closed surface.
    pub mesh: PathBuf,
    /// Cells along the longest side.
    #[arg(long, default_value_t = 64)]
    pub resolution: u32,
    /// Write the surface extracted from the field to this file.
    #[arg(long, value_name = "FILE.obj")]
    pub out: Option<PathBuf>,
    /// Draw a slice through the field to this file.
    #[arg(long, value_name = "FILE.png")]
    pub png: Option<PathBuf>,
    /// The axis perpendicular to the slice.
    #[arg(long, value_enum, default_value = "z", requires = "png")]
    pub across: Axis,
    /// Position of the slice on that axis, in metres [default: the centre of the solid].
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, requires = "png")]
    pub slice: Option<f64>,
}

/// An axis of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Axis {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
}

/// Units of length of a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// Millimetres.
    Mm,
    /// Centimetres.
    Cm,
    /// Metres.
    M,
    /// Inches.
    In,
}

impl Unit {
    /// In metres.
    pub const fn length(self) -> f64 {
        match self {
            Self::Mm => 1e-3,
            Self::Cm => 1e-2,
            Self::M => 1.0,
            Self::In => 0.0254,
        }
    }
}

/// Options of `validate`.
#[derive(Debug, Args)]
pub struct Validate {
    /// Only cases whose name contains this, such as `rotation`, `mass/cube` or `contact/bounce`.
    #[arg(default_value = "")]
    pub filter: String,
    /// Random experiments of each `contact/` class for each simulator and time step.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: u32,
    /// Number of the first experiment: with `--samples 1`, repeats one.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub first: u32,
    /// Seed of the random experiments.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Only this simulator, for `contact/` classes.
    #[arg(long, value_name = "NAME")]
    pub simulator: Option<String>,
    /// Time steps of the `contact/` classes, separated by commas [default: 1/60, 1/240 and 1/1000].
    #[arg(long, value_name = "SECONDS,…", value_delimiter = ',')]
    pub dt: Vec<f64>,
    /// Draw the distribution of the errors of `contact/` classes.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// List the cases instead of running them.
    #[arg(long, conflicts_with = "json")]
    pub list: bool,
    /// Write a page with the tests of accuracy for each simulator beside the figures of other engines, and the checks that were run.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// A part: its mesh and what it is made of.
#[derive(Debug, Args)]
pub struct PartFile {
    /// An OBJ, STL, glTF or GLB file of a closed surface.
    pub mesh: PathBuf,
    /// What one unit of the file is.
    #[arg(long, value_enum, default_value_t = Unit::M)]
    pub unit: Unit,
    /// Density of the part, kg/m³.
    #[arg(long, default_value_t = 1000.0, allow_negative_numbers = true)]
    pub density: f64,
    /// A solid inside the part, in the frame and unit of its file, with another density in kg/m³; may be repeated.
    #[arg(long, value_name = "FILE=DENSITY")]
    pub insert: Vec<String>,
    /// Take the convex hull of the mesh, filled, as the solid: for meshes that are not closed.
    #[arg(long)]
    pub hull: bool,
    /// Poses are one if the barrier between them is below this fraction of the height of the centre of mass.
    #[arg(long, default_value_t = 0.02, allow_negative_numbers = true)]
    pub smooth: f64,
}

/// Options of `poses`.
#[derive(Debug, Args)]
pub struct Poses {
    /// The part.
    #[command(flatten)]
    pub part: PartFile,
    /// Half-angle of the disturbance of the perturbed estimates, degrees.
    #[arg(long, value_name = "DEGREES", default_value_t = 20.0, allow_negative_numbers = true)]
    pub angle: f64,
    /// Coefficient of friction of part and surface.
    #[arg(long, default_value_t = 0.3, allow_negative_numbers = true)]
    pub mu: f64,
    /// Coefficient of restitution.
    #[arg(long, default_value_t = 0.3, allow_negative_numbers = true)]
    pub e: f64,
    /// Height of the lowest point of the part when it is released, m.
    #[arg(long, default_value_t = 0.12, allow_negative_numbers = true)]
    pub height: f64,
    /// Horizontal speed relative to the surface, m/s.
    #[arg(long, default_value_t = 0.05, allow_negative_numbers = true)]
    pub speed: f64,
    /// What it falls onto: on a floor the horizontal velocity has any direction, on a belt always the same; the bottom of a bowl is inclined by 5°.
    #[arg(long, value_enum, default_value_t = DropSurface::Floor)]
    pub surface: DropSurface,
    /// Drops of each method.
    #[arg(long, default_value_t = 2000, conflicts_with = "until", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub drops: u32,
    /// Drop until every 95 % interval is at most so far from its estimate, such as 1%.
    #[arg(long, value_name = "PERCENT")]
    pub until: Option<String>,
    /// How drops start: uniform orientations, the bootstrap of the source, from every pose (a transition matrix), all of these, or no drops.
    #[arg(long, value_enum, default_value_t = DropMethod::All)]
    pub method: DropMethod,
    /// Chains of the bootstrap; intervals need at least five.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub chains: u32,
    /// Seed of all random numbers: the same seed gives the same table.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of threads [default: one for each core].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// Simulator (see `rattleback components simulator`).
    #[arg(long, value_name = "NAME", default_value = "impulse")]
    pub simulator: String,
    /// Time step, s.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.01, allow_negative_numbers = true)]
    pub dt: f64,
    /// Also drop with half and twice the friction, restitution and height.
    #[arg(long)]
    pub sensitivity: bool,
    /// Also test whether the result depends on what it should not: time step, numbering and orientation of the mesh, split faces, simulator.
    #[arg(long)]
    pub independence: bool,
    /// Write all results to this file.
    #[arg(long, value_name = "FILE.json")]
    pub json: Option<PathBuf>,
    /// Write a row for each drop to this file, and a row for each pose to FILE.poses.parquet.
    #[arg(long, value_name = "FILE.parquet")]
    pub parquet: Option<PathBuf>,
    /// Write a report with pictures, in one file.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write a picture of the part in each pose to this folder.
    #[arg(long, value_name = "FOLDER")]
    pub pictures: Option<PathBuf>,
    /// Write a scene of 36 of the uniform drops side by side to this file, to watch with `rattleback view`.
    #[arg(long, value_name = "FILE.toml")]
    pub scene: Option<PathBuf>,
    /// Draw the estimates over the number of drops.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Compare with measured counts or shares.
    #[arg(long, value_name = "FILE.csv")]
    pub compare: Option<PathBuf>,
    /// Keep every drop in this file, and continue from it if it exists: a run that is ended at any time loses nothing.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

/// What parts fall onto.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DropSurface {
    /// Velocity in any direction.
    Floor,
    /// Velocity along x.
    Belt,
    /// Inclined by 5°, velocity in any direction.
    Bowl,
}

/// How drops start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DropMethod {
    /// Uniform, bootstrap and transition.
    All,
    /// Independent drops of uniform orientation.
    Uniform,
    /// From earlier results.
    Bootstrap,
    /// From every pose.
    Transition,
    /// By geometry alone.
    None,
}

/// Shown below the options of `gate`.
pub const GATE_HELP: &str = "\
Gates, with lengths in m and angles in degrees; a range such as 0.01..0.02/5 stands for so many gates:
  bar:clearance=0.012,angle=0      a bar across the track; parts higher than its underside are held, turned or tipped
  fence:angle=30,reach=0.03        a wall from the left edge of the track (right: reach < 0)
  step:height=0.02                 the track goes on at a lower level
  cutout:width=0.01,length=0.05    a part of the left side is missing (right: width < 0)
  none

Examples:
  rattleback gate part.stl --unit mm --gate bar:clearance=0.012
  rattleback gate part.stl --unit mm --gate bar:clearance=0.008..0.02/7 --plot bar.png
  rattleback gate part.stl --unit mm --gate bar:clearance=0.008..0.02/4 --gate cutout:width=0.01..0.04/4,length=0.05 --search 3 --want 1";

/// Options of `gate`.
#[derive(Debug, Args)]
pub struct GateOptions {
    /// The part.
    #[command(flatten)]
    pub part: PartFile,
    /// A gate, or a family of gates with ranges; may be repeated.
    #[arg(long, value_name = "KIND:NAME=VALUE,…", required = true)]
    pub gate: Vec<String>,
    /// What moves parts along the track.
    #[arg(long, value_enum, default_value_t = TransportKind::Conveyor)]
    pub transport: TransportKind,
    /// Speed of the conveyor, m/s.
    #[arg(long, default_value_t = 0.2, allow_negative_numbers = true)]
    pub speed: f64,
    /// Incline of gravity transport, degrees.
    #[arg(long, value_name = "DEGREES", default_value_t = 25.0, allow_negative_numbers = true)]
    pub incline: f64,
    /// Amplitude of vibratory transport, m.
    #[arg(long, default_value_t = 0.0004, allow_negative_numbers = true)]
    pub amplitude: f64,
    /// Frequency of vibratory transport, Hz.
    #[arg(long, default_value_t = 50.0, allow_negative_numbers = true)]
    pub frequency: f64,
    /// Direction of vibration above the track, degrees.
    #[arg(long, value_name = "DEGREES", default_value_t = 30.0, allow_negative_numbers = true)]
    pub vibration_angle: f64,
    /// Width of the track, m [default: four times the size of the part].
    #[arg(long, allow_negative_numbers = true)]
    pub width: Option<f64>,
    /// Largest distance of a part from the middle of the track when it comes, m [default: half the size of the part].
    #[arg(long, allow_negative_numbers = true)]
    pub offset: Option<f64>,
    /// Coefficient of friction.
    #[arg(long, default_value_t = 0.3, allow_negative_numbers = true)]
    pub mu: f64,
    /// Coefficient of restitution.
    #[arg(long, default_value_t = 0.3, allow_negative_numbers = true)]
    pub e: f64,
    /// Sectors of the heading that are told apart, besides poses.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=72))]
    pub headings: u32,
    /// Passages from each state through each gate.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub trials: u32,
    /// Shares of the poses that come, in percent and in the order of the table [default: quasi-static].
    #[arg(long, value_name = "P1,P2,…", value_delimiter = ',')]
    pub input: Vec<f64>,
    /// Poses that are wanted, by their numbers.
    #[arg(long, value_name = "POSE,…", value_delimiter = ',', default_value = "1")]
    pub want: Vec<usize>,
    /// Look for the best sequence of at most so many gates.
    #[arg(long, value_name = "GATES", value_parser = clap::value_parser!(u32).range(1..=12))]
    pub search: Option<u32>,
    /// Least share of wanted poses among the parts that leave, percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 99.0)]
    pub purity: f64,
    /// Draw what leaves over the first range of each gate.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Write all matrices and sequences to this file.
    #[arg(long, value_name = "FILE.json")]
    pub json: Option<PathBuf>,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of threads [default: one for each core].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// Simulator (see `rattleback components simulator`).
    #[arg(long, value_name = "NAME", default_value = "impulse")]
    pub simulator: String,
    /// Time step, s.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.005, allow_negative_numbers = true)]
    pub dt: f64,
}

/// What moves parts along a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransportKind {
    /// A belt.
    Conveyor,
    /// An incline.
    Gravity,
    /// A vibrating track.
    Vibratory,
}

/// Shown below the options of `array`.
pub const ARRAY_HELP: &str = "\
Thousands of plates tilt to and fro on torsion bars; tips at their edges feed a part that lies on them. `rattleback array --parameters` lists what can be set.

Examples:
  rattleback array --set tilt=1..4/4 --plot feed.png
  rattleback array --tiling uniform,checkered                     compares two tilings
  rattleback array --tips both --set second=0.5 --set second_phase=0..180/2
                                                                  an asymmetric script, and reversed";

/// Shown below the options of `stepper`.
pub const STEPPER_HELP: &str = "\
Jaws that swing at an angle hit a slider from both sides in turn. `rattleback stepper --parameters` lists what can be set.

Examples:
  rattleback stepper --set angle=30..150/9 --plot steps.png
  rattleback stepper --set friction=0.1..0.9/5 --set frequency=500..2000/4";

/// Options that `array` and `stepper` share.
#[derive(Debug, Args)]
pub struct MicroOptions {
    /// A parameter, or a range of it; may be repeated, and all combinations are run.
    #[arg(long, value_name = "NAME=VALUE|LOW..HIGH/COUNT")]
    pub set: Vec<String>,
    /// List the parameters with their defaults, units and ranges.
    #[arg(long)]
    pub parameters: bool,
    /// Runs of each design, from random starts.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub runs: u32,
    /// Draw the velocity over the first parameter with a range, with 95 % intervals.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Write all designs and runs to this file.
    #[arg(long, value_name = "FILE.json")]
    pub json: Option<PathBuf>,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of threads [default: one for each core].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
}

/// Options of `array`.
#[derive(Debug, Args)]
pub struct ArrayOptions {
    /// How plates are arranged; several are compared.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "uniform")]
    pub tiling: Vec<TilingKind>,
    /// On which sides of its torsion bar a plate has tips; both are compared.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "one")]
    pub tips: Vec<TipsKind>,
    /// What is varied.
    #[command(flatten)]
    pub micro: MicroOptions,
}

/// How plates of an array are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TilingKind {
    /// All alike.
    Uniform,
    /// Neighbours half a period apart.
    Checkered,
    /// Every other row shifted by half a pitch.
    Brick,
    /// The plates of one half mirrored.
    Squeeze,
}

/// Where plates have tips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TipsKind {
    /// On one side.
    One,
    /// On both sides.
    Both,
}

/// Shown below the options of `study`.
pub const STUDY_HELP: &str = "\
A study names a scene, what varies in it and what is measured; `rattleback new study.toml --study` writes a template. Built-in studies: \
`rattleback study --list`. The same study gives the same table, whatever the number of threads and however often it was interrupted.

Examples:
  rattleback study bowling --plot pins.png
  rattleback study study.toml --table runs.parquet --resume study.runs";

/// Options of `study`.
#[derive(Debug, Args)]
pub struct Study {
    /// Path of a study file, or name of a built-in study.
    #[arg(value_name = "STUDY", required_unless_present = "list")]
    pub file: Option<String>,
    /// List the built-in studies.
    #[arg(long)]
    pub list: bool,
    /// Write a row for each run to this file.
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    pub table: Vec<PathBuf>,
    /// Draw the mean of each result over a parameter; with several parameters, into a file for each, FILE-PARAMETER.png.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Keep every run in this file, and continue from it if it exists: a study that is ended at any time loses nothing.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Another number of samples than that of the file.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub samples: Option<u32>,
    /// Another number of repetitions.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub repetitions: Option<u32>,
    /// Another seed.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Number of threads [default: one for each core].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// Which files the scene may read.
    #[command(flatten)]
    pub files: SceneFiles,
}

/// Options of `bowling`.
#[derive(Debug, Args)]
pub struct Bowling {
    /// Throws of each kind, over a window of 40 cm.
    #[arg(long, default_value_t = 320, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub throws: u32,
    /// Seed of the start positions.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Draw the number of felled pins over the position of the ball.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// The benchmarks.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Steps of free tumbling bodies, compared with a plain copy of as much memory.
    FreeBodies {
        /// Number of bodies.
        #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=20_000_000))]
        bodies: u32,
        /// Number of steps to measure.
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        steps: u32,
        /// Number of threads.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
        threads: u32,
    },
    /// Broad phases: every space on every scene, with increasing numbers of boxes.
    Spaces(BenchSpaces),
    /// The scenes of the event-driven simulator.
    Impulse(BenchImpulse),
    /// Algorithms of articulated bodies in joint coordinates: time per call, growth, four states at a time.
    Multibody(BenchMultibody),
    /// Frames that a client of the viewer receives while a heap of bodies is simulated.
    Viewer {
        /// Number of bodies.
        #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        bodies: u32,
        /// Duration of the measurement.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
        seconds: u32,
        /// Number of threads of the simulator [default: one for each core].
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256))]
        threads: Option<u32>,
    },
}

/// Options of `bench multibody`.
#[derive(Debug, Args)]
pub struct BenchMultibody {
    /// Robots (URDF or MJCF) instead of the built-in ones.
    pub files: Vec<PathBuf>,
    /// Rounds of which the fastest counts.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rounds: u32,
}

/// Options of `bench impulse`.
#[derive(Debug, Args)]
pub struct BenchImpulse {
    /// Only scenes whose name contains this.
    #[arg(default_value = "")]
    pub filter: String,
    /// Stop a scene after this computing time.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub patience: u64,
    /// Number of threads; independent groups of bodies run in parallel.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Draw the collision checks per simulated second over time.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// Options of `bench spaces`.
#[derive(Debug, Args)]
pub struct BenchSpaces {
    /// Most boxes.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub max: u32,
    /// Only these spaces, separated by commas [default: all].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub spaces: Vec<String>,
    /// Number of threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Draw the time per moving box over the number of boxes.
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub plot: Option<PathBuf>,
}
