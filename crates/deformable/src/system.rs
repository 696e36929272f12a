//! Deformable and rigid bodies that move together.

mod snapshot;
mod tear;

use std::ops::Range;

use glam::DVec3;
use rattleback_geometry::{Pose, TriangleMesh};
use serde::{Deserialize, Serialize};

use crate::contact::candidates::{Candidates, Surface};
use crate::contact::{EdgeThroughTriangle, intersections};
use crate::element::{Affine, Element};
use crate::error::check;
use crate::forces::{Air, Anchor, Attachment, Pressure};
use crate::rigid::{angular_velocity, frame, rigid_body};
use crate::step::Workspace;
use crate::{Deformable, DeformableError, RigidBody, RigidStatus, Settings};

/// A plane that nothing passes; n·x ≥ offset is free.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plane {
    pub normal: DVec3,
    pub offset: f64,
    pub friction: f64,
}

/// A surface point: what its position follows from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SurfacePoint {
    /// A vertex.
    Vertex(u32),
    /// A point of a rigid body: index of c, place in the principal frame.
    Rigid(u32, DVec3),
}

/// Energies of a system, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// ½ Σ m v²
    pub kinetic: f64,
    /// Of all elements and attachments.
    pub elastic: f64,
    /// −Σ m g·x
    pub gravitational: f64,
    /// Of enclosed gas.
    pub pressure: f64,
}

impl Energies {
    /// Their sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.gravitational + self.pressure
    }
}

/// All that a snapshot contains.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub model: Deformable,
    pub settings: Settings,
    pub time: f64,
    /// Unknowns that are axes of rigid bodies, not points.
    pub axis: Vec<bool>,
    /// Group of each vertex: the body it was added with.
    pub group: Vec<u32>,
    /// Coefficient of friction of each group.
    pub friction: Vec<f64>,
    /// Where pinned vertices are at the end of the next step.
    pub target: Vec<DVec3>,
    pub affines: Vec<Affine>,
    pub bodies: Vec<RigidBody>,
    pub planes: Vec<Plane>,
    pub attachments: Vec<Attachment>,
    pub pressures: Vec<Pressure>,
    pub air: Option<Air>,
    /// Stretch of an edge at which cloth tears.
    pub tear_stretch: Option<f64>,
    /// Whether surfaces were found free of intersections since the last change.
    pub verified: bool,
}

/// Deformable and rigid bodies, planes and what acts on them.
///
/// ```
/// use rattleback_deformable::{Cloth, DeformableSystem};
/// let mut system = DeformableSystem::default();
/// let cloth = system.add(&Cloth::default().grid(11, 11, 0.1)?)?;
/// system.pin(cloth.start)?;
/// for _ in 0..10 {
///     system.step(1.0 / 60.0)?;
/// }
/// assert!(system.position()[cloth.end - 1].z < -0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct DeformableSystem {
    pub(crate) state: State,
    pub(crate) work: Workspace,
    /// Surface and search structure of the present topology.
    pub(crate) surface: Surface,
    pub(crate) points: Vec<SurfacePoint>,
    /// For each surface point: mass for the barrier, coefficient of friction, place at rest.
    pub(crate) point_mass: Vec<f64>,
    pub(crate) point_friction: Vec<f64>,
    pub(crate) point_rest: Vec<DVec3>,
    pub(crate) candidates: Candidates,
    /// The topology has changed since surface, matrix and plans were made.
    pub(crate) changed: bool,
}

impl DeformableSystem {
    /// An empty system.
    pub fn new(settings: Settings) -> Self {
        Self { state: State { settings, ..State::default() }, ..Self::default() }
    }

    /// Settings, changeable at any time.
    pub const fn settings_mut(&mut self) -> &mut Settings {
        &mut self.state.settings
    }

    /// Settings.
    pub const fn settings(&self) -> &Settings {
        &self.state.settings
    }

    /// Time, s.
    pub const fn time(&self) -> f64 {
        self.state.time
    }

    /// Vertices and elements. Of the vertices some belong to rigid bodies: the centre and the three axes of each.
    pub const fn model(&self) -> &Deformable {
        &self.state.model
    }

    /// Positions, m.
    pub fn position(&self) -> &[DVec3] {
        &self.state.model.position
    }

    /// Velocities, m/s.
    pub fn velocity(&self) -> &[DVec3] {
        &self.state.model.velocity
    }

