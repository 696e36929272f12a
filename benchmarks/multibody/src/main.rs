//! Articulated bodies beside Pinocchio and MuJoCo: largest relative differences at random states, and time per call.
//!
//!   python dump_models.py OUT                    (see there)
//!   cargo run --release -- [--check | --speed] [--rounds 400] OUT/*.json
//!
//! Prints, for each robot, the differences of accelerations, joint forces and the mass matrix, each in parts of the largest number of its state;
//! then "robot algorithm least-ns median-ns" lines, as `peer_speed` does for the peers. `compare_speed.py` runs both in turns.
//!
//! Whose error a difference is, is shown by a reference with twice the digits (`double_double`): how far our accelerations and the peer's lie from it; and
//! how far it moves if every number of the model changes by half a unit in its last place. No engine that reads the model as doubles can be expected to agree
//! with another better than that.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::joint::{
    FixedJoint, FreeJoint, PrismaticJoint, RevoluteJoint, SphericalJoint,
};
use rattleback_dynamics::multibody::{
    DoubleDouble, DynamicsDerivatives, Lanes, Link, LinkTree, MassMatrix, Workspace, forward_dynamics,
    forward_dynamics_of_four, inverse_dynamics, inverse_dynamics_of_four,
};
use serde_json::Value;
use std::time::Instant;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn vector(value: &Value) -> DVec3 {
    DVec3::from_slice(&numbers(value))
}

fn read_link(value: &Value) -> Link {
    let name = value["name"].as_str().unwrap_or("?");
    let parent = value["parent"].as_i64().and_then(|parent| usize::try_from(parent).ok());
    let link = match value["joint"].as_str() {
        Some("revolute") => {
            Link::new(name, parent, RevoluteJoint { axis: vector(&value["axis"]).normalize() })
        }
        Some("prismatic") => {
            Link::new(name, parent, PrismaticJoint { axis: vector(&value["axis"]).normalize() })
        }
        Some("spherical") => Link::new(name, parent, SphericalJoint),
        Some("free") => Link::new(name, parent, FreeJoint),
        _ => Link::new(name, parent, FixedJoint),
    };
    let rotation = numbers(&value["rotation"]);
    let rotation = DQuat::from_slice(&rotation).normalize();
    let inertia = numbers(&value["inertia"]);
    let inertia = DMat3::from_cols_slice(&inertia);
    let mut link = link.at(vector(&value["position"]), rotation).with_mass(
        value["mass"].as_f64().unwrap_or(0.0),
        vector(&value["center"]),
        0.5 * (inertia + inertia.transpose()),
    );
    link.armature = value["armature"].as_f64().unwrap_or(0.0);
    link
}

struct State {
    q: Vec<f64>,
    v: Vec<f64>,
    f: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
    g: Vec<f64>,
}

/// Largest difference in parts of the largest number.
fn difference(got: &[f64], expected: &[f64]) -> f64 {
    let scale = expected.iter().fold(1e-300_f64, |most, x| most.max(x.abs()));
    got.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale
}

/// Least and median time of a call, ns.
fn times(rounds: usize, calls: usize, mut call: impl FnMut(usize)) -> [f64; 2] {
    let mut all: Vec<f64> = (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            for k in 0..calls {
                call(k);
            }
            start.elapsed().as_secs_f64() * 1e9 / calls as f64
        })
        .collect();
    all.sort_by(f64::total_cmp);
    [all[0], all[all.len() / 2]]
}

