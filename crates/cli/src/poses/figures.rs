//! Pictures of a part in its poses, and curves of convergence.

use super::Answer;
use crate::failure::Failure;
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Body, World};
use rattleback_geometry::{Pose, Shape};
use rattleback_lab::plot::{Chart, Panel, Series};
use rattleback_lab::poses::{DropRecord, Estimate, Method, Part, PoseStudy};
use rattleback_viewer::picture::{Picture, PictureOptions};

/// Most curves of a panel.
const CURVES: usize = 7;
/// Points of a curve.
const POINTS: usize = 60;

/// Picture of the part with a direction of its frame down, as PNG.
pub fn picture(part: &Part, down: DVec3, size: (u32, u32)) -> Result<Vec<u8>, Failure> {
    // Turned a little, so that box-like parts show three sides.
    let q = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_arc(down, DVec3::NEG_Z);
    let lowest = part.hull().support(down);
    let c = q * part.mass().center_of_mass;
    let pose = Pose::new(q, DVec3::new(-c.x, -c.y, -(q * lowest).z));
    let mut world = World::default();
    let floor = Shape::half_space(DVec3::Z).map_err(Failure::failed)?;
    world.add_body(Body::fixed().with_shape(floor)).map_err(Failure::failed)?;
    let shape = Shape::mesh(part.surface().clone()).map_err(Failure::failed)?;
    let body = Body::dynamic().named("part").with_shape(shape).mass_properties(*part.mass()).pose(pose);
    world.add_body(body).map_err(Failure::failed)?;
    Picture::of(&world, &PictureOptions { size, ..PictureOptions::default() })
        .to_png()
        .map_err(Failure::failed)
}

/// Estimates over the number of drops: a panel for each method, curves of the most frequent poses.
pub fn convergence(answer: &Answer, estimate: &dyn Fn(Method, &[DropRecord]) -> Estimate) -> Chart {
    let mut panels = Vec::new();
    for last in &answer.estimates {
        let Some(records) = answer.records.get(last.method.name()) else { continue };
        let mut order: Vec<usize> = (0..last.p.len()).collect();
        order.sort_by(|a, b| last.p[*b].total_cmp(&last.p[*a]).then(a.cmp(b)));
        order.truncate(CURVES);
        let mut series: Vec<Series> = order
            .iter()
            .map(|pose| Series { name: format!("pose {}", pose + 1), points: Vec::new() })
            .collect();
        for k in 1..=POINTS {
            let count = records.len() * k / POINTS;
            if count == 0 {
                continue;
            }
            let at = estimate(last.method, &records[..count]);
            for (series, pose) in series.iter_mut().zip(&order) {
                series.points.push((count as f64, 100.0 * at.p[*pose]));
            }
        }
        panels.push(Panel { y_label: format!("{} (%)", last.method.name()), series, log_y: false });
    }
    Chart { title: "Estimates over the number of drops".into(), x_label: "drops".into(), panels }
}

/// As `convergence`, with the study of the answer.
pub fn convergence_of(answer: &Answer) -> Result<Chart, Failure> {
    let registry = rattleback_dynamics::Registry::default();
    let study = PoseStudy::new(&answer.part, &answer.landscape, &answer.settings, &registry)
        .map_err(Failure::failed)?;
    Ok(convergence(answer, &|method, records| study.estimate(method, records)))
}
