//! Random complementarity problems, for tests and examples.

#![allow(dead_code)] // each test uses a part

use glam::{DMat3, DQuat, DVec3};
use rattleback_numerics::lcp::blocks::{Block, BlockContact, BlockProblem, Stiffness};
use rattleback_numerics::lcp::{Friction, FrictionContact, FrictionProblem, Lcp, SquareMatrix};

/// Random numbers that are the same everywhere (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }
}

/// G Gᵀ/n + 0.05, b in ±1.
pub fn random_lcp(random: &mut Random, n: usize) -> Lcp {
    let g: Vec<f64> = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
    let a = SquareMatrix::from_fn(n, |i, j| {
        let (x, y) = (&g[i * n..(i + 1) * n], &g[j * n..(j + 1) * n]);
        x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / n as f64 + if i == j { 0.05 } else { 0.0 }
    });
    let b = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
    Lcp::new(a, b).expect("finite")
}

/// Mass and inertia of a rigid body.
#[derive(Clone, Copy)]
pub struct Mass {
    pub mobility: f64,
    pub inverse_inertia: DMat3,
    pub center: DVec3,
}

/// A contact point between two bodies, or one and the ground.
#[derive(Clone, Copy)]
pub struct Point {
    pub bodies: [Option<usize>; 2],
    pub place: DVec3,
    /// Columns n, t, k.
    pub frame: DMat3,
}

/// Relative acceleration at `one` per unit force at `other`, both along given directions.
pub fn coupling(bodies: &[Mass], one: (&Point, DVec3), other: (&Point, DVec3)) -> f64 {
    let mut sum = 0.0;
    for (side_a, a) in one.0.bodies.iter().enumerate() {
        for (side_b, b) in other.0.bodies.iter().enumerate() {
            if a.is_none() || a != b {
                continue;
            }
            let body = &bodies[a.unwrap_or(0)];
            let sign = if side_a == side_b { 1.0 } else { -1.0 };
            let (x, y) = (one.0.place - body.center, other.0.place - body.center);
            let angular = body.inverse_inertia * y.cross(other.1);
            sum += sign * (one.1.dot(other.1) * body.mobility + x.cross(one.1).dot(angular));
        }
    }
    sum
}

pub fn frame(n: DVec3) -> DMat3 {
    let t = n.any_orthonormal_vector();
    DMat3::from_cols(n, t, n.cross(t))
}

/// The matrix of all rows n, t, k.
pub fn contact_matrix(bodies: &[Mass], points: &[Point]) -> SquareMatrix {
    SquareMatrix::from_fn(3 * points.len(), |i, j| {
        let (p, q) = (&points[i / 3], &points[j / 3]);
        coupling(bodies, (p, p.frame.col(i % 3)), (q, q.frame.col(j % 3)))
    })
}

/// A heap: bodies at random, contacts between them and the ground, most of them static, some sliding.
pub fn random_frictional(random: &mut Random, contacts: usize, sliding: bool) -> FrictionProblem {
    let count = contacts.div_ceil(2) + 1;
    let bodies: Vec<Mass> = (0..count)
        .map(|_| {
            let turn = DMat3::from_quat(DQuat::from_scaled_axis(3.0 * random.vector()));
            let size =
                DVec3::new(random.between(0.3, 1.0), random.between(0.3, 1.0), random.between(0.3, 1.0));
            let mass = random.between(0.5, 3.0);
            let square = size * size;
            let moments =
                mass / 12.0 * DVec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
            Mass {
                mobility: 1.0 / mass,
                inverse_inertia: turn * DMat3::from_diagonal(moments.recip()) * turn.transpose(),
                center: 2.0 * random.vector(),
            }
        })
        .collect();
    let points: Vec<Point> = (0..contacts)
        .map(|_| {
            let a = random.below(count);
            let b = (a + 1 + random.below(count - 1)) % count;
            let ground = random.unit() < 0.4;
            let point = bodies[a].center + 0.5 * random.vector();
            let n = (random.vector() + 0.5 * DVec3::Z).normalize_or(DVec3::Z);
            Point { bodies: [Some(a), if ground { None } else { Some(b) }], place: point, frame: frame(n) }
        })
        .collect();
    let a = contact_matrix(&bodies, &points);
    // Accelerations of bodies, not of rows: rows may depend on each other, and must then agree.
    let free: Vec<[DVec3; 2]> =
        (0..count).map(|_| [8.0 * random.vector() - 5.0 * DVec3::Z, 4.0 * random.vector()]).collect();
    let at = |body: Option<usize>, point: DVec3| {
        body.map_or(DVec3::ZERO, |body| free[body][0] + free[body][1].cross(point - bodies[body].center))
    };
    let b = (0..3 * contacts)
        .map(|row| {
            let Point { bodies, place: point, frame } = points[row / 3];
            frame.col(row % 3).dot(at(bodies[0], point) - at(bodies[1], point))
        })
        .collect();
    let kinds = (0..contacts)
        .map(|_| {
            let mu = [random.unit(), random.unit()];
            let friction = if sliding && random.unit() < 0.3 {
                let angle = random.between(0.0, std::f64::consts::TAU);
                Friction::Dynamic([0.3 * mu[0] * angle.cos(), 0.3 * mu[0] * angle.sin()])
            } else {
                Friction::Static(mu)
            };
            FrictionContact { friction }
        })
        .collect();
    FrictionProblem::new(a, b, kinds).expect("finite")
}

