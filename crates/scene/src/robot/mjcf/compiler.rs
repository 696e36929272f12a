//! Settings of the element `compiler`.

use crate::robot::xml::{Element, Xml};
use crate::source::Read;
use std::path::PathBuf;

/// When the mass of a body follows from its geoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InertiaFromGeom {
    Always,
    Never,
    /// If there is no `inertial`.
    Auto,
}

/// Settings.
#[derive(Debug)]
pub(super) struct Compiler {
    /// Radians for a unit of angle.
    pub angle: f64,
    /// Axes of Euler angles: lower case turns with the body.
    pub euler: [u8; 3],
    pub autolimits: bool,
    pub inertia_from_geom: InertiaFromGeom,
    pub balance_inertia: bool,
    pub bound_mass: f64,
    pub bound_inertia: f64,
    /// Groups of geoms that count for the mass.
    pub inertia_groups: [f64; 2],
    pub total_mass: Option<f64>,
    pub mesh_folder: PathBuf,
    pub strip_path: bool,
}

impl Compiler {
    /// All `compiler` elements of the root ⇒ settings; later ones take precedence.
    pub fn read(xml: &Xml, root: &Element) -> Read<Self> {
        let mut settings = Self {
            angle: 1f64.to_radians(),
            euler: *b"xyz",
            autolimits: true,
            inertia_from_geom: InertiaFromGeom::Auto,
            balance_inertia: false,
            bound_mass: 0.0,
            bound_inertia: 0.0,
            inertia_groups: [0.0, 5.0],
            total_mass: None,
            mesh_folder: PathBuf::new(),
            strip_path: false,
        };
        for element in xml.children(root, "compiler") {
            settings.apply(element)?;
        }
        Ok(settings)
    }

    fn apply(&mut self, element: &Element) -> Read<()> {
        // `assetdir` first: `meshdir` takes precedence over it.
        if let Some(folder) = element.get("meshdir").or_else(|| element.get("assetdir")) {
            self.mesh_folder = PathBuf::from(&folder.value);
        }
        for given in &element.attributes {
            match given.name.as_str() {
                "angle" => {
                    self.angle = match given.value.as_str() {
                        "degree" => 1f64.to_radians(),
                        "radian" => 1.0,
                        _ => return Err(given.refuse("degree or radian")),
                    }
                }
                "eulerseq" => {
                    let axes = given.value.as_bytes().try_into().ok();
                    let known = |axes: &[u8; 3]| axes.iter().all(|axis| b"xyzXYZ".contains(axis));
                    self.euler =
                        axes.filter(known).ok_or_else(|| given.refuse("three of x, y, z, X, Y, Z"))?;
                }
                "coordinate" if given.value != "local" => {
                    return Err(given.refuse("local; global coordinates were removed from the format"));
                }
                "autolimits" => self.autolimits = given.flag()?,
                "inertiafromgeom" => {
                    self.inertia_from_geom = match given.value.as_str() {
                        "true" => InertiaFromGeom::Always,
                        "false" => InertiaFromGeom::Never,
                        "auto" => InertiaFromGeom::Auto,
                        _ => return Err(given.refuse("true, false or auto")),
                    }
                }
                "balanceinertia" => self.balance_inertia = given.flag()?,
                "boundmass" => self.bound_mass = given.number()?,
                "boundinertia" => self.bound_inertia = given.number()?,
                "inertiagrouprange" => self.inertia_groups = given.array()?,
                "settotalmass" => self.total_mass = Some(given.number()?).filter(|mass| *mass > 0.0),
                "strippath" => self.strip_path = given.flag()?,
                _ => {}
            }
        }
        Ok(())
    }
}
