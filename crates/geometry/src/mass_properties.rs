//! Mass, centre of mass and inertia tensor.
//!
//! From the integrals T of a solid of density ρ: m = ρ T_1, c = (T_x, T_y, T_z)/T_1 and, about the origin,
//! I = ρ (tr S · 1 − S) with S = ∫ r rᵀ. Between a centre of mass and a point at distance d (parallel axes):
//! I′ = I + m (|d|² 1 − d dᵀ). Turning by R: I′ = R I Rᵀ.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{MeshError, Pose, VolumeIntegrals, symmetric_eigen::symmetric_eigen};

/// Why there are no mass properties.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MassError {
    /// The shape has no finite volume.
    #[error("{shape} is unbounded: it has no volume or mass, use it on fixed bodies")]
    Unbounded {
        /// Name of the shape.
        shape: String,
    },
    /// The shape is a surface that bounds no volume.
    #[error("{shape} bounds no volume; use the surface model or another shape")]
    NoVolume {
        /// Name of the shape.
        shape: String,
    },
    /// Density zero, negative or not finite.
    #[error("density is {density}, must be finite and positive")]
    NonPositiveDensity {
        /// The bad value.
        density: f64,
    },
    /// Mass zero, negative or not finite.
    #[error("mass is {mass}, must be finite and positive")]
    NonPositiveMass {
        /// The bad value.
        mass: f64,
    },
    /// A closed surface of zero or negative volume.
    #[error("volume is {volume}, must be positive: if the mesh is inside out, reverse its faces")]
    NonPositiveVolume {
        /// The signed volume.
        volume: f64,
    },
    /// The centre of mass or the tensor is NaN, infinite, or about to overflow.
    #[error("centre of mass or inertia is not finite, or beyond 1e300 kg m²")]
    NonFinite,
    /// The tensor is not symmetric.
    #[error("inertia tensor is not symmetric: entries differ by {difference}")]
    NotSymmetric {
        /// Largest difference between mirrored entries.
        difference: f64,
    },
    /// A principal moment is not positive.
    #[error("inertia tensor is not positive definite: principal moments {moments}")]
    NotPositiveDefinite {
        /// Principal moments.
        moments: DVec3,
    },
    /// No distribution of mass has these moments: each must be at most the sum of the other two.
    #[error("no rigid body has the principal moments {moments}: one exceeds the sum of the other two")]
    TriangleInequality {
        /// Principal moments.
        moments: DVec3,
    },
    /// The mesh does not bound a solid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Nothing to combine.
    #[error("no parts to combine")]
    NoParts,
    /// Another number of densities than of parts.
    #[error("{densities} densities for {parts} parts")]
    DensityCount {
        /// Number of densities given.
        densities: usize,
        /// Number of parts.
        parts: usize,
    },
    /// Sampling grid too coarse or too fine.
    #[error("sampling resolution is {resolution}, must be between 1 and {max}")]
    Resolution {
        /// Cells along each axis.
        resolution: u32,
        /// Largest allowed number.
        max: u32,
    },
}

/// Mass, centre of mass, and inertia about the centre of mass along the axes of the frame.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::Shape;
/// let sphere = Shape::sphere(0.1)?.mass_properties(1000.0)?;
/// assert!((sphere.inertia.x_axis.x - 0.4 * sphere.mass * 0.01).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct MassProperties {
    /// Mass in kg, positive.
    pub mass: f64,
    /// Centre of mass.
    pub center_of_mass: DVec3,
    /// Inertia tensor about the centre of mass.
    pub inertia: DMat3,
}

/// As read from a file. Singular tensors pass, so that point masses survive a snapshot.
#[derive(Deserialize)]
struct Unchecked {
    mass: f64,
    center_of_mass: DVec3,
    inertia: DMat3,
}

impl TryFrom<Unchecked> for MassProperties {
    type Error = MassError;

    fn try_from(read: Unchecked) -> Result<Self, MassError> {
        if read.inertia == DMat3::ZERO {
            return Self::point_mass(read.mass, read.center_of_mass);
        }
        Self::new(read.mass, read.center_of_mass, read.inertia)
    }
}

/// Principal moments and the axes they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrincipalAxes {
    /// Moments of inertia about the principal axes.
    pub moments: DVec3,
    /// Maps principal coordinates to the shape's; the columns of its matrix are the principal axes.
    pub rotation: DQuat,
}

impl MassProperties {
    /// Checked: m > 0, all finite, tensor symmetric and positive definite, moments of a possible body.
    pub fn new(mass: f64, center_of_mass: DVec3, inertia: DMat3) -> Result<Self, MassError> {
        check_mass(mass)?;
        if !(center_of_mass.is_finite() && inertia.is_finite()) {
            return Err(MassError::NonFinite);
        }
        let difference = (inertia - inertia.transpose()).abs();
        let difference = difference.x_axis.max(difference.y_axis).max(difference.z_axis).max_element();
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        // Room to turn and add tensors without overflow.
        if !(trace.abs() <= 1e300) {
            return Err(MassError::NonFinite);
        }
        if difference > 1e-9 * trace.abs() {
            return Err(MassError::NotSymmetric { difference });
        }
        let inertia = 0.5 * (inertia + inertia.transpose());
        let moments = symmetric_eigen(inertia).0;
        if !(moments.min_element() > 0.0) {
            return Err(MassError::NotPositiveDefinite { moments });
        }
        // For each axis: I_i ≤ I_j + I_k, that is 2 I_i ≤ trace.
        if 2.0 * moments.max_element() > trace * (1.0 + 1e-9) {
            return Err(MassError::TriangleInequality { moments });
        }
        Ok(Self { mass, center_of_mass, inertia })
    }

