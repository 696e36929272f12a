//! A robot as read from a file.

use super::actuator::{ActuatorLaw, RobotActuator};
use super::mesh::MeshFiles;
use super::xml::{MAX_ROBOT_BYTES, Notes, Xml};
use super::{mjcf, urdf};
use crate::error::{Problem, SceneError, SceneWarning};
use crate::file_access::FileAccess;
use crate::source::{Fault, Source, Span};
use glam::DVec3;
use rattleback_dynamics::multibody::{
    Actuator, Coupling, DynamicsError, Element, ExtendedDynamics, Friction, Limit, LinkTree, LoopClosure,
    Mechanism, MechanismError, Workspace, center_of_mass, forward_kinematics,
};
use rattleback_geometry::{Pose, Shape};
use std::path::Path;

/// How the root link of a URDF file is connected to the world; MJCF files contain it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// It is fixed.
    #[default]
    Fixed,
    /// It has a free joint, called `root_joint`.
    Floating,
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotOptions {
    /// Base of a URDF file.
    pub base: Base,
    /// Which files it may name: meshes and included files.
    pub access: FileAccess,
    /// Whether collision meshes are read. Without them, links of an MJCF file whose mass follows from a mesh cannot be read.
    pub meshes: bool,
}

impl Default for RobotOptions {
    fn default() -> Self {
        Self { base: Base::Fixed, access: FileAccess::SceneFolder, meshes: true }
    }
}

/// A joint of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotJoint {
    /// Name; of an MJCF joint without one, the name of its body and a number.
    pub name: String,
    /// Index of the link of the tree that it moves.
    pub link: usize,
    /// Lowest and highest position, rad or m; none if it is not limited, and of joints with quaternions.
    pub limit: Option<[f64; 2]>,
    /// Largest force, N·m or N; infinite if it is not limited.
    pub max_force: f64,
    /// Largest speed, rad/s or m/s; infinite if it is not limited. The mechanism does not enforce it.
    pub max_speed: f64,
    /// Viscous damping, N·m·s/rad or N·s/m.
    pub damping: f64,
    /// Dry friction, N·m or N.
    pub friction: f64,
    /// Stiffness of a spring, N·m/rad or N/m.
    pub stiffness: f64,
    /// Position at which the spring is at rest, rad or m.
    pub spring_rest: f64,
}

/// A shape for collisions.
#[derive(Clone, Debug)]
pub struct Collider {
    /// Index of the link of the tree; none for the world.
    pub link: Option<usize>,
    /// Shape; of a mesh its convex hull.
    pub shape: Shape,
    /// Pose in the link's frame.
    pub pose: Pose,
    /// Friction coefficient, if the file gives one.
    pub friction: Option<f64>,
}

/// A robot as read from a URDF or MJCF file.
///
/// ```
/// use rattleback_scene::robot::{RobotModel, RobotOptions};
///
/// let robot = RobotModel::parse(
///     r#"<mujoco><worldbody><body>
///          <joint name="hinge" axis="0 1 0"/>
///          <inertial pos="0 0 -2" mass="3" diaginertia="1e-9 1e-9 1e-9"/>
///        </body></worldbody></mujoco>"#,
///     "pendulum.xml",
///     &RobotOptions::default(),
/// )?;
/// // A point mass on a rod of 2 m: φ̈ = −g/l sin φ.
/// let a = robot.accelerations(&[0.5], &[0.0], &[0.0])?;
/// assert!((a[0] + 9.81 / 2.0 * 0.5_f64.sin()).abs() < 1e-9);
///
/// let error = RobotModel::parse("<robot name='r'><link/></robot>", "r.urdf", &RobotOptions::default());
/// assert!(error.unwrap_err().to_string().starts_with("r.urdf:1:17: <link> needs `name`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RobotModel {
    pub(super) name: String,
    pub(super) tree: LinkTree,
    pub(super) links: Vec<usize>,
    pub(super) joints: Vec<RobotJoint>,
    pub(super) colliders: Vec<Collider>,
    pub(super) couplings: Vec<Coupling>,
    pub(super) loops: Vec<LoopClosure>,
    pub(super) exclusions: Vec<[Option<usize>; 2]>,
    pub(super) actuators: Vec<RobotActuator>,
    pub(super) gravity: DVec3,
    pub(super) time_step: Option<f64>,
    pub(super) initial: Vec<f64>,
    pub(super) warnings: Vec<SceneWarning>,
}

