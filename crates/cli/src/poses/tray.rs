//! Some drops side by side as a scene file, to watch in the viewer.

use super::Answer;
use crate::failure::Failure;
use glam::DVec3;
use rattleback_dynamics::Registry;
use rattleback_lab::poses::PoseStudy;
use std::fmt::Write;

/// Drops along each side of the tray.
const SIDE: usize = 6;

/// A scene of the first uniform drops, each in its own place.
pub fn scene(answer: &Answer) -> Result<String, Failure> {
    let registry = Registry::default();
    let (part, settings) = (&answer.part, &answer.settings);
    let study = PoseStudy::new(part, &answer.landscape, settings, &registry).map_err(Failure::failed)?;
    let (mass, drop) = (part.mass(), &settings.drop);
    let list = |v: &[f64]| v.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let corners: Vec<String> =
        part.hull().vertices().iter().map(|p| format!("[{}]", list(&p.to_array()))).collect();
    let i = mass.inertia;
    let inertia = [i.x_axis.x, i.y_axis.y, i.z_axis.z, i.x_axis.y, i.x_axis.z, i.y_axis.z];
    let mut text = format!(
        "title = \"Drops of a part\"\ntime_step = {}\nduration = 3\n\n[simulator]\ntype = \"{}\"\n\n\
         [materials.default]\nrestitution = {}\nstatic_friction = {}\nkinetic_friction = {}\n\n\
         [[body]]\nname = \"floor\"\nstatus = \"static\"\nshape = {{ type = \"half-space\" }}\n",
        drop.dt, drop.simulator, drop.restitution, drop.friction, drop.friction
    );
    for index in 0..SIDE * SIDE {
        let (pose, velocity) = study.uniform_release(index);
        let place = |k: usize| 2.5 * part.size() * (k as f64 - 0.5 * (SIDE - 1) as f64);
        let at = pose.translation + DVec3::new(place(index % SIDE), place(index / SIDE), 0.0);
        let q = pose.rotation;
        let _ = write!(
            text,
            "\n[[body]]\nname = \"part-{index}\"\nposition = [{}]\norientation = [{}]\nvelocity = [{}]\n\
             mass_properties = {{ mass = {}, center = [{}], inertia = [{}] }}\n\
             shape = {{ type = \"convex\", vertices = [{}] }}\n",
            list(&at.to_array()),
            list(&[q.w, q.x, q.y, q.z]),
            list(&velocity.to_array()),
            mass.mass,
            list(&mass.center_of_mass.to_array()),
            list(&inertia),
            corners.join(", ")
        );
    }
    Ok(text)
}
