//! Energy and momentum of a whole world.

use super::{ForceId, Status, World};
use crate::error::Error;
use crate::force::ForceContext;
use glam::DVec3;

/// The conserved quantities of the dynamic bodies and the multibodies at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readout {
    /// Seconds.
    pub time: f64,
    /// Σ ½ m v² + ½ ω·L, J.
    pub kinetic_energy: f64,
    /// Of every force that has a potential, and of springs in the joints of multibodies, J.
    pub potential_energy: f64,
    /// Σ m v, kg·m/s.
    pub momentum: DVec3,
    /// About the origin, kg·m²/s.
    pub angular_momentum: DVec3,
}

impl Readout {
    /// Kinetic plus potential, J.
    pub fn energy(&self) -> f64 {
        self.kinetic_energy + self.potential_energy
    }
}

impl World {
    /// Potential energy of a force now, J; 0 for forces without a potential.
    ///
    /// # Errors
    /// There is no such force.
    pub fn force_potential(&self, id: ForceId) -> Result<f64, Error> {
        let record = self.forces.get(id).ok_or(Error::UnknownForce(id))?;
        let scope = ForceContext::new(self.time, &self.bodies, &self.shapes, &record.targets);
        Ok(record.force.potential_energy(&scope))
    }

    /// Energy, momentum and angular momentum now.
    pub fn readout(&self) -> Readout {
        let mut readout = Readout { time: self.time, ..Readout::default() };
        let motion = self.bodies.motion(Status::Dynamic);
        let inertia = self.bodies.inertia(Status::Dynamic);
        for (motion, inertia) in motion.iter().zip(inertia) {
            let p = motion.v / inertia.inverse_mass;
            readout.kinetic_energy += inertia.kinetic_energy(motion);
            readout.momentum += p;
            readout.angular_momentum += inertia.angular_momentum(motion.q, motion.omega) + motion.x.cross(p);
        }
        for (_, record) in self.forces.iter() {
            let scope = ForceContext::new(self.time, &self.bodies, &self.shapes, &record.targets);
            readout.potential_energy += record.force.potential_energy(&scope);
        }
        let [kinetic, potential, _] = self.multibody_energy();
        readout.kinetic_energy += kinetic;
        readout.potential_energy += potential;
        for multibody in self.iter_multibodies() {
            readout.momentum += multibody.readout().momentum;
            readout.angular_momentum += multibody.readout().angular_momentum;
        }
        readout
    }
}
