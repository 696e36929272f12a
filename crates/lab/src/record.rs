//! Runs as tables: CSV, or Parquet if the file is called so.
//!
//! Two files, because bodies and the world have different rows.
//!
//! `NAME.csv` or `NAME.parquet`, one row for each recorded time and each body that is not fixed (the *tidy* form: filter or pivot by
//! `body`):
//!
//! | column | is |
//! |---|---|
//! | `time` | s |
//! | `body` | its name, or `#` and its slot |
//! | `x`, `y`, `z` | origin of the body frame, m |
//! | `qw`, `qx`, `qy`, `qz` | attitude, body → world, unit quaternion |
//! | `vx`, `vy`, `vz` | velocity of the centre of mass, m/s |
//! | `omega_x`, `omega_y`, `omega_z` | angular velocity in the world frame, rad/s |
//!
//! `NAME.energy.csv` or `NAME.energy.parquet`, one row for each recorded time:
//!
//! | column | is |
//! |---|---|
//! | `time` | s |
//! | `kinetic_energy`, `potential_energy`, `energy` | J |
//! | `px`, `py`, `pz` | momentum, kg·m/s |
//! | `lx`, `ly`, `lz` | angular momentum about the origin, kg·m²/s |
//!
//! In a CSV file numbers have as many digits as are needed to read back the same number. Text is UTF-8, a name with a
//! comma, quote or line break is quoted as in RFC 4180.

use crate::channel::body_label;
use crate::parquet::{Cell, ColumnType, ParquetWriter};
use rattleback_dynamics::{Readout, Status, World};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Header of the table of bodies.
pub const BODY_HEADER: &str = "time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,omega_x,omega_y,omega_z";
/// Header of the table of energies.
pub const ENERGY_HEADER: &str = "time,kinetic_energy,potential_energy,energy,px,py,pz,lx,ly,lz";

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct RecordError {
    /// Which file.
    pub path: PathBuf,
    /// The file system's words.
    pub source: io::Error,
}

/// One file being written.
#[derive(Debug)]
struct Table {
    path: PathBuf,
    out: Format,
}

#[derive(Debug)]
enum Format {
    Csv(BufWriter<File>),
    Parquet(Box<ParquetWriter<BufWriter<File>>>),
}

impl Table {
    fn create(path: PathBuf, header: &str) -> Result<Self, RecordError> {
        let named = |source| RecordError { path: path.clone(), source };
        let file = BufWriter::new(File::create(&path).map_err(named)?);
        let out = if is_parquet(&path) {
            let columns: Vec<_> = header.split(',').map(|name| (name, column_type(name))).collect();
            Format::Parquet(Box::new(ParquetWriter::new(file, &columns).map_err(named)?))
        } else {
            let mut file = file;
            writeln!(file, "{header}").map_err(named)?;
            Format::Csv(file)
        };
        Ok(Self { path, out })
    }

    /// (time, name if the table has one, all other numbers) ⇒ one row more.
    fn row(&mut self, time: f64, name: Option<&str>, numbers: &[f64]) -> Result<(), RecordError> {
        let written = match &mut self.out {
            Format::Csv(out) => csv_row(out, time, name, numbers),
            Format::Parquet(writer) => {
                let cells = std::iter::once(Cell::Number(time)).chain(name.map(Cell::Text));
                let cells: Vec<Cell<'_>> = cells.chain(numbers.iter().map(|x| Cell::Number(*x))).collect();
                writer.row(&cells)
            }
        };
        written.map_err(|source| RecordError { path: self.path.clone(), source })
    }

    fn finish(self) -> Result<(), RecordError> {
        let written = match self.out {
            Format::Csv(mut out) => out.flush(),
            Format::Parquet(writer) => writer.finish().map(|_| ()),
        };
        written.map_err(|source| RecordError { path: self.path, source })
    }
}

fn csv_row(out: &mut impl Write, time: f64, name: Option<&str>, numbers: &[f64]) -> io::Result<()> {
    write!(out, "{time}")?;
    if let Some(name) = name {
        write!(out, ",{}", quoted(name))?;
    }
    for number in numbers {
        write!(out, ",{number}")?;
    }
    writeln!(out)
}

