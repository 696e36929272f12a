//! Block problem: unknown velocities, contacts and equality rows.

use glam::{DMat3, DVec3};
use thiserror::Error;

/// Why a problem cannot be posed.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BlockError {
    /// A value that is not finite, or a mass that is not positive.
    #[error("block {block}: masses must be finite and positive definite, velocities finite")]
    Block {
        /// Which block.
        block: usize,
    },
    /// An equality row refers to a block that does not exist or to one twice, has bounds that exclude zero,
    /// or a value that is not finite.
    #[error(
        "equality row {row}: needs one or two different blocks, finite rows and targets, bounds around zero"
    )]
    Equality {
        /// Index of the equality row.
        row: usize,
    },
    /// A contact refers to a block that does not exist, to one twice, or has a value that is not finite.
    #[error("contact {contact}: needs one or two different blocks, finite rows, targets and friction ≥ 0")]
    Contact {
        /// Which contact.
        contact: usize,
    },
}

/// Six unknowns: two vectors, each with its mass matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// M, of the first and the second vector; symmetric positive definite.
    pub mass: [DMat3; 2],
    /// M⁻¹.
    pub inverse_mass: [DMat3; 2],
    /// v*: the velocity without contacts.
    pub free: [DVec3; 2],
}

/// Stiffness of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stiffness {
    /// Non-penetration holds exactly.
    Rigid,
    /// p = −ρ u, for the normal and the tangents.
    Soft([f64; 2]),
}

/// Three rows between at most two blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockContact {
    /// Which blocks; None for a static side.
    pub blocks: [Option<usize>; 2],
    /// Rows n, t, k for both vectors of each block: u = Σ J v − t.
    pub rows: [[[DVec3; 2]; 3]; 2],
    /// t.
    pub target: DVec3,
    /// μ.
    pub friction: f64,
    /// Rigid, or a spring with a damper.
    pub stiffness: Stiffness,
}

/// One row between at most two blocks, held by a bounded impulse: u = J v − t is zero, or the impulse is at
/// the bound that keeps it from that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualityRow {
    /// Which blocks; None for a static side.
    pub blocks: [Option<usize>; 2],
    /// J, for both vectors of each block.
    pub rows: [[DVec3; 2]; 2],
    /// t.
    pub target: f64,
    /// Least and most impulse: infinite for a joint, 0 and infinite for a limit, finite for a motor.
    pub bounds: [f64; 2],
    /// ρ of a soft row, p = −ρ u; None for a rigid one.
    pub softness: Option<f64>,
}

/// Blocks, and the contacts and equality rows between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockProblem {
    /// The unknowns.
    pub blocks: Vec<Block>,
    /// Contacts between blocks.
    pub contacts: Vec<BlockContact>,
    /// Joints, limits and motors between blocks.
    pub equalities: Vec<EqualityRow>,
}

impl EqualityRow {
    /// J v.
    pub(super) fn row_times(&self, velocity: &[[DVec3; 2]]) -> f64 {
        let mut u = 0.0;
        for (block, [linear, angular]) in self.blocks.iter().zip(&self.rows) {
            let Some(block) = block else { continue };
            let [v, w] = &velocity[*block];
            u += linear.dot(*v) + angular.dot(*w);
        }
        u
    }

    /// J M⁻¹ Jᵀ.
    pub(super) fn compliance(&self, blocks: &[Block]) -> f64 {
        let mut sum = 0.0;
        for (block, [linear, angular]) in self.blocks.iter().zip(&self.rows) {
            let Some(block) = block else { continue };
            let [mass, inertia] = &blocks[*block].inverse_mass;
            sum += linear.dot(*mass * *linear) + angular.dot(*inertia * *angular);
        }
        sum
    }

    /// An impulse within the bounds.
    pub(super) fn bounded(&self, p: f64) -> f64 {
        p.max(self.bounds[0]).min(self.bounds[1])
    }

