//! Force fields that live in a region: strongest in its middle, gone at its boundary.
//!
//! - Sphere of radius R: F = (1 − |r|/R) F_c, r the offset from the centre.
//! - Box of half extents h: F_a = (1 − |r_a|/h_a) F_c,a component by component, or the product of all three factors
//!   times F_c, or no falloff at all.
//! - Convex polyhedron: F = (d / d_max) F_c with d the distance to the nearest face and d_max that of the centroid.

use super::{Force, ForceAccumulator, ForceContext};
use crate::component;
use crate::property::{Allowed, PropertyType, Value, ValueType};
use crate::rigid::Wrench;
use crate::signal::Signal;
use glam::{DQuat, DVec3};
use rattleback_geometry::convex_hull;

fn blow(scope: &ForceContext<'_>, loads: &mut ForceAccumulator, field: impl Fn(DVec3) -> Option<DVec3>) {
    for body in scope.targets() {
        if let Some(force) = field(body.motion.x) {
            loads.add(body.index, Wrench { force, torque: DVec3::ZERO });
        }
    }
}

component! {
    /// Wind inside a sphere.
    pub struct WindSphere as "wind-sphere" {
        /// Force at the centre.
        strength: Signal<DVec3> = DVec3::X, "N", Allowed::Finite;
        /// Centre of the region.
        center: Signal<DVec3> = DVec3::ZERO, "m", Allowed::Finite;
        /// Radius of the region.
        radius: f64 = 1.0, "m", Allowed::Positive;
        /// Whether the force fades towards the boundary.
        falloff: String = "radial", "", Allowed::OneOf(&["radial", "none"]);
    }
}

impl Force for WindSphere {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let (strength, center) = (self.strength.at(scope.time), self.center.at(scope.time));
        let fades = self.falloff == "radial";
        blow(scope, loads, |p| {
            let share = (p - center).length() / self.radius;
            (share < 1.0).then(|| if fades { strength * (1.0 - share) } else { strength })
        });
    }
}

component! {
    /// Wind inside a box.
    pub struct WindBox as "wind-box" {
        /// Force at the centre, along the box axes.
        strength: Signal<DVec3> = DVec3::X, "N", Allowed::Finite;
        /// Centre of the region.
        center: Signal<DVec3> = DVec3::ZERO, "m", Allowed::Finite;
        /// Attitude of the region.
        orientation: DQuat = DQuat::IDENTITY, "", Allowed::Direction;
        /// Half the length of each side.
        half_extents: DVec3 = DVec3::ONE, "m", Allowed::Positive;
        /// How the force fades: each component along its own axis, all together, or not at all.
        falloff: String = "componentwise", "", Allowed::OneOf(&["componentwise", "product", "none"]);
    }
}

impl Force for WindBox {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let (strength, center) = (self.strength.at(scope.time), self.center.at(scope.time));
        let q = self.orientation.normalize();
        blow(scope, loads, |p| {
            let share = (q.conjugate() * (p - center)).abs() / self.half_extents;
            if share.max_element() >= 1.0 {
                return None;
            }
            let fade = DVec3::ONE - share;
            Some(
                q * match self.falloff.as_str() {
                    "componentwise" => fade * strength,
                    "product" => fade.element_product() * strength,
                    _ => strength,
                },
            )
        });
    }
}

/// A convex region as a property: given by its corners, kept with its faces.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexRegion {
    corners: Vec<DVec3>,
    /// Outward unit normals n and offsets d: inside means n·p ≤ d.
    faces: Vec<(DVec3, f64)>,
    /// Distance of the centroid from the nearest face.
    depth: f64,
}

impl ConvexRegion {
    /// Corners ⇒ region, if they span a volume.
    pub fn new(corners: Vec<DVec3>) -> Option<Self> {
        let hull = convex_hull(&corners).ok()?;
        let solid = hull.polyhedron();
        let faces: Vec<(DVec3, f64)> =
            solid.normals().iter().copied().zip(solid.offsets().iter().copied()).collect();
        let centroid = solid.mass_properties(1.0).ok()?.center_of_mass;
        let depth = depth_below(&faces, centroid);
        (depth > 0.0).then_some(Self { corners, faces, depth })
    }

    /// Point ⇒ distance to the nearest face over that of the centroid; negative outside.
    pub fn relative_depth(&self, p: DVec3) -> f64 {
        depth_below(&self.faces, p) / self.depth
    }
}

fn depth_below(faces: &[(DVec3, f64)], p: DVec3) -> f64 {
    faces.iter().map(|(n, d)| d - n.dot(p)).fold(f64::INFINITY, f64::min)
}

impl Default for ConvexRegion {
    /// The cube [−1, 1]³.
    fn default() -> Self {
        let side = |corner: u32, axis: u32| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
        let corners = (0..8).map(|corner| DVec3::new(side(corner, 0), side(corner, 1), side(corner, 2)));
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        Self {
            corners: corners.collect(),
            faces: axes.iter().flat_map(|axis| [(*axis, 1.0), (-*axis, 1.0)]).collect(),
            depth: 1.0,
        }
    }
}

impl PropertyType for ConvexRegion {
    const TYPE: ValueType = ValueType::Vec3List;

    fn to_value(&self) -> Value {
        Value::Vec3List(self.corners.clone())
    }

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Vec3List(corners) => Self::new(corners),
            _ => None,
        }
    }
}

component! {
    /// Wind inside a convex polyhedron.
    pub struct WindPolyhedron as "wind-polyhedron" {
        /// Force at the centroid.
        strength: Signal<DVec3> = DVec3::X, "N", Allowed::Finite;
        /// Corners of the region; they must span a volume.
        corners: ConvexRegion = ConvexRegion::default(), "m", Allowed::Finite;
        /// Whether the force fades towards the boundary.
        falloff: String = "distance", "", Allowed::OneOf(&["distance", "none"]);
    }
}

impl Force for WindPolyhedron {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let strength = self.strength.at(scope.time);
        let fades = self.falloff == "distance";
        blow(scope, loads, |p| {
            let depth = self.corners.relative_depth(p);
            (depth > 0.0).then(|| if fades { strength * depth.min(1.0) } else { strength })
        });
    }
}
