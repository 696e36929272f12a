//! A joint of which every axis can be set by itself.
//!
//! Rotation is measured by the rotation vector of B in A's axes: exact about a single axis, and to first order about several.

use super::axis::{JointAxis, Motor};
use super::row::{Effect, Row};
use super::{Joint, JointState, Locks, Rows};
use crate::component;
use crate::error::{Error, parameter};
use crate::property::Allowed;
use glam::DVec3;

component! {
    /// Six axes, each locked (min = max), limited (min < max) or free (min > max), with springs and motors.
    pub struct Generic6Dof as "six-axis" {
        /// Least position along the axes of A.
        linear_min: DVec3 = DVec3::ZERO, "m", Allowed::Finite;
        /// Largest position along the axes of A.
        linear_max: DVec3 = DVec3::ZERO, "m", Allowed::Finite;
        /// Smallest angle about the axes of A.
        angular_min: DVec3 = DVec3::ZERO, "rad", Allowed::Finite;
        /// Largest angle about the axes of A.
        angular_max: DVec3 = DVec3::ZERO, "rad", Allowed::Finite;
        /// Springs that pull to position 0, oscillations per second; 0 for none.
        linear_frequency: DVec3 = DVec3::ZERO, "1/s", Allowed::NonNegative;
        /// Springs that turn to angle 0, oscillations per second; 0 for none.
        angular_frequency: DVec3 = DVec3::ZERO, "1/s", Allowed::NonNegative;
        /// Damping of all springs.
        damping_ratio: f64 = 1.0, "", Allowed::NonNegative;
        /// Speeds of the motors along the axes.
        linear_speed: DVec3 = DVec3::ZERO, "m/s", Allowed::Finite;
        /// Their largest forces; 0 for no motor. Motors with speed 0 are dry friction.
        max_force: DVec3 = DVec3::ZERO, "N", Allowed::NonNegative;
        /// Speeds of the motors about the axes.
        angular_speed: DVec3 = DVec3::ZERO, "rad/s", Allowed::Finite;
        /// Their largest torques; 0 for no motor.
        max_torque: DVec3 = DVec3::ZERO, "N·m", Allowed::NonNegative;
    }
}

impl Generic6Dof {
    /// (whether each translation is locked, whether each rotation is) ⇒ joint with the other axes free.
    ///
    /// With [`JointFrames::to_world`](super::JointFrames::to_world) it restricts a single body to some axes of the world, for simulators with
    /// [`Feature::Joints`](crate::simulator::Feature::Joints). All three rotations are locked without a joint, and in more
    /// simulators, by [`Body::lock_rotations`](crate::Body::lock_rotations).
    ///
    /// ```
    /// use glam::DVec3;
    /// use rattleback_dynamics::joint::{Generic6Dof, JointFrames};
    /// use rattleback_dynamics::simulator::Constraint;
    /// use rattleback_dynamics::{Body, Simulator, World};
    /// use rattleback_geometry::Shape;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let ball = Body::dynamic().with_shape(Shape::sphere(0.1)?).velocity(DVec3::new(1.0, 2.0, 0.0));
    /// let ball = world.add_body(ball)?;
    /// // Motion in the plane x–z: no translation along y, no rotation about x and z.
    /// let plane = Generic6Dof::locking([false, true, false], [true, false, true]);
    /// world.add_joint(JointFrames::to_world(ball), plane)?;
    /// let mut simulator = Constraint::default();
    /// for _ in 0..60 {
    ///     simulator.step(&mut world, 1.0 / 60.0)?;
    /// }
    /// let position = world.body(ball)?.position();
    /// assert!((position - DVec3::new(1.0, 0.0, -0.5 * 9.81)).length() < 1e-6);
    /// # Ok(()) }
    /// ```
    pub fn locking(translations: [bool; 3], rotations: [bool; 3]) -> Self {
        // The range of a free axis is empty.
        let bound =
            |locked: [bool; 3]| DVec3::from_array(locked.map(|locked| if locked { 0.0 } else { 1.0 }));
        let (linear, angular) = (bound(translations), bound(rotations));
        Self {
            linear_min: linear,
            linear_max: -linear,
            angular_min: angular,
            angular_max: -angular,
            ..Self::default()
        }
    }

    fn locks_rotation(&self) -> bool {
        self.angular_min == self.angular_max
    }

    fn spring(&self, frequency: f64, row: Row, rows: &mut Rows) {
        if frequency > 0.0 {
            let effect = Effect::Spring { frequency, damping_ratio: self.damping_ratio, max_force: 1e30 };
            rows.push(Row { key: row.key + 3, effect, ..row });
        }
    }
}

/// (least and largest value, speed and force of the motor) ⇒ what acts along an axis.
fn freedom(range: (f64, f64), speed: f64, max_force: f64) -> JointAxis {
    JointAxis {
        limits: (range.0 <= range.1).then_some(range),
        drive: if max_force > 0.0 { Motor::Speed { speed, max_force } } else { Motor::None },
        friction: 0.0,
    }
}

impl Joint for Generic6Dof {
    fn locks(&self) -> Locks {
        let along = [0, 1, 2].map(|k| self.linear_min[k] == 0.0 && self.linear_max[k] == 0.0);
        let rotation = self.locks_rotation() && self.angular_min == DVec3::ZERO;
        Locks::along(along).and(if rotation { Locks::ROTATION } else { Locks::NONE })
    }

    fn rows(&self, state: &JointState, rows: &mut Rows) {
        let axes = state.frames[0].axes();
        let locks = self.locks();
        for k in 0..3 {
            let axis = axes.col(k);
            if locks.bits() & (1 << k) == 0 {
                let place = axis.dot(state.offset());
                let row = state.along(4 * k as u8, axis, place);
                let range = (self.linear_min[k], self.linear_max[k]);
                freedom(range, self.linear_speed[k], self.max_force[k]).act(state, row, place, rows);
                self.spring(self.linear_frequency[k], row, rows);
            }
        }
        if locks.has(Locks::ROTATION) {
            return;
        }
        let turned = state.rotation().to_scaled_axis();
        for k in 0..3 {
            let row = state.about(12 + 4 * k as u8, axes.col(k), turned[k]);
            let range = (self.angular_min[k], self.angular_max[k]);
            freedom(range, self.angular_speed[k], self.max_torque[k]).act(state, row, turned[k], rows);
            self.spring(self.angular_frequency[k], row, rows);
        }
    }

    fn check(&self) -> Result<(), Error> {
        let huge = self.angular_min.abs().max(self.angular_max.abs()).max_element();
        if huge > std::f64::consts::PI {
            return Err(parameter("angles of a six-axis joint", "within ±π", huge));
        }
        Ok(())
    }

    fn is_driven(&self) -> bool {
        self.linear_speed.abs().dot(self.max_force) + self.angular_speed.abs().dot(self.max_torque) > 0.0
    }

    fn can_add_energy(&self) -> bool {
        self.is_driven() || (self.linear_frequency + self.angular_frequency).max_element() > 0.0
    }
}
