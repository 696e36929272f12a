//! The sparse solver against statics, the pivoting methods and its own conditions.

use crate::lcp_problems;

use glam::{DMat3, DVec3};
use lcp_problems::{Mass, Point, Random, STEP, as_blocks, cubes, frame, tower, wall};
use rattleback_numerics::lcp::blocks::{
    BlockError, BlockProblem, BlockReport, BlockSettings, BlockSolver, Stiffness,
};

fn solve(problem: &BlockProblem) -> (BlockReport, Vec<DVec3>, Vec<[DVec3; 2]>) {
    let (mut impulse, mut velocity) = (Vec::new(), Vec::new());
    let report = BlockSolver::default()
        .solve(problem, &BlockSettings::default(), &mut impulse, &mut velocity)
        .unwrap();
    (report, impulse, velocity)
}

/// MC-4: every level of a tower carries the weight above, to 1e-9, and nothing moves; the largest wall has
/// 508 contacts.
#[test]
fn towers_and_walls_stand() {
    let down = -9.81 * DVec3::Z;
    for centers in [tower(1), tower(5), tower(20), wall(4, 4), wall(7, 7), wall(7, 11)] {
        let (bodies, points) = cubes(&centers);
        let (report, impulse, velocity) = solve(&as_blocks(&bodies, &points, 0.5, down));
        assert!(report.converged, "{report:?}");
        for v in velocity.iter().flatten() {
            assert!(v.length() < 1e-10, "{v}");
        }
        let floor: f64 =
            points.iter().zip(&impulse).filter(|(p, _)| p.bodies[1].is_none()).map(|(_, p)| p.x).sum();
        assert!((floor / STEP - 9.81 * centers.len() as f64).abs() < 1e-9 * 9.81 * centers.len() as f64);
    }
    let (bodies, points) = cubes(&tower(20));
    let (_, impulse, _) = solve(&as_blocks(&bodies, &points, 0.5, down));
    for level in 0..20 {
        let on = points.iter().zip(&impulse).filter(|(p, _)| p.bodies[0] == Some(level));
        let carried: f64 = on.map(|(_, p)| p.x).sum();
        assert!((carried / STEP - 9.81 * (20 - level) as f64).abs() < 1e-8, "{level}");
    }
}

/// MC-2: a cube on a slope of tan θ = 0.55 with μ = 0.5 slides with g (sin θ − μ cos θ); with μ = 0.6 it
/// stays.
#[test]
fn cubes_slide_down_steep_slopes() {
    let theta = 0.55_f64.atan();
    let gravity = 9.81 * DVec3::new(theta.sin(), 0.0, -theta.cos());
    let (bodies, points) = cubes(&tower(1));
    let (report, impulse, velocity) = solve(&as_blocks(&bodies, &points, 0.5, gravity));
    assert!(report.converged, "{report:?}");
    let expected = 9.81 * (theta.sin() - 0.5 * theta.cos());
    assert!((velocity[0][0] - STEP * expected * DVec3::X).length() < 1e-12, "{velocity:?}");
    let normal: f64 = impulse.iter().map(|p| p.x).sum();
    assert!((normal / STEP - 9.81 * theta.cos()).abs() < 1e-9);
    let (report, _, velocity) = solve(&as_blocks(&bodies, &points, 0.6, gravity));
    assert!(report.converged && velocity[0][0].length() < 1e-12);
}

/// A cube that slides fast, in any direction: its deceleration is μ g to rounding.
#[test]
fn fast_sliding_is_solved_as_well() {
    let (bodies, points) = cubes(&tower(1));
    let mut problem = as_blocks(&bodies, &points, 0.2, -9.81 * DVec3::Z);
    problem.blocks[0].free[0] += DVec3::new(3.0, 4.0, 0.0);
    let (report, _, velocity) = solve(&problem);
    assert!(report.converged, "{report:?}");
    let expected = DVec3::new(0.6, 0.8, 0.0) * (5.0 - 0.2 * 9.81 * STEP);
    assert!((velocity[0][0] - expected).length() < 1e-10, "{velocity:?}");
}

/// What solves a problem once solves it at once the second time.
#[test]
fn a_warm_start_needs_no_factorisation() {
    let (bodies, points) = cubes(&wall(5, 5));
    let problem = as_blocks(&bodies, &points, 0.5, -9.81 * DVec3::Z);
    let (_, mut impulse, mut velocity) = solve(&problem);
    let report = BlockSolver::default()
        .solve(&problem, &BlockSettings::default(), &mut impulse, &mut velocity)
        .unwrap();
    assert!(report.converged && report.steps == 0, "{report:?}");
}