    /// Sets position and velocity of a vertex. Surfaces are searched for intersections at the next step.
    ///
    /// # Errors
    /// No such vertex, or not finite.
    pub fn set_vertex(&mut self, vertex: usize, x: DVec3, v: DVec3) -> Result<(), DeformableError> {
        self.check_vertex(vertex)?;
        if !(x.is_finite() && v.is_finite()) {
            return Err(DeformableError::NonFiniteState { what: "position or velocity", vertex });
        }
        let state = &mut self.state;
        (state.model.position[vertex], state.model.velocity[vertex], state.target[vertex]) = (x, v, x);
        state.verified = false;
        Ok(())
    }

    /// Adds a deformable body ⇒ its vertices.
    ///
    /// # Errors
    /// A body whose arrays or indices are not valid, or too many vertices.
    pub fn add(&mut self, body: &Deformable) -> Result<Range<usize>, DeformableError> {
        self.add_with_friction(body, 0.3)
    }

    /// The same with a coefficient of friction; that of a pair is the geometric mean.
    ///
    /// # Errors
    /// As [`add`](Self::add), or a coefficient that is negative or not finite.
    pub fn add_with_friction(
        &mut self,
        body: &Deformable,
        friction: f64,
    ) -> Result<Range<usize>, DeformableError> {
        body.validate()?;
        check("friction", friction, friction >= 0.0, "≥ 0")?;
        let range = self.state.model.append(body)?;
        let group = self.state.friction.len() as u32;
        self.state.friction.push(friction);
        self.state.axis.resize(range.end, false);
        self.state.group.resize(range.end, group);
        self.state.target.extend_from_slice(&body.position);
        self.topology_changed();
        Ok(range)
    }

    /// Adds a rigid body with a closed surface (any surface if it is fixed or driven) ⇒ its index. Density in kg/m³.
    ///
    /// # Errors
    /// A mesh without volume, a pose or coefficient that is not valid.
    pub fn add_rigid(
        &mut self,
        mesh: &TriangleMesh,
        pose: &Pose,
        density: f64,
        status: RigidStatus,
        friction: f64,
    ) -> Result<usize, DeformableError> {
        check("friction", friction, friction >= 0.0, "≥ 0")?;
        let (mut body, frame) = rigid_body(mesh, pose, density, status)?;
        let r = frame.rotation_matrix();
        let unknowns = vec![frame.translation, r.x_axis, r.y_axis, r.z_axis];
        let masses = vec![body.mass, body.moments.x, body.moments.y, body.moments.z];
        let mut four = Deformable::from_vertices(unknowns.clone(), masses)?;
        four.pinned = vec![status != RigidStatus::Free; 4];
        let range = self.state.model.append(&four)?;
        body.first = range.start as u32;
        let state = &mut self.state;
        state.axis.extend([false, true, true, true]);
        state.group.resize(range.end, state.friction.len() as u32);
        state.friction.push(friction);
        state.target.extend(unknowns);
        if status == RigidStatus::Free {
            // Stiff against deformation: ω² = k/J beyond 1e5 rad²/s² for the lightest axis.
            let stiffness = 1e7 * body.moments.max_element();
            state.affines.push(Affine { vertices: [1, 2, 3].map(|k| body.first + k), stiffness });
        }
        state.bodies.push(body);
        self.topology_changed();
        Ok(self.state.bodies.len() - 1)
    }

    /// Adds a plane; everything must be on the side its normal points to.
    ///
    /// # Errors
    /// A normal without direction, an offset or coefficient that is not valid.
    pub fn add_plane(&mut self, normal: DVec3, offset: f64, friction: f64) -> Result<(), DeformableError> {
        check("friction", friction, friction >= 0.0, "≥ 0")?;
        check("offset", offset, true, "finite")?;
        let length = normal.length();
        check("length of the normal", length, length > 0.0, "> 0")?;
        self.state.planes.push(Plane { normal: normal / length, offset, friction });
        self.state.verified = false;
        Ok(())
    }

    /// Pins a vertex where it is.
    ///
    /// # Errors
    /// There is no such vertex.
    pub fn pin(&mut self, vertex: usize) -> Result<(), DeformableError> {
        self.check_vertex(vertex)?;
        let model = &mut self.state.model;
        model.pinned[vertex] = true;
        model.velocity[vertex] = DVec3::ZERO;
        self.state.target[vertex] = model.position[vertex];
        Ok(())
    }

    /// Lets a pinned vertex go.
    ///
    /// # Errors
    /// There is no such vertex.
    pub fn unpin(&mut self, vertex: usize) -> Result<(), DeformableError> {
        self.check_vertex(vertex)?;
        self.state.model.pinned[vertex] = false;
        Ok(())
    }

