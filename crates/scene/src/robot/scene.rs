//! Robot ⇒ scene of rigid bodies and joints between them, which every simulator runs.
//!
//! Links that are fixed to each other are one body. Maximal coordinates have no massless bodies: a link without mass between several joints of one body gets a
//! small share of the mass of the body beyond it. Couplings, springs and damping of joints, and armatures, have no counterpart and are left out; each of
//! these is a warning.

use super::build::link_poses;
use super::model::{Collider, RobotModel};
use crate::document::{Content, Key, Node, Table};
use crate::error::{Place, SceneWarning};
use crate::source::Span;
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::joint::SingleAxis;
use rattleback_geometry::{MassProperties, Pose, Shape};
use std::collections::BTreeSet;

/// Share of the mass beyond it that a massless link gets.
const SHARE: f64 = 0.02;
/// Radius of gyration that a body has at least, m: a point mass cannot turn.
const LEAST_GYRATION: f64 = 1e-3;
/// A limit that is no limit, rad or m.
const OPEN: f64 = 1e9;
/// Duration of a run, s.
const DURATION: f64 = 10.0;
/// Name of the static body with all shapes that do not move.
const FIXED: &str = "fixed parts";
/// Group of all moving bodies.
const GROUP: &str = "robot";

/// Links that are fixed to each other: mass about the frame of the first of them.
#[derive(Clone, Debug)]
struct Body {
    first: usize,
    parent: Option<usize>,
    mass: f64,
    moment: DVec3,
    /// Second moment of inertia about the frame's origin.
    inertia: DMat3,
}

/// (mass, centre, inertia about it) ⇒ inertia about the origin.
fn about_origin(mass: f64, c: DVec3, inertia: DMat3) -> DMat3 {
    let outer = DMat3::from_cols(c * c.x, c * c.y, c * c.z);
    inertia + (DMat3::from_diagonal(DVec3::splat(c.length_squared())) - outer) * mass
}

impl Body {
    fn add(&mut self, mass: f64, center: DVec3, inertia: DMat3) {
        self.mass += mass;
        self.moment += center * mass;
        self.inertia += about_origin(mass, center, inertia);
    }

    fn center(&self) -> DVec3 {
        if self.mass > 0.0 { self.moment / self.mass } else { DVec3::ZERO }
    }

    /// Inertia about the centre of mass.
    fn central(&self) -> DMat3 {
        self.inertia - about_origin(self.mass, self.center(), DMat3::ZERO)
    }

    /// Mass properties that a rigid body can have ⇒ and whether they are exact.
    fn possible(&self) -> (MassProperties, bool) {
        let (mass, center, inertia) = (self.mass, self.center(), self.central());
        let inertia = 0.5 * (inertia + inertia.transpose());
        if let Ok(exact) = MassProperties::new(mass, center, inertia) {
            return (exact, true);
        }
        let (moments, axes) = rattleback_geometry::symmetric_eigen(inertia);
        let moments = moments.max(DVec3::splat(mass * LEAST_GYRATION * LEAST_GYRATION));
        // I = J − λ 1 with all moments raised by the same amount fulfils the triangle inequality.
        let lacking = (2.0 * moments.max_element() - moments.element_sum()).max(0.0);
        let moments = moments + DVec3::splat(lacking * (1.0 + 1e-9));
        let inertia = axes * DMat3::from_diagonal(moments) * axes.transpose();
        (
            MassProperties { mass, center_of_mass: center, inertia: 0.5 * (inertia + inertia.transpose()) },
            false,
        )
    }
}

/// Entries of the table of a scene.
type Entries = Vec<(Key, Node)>;

fn node(content: Content) -> Node {
    Node { span: Span::default(), content }
}

fn entry(name: &str, content: Content) -> (Key, Node) {
    (Key { name: name.into(), span: Span::default() }, node(content))
}

fn text(name: &str, value: &str) -> (Key, Node) {
    entry(name, Content::Text(value.into()))
}

fn list(items: impl IntoIterator<Item = Content>) -> Content {
    Content::List(items.into_iter().map(node).collect())
}

fn reals(numbers: &[f64]) -> Content {
    list(numbers.iter().map(|x| Content::Real(*x)))
}

fn table_of(entries: Entries) -> Content {
    Content::Table(Table { entries })
}

fn vector(name: &str, v: DVec3) -> (Key, Node) {
    entry(name, reals(&v.to_array()))
}

fn turned(q: DQuat) -> (Key, Node) {
    entry("orientation", reals(&[q.w, q.x, q.y, q.z]))
}