impl RobotModel {
    /// (text, name in messages, options) ⇒ robot. The root element determines the format. Paths of meshes are relative to the current folder.
    ///
    /// # Errors
    /// The first error in the text and its place.
    pub fn parse(text: &str, origin: &str, options: &RobotOptions) -> Result<Self, SceneError> {
        let mut source = Source::new(origin, text.into());
        Self::read(&mut source, text, Path::new(""), *options).map_err(|fault| source.error(fault))
    }

    /// Path of a file ⇒ robot. Paths of meshes and included files are relative to its folder.
    ///
    /// # Errors
    /// A file that cannot be read, or the first error in it and its place.
    pub fn load(path: &Path, options: &RobotOptions) -> Result<Self, SceneError> {
        let text = crate::scene::read_text(path, MAX_ROBOT_BYTES)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut source = Source::new(&path.display().to_string(), text.clone());
        Self::read(&mut source, &text, folder, *options).map_err(|fault| source.error(fault))
    }

    /// (source, to which included files are added, its text, folder, options) ⇒ robot.
    pub(crate) fn read(
        source: &mut Source,
        text: &str,
        folder: &Path,
        options: RobotOptions,
    ) -> Result<Self, Fault> {
        if text.len() as u64 > MAX_ROBOT_BYTES {
            let (found, limit) = (text.len().to_string(), MAX_ROBOT_BYTES as usize);
            return Err(Fault::new(
                Span::default(),
                Problem::Limit { what: "bytes of a robot", found, limit },
            ));
        }
        let mut xml = Xml::parse(text, 0)?;
        let (mut notes, meshes) = (Notes::default(), MeshFiles::new(folder, options));
        let root = &xml.elements[0];
        let draft = match root.tag.as_str() {
            "robot" => urdf::read(&xml, options, meshes, &mut notes)?,
            "mujoco" | "mujocoinclude" => {
                mjcf::include::resolve(&mut xml, source, folder, options.access)?;
                mjcf::read(&xml, meshes, &mut notes)?
            }
            _ => return Err(root.conflict("a robot begins with <robot> (URDF) or <mujoco> (MJCF)")),
        };
        let mut model = draft.build(&mut notes)?;
        model.warnings = notes.finish(source);
        Ok(model)
    }

    /// Whether the name of a file is that of a robot: `.urdf`, `.xml` or `.mjcf`.
    pub fn is_robot_file(path: &Path) -> bool {
        is_robot(&path.display().to_string())
    }

    /// Its name; empty if the file gives none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Links and joints in joint coordinates.
    pub const fn multibody(&self) -> &LinkTree {
        &self.tree
    }

    /// Indices of the links that the file names, among those of the tree; the others are between several joints of one body.
    pub fn links(&self) -> &[usize] {
        &self.links
    }

    /// Joints, fixed ones left out.
    pub fn joints(&self) -> &[RobotJoint] {
        &self.joints
    }

    /// Name ⇒ joint.
    pub fn joint(&self, name: &str) -> Option<&RobotJoint> {
        self.joints.iter().find(|joint| joint.name == name)
    }

    /// Shapes for collisions.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// Equations between joint positions: `mimic` in URDF, `equality/joint` in MJCF.
    pub fn couplings(&self) -> &[Coupling] {
        &self.couplings
    }

    /// Connections that close loops: `equality/connect` and `equality/weld`.
    pub fn loops(&self) -> &[LoopClosure] {
        &self.loops
    }

    /// Pairs of links that must not collide; none is the world.
    pub fn exclusions(&self) -> &[[Option<usize>; 2]] {
        &self.exclusions
    }