    /// Where a pinned vertex is to be at the end of the next step.
    ///
    /// # Errors
    /// There is no such vertex, or the place is not finite.
    pub fn set_target(&mut self, vertex: usize, place: DVec3) -> Result<(), DeformableError> {
        self.check_vertex(vertex)?;
        if !place.is_finite() {
            return Err(DeformableError::NonFiniteState { what: "target", vertex });
        }
        self.state.target[vertex] = place;
        Ok(())
    }

    /// Attaches a vertex by a spring of zero length, k in N/m.
    ///
    /// # Errors
    /// A vertex or body that does not exist, a stiffness or point that is not valid.
    pub fn attach(&mut self, vertex: usize, anchor: Anchor, stiffness: f64) -> Result<(), DeformableError> {
        self.check_vertex(vertex)?;
        check("stiffness", stiffness, stiffness >= 0.0, "≥ 0 N/m")?;
        let anchor = match anchor {
            Anchor::Point(p) if !p.is_finite() => {
                return Err(DeformableError::NonFiniteState { what: "anchor", vertex });
            }
            Anchor::Vertex(other) => {
                self.check_vertex(other as usize)?;
                anchor
            }
            Anchor::Body(index, p) => {
                let body = self.body(index as usize)?;
                let local = body.mesh_in_principal.point(p);
                if !local.is_finite() {
                    return Err(DeformableError::NonFiniteState { what: "anchor", vertex });
                }
                Anchor::Body(index, local)
            }
            Anchor::Point(_) => anchor,
        };
        self.state.attachments.push(Attachment { vertex: vertex as u32, anchor, stiffness });
        Ok(())
    }

    /// Removes all attachments of a vertex ⇒ how many there were.
    pub fn detach(&mut self, vertex: usize) -> usize {
        let before = self.state.attachments.len();
        self.state.attachments.retain(|a| a.vertex as usize != vertex);
        before - self.state.attachments.len()
    }

    /// Fills the closed surface of some vertices with gas at a gauge pressure in Pa: a fixed amount at constant temperature
    /// if `ambient` (Pa) is positive, else a reservoir of constant pressure.
    ///
    /// # Errors
    /// Vertices that do not exist, a surface without volume, a pressure below vacuum.
    pub fn inflate(
        &mut self,
        vertices: Range<usize>,
        gauge: f64,
        ambient: f64,
    ) -> Result<usize, DeformableError> {
        if vertices.end > self.state.model.len() {
            return Err(DeformableError::NoSuch {
                what: "vertex",
                index: vertices.end,
                count: self.state.model.len(),
            });
        }
        check("ambient pressure", ambient, ambient >= 0.0, "≥ 0 Pa")?;
        check("gauge pressure", gauge, ambient == 0.0 || gauge + ambient > 0.0, "above vacuum")?;
        let model = &self.state.model;
        let triangles: Vec<_> = model
            .triangles
            .iter()
            .copied()
            .filter(|t| t.iter().all(|&v| vertices.contains(&(v as usize))))
            .collect();
        let mut pressure = Pressure { triangles, constant: gauge, gas: 0.0, ambient };
        let volume = pressure.volume(&model.position);
        check("enclosed volume", volume, volume > 0.0, "> 0 m³, triangles outwards")?;
        if ambient > 0.0 {
            pressure.gas = (gauge + ambient) * volume;
        }
        self.state.pressures.push(pressure);
        Ok(self.state.pressures.len() - 1)
    }

    /// Gas that was filled in.
    pub fn pressures(&self) -> &[Pressure] {
        &self.state.pressures
    }

