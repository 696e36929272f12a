//! The parameters of an emitter, numbered as in the specification (§8.2).

use std::sync::Arc;

use glam::DVec3;
use rattleback_geometry::{Pose, TriangleMesh};
use serde::{Deserialize, Serialize};

use super::{ColorEvolution, Varied};
use crate::ParticleError;
use crate::force::{Drag, ElectricField, Gravity, UnaryForce, UniformForce};
use crate::step::CollisionFlags;

/// Where particles come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A square in the xy plane of a pose, emitting along its z axis.
    Planar {
        /// Centre and axes.
        pose: Pose,
    },
    /// The surface of a mesh at a pose, or some of its triangles, emitting along their normals.
    Surface {
        /// The mesh.
        mesh: Arc<TriangleMesh>,
        /// Where it is.
        pose: Pose,
        /// Indices of triangles; empty for all.
        faces: Vec<u32>,
    },
    /// A sphere, emitting outwards.
    Spherical {
        /// Centre, m.
        center: DVec3,
        /// Radius, m.
        radius: f64,
    },
}

/// A force on the particles of one emitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum EmitterForce {
    /// F = m g.
    Gravity(DVec3),
    /// A constant force, N.
    Uniform(DVec3),
    /// F = −k v, kg/s.
    Drag(f64),
    /// F = q E.
    Electric(DVec3),
}

impl EmitterForce {
    pub(super) fn boxed(self) -> Box<dyn UnaryForce> {
        match self {
            Self::Gravity(g) => Box::new(Gravity(g)),
            Self::Uniform(force) => Box::new(UniformForce(force)),
            Self::Drag(coefficient) => Box::new(Drag { coefficient, wind: DVec3::ZERO }),
            Self::Electric(field) => Box::new(ElectricField(field)),
        }
    }
}

/// Mass of the particles that a split makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChildMass {
    /// That of the parent times the ratio of volumes.
    #[default]
    ByVolume,
    /// That of the parent.
    Inherit,
    /// Parent and children share the mass and the momentum of the parent.
    Conserve,
}

/// Splitting (16 to 24).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitConfig {
    /// 17: children per split.
    pub number: u32,
    /// 18: age at which splitting begins, s; below the age of the particles.
    pub age: f64,
    /// 19: intervals between splits.
    pub delay: u32,
    /// 20: how often a particle may split; its children have one less.
    pub depth: u32,
    /// 21: speed of a child as a fraction of that of the parent.
    pub velocity: f64,
    /// 22: largest angle to the direction of the parent, rad.
    pub direction: f64,
    /// 23: size of a child as a fraction of that of the parent.
    pub size: f64,
    /// 24: largest deviation from the lifespan of the parent, s.
    pub lifespan: f64,
    /// Mass of a child.
    pub mass: ChildMass,
}

/// Trails (25, 26).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrailConfig {
    /// 26: age at which a trail particle is removed, s.
    pub age: f64,
}