    /// Actuators.
    pub fn actuators(&self) -> &[RobotActuator] {
        &self.actuators
    }

    /// Gravity, m/s².
    pub const fn gravity(&self) -> DVec3 {
        self.gravity
    }

    /// Joint positions of the pose in the file.
    pub fn initial_positions(&self) -> &[f64] {
        &self.initial
    }

    /// What the file contains and the model does not, with lines.
    pub fn warnings(&self) -> &[SceneWarning] {
        &self.warnings
    }

    /// Joint positions ⇒ mass, kg, and centre of mass in the world, m.
    ///
    /// # Errors
    /// Another number of positions than the tree has.
    pub fn center_of_mass(&self, q: &[f64]) -> Result<(f64, DVec3), DynamicsError> {
        let expected = self.tree.position_count();
        if q.len() != expected {
            return Err(DynamicsError::Length { what: "positions", found: q.len(), expected });
        }
        let mut work = Workspace::<f64>::new(&self.tree);
        forward_kinematics(&self.tree, &mut work, q);
        let (mass, center) = center_of_mass(&self.tree, &work);
        Ok((mass, center.lane(0)))
    }

    /// (positions, velocities, joint forces) ⇒ joint accelerations of the tree under gravity, without what is in the joints: good to the last digits also at
    /// joints that move almost no mass ([`ExtendedDynamics`]).
    ///
    /// # Errors
    /// Slices of another length than the tree needs, or a joint that moves no mass.
    pub fn accelerations(&self, q: &[f64], v: &[f64], forces: &[f64]) -> Result<Vec<f64>, DynamicsError> {
        let mut accelerations = vec![0.0; self.tree.velocity_count()];
        let mut dynamics = ExtendedDynamics::new(&self.tree);
        dynamics.forward(&self.tree, (q, v, forces), None, self.gravity, &mut accelerations)?;
        Ok(accelerations)
    }

    /// The tree with springs, dampers, friction, limits, couplings, loops and the actuators whose law is a force, at rest in the pose of the file.
    ///
    /// # Errors
    /// Numbers that a mechanism refuses.
    pub fn mechanism(&self) -> Result<Mechanism, MechanismError> {
        let mut mechanism = Mechanism::new(self.tree.clone());
        mechanism.set_gravity(self.gravity);
        mechanism.set_state(&self.initial, &vec![0.0; self.tree.velocity_count()])?;
        for joint in &self.joints {
            for axis in self.tree.velocities_of(joint.link) {
                if joint.stiffness != 0.0 {
                    let (stiffness, rest) = (joint.stiffness, joint.spring_rest);
                    mechanism.add_element(Element::Spring { axis, stiffness, rest })?;
                }
                if joint.damping != 0.0 {
                    mechanism.add_element(Element::Damper { axis, coefficient: joint.damping })?;
                }
                if joint.friction != 0.0 {
                    mechanism.add_friction(Friction { axis, force: joint.friction })?;
                }
                if let Some(range) = joint.limit {
                    mechanism.add_limit(Limit { axis, range, restitution: 0.0 })?;
                }
            }
        }
        for actuator in &self.actuators {
            let axis = self.tree.velocities_of(self.joints[actuator.joint].link).start;
            if actuator.law == ActuatorLaw::Force {
                mechanism.add_actuator(Actuator { axis, gear: actuator.gear, range: actuator.range })?;
            }
        }
        for coupling in &self.couplings {
            mechanism.add_coupling(coupling.clone())?;
        }
        for closure in &self.loops {
            mechanism.add_loop(closure.clone())?;
        }
        Ok(mechanism)
    }
}

/// Whether a file is a robot, by its name.
pub(crate) fn is_robot(origin: &str) -> bool {
    let extension = Path::new(origin).extension().and_then(|extension| extension.to_str());
    extension
        .is_some_and(|given| ["urdf", "xml", "mjcf"].iter().any(|known| given.eq_ignore_ascii_case(known)))
}
