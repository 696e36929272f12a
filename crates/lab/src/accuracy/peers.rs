//! Figures of other engines, measured in November 2026 on a machine with two cores, with each engine's own defaults unless noted. Two numbers a/b are those at 1/240 s and at 1 ms.

/// Engines and versions, in the order of the figures.
pub const PEERS: [&str; 7] = [
    "MuJoCo 4.0.1",
    "Drake 1.51.1",
    "PyBullet 3.2.7",
    "PhysX 5 TGS (CPU)",
    "Rapier 0.36.1",
    "ODE 0.16.2",
    "DART 6.20",
];

/// How the figures were made.
pub const PEER_NOTE: &str = "Figures of other engines: measured in November 2026 with each engine's own defaults unless noted; a/b at 1/240 s and at 1 ms. They were not measured again for this page.";

pub(super) const BOUNCE: [&str; 7] = [
    "1.00/1.00 by a spring, sinking 14–59 mm",
    "0/0",
    "0.27/0.00; usual fix 2.71",
    "0.00/0.43",
    "0.80/0.95",
    "0.999/1.00",
    "1.22/1.05",
];
pub(super) const SLIDE: [&str; 7] = [
    "35 % (pyramid); 0.5 % elliptic",
    "0.7/0.17 %",
    "0.5/0.15 %",
    "0.05/0.02 %",
    "0.14/0.03 %",
    "22 %",
    "22 %",
];
pub(super) const SLIDE_45: [&str; 7] = ["1.41", "1.007", "0.994", "1.000", "0.998", "0.70", "0.70"];
pub(super) const CREEP: [&str; 7] = ["1.8", "0.11", "0.003", "5e-7", "3e-4", "8e-8", "1e-4"];
pub(super) const TORQUE_FREE: [&str; 7] = [
    "0.73/0.13; RK4 8e-11 · 0.32/0.06",
    "0.73/0.13 · 0.32/0.06",
    "0.73/0.13 · 0.32/0.06",
    "0.011/0.050 · 0.010/0.025",
    "0.016/0.061 (f64 4e-4) · 0.008/0.030",
    "0.15/0.14 · 0.066/0.062",
    "0.73/0.13 · 0.32/0.06",
];
pub(super) const CRADLE: [&str; 7] =
    ["0.65; 1.11", "0.56; 0.38", "0.69; 1.06", "0.54; 0.61", "0.43; 0.70", "8.0; 205", "0.67; 1.00"];
pub(super) const RODS: [&str; 7] = [
    "96; 3.0×; 0.67",
    "0; –; 0.28",
    "47; 1.50×; 0.13",
    "40; 2.41×; 0.25",
    "0; –; 0.40",
    "49; 1.52×; 0.25",
    "49; 1.52×; 0.25",
];
pub(super) const STACK: [&str; 7] = ["falls", "falls", "falls", "falls", "falls", "falls", "stands"];
pub(super) const WALL: [&str; 7] = ["38 (speculative 0)", "39", "38 (CCD 0)", "38 (CCD 0)", "0", "38", "39"];