/// A link's name as that of a body: without brackets, and not `world`.
fn body_name(name: &str) -> String {
    let name = name.replace('[', "(").replace(']', ")");
    if name == "world" || name.is_empty() { "world link".into() } else { name }
}

/// Robot ⇒ scene, and what it leaves out.
pub(crate) fn table(model: &RobotModel, origin: &str) -> (Table, Vec<SceneWarning>) {
    let mut scene = Writer::new(model);
    let mut entries = vec![
        text("title", if model.name.is_empty() { "A robot" } else { &model.name }),
        vector("gravity", model.gravity),
        entry("time_step", Content::Real(model.time_step.unwrap_or(1.0 / 240.0).clamp(1e-4, 1e-2))),
        entry("duration", Content::Real(DURATION)),
        entry("simulator", table_of(vec![text("type", "realtime")])),
    ];
    entries.extend(materials(model));
    let bodies = scene.bodies();
    entries.push(entry("body", list(bodies.into_iter().map(table_of))));
    let joints = scene.joints();
    if !joints.is_empty() {
        entries.push(entry("joint", list(joints.into_iter().map(table_of))));
    }
    entries.extend(scene.filter());
    let place =
        Place { origin: origin.into(), line: 1, column: 1, source_line: String::new(), offset: 0, width: 1 };
    let warning = |message| SceneWarning { place: place.clone(), message };
    (Table { entries }, scene.notes.into_iter().map(warning).collect())
}

struct Writer<'a> {
    model: &'a RobotModel,
    /// Joint positions in the initial state of the scene.
    initial: Vec<f64>,
    poses: Vec<Pose>,
    /// Body of each link; none for links that do not move.
    body_of: Vec<Option<usize>>,
    bodies: Vec<Body>,
    notes: BTreeSet<String>,
    has_fixed: bool,
}

impl<'a> Writer<'a> {
    fn new(model: &'a RobotModel) -> Self {
        let tree = &model.tree;
        let (initial, moved) = within_limits(model);
        let poses = link_poses(tree, &initial);
        let mut body_of: Vec<Option<usize>> = Vec::with_capacity(tree.links().len());
        let mut bodies: Vec<Body> = Vec::new();
        for (index, link) in tree.links().iter().enumerate() {
            let parent = link.parent.and_then(|parent| body_of[parent]);
            let own = if link.joint.velocity_count() == 0 {
                parent
            } else {
                let zero = DMat3::ZERO;
                bodies.push(Body { first: index, parent, mass: 0.0, moment: DVec3::ZERO, inertia: zero });
                Some(bodies.len() - 1)
            };
            body_of.push(own);
            if let Some(own) = own {
                let place = poses[bodies[own].first].relative(&poses[index]);
                let r = place.rotation_matrix();
                bodies[own].add(
                    link.mass,
                    place.point(link.center_of_mass),
                    r * link.inertia * r.transpose(),
                );
            }
        }
        let notes = BTreeSet::new();
        let mut writer = Self { model, initial, poses, body_of, bodies, notes, has_fixed: false };
        if moved {
            let note = "as a scene: positions of joints beyond their limits are put on them";
            writer.notes.insert(note.into());
        }
        writer.share_masses();
        writer
    }

    /// From the tips to the base: a body without mass takes a share of the first one beyond it.
    fn share_masses(&mut self) {
        for index in (0..self.bodies.len()).rev() {
            if self.bodies[index].mass > 0.0 {
                continue;
            }
            let beyond =
                (index + 1..self.bodies.len()).find(|other| self.bodies[*other].parent == Some(index));
            let Some(beyond) = beyond else { continue };
            let (mass, center, inertia) =
                (self.bodies[beyond].mass, self.bodies[beyond].center(), self.bodies[beyond].central());
            let place = self.poses[self.bodies[index].first].relative(&self.poses[self.bodies[beyond].first]);
            let r = place.rotation_matrix();
            let moved = r * inertia * r.transpose() * SHARE;
            self.bodies[index].add(SHARE * mass, place.point(center), moved);
            self.bodies[beyond].mass *= 1.0 - SHARE;
            self.bodies[beyond].moment *= 1.0 - SHARE;
            self.bodies[beyond].inertia *= 1.0 - SHARE;
            self.notes.insert(format!(
                "as a scene: links without mass get {} % of the mass beyond them",
                100.0 * SHARE
            ));
        }
    }

    fn name(&self, body: usize) -> String {
        body_name(&self.model.tree.links()[self.bodies[body].first].name)
    }