fn column_type(name: &str) -> ColumnType {
    if name == "body" { ColumnType::Text } else { ColumnType::Number }
}

/// Whether a table of this name is written as Parquet.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Writes the states of a world during a run.
///
/// ```
/// use rattleback_dynamics::{Body, World};
/// use rattleback_geometry::Shape;
/// use rattleback_lab::record::Recorder;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let path = std::env::temp_dir().join(format!("rattleback-doctest-{}.csv", std::process::id()));
/// let mut world = World::default();
/// world.add_body(Body::dynamic().named("ball").with_shape(Shape::sphere(0.1)?))?;
/// let mut recorder = Recorder::create(&path)?;
/// recorder.record(&world, &world.readout())?;
/// recorder.finish()?;
/// assert!(std::fs::read_to_string(&path)?.contains("\n0,ball,0,0,0,1,"));
/// # std::fs::remove_file(&path)?;
/// # std::fs::remove_file(path.with_extension("energy.csv"))?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Recorder {
    bodies: Table,
    energies: Table,
    rows: u64,
}

impl Recorder {
    /// Path of the table of bodies ⇒ recorder; the energies go to the same name with `.energy` before its extension.
    ///
    /// # Errors
    /// A file that cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, RecordError> {
        let path = path.as_ref();
        let bodies = Table::create(path.to_owned(), BODY_HEADER)?;
        let energies = Table::create(energy_path(path), ENERGY_HEADER)?;
        Ok(Self { bodies, energies, rows: 0 })
    }

    /// Writes the world as it is now.
    ///
    /// # Errors
    /// Writing failed.
    pub fn record(&mut self, world: &World, readout: &Readout) -> Result<(), RecordError> {
        let time = readout.time;
        for body in world.iter_bodies().filter(|body| body.status() != Status::Fixed) {
            let (position, q) = (body.position().to_array(), body.orientation());
            let ([vx, vy, vz], [wx, wy, wz]) =
                (body.velocity().to_array(), body.angular_velocity().to_array());
            let [x, y, z] = position;
            let numbers = [x, y, z, q.w, q.x, q.y, q.z, vx, vy, vz, wx, wy, wz];
            self.bodies.row(time, Some(&body_label(&body)), &numbers)?;
            self.rows += 1;
        }
        let ([px, py, pz], [lx, ly, lz]) = (readout.momentum.to_array(), readout.angular_momentum.to_array());
        let energies = [readout.kinetic_energy, readout.potential_energy, readout.energy()];
        self.energies.row(time, None, &[&energies[..], &[px, py, pz, lx, ly, lz]].concat())
    }

    /// Puts everything on disk ⇒ number of rows in the table of bodies.
    ///
    /// # Errors
    /// Writing failed.
    pub fn finish(self) -> Result<u64, RecordError> {
        self.bodies.finish()?;
        self.energies.finish()?;
        Ok(self.rows)
    }

    /// Where the energies go.
    pub fn energy_path(&self) -> &Path {
        &self.energies.path
    }
}

/// `run.csv` ⇒ `run.energy.csv`.
fn energy_path(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = if is_parquet(path) { "parquet" } else { "csv" };
    path.with_file_name(format!("{stem}.energy.{extension}"))
}

/// A field of a CSV file, in quotes if it needs them.
pub(crate) fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_break_a_table_are_quoted() {
        assert_eq!(quoted("ball"), "ball");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("the \"big\" one"), "\"the \"\"big\"\" one\"");
    }

    #[test]
    fn energies_go_beside_the_bodies() {
        assert_eq!(energy_path(Path::new("out/run.csv")), Path::new("out/run.energy.csv"));
        assert_eq!(energy_path(Path::new("out/run.parquet")), Path::new("out/run.energy.parquet"));
        assert_eq!(energy_path(Path::new("run")), Path::new("run.energy.csv"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Recorder::create("no/such/folder/run.csv").unwrap_err();
        assert!(error.to_string().contains("no/such/folder/run.csv"));
    }
}