fn main() {
    let (mut checks, mut measures, mut rounds, mut files) = (true, true, 400, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--check" => measures = false,
            "--speed" => checks = false,
            "--rounds" => rounds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(rounds),
            _ => files.push(argument),
        }
    }
    for file in files {
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                println!("{file}: {error}");
                continue;
            }
        };
        let Ok(robot) = serde_json::from_str::<Value>(&text) else {
            println!("{file}: no JSON");
            continue;
        };
        let name = robot["name"].as_str().unwrap_or("?").to_owned();
        let links: Vec<Link> = robot["links"].as_array().into_iter().flatten().map(read_link).collect();
        let tree = match LinkTree::new(links.clone()) {
            Ok(tree) => tree,
            Err(error) => {
                println!("{name} refused: {error}");
                continue;
            }
        };
        let gravity = vector(&robot["gravity"]);
        let state = |value: &Value| State {
            q: numbers(&value["q"]),
            v: numbers(&value["v"]),
            f: numbers(&value["f"]),
            a: numbers(&value["a"]),
            b: numbers(&value["b"]),
            g: numbers(&value["g"]),
        };
        let states: Vec<State> = robot["states"].as_array().into_iter().flatten().map(state).collect();
        let masses: Vec<Vec<f64>> = robot["masses"].as_array().into_iter().flatten().map(numbers).collect();
        if checks {
            check(&name, robot["peer"].as_str().unwrap_or("?"), (&tree, &links), gravity, &states, &masses);
        }
        if measures {
            time(&name, &tree, gravity, &states, rounds);
        }
    }
}

/// The model with every number moved by up to half a unit in its last place.
fn perturbed(links: &[Link], seed: u64) -> Option<LinkTree> {
    let mut x = seed;
    let mut nudge = |value: f64| {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        value * (1.0 + f64::EPSILON * ((x >> 11) as f64 / (1_u64 << 53) as f64 - 0.5))
    };
    let mut all = |v: DVec3| DVec3::new(nudge(v.x), nudge(v.y), nudge(v.z));
    let moved = |link: &Link| {
        let mut link = link.clone();
        link.joint_position = all(link.joint_position);
        link.center_of_mass = all(link.center_of_mass);
        let (a, b) = (all(link.joint_rotation.xyz()), all(DVec3::splat(link.joint_rotation.w)));
        link.joint_rotation = DQuat::from_xyzw(a.x, a.y, a.z, b.x);
        link.mass = all(DVec3::splat(link.mass)).x;
        let i = link.inertia;
        let (d, o) = (
            all(DVec3::new(i.x_axis.x, i.y_axis.y, i.z_axis.z)),
            all(DVec3::new(i.x_axis.y, i.x_axis.z, i.y_axis.z)),
        );
        link.inertia =
            DMat3::from_cols(DVec3::new(d.x, o.x, o.y), DVec3::new(o.x, d.y, o.z), DVec3::new(o.y, o.z, d.z));
        link
    };
    LinkTree::new(links.iter().map(moved).collect()).ok()
}

/// Accelerations with 106 bits.
fn reference(
    tree: &LinkTree,
    work: &mut Workspace<DoubleDouble>,
    state: &State,
    gravity: DVec3,
) -> Option<Vec<f64>> {
    let wide = |values: &[f64]| -> Vec<DoubleDouble> {
        values.iter().map(|value| DoubleDouble { high: *value, low: 0.0 }).collect()
    };
    let (q, v, f) = (wide(&state.q), wide(&state.v), wide(&state.f));
    let mut out = vec![DoubleDouble::default(); v.len()];
    forward_dynamics(tree, work, (&q, &v, &f), None, gravity, &mut out).ok()?;
    Some(out.into_iter().map(|value| value.high).collect())
}

fn check(
    name: &str,
    peer: &str,
    (tree, links): (&LinkTree, &[Link]),
    gravity: DVec3,
    states: &[State],
    masses: &[Vec<f64>],
) {
    let n = tree.velocity_count();
    let (mut work, mut out) = (Workspace::new(tree), vec![0.0; n]);
    let (mut forward, mut inverse, mut matrix, mut failed) = (0.0_f64, 0.0_f64, 0.0_f64, 0);
    let (mut own, mut theirs, mut last_bit) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut wide = Workspace::new(tree);
    let others: Vec<LinkTree> = (1..=2).filter_map(|seed| perturbed(links, seed)).collect();
    for state in states {
        match forward_dynamics(tree, &mut work, (&state.q, &state.v, &state.f), None, gravity, &mut out) {
            Ok(()) => forward = forward.max(difference(&out, &state.a)),
            Err(_) => failed += 1,
        }
        if let Some(exact) = reference(tree, &mut wide, state, gravity) {
            own = own.max(difference(&out, &exact));
            theirs = theirs.max(difference(&state.a, &exact));
            for other in &others {
                if let Some(moved) = reference(other, &mut wide, state, gravity) {
                    last_bit = last_bit.max(difference(&moved, &exact));
                }
            }
        }
        if inverse_dynamics(tree, &mut work, (&state.q, &state.v, &state.b), None, gravity, &mut out).is_ok()
        {
            inverse = inverse.max(difference(&out, &state.g));
        }
    }
    let (mut mass, mut dense) = (MassMatrix::new(tree), vec![0.0; n * n]);
    for (state, expected) in states.iter().zip(masses) {
        if mass.compute(tree, &mut work, &state.q).is_ok() {
            mass.write_dense(&mut dense);
            matrix = matrix.max(difference(&dense, expected));
        }
    }
    println!(
        "{name} ({peer}): {n} velocities, {} states: accelerations {forward:.2e}, forces {inverse:.2e}, mass matrix {matrix:.2e}; \
         from the reference: ours {own:.1e}, {peer} {theirs:.1e}, last bit of the model {last_bit:.1e}{}",
        states.len(),
        if failed > 0 { format!(", {failed} refused") } else { String::new() }
    );
}

