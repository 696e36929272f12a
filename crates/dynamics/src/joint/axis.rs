//! What acts along one axis that is free: limits, motor, friction.

use super::row::{Effect, Row, Rows};
use super::state::JointState;

/// How close to a limit, in m or rad, a row is made for it; a body that moves fast is looked for from farther away.
const NEAR: f64 = 0.05;

/// What a motor does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Motor {
    /// Nothing.
    #[default]
    None,
    /// Turns or pushes with a speed, as far as its force reaches.
    Speed {
        /// m/s or rad/s.
        speed: f64,
        /// Largest force or torque, N or N m.
        max_force: f64,
    },
    /// Pulls to a position by a damped spring.
    Position {
        /// m or rad.
        target: f64,
        /// Undamped oscillations per second.
        frequency: f64,
        /// Below 1 it swings.
        damping_ratio: f64,
        /// Largest force or torque, N or N m.
        max_force: f64,
    },
}

/// A free axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointAxis {
    /// Smallest and largest value.
    pub limits: Option<(f64, f64)>,
    /// Motor.
    pub drive: Motor,
    /// Dry friction, N or N m.
    pub friction: f64,
}

impl JointAxis {
    /// Adds the rows for a coordinate with this value and direction; four keys from the row's on are used.
    pub fn act(&self, state: &JointState, row: Row, value: f64, rows: &mut Rows) {
        if let Some((least, most)) = self.limits {
            let low = Row { error: value - least, effect: Effect::Limit, ..row };
            let high = Row { error: most - value, key: row.key + 1, effect: Effect::Limit, ..row.reversed() };
            if least == most {
                rows.push(Row { error: value - least, effect: Effect::Lock, ..row });
            } else {
                let nearer = if low.error < high.error { low } else { high };
                let approach = (-state.rate(&nearer)).max(0.0);
                if nearer.error < NEAR + 2.0 * state.dt * approach {
                    rows.push(nearer);
                }
            }
        }
        match self.drive {
            Motor::None => {}
            Motor::Speed { speed, max_force } => {
                rows.push(Row { key: row.key + 2, effect: Effect::Motor { speed, max_force }, ..row });
            }
            Motor::Position { target, frequency, damping_ratio, max_force } => rows.push(Row {
                key: row.key + 2,
                error: value - target,
                effect: Effect::Spring { frequency, damping_ratio, max_force },
                ..row
            }),
        }
        if self.friction > 0.0 {
            let effect = Effect::Motor { speed: 0.0, max_force: self.friction };
            rows.push(Row { key: row.key + 3, effect, ..row });
        }
    }
}

/// (whether limited, least, most) ⇒ limits.
pub(super) fn limits(limited: bool, least: f64, most: f64) -> Option<(f64, f64)> {
    limited.then_some((least, most))
}

/// Refuses limits in the wrong order.
pub(super) fn check_limits(limited: bool, least: f64, most: f64) -> Result<(), crate::error::Error> {
    if limited && least > most {
        return Err(crate::error::parameter("limits of a joint", "min ≤ max", (least, most)));
    }
    Ok(())
}

/// A motor as it stands in properties: with a frequency it is a servo that pulls to `target`, else it turns with `speed`.
pub(super) fn drive(max_force: f64, speed: f64, target: f64, frequency: f64, damping_ratio: f64) -> Motor {
    if max_force <= 0.0 {
        Motor::None
    } else if frequency > 0.0 {
        Motor::Position { target, frequency, damping_ratio, max_force }
    } else {
        Motor::Speed { speed, max_force }
    }
}
