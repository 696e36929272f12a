//! `bench multibody`: time per call of the algorithms in joint coordinates, one thread; growth with the length of a chain; four states at a time.
//!
//! The robots are built here, with the numbers of joints of the ones that `benchmarks/multibody` compares with other engines: an arm of 7 axes, a quadruped with a
//! floating base and 12 joints, a humanoid with 32, chains. Files of robots can be given instead.

use crate::arguments::BenchMultibody;
use crate::failure::Failure;
use crate::table::{Table, number};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::joint::{FreeJoint, RevoluteJoint};
use rattleback_dynamics::multibody::{
    DynamicsDerivatives, Lanes, Link, LinkTree, MassMatrix, Workspace, forward_dynamics,
    forward_dynamics_of_four, inverse_dynamics, inverse_dynamics_of_four,
};
use rattleback_scene::robot::{RobotModel, RobotOptions};
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

/// States that are evaluated in turns.
const STATES: usize = 16;
/// Joints up to which derivatives, of which there are as many as the square of the joints, are timed.
const MOST_DERIVATIVES: usize = 100;

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// Measures and prints.
pub fn multibody(options: &BenchMultibody, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(
        &[
            "robot",
            "velocities",
            "ABA",
            "RNEA",
            "CRBA",
            "+ factors",
            "derivatives",
            "ABA of 4",
            "gain",
            "RNEA of 4",
            "gain",
        ],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    for (name, tree) in robots(options)? {
        table.row(row(&name, &tree, options.rounds)?);
    }
    writeln!(
        out,
        "µs per call, least of {} rounds over {STATES} states; of four states at once: µs for each",
        options.rounds
    )?;
    table.write(out)?;
    if options.files.is_empty() {
        growth(options.rounds, out)?;
    }
    Ok(())
}

fn robots(options: &BenchMultibody) -> Result<Vec<(String, LinkTree)>, Failure> {
    if options.files.is_empty() {
        let built = [("arm", limbs(&[7], false)), ("quadruped", limbs(&[3; 4], true))];
        let humanoid = limbs(&[6, 6, 4, 7, 7, 2], true);
        let built = built.into_iter().chain([
            ("humanoid", humanoid),
            ("chain 100", chain(100)),
            ("chain 400", chain(400)),
        ]);
        return built
            .map(|(name, links)| Ok((name.to_owned(), LinkTree::new(links).map_err(Failure::failed)?)))
            .collect();
    }
    let read = |file: &std::path::PathBuf| {
        let robot = RobotModel::load(file, &RobotOptions { meshes: false, ..RobotOptions::default() });
        let robot = robot.map_err(Failure::input)?;
        Ok((robot.name().to_owned(), robot.multibody().clone()))
    };
    options.files.iter().map(read).collect()
}

/// Chains of hinges on a common base: lengths of the chains, whether the base floats.
fn limbs(lengths: &[usize], floating: bool) -> Vec<Link> {
    let inertia = DMat3::from_diagonal(DVec3::new(0.3, 0.4, 0.2));
    let mut links = Vec::new();
    if floating {
        links.push(Link::new("base", None, FreeJoint).with_mass(20.0, DVec3::new(0.01, 0.0, 0.05), inertia));
    }
    for (limb, length) in lengths.iter().enumerate() {
        let angle = limb as f64 * 1.1;
        for k in 0..*length {
            let parent = if k > 0 { Some(links.len() - 1) } else { floating.then_some(0) };
            let place = if k > 0 {
                DVec3::new(0.0, 0.02, -0.25)
            } else {
                DVec3::new(angle.cos(), angle.sin(), 0.0) * 0.3
            };
            let axis = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.6, 0.0, 0.8)][(limb + k) % 4];
            let turn = DQuat::from_rotation_z(0.3 * limb as f64);
            links.push(
                Link::new(format!("{limb}/{k}"), parent, RevoluteJoint { axis })
                    .at(place, if k > 0 { DQuat::IDENTITY } else { turn })
                    .with_mass(1.5, DVec3::new(0.0, 0.01, -0.12), 0.02 * inertia),
            );
        }
    }
    links
}

fn chain(count: usize) -> Vec<Link> {
    let inertia = DMat3::from_diagonal(DVec3::new(0.002, 0.002, 0.0004));
    let link = |k: usize| {
        let axis = if k.is_multiple_of(2) { DVec3::Y } else { DVec3::X };
        let place = DVec3::new(0.0, 0.0, if k == 0 { 0.0 } else { -0.2 });
        Link::new(k.to_string(), k.checked_sub(1), RevoluteJoint { axis })
            .at(place, DQuat::IDENTITY)
            .with_mass(0.5, DVec3::new(0.0, 0.0, -0.1), inertia)
    };
    (0..count).map(link).collect()
}

/// Positions, velocities and joint forces of several states.
struct States {
    q: Vec<Vec<f64>>,
    v: Vec<Vec<f64>>,
    f: Vec<Vec<f64>>,
}

impl States {
    fn new(tree: &LinkTree) -> Self {
        let n = tree.velocity_count();
        let wave = |state: usize, factor: f64| -> Vec<f64> {
            (0..n).map(|k| (factor * (k + 1) as f64 + 1.7 * state as f64).sin()).collect()
        };
        let positions = |state: usize| {
            let mut q = tree.neutral();
            tree.advance(&mut q, &wave(state, 0.9), 1.0);
            q
        };
        Self {
            q: (0..STATES).map(positions).collect(),
            v: (0..STATES).map(|state| wave(state, 1.3)).collect(),
            f: (0..STATES).map(|state| wave(state, 2.1)).collect(),
        }
    }