/// Unit cubes of 1 kg at these centres, with four contact points on every face that lies on another cube or
/// on the floor z = 0.
pub fn cubes(centers: &[DVec3]) -> (Vec<Mass>, Vec<Point>) {
    let bodies: Vec<Mass> = centers
        .iter()
        .map(|center| Mass {
            mobility: 1.0,
            inverse_inertia: DMat3::from_diagonal(DVec3::splat(6.0)),
            center: *center,
        })
        .collect();
    let mut points = Vec::new();
    for (i, upper) in centers.iter().enumerate() {
        let mut support = |below: Option<usize>, low: DVec3, high: DVec3| {
            for (x, y) in [(low.x, low.y), (high.x, low.y), (low.x, high.y), (high.x, high.y)] {
                let point = DVec3::new(x, y, upper.z - 0.5);
                points.push(Point { bodies: [Some(i), below], place: point, frame: frame(DVec3::Z) });
            }
        };
        if (upper.z - 0.5).abs() < 1e-9 {
            support(None, *upper - DVec3::splat(0.5), *upper + DVec3::splat(0.5));
        }
        for (j, lower) in centers.iter().enumerate() {
            let apart = *upper - *lower;
            if (apart.z - 1.0).abs() < 1e-9 && apart.x.abs() < 0.99 && apart.y.abs() < 0.99 {
                let low = upper.max(*lower) - DVec3::splat(0.5);
                let high = upper.min(*lower) + DVec3::splat(0.5);
                support(Some(j), low, high);
            }
        }
    }
    (bodies, points)
}

/// Free acceleration of every row of cubes under gravity: −9.81 along z on each body.
pub fn gravity_rows(points: &[Point]) -> Vec<f64> {
    let rows = points.iter().flat_map(|point| {
        let first = if point.bodies[0].is_some() { -9.81 } else { 0.0 };
        let second = if point.bodies[1].is_some() { -9.81 } else { 0.0 };
        (0..3).map(move |row| point.frame.col(row).z * (first - second))
    });
    rows.collect()
}

/// Normal rows only.
pub fn frictionless(matrix: &SquareMatrix, b: &[f64]) -> Lcp {
    let n = matrix.n() / 3;
    let a = SquareMatrix::from_fn(n, |i, j| matrix[(3 * i, 3 * j)]);
    Lcp::new(a, (0..n).map(|i| b[3 * i]).collect()).expect("finite")
}

/// A tower of n cubes.
pub fn tower(n: usize) -> Vec<DVec3> {
    (0..n).map(|i| DVec3::new(0.0, 0.0, 0.5 + i as f64)).collect()
}

/// A wall in running bond, `width` cubes wide and `height` high.
pub fn wall(width: usize, height: usize) -> Vec<DVec3> {
    let mut centers = Vec::new();
    for layer in 0..height {
        for i in 0..width - layer % 2 {
            let shift = 0.5 * (layer % 2) as f64;
            centers.push(DVec3::new(i as f64 + shift, 0.0, 0.5 + layer as f64));
        }
    }
    centers
}

/// Time in which gravity acts in [`as_blocks`], s.
pub const STEP: f64 = 0.01;

/// Bodies at rest and their contact points as blocks, after gravity has acted for [`STEP`].
pub fn as_blocks(bodies: &[Mass], points: &[Point], friction: f64, gravity: DVec3) -> BlockProblem {
    let block = |body: &Mass| {
        let inertia = body.inverse_inertia.inverse();
        Block::rigid(1.0 / body.mobility, inertia, body.inverse_inertia, STEP * gravity, DVec3::ZERO)
    };
    let contact = |point: &Point| {
        let row = |axis: usize, side: usize| -> [DVec3; 2] {
            let Some(body) = point.bodies[side] else { return [DVec3::ZERO; 2] };
            let d = if side == 0 { point.frame.col(axis) } else { -point.frame.col(axis) };
            [d, (point.place - bodies[body].center).cross(d)]
        };
        BlockContact {
            blocks: point.bodies,
            rows: [0, 1].map(|side| [0, 1, 2].map(|axis| row(axis, side))),
            target: DVec3::ZERO,
            friction,
            stiffness: Stiffness::Rigid,
        }
    };
    BlockProblem {
        blocks: bodies.iter().map(block).collect(),
        contacts: points.iter().map(contact).collect(),
        equalities: Vec::new(),
    }
}