    fn bodies(&mut self) -> Vec<Entries> {
        let mut shapes: Vec<Vec<Content>> = vec![Vec::new(); self.bodies.len()];
        let mut fixed = Vec::new();
        for collider in &self.model.colliders {
            match collider.link.and_then(|link| self.body_of[link].map(|body| (link, body))) {
                Some((link, body)) => {
                    let place = self.poses[self.bodies[body].first].relative(&self.poses[link]);
                    shapes[body].extend(shape(collider, place));
                }
                None => fixed
                    .extend(shape(collider, collider.link.map_or(Pose::IDENTITY, |link| self.poses[link]))),
            }
        }
        let mut written = Vec::new();
        if !fixed.is_empty() {
            self.has_fixed = true;
            let shapes = entry("shape", list(fixed));
            written.push(vec![text("name", FIXED), text("status", "static"), shapes]);
        }
        for (index, shapes) in shapes.into_iter().enumerate() {
            let body = self.bodies[index].clone();
            let pose = self.poses[body.first];
            let (mass, exact) = body.possible();
            if !exact {
                let note = format!(
                    "as a scene: the inertia of body `{}` is none of a rigid body and was enlarged",
                    self.name(index)
                );
                self.notes.insert(note);
            }
            let inertia = mass.inertia.transpose().to_cols_array();
            let properties = vec![
                entry("mass", Content::Real(mass.mass)),
                vector("center", mass.center_of_mass),
                entry("inertia", reals(&inertia)),
            ];
            let mut entries = vec![
                text("name", &self.name(index)),
                vector("position", pose.translation),
                turned(pose.rotation),
                entry("mass_properties", table_of(properties)),
                entry("groups", list([Content::Text(GROUP.into())])),
            ];
            if !shapes.is_empty() {
                entries.push(entry("shape", list(shapes)));
            }
            written.push(entries);
        }
        written
    }

    fn joints(&mut self) -> Vec<Entries> {
        let mut written = Vec::new();
        for joint in &self.model.joints {
            let tree = &self.model.tree;
            let link = &tree.links()[joint.link];
            let pose = self.poses[joint.link];
            for (given, what) in [
                (joint.damping != 0.0, "damping of joints"),
                (joint.stiffness != 0.0, "springs of joints"),
                (link.armature != 0.0, "armatures of joints"),
            ] {
                if given {
                    self.notes.insert(format!("as a scene: {what} are left out"));
                }
            }
            let Some(own) = self.body_of[joint.link] else { continue };
            let mut entries = match (link.joint.single_axis(), link.joint.name()) {
                (Some(SingleAxis::Rotation(axis)), _) => {
                    vec![text("type", "revolute"), vector("axis", pose.vector(axis))]
                }
                (Some(SingleAxis::Translation(axis)), _) => {
                    vec![text("type", "prismatic"), vector("axis", pose.vector(axis))]
                }
                (None, "spherical") => vec![text("type", "spherical")],
                (None, "planar") => vec![text("type", "planar"), turned(pose.rotation)],
                _ => continue,
            };
            let parent = self.bodies[own].parent.map(|parent| Content::Text(self.name(parent)));
            let ends = parent.into_iter().chain([Content::Text(self.name(own))]);
            entries.extend([
                text("name", &joint.name),
                entry("bodies", list(ends)),
                vector("position", pose.translation),
            ]);
            if link.joint.single_axis().is_some() {
                if joint.friction > 0.0 {
                    entries.push(entry("friction", Content::Real(joint.friction)));
                }
                if let Some([low, high]) = joint.limit {
                    // Joints of a scene count from the initial state.
                    let start = self.initial[tree.positions_of(joint.link).start];
                    let (low, high) = (low - start, high - start);
                    entries.extend([
                        entry("limited", Content::Bool(true)),
                        entry("min", Content::Real(low.clamp(-OPEN, OPEN))),
                        entry("max", Content::Real(high.clamp(-OPEN, OPEN))),
                    ]);
                }
            }
            written.push(entries);
        }
        for closure in &self.model.loops {
            written.extend(self.closure(closure));
        }
        for (missing, what) in [
            (!self.model.couplings.is_empty(), "couplings of joints"),
            (!self.model.actuators.is_empty(), "actuators"),
        ] {
            if missing {
                self.notes.insert(format!("as a scene: {what} are left out"));
            }
        }
        written
    }