    fn is_sound(&self, blocks: usize) -> bool {
        let known = self.blocks.iter().flatten().all(|block| *block < blocks);
        let different = self.blocks[0] != self.blocks[1];
        let rows = self.rows.iter().flatten().all(|row| row.is_finite());
        let ordered = self.bounds[0] <= 0.0 && self.bounds[1] >= 0.0;
        let soft = self.softness.is_none_or(|rho| rho.is_finite() && rho >= 0.0);
        known && different && rows && ordered && soft && self.target.is_finite()
    }
}

impl BlockContact {
    /// J v of one row triple.
    pub(super) fn rows_times(&self, velocity: &[[DVec3; 2]]) -> DVec3 {
        let mut u = DVec3::ZERO;
        for (side, block) in self.blocks.iter().enumerate() {
            let Some(block) = block else { continue };
            let [v, w] = velocity[*block];
            let [n, t, k] = &self.rows[side];
            u += DVec3::new(n[0].dot(v) + n[1].dot(w), t[0].dot(v) + t[1].dot(w), k[0].dot(v) + k[1].dot(w));
        }
        u
    }

    /// Jᵀ p for one side.
    pub(super) fn push(&self, side: usize, p: DVec3) -> [DVec3; 2] {
        let [n, t, k] = &self.rows[side];
        [p.x * n[0] + p.y * t[0] + p.z * k[0], p.x * n[1] + p.y * t[1] + p.z * k[1]]
    }

    /// The diagonal of J M⁻¹ Jᵀ: n, t, k.
    pub(super) fn compliance(&self, blocks: &[Block]) -> DVec3 {
        let mut diagonal = [0.0; 3];
        for (side, block) in self.blocks.iter().enumerate() {
            let Some(block) = block else { continue };
            let [mass, inertia] = &blocks[*block].inverse_mass;
            for (row, sum) in self.rows[side].iter().zip(&mut diagonal) {
                *sum += row[0].dot(*mass * row[0]) + row[1].dot(*inertia * row[1]);
            }
        }
        DVec3::from_array(diagonal)
    }

    fn is_sound(&self, blocks: usize) -> bool {
        let known = self.blocks.iter().flatten().all(|block| *block < blocks);
        let different = self.blocks[0].is_some() || self.blocks[1].is_some();
        let twice = self.blocks[0].is_some() && self.blocks[0] == self.blocks[1];
        let rows = self.rows.iter().flatten().flatten().all(|row| row.is_finite());
        let soft = match self.stiffness {
            Stiffness::Rigid => true,
            Stiffness::Soft(rho) => rho.iter().all(|rho| rho.is_finite() && *rho >= 0.0),
        };
        let friction = self.friction.is_finite() && self.friction >= 0.0;
        known && different && !twice && rows && soft && friction && self.target.is_finite()
    }
}

impl BlockProblem {
    /// Checks that the problem is well posed.
    ///
    /// # Errors
    /// Names the first block, contact or equality row that is not.
    pub fn check(&self) -> Result<(), BlockError> {
        for (block, Block { mass, inverse_mass, free }) in self.blocks.iter().enumerate() {
            let finite = mass.iter().chain(inverse_mass).all(glam::DMat3::is_finite)
                && free.iter().all(|v| v.is_finite());
            let positive = mass
                .iter()
                .chain(inverse_mass)
                .all(|m| m.x_axis.x > 0.0 && m.y_axis.y > 0.0 && m.z_axis.z > 0.0 && m.determinant() > 0.0);
            if !(finite && positive) {
                return Err(BlockError::Block { block });
            }
        }
        let wrong = self.contacts.iter().position(|contact| !contact.is_sound(self.blocks.len()));
        wrong.map_or(Ok(()), |contact| Err(BlockError::Contact { contact }))?;
        let wrong = self.equalities.iter().position(|equality| !equality.is_sound(self.blocks.len()));
        wrong.map_or(Ok(()), |row| Err(BlockError::Equality { row }))
    }
}
