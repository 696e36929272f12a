//! Volume integrals T = ∫ (1, x, y, z, x², y², z², xy, yz, zx) dV against the tables of Mirtich.

use super::{Allowed, Check, Outcome};
use glam::DVec3;
use rattleback_dynamics::Registry;
use rattleback_geometry::{Polyhedron, VolumeIntegrals, generate};

const SOLVER: &str = "volume integrals";
const NAMES: [&str; 10] = ["T1", "Tx", "Ty", "Tz", "Txx", "Tyy", "Tzz", "Txy", "Tyz", "Tzx"];

fn table(case: &str, expected: [f64; 10], t: &VolumeIntegrals, zero: f64) -> Vec<Check> {
    let rows = NAMES.iter().zip(expected).zip(t.to_array());
    rows.map(|((name, expected), got)| {
        let allowed = if expected == 0.0 { Allowed::Absolute(zero) } else { Allowed::Relative(1e-14) };
        Check::new(format!("{case}/{name}"), SOLVER, expected, got, allowed)
    })
    .collect()
}

/// C-T1: the cube of side 20 about the origin: T1 = 20³, Txx = 20 · 20 · 2 · 10³/3.
pub(super) fn cube(_: &Registry) -> Outcome {
    let t = VolumeIntegrals::of_soup(&generate::cuboid(DVec3::splat(10.0))?);
    let square = 800_000.0 / 3.0;
    Ok(table("mass/cube", [8000.0, 0.0, 0.0, 0.0, square, square, square, 0.0, 0.0, 0.0], &t, 1e-11))
}

/// C-T1: the tetrahedron of the origin, 5x, 4y and 3z.
pub(super) fn tetrahedron(_: &Registry) -> Outcome {
    let corners = [DVec3::ZERO, 5.0 * DVec3::X, 4.0 * DVec3::Y, 3.0 * DVec3::Z];
    let t = Polyhedron::new(&generate::tetrahedron(corners))?.integrals();
    Ok(table("mass/tetrahedron", [10.0, 12.5, 10.0, 7.5, 25.0, 16.0, 9.0, 10.0, 6.0, 7.5], &t, 0.0))
}

/// C-T1: icospheres of level 1 to 6, T1 and Txx to the six decimals of the table; Tx and Tyz vanish by symmetry.
pub(super) fn icospheres(_: &Registry) -> Outcome {
    const TABLE: [(f64, f64); 6] = [
        (2.536151, 0.367035),
        (3.658712, 0.669163),
        (4.047045, 0.791085),
        (4.152741, 0.825779),
        (4.179739, 0.834743),
        (4.186525, 0.837003),
    ];
    let mut checks = Vec::new();
    for (level, (t1, txx)) in (1..).zip(TABLE) {
        let t = generate::icosphere(level)?.integrals()?;
        let mut push = |name: &str, expected, got, allowed| {
            let case = format!("mass/icosphere/{level}/{name}");
            checks.push(Check::new(case, SOLVER, expected, got, Allowed::Absolute(allowed)));
        };
        push("T1", t1, t.t1, 0.51e-6);
        push("Txx", txx, t.txx, 0.51e-6);
        push("zeros", 0.0, t.tx.abs().max(t.tyz.abs()), 1e-14);
    }
    Ok(checks)
}