    /// A loop as a joint between two bodies.
    fn closure(&self, closure: &rattleback_dynamics::multibody::LoopClosure) -> Option<Entries> {
        let kind = match closure.kind {
            rattleback_dynamics::multibody::LoopKind::Fixed => "fixed",
            _ => "spherical",
        };
        let bodies = closure.links.map(|link| link.and_then(|link| self.body_of[link]));
        let names: Vec<Content> =
            bodies.into_iter().flatten().map(|body| Content::Text(self.name(body))).collect();
        if names.is_empty() || bodies[0] == bodies[1] {
            return None;
        }
        let pose = closure.links[0].map_or(Pose::IDENTITY, |link| self.poses[link]);
        Some(vec![
            text("type", kind),
            text("name", &closure.name),
            entry("bodies", list(names)),
            vector("position", pose.point(closure.points[0])),
        ])
    }

    /// Parts of a robot do not collide with each other: hulls of neighbouring links overlap.
    fn filter(&self) -> Option<(Key, Node)> {
        if self.bodies.is_empty() {
            return None;
        }
        let robot = || Content::Text(GROUP.into());
        let mut rules = vec![table_of(vec![entry("groups", list([robot(), robot()]))])];
        if self.has_fixed {
            // What is fixed to the world and what hangs on it overlap as neighbouring links do.
            for (index, body) in self.bodies.iter().enumerate() {
                let holds = self.model.tree.links()[body.first].joint.velocity_count() < 6;
                if body.parent.is_none() && holds {
                    let pair = list([Content::Text(FIXED.into()), Content::Text(self.name(index))]);
                    rules.push(table_of(vec![entry("bodies", pair)]));
                }
            }
        }
        Some(entry("filter", table_of(vec![entry("forbid", list(rules))])))
    }
}

/// Joint positions of the pose in the file, those beyond a limit put on it ⇒ and whether there are such. A limit that is violated from the
/// start would push the joint back with a force that no robot has.
pub(super) fn within_limits(model: &RobotModel) -> (Vec<f64>, bool) {
    let mut q = model.initial.clone();
    for joint in &model.joints {
        let Some([low, high]) = joint.limit.filter(|[low, high]| low <= high) else { continue };
        let velocities = model.tree.velocities_of(joint.link);
        if let Some(place) =
            model.tree.position_of_velocity(velocities.start).filter(|_| velocities.len() == 1)
        {
            q[place] = q[place].clamp(low, high);
        }
    }
    let moved = q != model.initial;
    (q, moved)
}

/// Name of the material of shapes with a friction coefficient.
pub(super) fn material_name(friction: f64) -> String {
    format!("friction {friction}")
}

/// A material for every friction coefficient of a shape.
fn materials(model: &RobotModel) -> Option<(Key, Node)> {
    let mut frictions: Vec<f64> = model.colliders.iter().filter_map(|collider| collider.friction).collect();
    frictions.sort_by(f64::total_cmp);
    frictions.dedup();
    let material = |friction: &f64| {
        let both = ["static_friction", "kinetic_friction"].map(|key| entry(key, Content::Real(*friction)));
        entry(&material_name(*friction), table_of(both.into()))
    };
    let entries: Entries = frictions.iter().map(material).collect();
    (!entries.is_empty()).then(|| entry("materials", table_of(entries)))
}

/// A collider on a body whose frame is at `place` of the link's ⇒ shape of the scene.
fn shape(collider: &Collider, place: Pose) -> Option<Content> {
    let real = |name: &str, x: f64| entry(name, Content::Real(x));
    let mut entries = match &collider.shape {
        Shape::Sphere(sphere) => vec![text("type", "sphere"), real("radius", sphere.radius())],
        Shape::Cuboid(cuboid) => vec![text("type", "box"), vector("half_extents", cuboid.half_extents())],
        Shape::Cylinder(round) => {
            vec![text("type", "cylinder"), real("radius", round.radius()), real("height", round.height())]
        }
        Shape::Capsule(round) => {
            vec![text("type", "capsule"), real("radius", round.radius()), real("height", round.height())]
        }
        Shape::Ellipsoid(ellipsoid) => {
            vec![text("type", "ellipsoid"), vector("semi_axes", ellipsoid.semi_axes())]
        }
        Shape::HalfSpace(_) => vec![text("type", "half-space")],
        Shape::Convex(convex) => {
            let vertices = convex.polyhedron().vertices().iter().map(|vertex| reals(&vertex.to_array()));
            vec![text("type", "convex"), entry("vertices", list(vertices))]
        }
        _ => return None,
    };
    let pose = place * collider.pose;
    entries.extend([vector("position", pose.translation), turned(pose.rotation)]);
    entries.extend(collider.friction.map(|friction| text("material", &material_name(friction))));
    Some(table_of(entries))
}
