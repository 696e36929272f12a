//! Names of the kinds of shapes, for scene files, tables of pairs and messages.

use serde::{Deserialize, Serialize};

/// Which variant of `Shape` a shape is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShapeKind {
    /// Sphere.
    Sphere,
    /// Box.
    #[serde(rename = "box")]
    Cuboid,
    /// Right circular cylinder.
    Cylinder,
    /// Cylinder with half-sphere ends.
    Capsule,
    /// Right circular cone.
    Cone,
    /// Ellipsoid.
    Ellipsoid,
    /// Everything on one side of a plane.
    HalfSpace,
    /// Convex polyhedron.
    Convex,
    /// Triangle surface.
    Mesh,
    /// Terrain over a grid.
    HeightField,
    /// Shapes fixed to each other.
    Compound,
    /// Convex shape given by its support function.
    Custom,
}

impl ShapeKind {
    /// Every kind, in order.
    pub const ALL: [Self; 12] = [
        Self::Sphere,
        Self::Cuboid,
        Self::Cylinder,
        Self::Capsule,
        Self::Cone,
        Self::Ellipsoid,
        Self::HalfSpace,
        Self::Convex,
        Self::Mesh,
        Self::HeightField,
        Self::Compound,
        Self::Custom,
    ];

    /// The name used in scene files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sphere => "sphere",
            Self::Cuboid => "box",
            Self::Cylinder => "cylinder",
            Self::Capsule => "capsule",
            Self::Cone => "cone",
            Self::Ellipsoid => "ellipsoid",
            Self::HalfSpace => "half_space",
            Self::Convex => "convex",
            Self::Mesh => "mesh",
            Self::HeightField => "height_field",
            Self::Compound => "compound",
            Self::Custom => "custom",
        }
    }

    /// Name ⇒ kind; case and underscores do not matter, and the long names of other tools are understood.
    pub fn from_name(name: &str) -> Option<Self> {
        let plain: String = name.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
        match plain.as_str() {
            "ball" => Some(Self::Sphere),
            "cuboid" => Some(Self::Cuboid),
            "convexpolyhedron" | "convexhull" => Some(Self::Convex),
            "trianglemesh" => Some(Self::Mesh),
            "composite" => Some(Self::Compound),
            "plane" => Some(Self::HalfSpace),
            _ => Self::ALL.into_iter().find(|kind| kind.name().replace('_', "") == plain),
        }
    }
}

impl std::fmt::Display for ShapeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_kind() {
        for kind in ShapeKind::ALL {
            assert_eq!(ShapeKind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert_eq!(ShapeKind::from_name("Halfspace"), Some(ShapeKind::HalfSpace));
        assert_eq!(ShapeKind::from_name("TriangleMesh"), Some(ShapeKind::Mesh));
        assert_eq!(ShapeKind::from_name("teapot"), None);
    }
}
