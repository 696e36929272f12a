//! What a dynamic estimate should not depend on: time step, simulator, and how the mesh is written down.
//!
//! The same part is dropped with other random numbers and with one thing changed; Pearson's χ² compares the counts of poses. Meshes are renumbered
//! (corners and faces in another order), turned, and their triangles split in four. Poses of a changed mesh are matched by the direction of their faces.

use super::chi_squared::{chi_squared, chi_squared_tail};
use super::error::PoseError;
use super::landscape::Landscape;
use super::part::{Part, PartOptions};
use super::study::{Method, PoseStudy, Stop, StudySettings};
use crate::contact::Random;
use glam::{DMat3, DQuat};
use rattleback_dynamics::Registry;
use rattleback_geometry::{MassProperties, PolygonSoup, convex_hull_with};

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct IndependenceRow {
    /// What was changed.
    pub changed: String,
    /// χ², degrees of freedom, probability of a larger χ² by chance; or why there is none.
    pub result: Result<(f64, usize, f64), String>,
    /// Largest difference of a share.
    pub difference: f64,
    /// Drops that did not settle.
    pub unsettled: usize,
}

/// A surface with corners and triangles in another order, turned, its triangles split.
fn rewritten(part: &Part, turn: DQuat, shuffled: Option<&mut Random>, split: bool) -> PolygonSoup {
    let surface = part.surface();
    let mut vertices: Vec<_> = surface.vertices().iter().map(|p| turn * *p).collect();
    let mut triangles: Vec<[u32; 3]> = surface.triangles().to_vec();
    if split {
        let mut halves = std::collections::BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *halves.entry((a.min(b), a.max(b))).or_insert_with(|| {
                vertices.push(0.5 * (vertices[a as usize] + vertices[b as usize]));
                (vertices.len() - 1) as u32
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    if let Some(random) = shuffled {
        let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.index(i + 1));
        }
        let mut moved = vertices.clone();
        for (from, to) in order.iter().enumerate() {
            moved[*to as usize] = vertices[from];
        }
        vertices = moved;
        for i in (1..triangles.len()).rev() {
            triangles.swap(i, random.index(i + 1));
        }
        for triangle in &mut triangles {
            *triangle = triangle.map(|corner| order[corner as usize]);
            triangle.rotate_left(random.index(3));
        }
    }
    let mut soup = PolygonSoup::new(vertices);
    for triangle in &triangles {
        soup.push_face(triangle);
    }
    soup
}

/// (part, its poses, below which barrier they are one, circumstances, drops of each comparison, threads) ⇒ comparisons.
///
/// # Errors
/// The drops to compare with failed.
pub fn independence(
    part: &Part,
    landscape: &Landscape,
    smooth: f64,
    settings: &StudySettings,
    drops: usize,
    threads: usize,
    registry: &Registry,
) -> Result<Vec<IndependenceRow>, PoseError> {
    let count = |part: &Part, landscape: &Landscape, settings: &StudySettings| {
        let mut records = Vec::new();
        let study = PoseStudy::new(part, landscape, settings, registry)?;
        let estimate = study.run(Method::Uniform, Stop::Drops(drops), threads, &mut records, |_, _| true)?;
        let mut counts = vec![0.0; landscape.poses.len()];
        records.iter().filter_map(|record| record.pose).for_each(|pose| counts[pose] += 1.0);
        Ok::<_, PoseError>((counts, estimate.unsettled + estimate.failed))
    };
    let (base, _) = count(part, landscape, settings)?;
    // Other random numbers: equal ones would give equal results where nothing is changed.
    let other = StudySettings { seed: settings.seed.wrapping_add(1), ..settings.clone() };
    let row = |changed: String, found: Result<(Vec<f64>, usize), PoseError>| {
        let (counts, unsettled) = match found {
            Ok(found) => found,
            Err(error) => {
                return IndependenceRow {
                    changed,
                    result: Err(error.to_string()),
                    difference: 0.0,
                    unsettled: 0,
                };
            }
        };
        let (chi, degrees) = chi_squared(&base, &counts);
        let totals: (f64, f64) = (base.iter().sum(), counts.iter().sum());
        let difference =
            base.iter().zip(&counts).map(|(a, b)| (a / totals.0 - b / totals.1).abs()).fold(0.0, f64::max);
        let result = Ok((chi, degrees, chi_squared_tail(chi, degrees)));
        IndependenceRow { changed, result, difference, unsettled }
    };
    let mut rows = vec![row("nothing".into(), count(part, landscape, &other))];
    for factor in [0.5, 0.25] {
        let mut finer = other.clone();
        finer.drop.dt *= factor;
        rows.push(row(format!("time step {} s", finer.drop.dt), count(part, landscape, &finer)));
    }
    let mut random = Random::new(settings.seed, 91);
    let turn = random.rotation();
    for (name, turn, shuffled, split) in [
        ("corners and faces renumbered", DQuat::IDENTITY, true, false),
        ("mesh turned", turn, false, false),
        ("triangles split in four", DQuat::IDENTITY, false, true),
        ("renumbered, turned and split", turn, true, true),
    ] {
        let soup = rewritten(part, turn, shuffled.then_some(&mut random), split);
        let found =
            recounted(&soup, turn, part, landscape, smooth, |part, landscape| count(part, landscape, &other));
        rows.push(row(name.into(), found));
    }
    for name in ["impulse", "constraint", "realtime"] {
        if name != settings.drop.simulator {
            let mut changed = other.clone();
            changed.drop.simulator = name.into();
            // Simulators that advance by whole steps need shorter ones.
            changed.drop.dt = settings.drop.dt.min(1.0 / 480.0);
            let label = format!("simulator {name}, {} s", (1e5 * changed.drop.dt).round() / 1e5);
            rows.push(row(label, count(part, landscape, &changed)));
        }
    }
    Ok(rows)
}

/// Drops of a part from a rewritten mesh, with the mass of the original, counted by the poses of the original.
fn recounted(
    soup: &PolygonSoup,
    turn: DQuat,
    part: &Part,
    landscape: &Landscape,
    smooth: f64,
    count: impl Fn(&Part, &Landscape) -> Result<(Vec<f64>, usize), PoseError>,
) -> Result<(Vec<f64>, usize), PoseError> {
    // The mass of the original, with its inserts, turned.
    let (mass, rotation) = (part.mass(), DMat3::from_quat(turn));
    let mass = MassProperties {
        mass: mass.mass,
        center_of_mass: turn * mass.center_of_mass,
        inertia: rotation * mass.inertia * rotation.transpose(),
    };
    let hull = convex_hull_with(&soup.vertices, PartOptions::default().merge)?;
    let changed = Part::convex(hull, mass)?;
    let poses = Landscape::of(&changed, smooth)?;
    let (counts, unsettled) = count(&changed, &poses)?;
    let mut matched = vec![0.0; landscape.poses.len()];
    for (pose, n) in poses.poses.iter().zip(counts) {
        let Some(face) = pose.faces.first() else { continue };
        let down = turn.conjugate() * poses.faces.all[*face as usize].normal;
        if let Some((original, _)) = landscape.nearest(down) {
            matched[original] += n;
        }
    }
    Ok((matched, unsettled))
}