fn time(name: &str, tree: &LinkTree, gravity: DVec3, states: &[State], rounds: usize) {
    let n = tree.velocity_count();
    let states = &states[..states.len().min(64)];
    // Rounds of a fraction of a millisecond: some of them are not interrupted even on a busy machine.
    let calls = (2_000 / n).max(1);
    let (mut work, mut out) = (Workspace::new(tree), vec![0.0; n]);
    let report = |what: &str, [least, median]: [f64; 2]| println!("{name} {what} {least:.1} {median:.1}");
    let aba = times(rounds, calls, |k| {
        let state = &states[k % states.len()];
        let _ = forward_dynamics(tree, &mut work, (&state.q, &state.v, &state.f), None, gravity, &mut out);
    });
    report("aba", aba);
    let rnea = times(rounds, calls, |k| {
        let state = &states[k % states.len()];
        let _ = inverse_dynamics(tree, &mut work, (&state.q, &state.v, &state.b), None, gravity, &mut out);
    });
    report("rnea", rnea);
    let mut mass = MassMatrix::new(tree);
    report(
        "crba",
        times(rounds, calls, |k| {
            let _ = mass.compute(tree, &mut work, &states[k % states.len()].q);
        }),
    );
    report(
        "crba_factor",
        times(rounds, (calls / 4).max(1), |k| {
            let _ = mass.compute(tree, &mut work, &states[k % states.len()].q);
            let _ = mass.factorize();
        }),
    );
    if n <= 100 {
        let mut derivatives = DynamicsDerivatives::new(tree);
        let ns = times(rounds, (calls / 8).max(1), |k| {
            let state = &states[k % states.len()];
            let _ =
                derivatives.forward(tree, &mut work, (&state.q, &state.v, &state.f), None, gravity, &mut out);
        });
        report("aba_derivatives", ns);
    }
    // Four states at a time, ns for each.
    let gather = |of: &dyn Fn(&State) -> &Vec<f64>| -> Vec<Vec<Lanes>> {
        states
            .chunks_exact(4)
            .map(|four| {
                (0..of(&four[0]).len())
                    .map(|k| Lanes(std::array::from_fn(|lane| of(&four[lane])[k])))
                    .collect()
            })
            .collect()
    };
    let (q, v, f) = (gather(&|s| &s.q), gather(&|s| &s.v), gather(&|s| &s.f));
    let (mut wide, mut lanes) = (Workspace::<Lanes>::new(tree), vec![Lanes::default(); n]);
    let four = times(rounds, calls, |k| {
        let k = k % q.len();
        let _ = forward_dynamics_of_four(tree, &mut wide, (&q[k], &v[k], &f[k]), None, gravity, &mut lanes);
    });
    report("aba_of_four", four.map(|ns| ns / 4.0));
    let four = times(rounds, calls, |k| {
        let k = k % q.len();
        let _ = inverse_dynamics_of_four(tree, &mut wide, (&q[k], &v[k], &f[k]), None, gravity, &mut lanes);
    });
    report("rnea_of_four", four.map(|ns| ns / 4.0));
}