    /// Four states side by side, from one of the groups.
    fn four(of: &[Vec<f64>], group: usize) -> Vec<Lanes> {
        (0..of[0].len()).map(|k| Lanes(std::array::from_fn(|lane| of[4 * group + lane][k]))).collect()
    }
}

/// Least time of a call, µs.
fn least(
    rounds: u32,
    calls: usize,
    mut call: impl FnMut(usize) -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        let began = Instant::now();
        for k in 0..calls {
            call(k % STATES)?;
        }
        least = least.min(began.elapsed().as_secs_f64() * 1e6 / calls as f64);
    }
    Ok(least)
}

fn row(name: &str, tree: &LinkTree, rounds: u32) -> Result<Vec<String>, Failure> {
    let n = tree.velocity_count();
    let (states, calls) = (States::new(tree), (2000 / n.max(1)).max(1));
    let (mut work, mut result) = (Workspace::new(tree), vec![0.0; n]);
    let aba = least(rounds, calls, |k| {
        let state = (&states.q[k][..], &states.v[k][..], &states.f[k][..]);
        forward_dynamics(tree, &mut work, state, None, GRAVITY, black_box(&mut result))
            .map_err(Failure::failed)
    })?;
    let rnea = least(rounds, calls, |k| {
        let state = (&states.q[k][..], &states.v[k][..], &states.f[k][..]);
        inverse_dynamics(tree, &mut work, state, None, GRAVITY, black_box(&mut result))
            .map_err(Failure::failed)
    })?;
    let mut mass = MassMatrix::new(tree);
    let crba =
        least(rounds, calls, |k| mass.compute(tree, &mut work, &states.q[k]).map_err(Failure::failed))?;
    let factors = least(rounds.min(50), (calls / 4).max(1), |k| {
        mass.compute(tree, &mut work, &states.q[k]).and_then(|()| mass.factorize()).map_err(Failure::failed)
    })?;
    let derivatives = if n <= MOST_DERIVATIVES {
        let mut derivatives = DynamicsDerivatives::new(tree);
        number(
            least(rounds.min(50), (calls / 8).max(1), |k| {
                let state = (&states.q[k][..], &states.v[k][..], &states.f[k][..]);
                derivatives
                    .forward(tree, &mut work, state, None, GRAVITY, &mut result)
                    .map_err(Failure::failed)
            })?,
            3,
        )
    } else {
        "–".to_owned()
    };
    let groups = STATES / 4;
    let gather = |of: &[Vec<f64>]| (0..groups).map(|group| States::four(of, group)).collect::<Vec<_>>();
    let (q, v, f) = (gather(&states.q), gather(&states.v), gather(&states.f));
    let (mut wide, mut lanes) = (Workspace::<Lanes>::new(tree), vec![Lanes::default(); n]);
    let aba_of_four = least(rounds, calls, |k| {
        let state = (&q[k % groups][..], &v[k % groups][..], &f[k % groups][..]);
        forward_dynamics_of_four(tree, &mut wide, state, None, GRAVITY, &mut lanes).map_err(Failure::failed)
    })? / 4.0;
    let rnea_of_four = least(rounds, calls, |k| {
        let state = (&q[k % groups][..], &v[k % groups][..], &f[k % groups][..]);
        inverse_dynamics_of_four(tree, &mut wide, state, None, GRAVITY, &mut lanes).map_err(Failure::failed)
    })? / 4.0;
    let mut cells = vec![name.to_owned(), n.to_string()];
    cells.extend([aba, rnea, crba, factors].map(|time| number(time, 3)));
    cells.extend([derivatives, number(aba_of_four, 3), format!("{:.2}×", aba / aba_of_four)]);
    cells.extend([number(rnea_of_four, 3), format!("{:.2}×", rnea / rnea_of_four)]);
    Ok(cells)
}

/// Time per link of chains up to 10⁵ links: flat if it is linear.
fn growth(rounds: u32, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&["links", "ABA, µs", "ns a link", "RNEA, µs", "ns a link"], &[0, 1, 2, 3, 4]);
    for count in [200, 2_000, 20_000, 100_000] {
        let tree = LinkTree::new(chain(count)).map_err(Failure::failed)?;
        let (q, v) = (vec![0.01; count], vec![0.1; count]);
        let (mut work, mut result) = (Workspace::new(&tree), vec![0.0; count]);
        let (rounds, calls) = (rounds.min(20), (20_000 / count).max(1));
        let aba = least(rounds, calls, |_| {
            forward_dynamics(&tree, &mut work, (&q, &v, &v), None, GRAVITY, &mut result)
                .map_err(Failure::failed)
        })?;
        let rnea = least(rounds, calls, |_| {
            inverse_dynamics(&tree, &mut work, (&q, &v, &v), None, GRAVITY, &mut result)
                .map_err(Failure::failed)
        })?;
        let each = |time: f64| number(time * 1e3 / count as f64, 3);
        table.row(vec![count.to_string(), number(aba, 4), each(aba), number(rnea, 4), each(rnea)]);
    }
    writeln!(out, "\nchains")?;
    table.write(out)?;
    Ok(())
}
