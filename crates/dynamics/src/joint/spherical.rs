//! Ball and socket.
//!
//! With z_A and z_B the axes of the two frames: the swing is the angle between them, with rate n·(ω_B − ω_A), n = z_A × z_B
//! normalised; the twist φ, what is left of the rotation about z, has the rate (z_A + z_B)·(ω_B − ω_A) / (1 + z_A·z_B).

use super::axis::{JointAxis, check_limits, limits};
use super::row::{Effect, Row};
use super::state::twist;
use super::{Joint, JointState, Locks, Rows};
use crate::component;
use crate::error::Error;
use crate::property::Allowed;

component! {
    /// Ball and socket: both anchors stay together, and B turns as it likes within a cone and a range of twist.
    pub struct Spherical as "spherical" {
        /// Largest angle between the axes z of A and B; π for no limit.
        cone: f64 = std::f64::consts::PI, "rad", Allowed::Within(0.0, 3.141_592_653_589_794);
        /// Whether the twist about z is limited.
        twist_limited: bool = false, "", Allowed::Finite;
        /// Smallest twist.
        min_twist: f64 = -1.0, "rad", Allowed::Within(-3.141_592_653_589_794, 3.141_592_653_589_794);
        /// Largest twist.
        max_twist: f64 = 1.0, "rad", Allowed::Within(-3.141_592_653_589_794, 3.141_592_653_589_794);
        /// If not 0, a spring of this many oscillations per second turns B back to A.
        frequency: f64 = 0.0, "1/s", Allowed::NonNegative;
        /// Damping of the spring.
        damping_ratio: f64 = 1.0, "", Allowed::NonNegative;
        /// Largest torque of the spring about each axis.
        max_torque: f64 = 1e30, "N·m", Allowed::NonNegative;
        /// Dry friction about each axis.
        friction: f64 = 0.0, "N·m", Allowed::NonNegative;
    }
}

impl Joint for Spherical {
    fn locks(&self) -> Locks {
        Locks::POINT
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let (a, b) = (state.frames[0].axes(), state.frames[1].axes());
        let (together, across) = (a.z_axis.dot(b.z_axis), a.z_axis.cross(b.z_axis));
        if self.cone < std::f64::consts::PI {
            let swing = across.length().atan2(together);
            let direction = across.try_normalize().unwrap_or_else(|| a.z_axis.any_orthonormal_vector());
            let freedom = JointAxis { limits: Some((-1.0, self.cone)), ..JointAxis::default() };
            freedom.act(state, state.about(0, direction, swing), swing, rows);
        }
        let q = state.rotation();
        if self.twist_limited && together > -0.999 {
            let twist = twist(q);
            let direction = (a.z_axis + b.z_axis) / (1.0 + together);
            let freedom = JointAxis {
                limits: limits(self.twist_limited, self.min_twist, self.max_twist),
                ..JointAxis::default()
            };
            freedom.act(state, state.about(4, direction, twist), twist, rows);
        }
        let turned = q.to_scaled_axis();
        for k in 0..3 {
            let row = state.about(8 + k as u8, a.col(k), turned[k]);
            if self.frequency > 0.0 {
                let effect = Effect::Spring {
                    frequency: self.frequency,
                    damping_ratio: self.damping_ratio,
                    max_force: self.max_torque,
                };
                rows.push(Row { effect, ..row });
            }
            if self.friction > 0.0 {
                let effect = Effect::Motor { speed: 0.0, max_force: self.friction };
                rows.push(Row { key: row.key + 3, effect, ..row });
            }
        }
    }

    fn check(&self) -> Result<(), Error> {
        check_limits(self.twist_limited, self.min_twist, self.max_twist)
    }

    fn has_rows(&self) -> bool {
        self.cone < std::f64::consts::PI || self.twist_limited || self.frequency > 0.0 || self.friction > 0.0
    }

    fn can_add_energy(&self) -> bool {
        self.frequency > 0.0
    }
}