    /// Air that blows on all surfaces of deformable bodies; none: vacuum.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn set_air(&mut self, air: Option<Air>) -> Result<(), DeformableError> {
        if let Some(a) = air {
            check("wind", a.velocity.length(), true, "finite")?;
            check("air density", a.density, a.density >= 0.0, "≥ 0 kg/m³")?;
            check("normal drag", a.normal_drag, a.normal_drag >= 0.0, "≥ 0")?;
            check("tangential drag", a.tangential_drag, a.tangential_drag >= 0.0, "≥ 0")?;
            check("lift", a.lift, a.lift >= 0.0, "≥ 0")?;
        }
        self.state.air = air;
        Ok(())
    }

    pub(crate) fn check_vertex(&self, vertex: usize) -> Result<(), DeformableError> {
        let count = self.state.model.len();
        if vertex < count {
            Ok(())
        } else {
            Err(DeformableError::NoSuch { what: "vertex", index: vertex, count })
        }
    }

    fn body(&self, index: usize) -> Result<&RigidBody, DeformableError> {
        let count = self.state.bodies.len();
        self.state.bodies.get(index).ok_or(DeformableError::NoSuch { what: "rigid body", index, count })
    }

    fn unknowns(&self, index: usize) -> Result<Range<usize>, DeformableError> {
        let first = self.body(index)?.first as usize;
        Ok(first..first + 4)
    }

    /// Pose of the mesh of a rigid body.
    ///
    /// # Errors
    /// There is no such body.
    pub fn body_pose(&self, index: usize) -> Result<Pose, DeformableError> {
        let range = self.unknowns(index)?;
        Ok(frame(&self.state.model.position[range]) * self.state.bodies[index].mesh_in_principal)
    }

    /// Velocity of the centre of mass, m/s, and angular velocity, rad/s, of a rigid body.
    ///
    /// # Errors
    /// There is no such body.
    pub fn body_velocity(&self, index: usize) -> Result<[DVec3; 2], DeformableError> {
        let range = self.unknowns(index)?;
        let (x, v) = (&self.state.model.position[range.clone()], &self.state.model.velocity[range]);
        Ok([v[0], angular_velocity(x, v)])
    }

    /// Sets the velocity of the centre of mass, m/s, and the angular velocity, rad/s, of a rigid body.
    ///
    /// # Errors
    /// There is no such body, or the velocities are not finite.
    pub fn set_body_velocity(
        &mut self,
        index: usize,
        velocity: DVec3,
        angular: DVec3,
    ) -> Result<(), DeformableError> {
        let range = self.unknowns(index)?;
        if !(velocity.is_finite() && angular.is_finite()) {
            return Err(DeformableError::NonFiniteState { what: "velocity", vertex: range.start });
        }
        let model = &mut self.state.model;
        model.velocity[range.start] = velocity;
        for k in range.start + 1..range.end {
            model.velocity[k] = angular.cross(model.position[k]);
        }
        Ok(())
    }

    /// Impulse, N s, and its moment about the origin, N m s, that contacts and attachments gave a rigid body in the last step.
    ///
    /// # Errors
    /// There is no such body.
    pub fn body_impulse(&self, index: usize) -> Result<[DVec3; 2], DeformableError> {
        let body = self.body(index)?;
        Ok([body.impulse, body.moment])
    }

    /// Mass of a rigid body, kg.
    ///
    /// # Errors
    /// There is no such body.
    pub fn body_mass(&self, index: usize) -> Result<f64, DeformableError> {
        Ok(self.body(index)?.mass)
    }

    /// Whether a vertex is an axis of a rigid body, not a point.
    pub fn is_axis(&self, vertex: usize) -> bool {
        self.state.axis.get(vertex).copied().unwrap_or(false)
    }

    /// Σ m v of all that is free, N s.
    pub fn momentum(&self) -> DVec3 {
        self.free_points()
            .map(|i| self.state.model.mass[i] * self.state.model.velocity[i])
            .fold(DVec3::ZERO, |a, b| a + b)
    }

    /// Σ m x × v of all that is free, about the origin, N m s.
    pub fn angular_momentum(&self) -> DVec3 {
        let model = &self.state.model;
        (0..model.len())
            .filter(|&i| !model.pinned[i])
            .map(|i| model.mass[i] * model.position[i].cross(model.velocity[i]))
            .fold(DVec3::ZERO, |a, b| a + b)
    }

    fn free_points(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.state.model.len()).filter(|&i| !self.state.model.pinned[i] && !self.state.axis[i])
    }

    /// Energies, J.
    pub fn energies(&self) -> Energies {
        let (model, state) = (&self.state.model, &self.state);
        let mut e = Energies::default();
        for i in 0..model.len() {
            if !model.pinned[i] {
                e.kinetic += 0.5 * model.mass[i] * model.velocity[i].length_squared();
                if !state.axis[i] {
                    e.gravitational -= model.mass[i] * state.settings.gravity.dot(model.position[i]);
                }
            }
        }
        let x = &model.position;
        e.elastic = sum(&model.springs, x)
            + sum(&model.altitudes, x)
            + sum(&model.membranes, x)
            + sum(&model.hinges, x)
            + sum(&model.rods, x)
            + sum(&model.tetrahedra, x)
            + sum(&state.affines, x);
        for a in &state.attachments {
            e.elastic += 0.5 * a.stiffness * (x[a.vertex as usize] - self.anchor(a, x)).length_squared();
        }
        e.pressure = state.pressures.iter().map(|p| p.energy(x)).sum();
        e
    }

    /// Where the anchor of an attachment is.
    pub(crate) fn anchor(&self, a: &Attachment, x: &[DVec3]) -> DVec3 {
        match a.anchor {
            Anchor::Point(p) => p,
            Anchor::Vertex(v) => x[v as usize],
            Anchor::Body(index, local) => {
                place(&SurfacePoint::Rigid(self.state.bodies[index as usize].first, local), x)
            }
        }
    }

    /// Surface points: vertices that are on a surface or free, then those of rigid bodies.
    pub fn surface_positions(&self) -> Vec<DVec3> {
        self.points.iter().map(|p| place(p, &self.state.model.position)).collect()
    }

    /// Edges and triangles of all surfaces, in indices of [`surface_positions`](Self::surface_positions).
    pub fn surface_features(&self) -> (&[[u32; 2]], &[[u32; 3]]) {
        (&self.surface.edges, &self.surface.triangles)
    }

    /// Edges that pass through triangles, decided exactly: empty after every Newton step.
    pub fn intersections(&mut self) -> Vec<EdgeThroughTriangle> {
        self.prepare();
        intersections(&self.surface_positions(), &self.surface.edges, &self.surface.triangles)
    }

    pub(crate) fn topology_changed(&mut self) {
        self.changed = true;
        self.state.verified = false;
    }

    /// Brings surface, trees, matrix and plans up to date with the model.
    pub(crate) fn prepare(&mut self) {
        if !self.changed {
            return;
        }
        self.changed = false;
        let state = &self.state;
        let model = &state.model;
        let mut surface =
            Surface { triangles: model.triangles.clone(), edges: model.edges(), ..Surface::default() };
        // One surface point per vertex, so that indices agree; axes are points without features.
        self.points = (0..model.len() as u32).map(SurfacePoint::Vertex).collect();
        self.point_mass = model.mass.clone();
        self.point_rest = model.rest.clone();
        self.point_friction = state.group.iter().map(|&g| state.friction[g as usize]).collect();
        surface.group.clone_from(&state.group);
        surface.fixed = vec![false; model.len()];
        surface.rigid = vec![false; model.len()];
        for body in &state.bodies {
            let base = self.points.len() as u32;
            let group = state.group[body.first as usize];
            for &local in &body.local {
                let point = SurfacePoint::Rigid(body.first, local);
                self.points.push(point);
                self.point_mass.push(if body.status == RigidStatus::Free {
                    body.mass
                } else {
                    f64::INFINITY
                });
                self.point_rest.push(place(&point, &model.rest));
                self.point_friction.push(state.friction[group as usize]);
                surface.group.push(group);
                surface.fixed.push(body.status == RigidStatus::Fixed);
                surface.rigid.push(true);
            }
            let triangles: Vec<_> = body.triangles.iter().map(|t| t.map(|v| v + base)).collect();
            let mut edges: Vec<_> = triangles
                .iter()
                .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
                .map(|[a, b]| [a.min(b), a.max(b)])
                .collect();
            edges.sort_unstable();
            edges.dedup();
            surface.edges.extend(edges);
            surface.triangles.extend(triangles);
        }
        let mut on_surface = vec![false; self.points.len()];
        for &v in surface.edges.iter().flatten() {
            on_surface[v as usize] = true;
        }
        surface.corners = (0..self.points.len() as u32)
            .filter(|&p| {
                on_surface[p as usize]
                    || ((p as usize) < model.len() && !state.axis[p as usize] && !surface.rigid[p as usize])
            })
            .collect();
        let firsts: Vec<u32> = state.bodies.iter().map(|b| b.first).collect();
        surface.corners.retain(|p| on_surface[*p as usize] || !firsts.contains(p));
        self.candidates = Candidates::new(&surface, &self.point_rest);
        self.surface = surface;
        self.work.prepare(&self.state);
    }
}

/// Position of a surface point; of displacements, its displacement.
#[inline(always)]
pub(crate) fn place(point: &SurfacePoint, x: &[DVec3]) -> DVec3 {
    match *point {
        SurfacePoint::Vertex(v) => x[v as usize],
        SurfacePoint::Rigid(first, local) => {
            let k = first as usize;
            x[k] + local.x * x[k + 1] + local.y * x[k + 2] + local.z * x[k + 3]
        }
    }
}

/// Σ E of a list, J.
fn sum<E: Element<N>, const N: usize>(items: &[E], x: &[DVec3]) -> f64 {
    items.iter().map(|i| i.energy(&i.vertices().map(|v| x[v as usize]))).sum()
}