/// Random heaps: momentum is what impulses made it, normal impulses push, friction stays in its cone and
/// works against slip.
#[test]
fn random_heaps_keep_the_law_of_coulomb() {
    let mut random = Random(11);
    let mut converged = 0;
    for _ in 0..100 {
        let count = 2 + random.below(8);
        let bodies: Vec<Mass> = (0..count)
            .map(|_| Mass {
                mobility: random.between(0.3, 2.0),
                inverse_inertia: DMat3::from_diagonal(DVec3::new(
                    random.between(2.0, 9.0),
                    random.between(2.0, 9.0),
                    random.between(2.0, 9.0),
                )),
                center: 2.0 * random.vector(),
            })
            .collect();
        let points: Vec<Point> = (0..3 * count)
            .map(|_| {
                let a = random.below(count);
                let b = (a + 1 + random.below(count - 1)) % count;
                let other = if random.unit() < 0.5 { None } else { Some(b) };
                let n = (random.vector() + 0.7 * DVec3::Z).normalize_or(DVec3::Z);
                let point = bodies[a].center + 0.5 * random.vector();
                Point { bodies: [Some(a), other], place: point, frame: frame(n) }
            })
            .collect();
        let mu = random.between(0.0, 0.5);
        let problem = as_blocks(&bodies, &points, mu, -9.81 * DVec3::Z);
        let (report, impulse, velocity) = solve(&problem);
        converged += usize::from(report.converged);
        if !report.converged {
            continue;
        }
        for (contact, p) in problem.contacts.iter().zip(&impulse) {
            let slip = |axis: usize| -> f64 {
                (0..2)
                    .filter_map(|side| {
                        let [v, w] = velocity[contact.blocks[side]?];
                        let [linear, angular] = contact.rows[side][axis];
                        Some(linear.dot(v) + angular.dot(w))
                    })
                    .sum()
            };
            let (u_n, u_t, u_k) = (slip(0), slip(1), slip(2));
            assert!(p.x >= 0.0 && u_n > -1e-10 && p.x * u_n < 1e-10);
            let friction = p.y.hypot(p.z);
            assert!(friction <= mu * p.x + 1e-9);
            if u_t.hypot(u_k) > 1e-8 {
                assert!((friction - mu * p.x).abs() < 1e-8, "sliding friction is at its limit");
                assert!((p.y * u_t + p.z * u_k + friction * u_t.hypot(u_k)).abs() < 1e-8);
            }
        }
    }
    assert!(converged >= 97, "{converged} of 100");
}

/// A soft contact sinks by as much as its spring needs: p = −ρ u.
#[test]
fn soft_contacts_give_way() {
    let (bodies, points) = cubes(&tower(1));
    let mut problem = as_blocks(&bodies, &points, 0.0, -9.81 * DVec3::Z);
    problem.contacts.iter_mut().for_each(|contact| contact.stiffness = Stiffness::Soft([3.0, 0.0]));
    let (report, impulse, velocity) = solve(&problem);
    assert!(report.converged, "{report:?}");
    // m (v − v*) = −4 ρ v.
    let v = -9.81 * STEP / (1.0 + 4.0 * 3.0);
    assert!((velocity[0][0].z - v).abs() < 1e-14 && (impulse[0].x + 3.0 * v).abs() < 1e-13);
}

/// Bad input is refused by name.
#[test]
fn bad_problems_are_refused() {
    let (bodies, points) = cubes(&tower(2));
    let good = as_blocks(&bodies, &points, 0.5, DVec3::ZERO);
    let refused = |problem: &BlockProblem| {
        BlockSolver::default().solve(problem, &BlockSettings::default(), &mut Vec::new(), &mut Vec::new())
    };
    let mut bad = good.clone();
    bad.blocks[1].free[0].x = f64::NAN;
    assert_eq!(refused(&bad), Err(BlockError::Block { block: 1 }));
    let mut bad = good.clone();
    bad.contacts[2].blocks = [Some(7), None];
    assert_eq!(refused(&bad), Err(BlockError::Contact { contact: 2 }));
    let mut bad = good;
    bad.contacts[0].friction = -1.0;
    assert_eq!(refused(&bad), Err(BlockError::Contact { contact: 0 }));
    assert!(refused(&BlockProblem::default()).unwrap().converged);
}

/// Sweeps alone, without Newton: on a wall that stands they come to the same velocities, none, and every
/// contact has satisfied its own conditions; a start that is ten thousand times too large does no harm.
#[test]
fn sweeps_hold_up_a_wall() {
    let (bodies, points) = cubes(&wall(4, 4));
    let problem = as_blocks(&bodies, &points, 0.5, -9.81 * DVec3::Z);
    let sweep = |sweeps: usize, start: Vec<DVec3>| {
        let settings = BlockSettings { updates: 0, sweeps, restart: false, ..BlockSettings::default() };
        let (mut impulse, mut velocity) = (start, Vec::new());
        let report = BlockSolver::default().solve(&problem, &settings, &mut impulse, &mut velocity).unwrap();
        assert!(impulse.iter().all(|p| p.x >= 0.0 && p.y.hypot(p.z) <= 0.5 * p.x * (1.0 + 1e-12)));
        (report, impulse, velocity)
    };
    let (few, _, _) = sweep(30, Vec::new());
    let (many, impulse, velocity) = sweep(1000, Vec::new());
    assert!(many.residual < 1e-6 && few.residual < 0.02 && few.residual > many.residual, "{few:?} {many:?}");
    assert!(velocity.iter().flatten().all(|v| v.length() < 1e-5));
    let floor: f64 =
        points.iter().zip(&impulse).filter(|(p, _)| p.bodies[1].is_none()).map(|(_, p)| p.x).sum();
    let weight = 9.81 * STEP * bodies.iter().map(|body| 1.0 / body.mobility).sum::<f64>();
    assert!((floor - weight).abs() < 1e-3 * weight, "{floor} {weight}");
    let (wild, _, _) = sweep(30, impulse.iter().map(|p| 1e4 * *p).collect());
    assert!(wild.residual < 0.02, "{wild:?}");
}