    /// All mass in one point. Its tensor is zero, so it only serves as a part of something.
    pub fn point_mass(mass: f64, at: DVec3) -> Result<Self, MassError> {
        check_mass(mass)?;
        if !at.is_finite() {
            return Err(MassError::NonFinite);
        }
        Ok(Self { mass, center_of_mass: at, inertia: DMat3::ZERO })
    }

    /// Integrals of a solid about `origin` and its density ⇒ mass properties.
    pub fn from_integrals(t: &VolumeIntegrals, origin: DVec3, density: f64) -> Result<Self, MassError> {
        check_density(density)?;
        if !t.to_array().iter().all(|value| value.is_finite()) {
            return Err(MassError::NonFinite);
        }
        if !(t.t1 > 0.0) {
            return Err(MassError::NonPositiveVolume { volume: t.t1 });
        }
        let c = DVec3::new(t.tx, t.ty, t.tz) / t.t1;
        // Second moments about the centre of mass.
        let s = t.shifted(-c);
        let inertia = DMat3::from_cols(
            DVec3::new(s.tyy + s.tzz, -s.txy, -s.tzx),
            DVec3::new(-s.txy, s.tzz + s.txx, -s.tyz),
            DVec3::new(-s.tzx, -s.tyz, s.txx + s.tyy),
        );
        Self::new(density * t.t1, origin + c, density * inertia)
    }

    /// The same body in the outer frame of `pose`.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        let r = pose.rotation_matrix();
        let turned = r * self.inertia * r.transpose();
        Self {
            mass: self.mass,
            center_of_mass: pose.point(self.center_of_mass),
            inertia: 0.5 * (turned + turned.transpose()),
        }
    }

    /// Parts fixed to each other ⇒ the whole. The whole must not be a point or a line.
    pub fn combine(parts: &[Self]) -> Result<Self, MassError> {
        if parts.is_empty() {
            return Err(MassError::NoParts);
        }
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        check_mass(mass)?;
        let center_of_mass = parts.iter().map(|part| (part.mass / mass) * part.center_of_mass).sum();
        let inertia =
            parts.iter().map(|part| part.inertia_about(center_of_mass)).fold(DMat3::ZERO, |a, b| a + b);
        Self::new(mass, center_of_mass, inertia)
    }

    /// The same body with its density scaled so that it weighs `mass`.
    pub fn scaled_to_mass(&self, mass: f64) -> Result<Self, MassError> {
        check_mass(mass)?;
        let inertia = self.inertia * (mass / self.mass);
        if !(inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z <= 1e300) {
            return Err(MassError::NonFinite);
        }
        Ok(Self { mass, center_of_mass: self.center_of_mass, inertia })
    }

    /// Inertia tensor about another point, along the same axes.
    pub fn inertia_about(&self, point: DVec3) -> DMat3 {
        let d = point - self.center_of_mass;
        self.inertia + self.mass * parallel_axis(d)
    }

    /// Moment of inertia about the line through `point` along `direction` (0 if the direction is zero).
    pub fn moment_about_axis(&self, point: DVec3, direction: DVec3) -> f64 {
        let d = direction.normalize_or_zero();
        d.dot(self.inertia_about(point) * d)
    }

    /// Principal moments and axes; a tensor that is diagonal up to rounding keeps its axes exactly.
    pub fn principal(&self) -> PrincipalAxes {
        let (moments, axes) = symmetric_eigen(self.inertia);
        let rotation =
            if axes == DMat3::IDENTITY { DQuat::IDENTITY } else { DQuat::from_mat3(&axes).normalize() };
        PrincipalAxes { moments, rotation }
    }

    /// Maps body coordinates (origin at the centre of mass, principal axes) to the shape's coordinates.
    pub fn principal_frame(&self) -> Pose {
        Pose::new(self.principal().rotation, self.center_of_mass)
    }
}

/// |d|² 1 − d dᵀ
pub(crate) fn parallel_axis(d: DVec3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(d.length_squared())) - DMat3::from_cols(d * d.x, d * d.y, d * d.z)
}

pub(crate) fn check_mass(mass: f64) -> Result<(), MassError> {
    if mass.is_finite() && mass > 0.0 { Ok(()) } else { Err(MassError::NonPositiveMass { mass }) }
}

pub(crate) fn check_density(density: f64) -> Result<(), MassError> {
    if density.is_finite() && density > 0.0 { Ok(()) } else { Err(MassError::NonPositiveDensity { density }) }
}
