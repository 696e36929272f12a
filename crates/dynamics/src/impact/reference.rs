//! Reference collisions, whose outcome is known to many digits.
//!
//! Stronge's restitution, integrated with 25 digits. `K_A` is the matrix of Mirtich's Fig. 3.3; `K_J` couples
//! normal and tangent so strongly that friction alone can press the bodies together.

use super::{Collision, CollisionSettings, Law, Restitution};
use glam::{DMat3, DVec3};

/// A collision and its outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferenceCollision {
    /// Number and what it shows.
    pub name: &'static str,
    /// Collision matrix and velocity.
    pub collision: Collision,
    /// Materials.
    pub settings: CollisionSettings,
    /// Velocity after.
    pub velocity: DVec3,
    /// Impulse.
    pub impulse: DVec3,
    /// Work of compression: all of it, if there is more than one phase.
    pub compression_work: f64,
    /// Work of the whole impulse.
    pub work: f64,
}

const K_A: DMat3 = DMat3::from_cols_array(&[8.0, -2.0, 1.0, -2.0, 3.0, -1.0, 1.0, -1.0, 5.0]);
const K_J: DMat3 = DMat3::from_cols_array(&[4.0, 0.0, 1.8, 0.0, 3.0, 0.0, 1.8, 0.0, 1.0]);

/// K, (μ, e), u before, u after, p, work of compression, work.
const fn reference(
    name: &'static str,
    k: DMat3,
    (mu, e): (f64, f64),
    [u, velocity, impulse]: [[f64; 3]; 3],
    compression_work: f64,
    work: f64,
) -> ReferenceCollision {
    ReferenceCollision {
        name,
        collision: Collision { k, u: DVec3::from_array(u) },
        settings: CollisionSettings { restitution: Restitution::Stronge, e, mu, law: Law::Integrated },
        velocity: DVec3::from_array(velocity),
        impulse: DVec3::from_array(impulse),
        compression_work,
        work,
    }
}

/// The reference collisions R1 to R9.
pub const REFERENCE: [ReferenceCollision; 9] = [
    reference(
        "R1 slides throughout",
        K_A,
        (0.2, 0.5),
        [
            [1.0, 0.5, -1.0],
            [0.892915663889681, 0.24201649428553, 0.498253989214562],
            [-0.0571966263031104, -0.0218880840061274, 0.306712506302309],
        ],
        -0.102058882866852,
        -0.139200742853421,
    ),
    reference(
        "R2 turns sharply near the origin",
        K_A,
        (0.2, 0.5),
        [
            [-0.2, 0.3, -1.0],
            [0.0100882189829747, -0.0280299839047153, 0.476200079173658],
            [-0.0159917727801554, -0.0219911282408083, 0.294040144742601],
        ],
        -0.0956807156485703,
        -0.0784810529936239,
    ),
    reference(
        "R3 starts at rest and cannot stay",
        K_A,
        (0.2, 0.5),
        [
            [0.0, 0.0, -1.0],
            [0.0327445832673778, -0.0957082383471307, 0.5],
            [-0.0204618277352784, 0.0598073113319172, 0.316053827813439],
        ],
        -0.105351275937813,
        -0.0822104901683282,
    ),
    reference(
        "R4 through the origin, ray to ray",
        K_A,
        (0.2, 0.5),
        [
            [-0.2516041867472902, 0.1633870656179207, -1.0],
            [0.0209922797570626, -0.0613577549004944, 0.480295962944675],
            [0.00336936756398418, 0.0276354406020327, 0.300912407196545],
        ],
        -0.0972115043004654,
        -0.0771713920716819,
    ),
    reference(
        "R5 sticks in compression",
        K_A,
        (0.5, 0.5),
        [
            [0.3, 0.2, -1.0],
            [0.0, 0.0, 0.487988917734326],
            [-0.080516009868111, -0.0169039407913338, 0.310320197362221],
        ],
        -0.102422874766245,
        -0.0932114856095141,
    ),
    reference(
        "R6 the same, e = 1",
        K_A,
        (0.5, 1.0),
        [
            [0.3, 0.2, -1.0],
            [0.0, 0.0, 0.975977835468652],
            [-0.085763202531921, 0.0145792151915259, 0.41526405063842],
        ],
        -0.102422874766245,
        -0.0163943295348307,
    ),
    reference(
        "R7 pressed together by friction",
        K_J,
        (0.8, 0.5),
        [[1.0, 0.0, -1.0], [0.0, 0.0, 0.714392849108348], [-5.37619358999346, 0.0, 11.3915413110966]],
        -5.37218045112782,
        -4.31484962406015,
    ),
    reference(
        "R8 u_z rises, falls, rises",
        K_J,
        (0.8, 0.5),
        [[0.0, 1.0, -1.0], [0.0, 0.0, 0.495847041084235], [-3.54279562362056, -1.0 / 3.0, 7.87287916360124]],
        -2.58804513844201,
        -2.15123432942458,
    ),
    reference(
        "R9 two phases of compression",
        K_J,
        (0.8, 1.0),
        [[-0.5, 1.0, -0.34], [0.0, 0.0, 0.1246403059684], [-0.44256914571464, -1.0 / 3.0, 1.2612647682547]],
        // e = 1, so it equals the work of restitution: 0.00210109531717 before u_z falls again, and u_z²/2κ at the end with
        // κ = 1 − 1.8²/4.
        -0.0429832160327,
        -0.1918371775301,
    ),
];