/// Parameters of an emitter.
#[derive(Clone, Debug, PartialEq)]
pub struct EmitterConfig {
    /// Where particles come from.
    pub source: Source,
    /// 1: diameter, m.
    pub size: Varied,
    /// 2: mass, kg.
    pub mass: Varied,
    /// 3: age at which a particle is removed, s, if `resilience`.
    pub age: Varied,
    /// 4: particles are removed after their age.
    pub resilience: bool,
    /// 5: largest side of a planar emitter, m.
    pub emitter_size: f64,
    /// 6: speed at emission, m/s.
    pub velocity: Varied,
    /// 7: direction in the frame of the source; none: its normal.
    pub direction: Option<DVec3>,
    /// 7: largest angle to the direction, rad.
    pub direction_deviation: f64,
    /// 8: every how many intervals particles are released, at least 1.
    pub delay: u32,
    /// 9: particles per release.
    pub rate: u64,
    /// 10: particles released in all, or alive at a time.
    pub maximum: u64,
    /// 11: `maximum` limits the number alive.
    pub spawn: bool,
    /// 12: what particles collide with, where the system allows it.
    pub collisions: CollisionFlags,
    /// 13, 14: coefficients of static and of dynamic friction.
    pub friction: [Varied; 2],
    /// Coefficient of restitution.
    pub restitution: f64,
    /// 15: forces on the particles of this emitter.
    pub forces: Vec<EmitterForce>,
    /// 16 to 24: splitting, if any.
    pub split: Option<SplitConfig>,
    /// 25, 26: trails, if any.
    pub trail: Option<TrailConfig>,
    /// 27: colours.
    pub colors: ColorEvolution,
    /// 28: charge, C.
    pub charge: Varied,
    /// Free distance around a new particle, m.
    pub clearance: f64,
    /// Times between which particles are released, s.
    pub window: [f64; 2],
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for EmitterConfig {
    /// Nine particles of 5 cm and 1 g at 1 m/s along z in every interval, for ever.
    fn default() -> Self {
        Self {
            source: Source::Planar { pose: Pose::IDENTITY },
            size: Varied::fixed(0.05),
            mass: Varied::fixed(1e-3),
            age: Varied::fixed(5.0),
            resilience: true,
            emitter_size: 1.0,
            velocity: Varied::fixed(1.0),
            direction: None,
            direction_deviation: 0.0,
            delay: 1,
            rate: 9,
            maximum: u64::MAX,
            spawn: false,
            collisions: CollisionFlags { internal: false, external: false, bodies: true },
            friction: [Varied::fixed(0.0); 2],
            restitution: 0.5,
            forces: Vec::new(),
            split: None,
            trail: None,
            colors: ColorEvolution::default(),
            charge: Varied::fixed(0.0),
            clearance: 0.0,
            window: [0.0, f64::INFINITY],
            seed: 0,
        }
    }
}

impl EmitterConfig {
    /// Checks every parameter.
    ///
    /// # Errors
    /// Names the first parameter that is out of range or contradicts another.
    pub fn check(&self) -> Result<(), ParticleError> {
        let require = |field: &'static str, valid: bool, reason: &str| {
            if valid {
                Ok(())
            } else {
                Err(ParticleError::EmitterConfig { field, reason: reason.to_owned() })
            }
        };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        let varied = |field, v: &Varied| {
            let valid = v.mean.is_finite() && not_negative(v.deviation);
            require(field, valid, "mean must be finite, deviation finite and ≥ 0")
        };
        for (field, value) in [("particle size", &self.size), ("particle mass", &self.mass)] {
            varied(field, value)?;
            let valid = value.mean > 0.0 && value.deviation < value.mean;
            require(field, valid, "must be greater than zero, with a deviation below it")?;
        }
        varied("particle age", &self.age)?;
        require("particle age", self.age.mean > self.age.deviation, "must stay greater than zero")?;
        require("emitter size", positive(self.emitter_size), "must be finite and greater than zero")?;
        varied("emission velocity", &self.velocity)?;
        require("emission delay", self.delay >= 1, "must be at least 1")?;
        let cone = (0.0..=std::f64::consts::PI).contains(&self.direction_deviation);
        require("emission direction", cone, "deviation must be 0 to π")?;
        let directed = self.direction.is_none_or(|d| d.is_finite() && d != DVec3::ZERO);
        require("emission direction", directed, "must be finite and not zero")?;
        for (field, mu) in [("static friction", &self.friction[0]), ("dynamic friction", &self.friction[1])] {
            varied(field, mu)?;
            require(field, mu.mean >= mu.deviation, "must not become negative")?;
        }
        require("restitution", (0.0..=1.0).contains(&self.restitution), "must be 0 to 1")?;
        varied("electrical charge", &self.charge)?;
        require("clearance", not_negative(self.clearance), "must be finite and ≥ 0")?;
        require("window", self.window[0] <= self.window[1], "must begin before it ends")?;
        self.colors.check()?;
        if let Some(split) = &self.split {
            require("split number", (1..=64).contains(&split.number), "must be 1 to 64")?;
            let age = not_negative(split.age) && (!self.resilience || split.age < self.age.mean);
            require("split age", age, "must be ≥ 0 and below the particle age")?;
            require("split velocity", not_negative(split.velocity), "must be ≥ 0")?;
            require("split size", positive(split.size), "must be greater than zero")?;
            require("split direction", not_negative(split.direction), "must be ≥ 0")?;
            require("split lifespan", not_negative(split.lifespan), "must be ≥ 0")?;
            require("split depth", split.depth <= 32, "must be 32 at most")?;
        }
        if let Some(trail) = &self.trail {
            require("motion trail age", positive(trail.age), "must be greater than zero")?;
        }
        for force in &self.forces {
            let finite = match *force {
                EmitterForce::Gravity(v) | EmitterForce::Uniform(v) | EmitterForce::Electric(v) => {
                    v.is_finite()
                }
                EmitterForce::Drag(k) => not_negative(k),
            };
            require("external forces", finite, "must be finite, drag ≥ 0")?;
        }
        match &self.source {
            Source::Planar { pose } | Source::Surface { pose, .. } => {
                require("source", pose.is_valid(), "pose must be finite, rotation of length 1")?;
            }
            Source::Spherical { center, radius } => {
                let valid = center.is_finite() && positive(*radius);
                require("source", valid, "centre must be finite, radius greater than zero")?;
            }
        }
        if let Source::Surface { mesh, faces, .. } = &self.source {
            let count = mesh.triangles().len() as u32;
            require("source", faces.iter().all(|&f| f < count), "faces must be triangles of the mesh")?;
        }
        Ok(())
    }
}
