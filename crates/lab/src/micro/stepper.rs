//! An impact-driven linear stepper: a slider between jaws that hit it at an angle.
//!
//! The slider lies on a base with friction μ_b. Jaws at its sides, a gap g away, swing by A along (cos α, ± sin α), half a period apart: contact is transient. A jaw
//! whose normal velocity is v_n when it meets the slider at rest, and its tangential velocity v_t, gives it (Coulomb, rotation locked by a guide)
//!
//!   v_y = (1 + e) v_n,   v_x = min(v_t, μ (1 + e) v_n),
//!
//! with sin θ = g / (A sin α) at the impact, v_n = A ω sin α cos θ, v_t = A ω cos α cos θ. It then slides against the base by v_x |v| / (2 μ_b g₀), if it
//! meets no other jaw: the step. With α = 90° there is none; α > 90° goes backwards.

use super::GRAVITY;
use super::design::{Design, MicroError, design};
use super::feed::{Machine, Run};
use crate::contact::Random;
use glam::DVec3;
use rattleback_dynamics::world::CombinedMaterial;
use rattleback_dynamics::{Body, BodyId, Material, Path, Properties, Registry, Value, World};
use rattleback_geometry::{Pose, Shape};
use std::f64::consts::{PI, TAU};

/// Steps of a period.
const STEPS: f64 = 16.0;

design! {
    /// A stepper. Lengths in m, angles in degrees.
    Stepper {
        length = 0.002, "m", 1e-6 to 10.0, "Length of the slider, along x.";
        width = 0.0002, "m", 1e-6 to 10.0, "Width of the slider, between the jaws.";
        height = 0.0001, "m", 1e-6 to 10.0, "Height of the slider.";
        density = 2330.0, "kg/m³", 1.0 to 30000.0, "Density of the slider.";
        jaws = 2.0, "", 1.0 to 2.0 whole, "Jaws: one, or one at each side.";
        angle = 45.0, "deg", 1.0 to 179.0, "Direction of the jaws' motion from x.";
        amplitude = 0.000005, "m", 1e-9 to 1.0, "Amplitude of the jaws.";
        gap = 0.000001, "m", 0.0 to 1.0, "Gap between a jaw at rest and the slider in the middle.";
        frequency = 1000.0, "Hz", 0.1 to 1e6, "Frequency.";
        friction = 0.3, "", 0.0 to 10.0, "Coulomb coefficient of jaws and slider.";
        base_friction = 0.3, "", 0.0 to 10.0, "Coulomb coefficient of base and slider.";
        restitution = 0.3, "", 0.0 to 1.0, "Coefficient of restitution of jaws and slider.";
        duration = 0.05, "s", 1e-6 to 1000.0, "Duration of a run.";
    }
}

impl Stepper {
    /// Length of a step by the formula above; none if jaws do not reach the slider or the base has no friction.
    pub fn single_step(&self) -> Option<f64> {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        let reach = self.amplitude * sin;
        if self.gap >= reach || self.base_friction <= 0.0 {
            return None;
        }
        let rate = self.amplitude * TAU * self.frequency * (1.0 - (self.gap / reach).powi(2)).sqrt();
        let vy = (1.0 + self.restitution) * rate * sin;
        let vx = (rate * cos).abs().min(self.friction * vy).copysign(cos);
        Some(vx * vx.hypot(vy) / (2.0 * self.base_friction * GRAVITY))
    }

    /// Base, jaws and slider, at a phase of the jaws in rad, the slider off the middle between the jaws by a way in m.
    ///
    /// # Errors
    /// What the world refuses.
    pub fn world(&self, phase: f64, off: f64) -> Result<(World, BodyId), rattleback_dynamics::Error> {
        let mut world = World::default();
        world.set_gravity(GRAVITY * DVec3::NEG_Z)?;
        let jaw_material =
            Material { restitution: self.restitution, ..Material::with_friction(self.friction) };
        let on_base = Material { restitution: 0.0, ..Material::with_friction(self.base_friction) };
        let slider_material = world.add_material(jaw_material)?;
        let pair = CombinedMaterial::from(&on_base);
        let base_material = world.add_material(on_base)?;
        world.combine_rules_mut().set_pair(slider_material, base_material, pair)?;
        world.add_body(
            Body::fixed().named("base").with_shape(Shape::half_space(DVec3::Z)?).material(base_material),
        )?;
        let half = 0.5 * DVec3::new(self.length, self.width, self.height);
        let (sin, cos) = self.angle.to_radians().sin_cos();
        // Clear of the base, longer than the slider travels within its reach.
        let jaw = DVec3::new(0.5 * half.x, half.y, 0.4 * half.z);
        for (k, side) in [-1.0, 1.0].into_iter().take(self.jaws as usize).enumerate() {
            let path = Path::Harmonic {
                amplitude: self.amplitude * DVec3::new(cos, -side * sin, 0.0),
                swing: DVec3::ZERO,
                frequency: self.frequency,
                phase: phase + k as f64 * PI,
            };
            let middle = DVec3::new(0.0, side * (half.y + self.gap + jaw.y), half.z);
            let body = Body::kinematic(path).named(format!("jaw[{k}]")).pose(Pose::at(middle));
            world.add_body(body.with_shape(Shape::cuboid(jaw)?).material(slider_material))?;
        }
        let slider = Body::dynamic()
            .named("slider")
            .pose(Pose::at(DVec3::new(0.0, off, half.z)))
            .density(self.density);
        let slider = slider.with_shape(Shape::cuboid(half)?).material(slider_material).lock_rotations();
        let slider = world.add_body(slider)?;
        Ok((world, slider))
    }
}

impl Machine for Stepper {
    fn check(&self) -> Result<(), MicroError> {
        self.check_ranges()?;
        let reach = self.amplitude * self.angle.to_radians().sin();
        if reach <= self.gap {
            return Err(MicroError::Geometry(format!(
                "jaws reach {reach} m and the slider is {} m away; a larger amplitude or smaller gap is needed",
                self.gap
            )));
        }
        Ok(())
    }

    fn run(&self, random: &mut Random, registry: &Registry) -> Result<Run, rattleback_dynamics::Error> {
        // Jaws start behind their middle, where they are clear of the slider.
        let (phase, off) = if self.jaws > 1.5 {
            ([0.0, PI][random.index(2)], random.range(-0.9, 0.9) * self.gap)
        } else {
            (random.range(PI, TAU), 0.0)
        };
        let (mut world, slider) = self.world(phase, off)?;
        let epsilon = 0.002 * self.amplitude;
        let properties = Properties::from([("collision_epsilon".to_owned(), Value::Real(epsilon))]);
        let mut simulator = registry.simulators.make("impulse", &properties)?;
        let dt = 1.0 / (STEPS * self.frequency);
        let steps = (self.duration / dt).ceil() as u64;
        let mut left = false;
        for _ in 0..steps {
            simulator.step(&mut world, dt)?;
            // Half of the slider is still between the jaws.
            if world.body(slider)?.center_of_mass().x.abs() > 0.6 * self.length {
                left = true;
                break;
            }
        }
        let c = world.body(slider)?.center_of_mass();
        Ok(Run { rates: [c.x / world.time(), c.y / world.time(), 0.0], left })
    }
}
