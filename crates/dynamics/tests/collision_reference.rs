//! Collisions with a known outcome: published numbers, closed forms, and independent constructions.

use glam::{DMat3, DQuat, DVec2, DVec3};
use rattleback_dynamics::impact::{
    Collision, CollisionSettings, Compliance, ContactBody, Law, MicroKind, MicroSettings, Outcome, REFERENCE,
    Restitution, Scheme, SlipKind, Sticking, micro_collision, resolve,
};

fn solve(collision: &Collision, settings: &CollisionSettings) -> Outcome {
    resolve(collision, settings).expect("a valid collision")
}

fn settings(mu: f64, e: f64) -> CollisionSettings {
    CollisionSettings { mu, e, ..CollisionSettings::default() }
}

/// A planar collision matrix.
fn planar(k11: f64, k13: f64, k33: f64) -> DMat3 {
    DMat3::from_cols(DVec3::new(k11, 0.0, k13), DVec3::Y, DVec3::new(k13, 0.0, k33))
}

/// A uniform rod of 1 kg and half-length 1 m at this angle to the floor, touching with its lower end.
fn rod(degrees: f64) -> DMat3 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    planar(1.0 + 3.0 * sin * sin, 3.0 * sin * cos, 1.0 + 3.0 * cos * cos)
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

/// R1 to R9, test 22: every component to 1e-10 (R4, too, which starts on a direction that repels).
#[test]
fn reference_collisions_come_out_to_ten_digits() {
    for case in &REFERENCE {
        let outcome = solve(&case.collision, &case.settings);
        assert!((outcome.velocity - case.velocity).length() < 1e-10, "{} {outcome:?}", case.name);
        assert!((outcome.impulse - case.impulse).length() < 1e-10, "{} {outcome:?}", case.name);
        close(outcome.work, case.work, 1e-10);
        close(outcome.compression_work, case.compression_work, 1e-10);
        assert!(outcome.evaluations < 20, "{} {outcome:?}", case.name);
    }
}

/// R4, R5, R7, R8, R9: where the sliding stops.
#[test]
fn sliding_stops_where_it_should() {
    let expected = [
        (3, -0.481341550609, 0.098292929111),
        (4, -0.0973279800396, 0.184445595690),
        (6, -1.0 - 0.44 / 1.4, 1.0 / 1.4),
        (7, -0.889388794046, 0.582164241863),
        (8, -0.0167811102855, 0.516941524813),
    ];
    for (index, u_z, p_z) in expected {
        let case = &REFERENCE[index];
        let stick = solve(&case.collision, &case.settings).slip.stick.expect("it sticks");
        close(stick.normal_velocity, u_z, 1e-10);
        close(stick.normal_impulse, p_z, 1e-10);
    }
    let kinds = REFERENCE.map(|case| solve(&case.collision, &case.settings).slip_kind());
    assert_eq!(kinds[..2], [SlipKind::SlidesThroughout; 2]);
    assert_eq!(kinds[2..4], [SlipKind::SticksThenSlides; 2]);
    assert!(kinds[4..].iter().all(|kind| *kind == SlipKind::SticksInCompression));
}

/// R9: compressed twice; with e = 0.5 the first restitution already ends it.
#[test]
fn a_contact_may_be_compressed_twice() {
    let case = REFERENCE[8];
    let outcome = solve(&case.collision, &case.settings);
    assert_eq!(outcome.slip.compressions, 2);
    let half = solve(&case.collision, &CollisionSettings { e: 0.5, ..case.settings });
    close(half.velocity.z, 0.057314826202, 1e-10);
    close(half.impulse.z, 0.906920137906, 1e-10);
    close(half.work, -0.224074589555, 1e-10);
}

/// Test 22: the phased scheme agrees on R1 to R7 and hands R8 and R9 over.
#[test]
fn the_phased_scheme_agrees_or_hands_over() {
    for (index, case) in REFERENCE.iter().enumerate() {
        let outcome = solve(&case.collision, &CollisionSettings { law: Law::Phased, ..case.settings });
        assert!((outcome.velocity - case.velocity).length() < 1e-8, "{} {outcome:?}", case.name);
        assert!((outcome.impulse - case.impulse).length() < 1e-8, "{} {outcome:?}", case.name);
        assert_eq!(outcome.scheme == Scheme::Phased, index < 7, "{}", case.name);
    }
}

/// N9, test 24: Newton creates energy, Stronge's normal force does no net work when e = 1.
#[test]
fn newton_creates_energy_on_a_tilted_rod_and_stronge_does_not() {
    let collision = Collision { k: rod(50.0), u: DVec3::new(-0.5, 0.0, -1.0) };
    let by = |restitution| solve(&collision, &CollisionSettings { restitution, ..settings(0.6, 1.0) });
    close(by(Restitution::Newton).work, 0.114666212, 1e-9);
    close(by(Restitution::Poisson).work, -0.045282107, 1e-9);
    close(by(Restitution::Stronge).work, -0.023934935, 1e-9);
    close(by(Restitution::Stronge).normal_work(), 0.0, 1e-14);
    close(by(Restitution::Newton).velocity.z, 1.0, 1e-14);
    close(by(Restitution::Poisson).velocity.z, 0.7324349809, 1e-9);
    close(by(Restitution::Stronge).velocity.z, 0.7735155297, 1e-9);
}

/// N10, test 24: a rod at 45° dropped straight slips with little friction and sticks with much.
#[test]
fn a_dropped_rod_slips_or_sticks() {
    let collision = Collision { k: rod(45.0), u: -DVec3::Z };
    let slips = solve(&collision, &settings(0.3, 0.5));
    assert!((slips.velocity - DVec3::new(0.5487804878, 0.0, 0.5)).length() < 1e-9);
    assert!((slips.impulse - DVec3::new(-0.2195121951, 0.0, 0.7317073171)).length() < 1e-9);
    for mu in [0.6 + 1e-12, 0.9, 10.0] {
        let sticks = solve(&collision, &settings(mu, 0.5));
        assert!((sticks.impulse - DVec3::new(-0.5625, 0.0, 0.9375)).length() < 1e-9);
        assert!((sticks.velocity - DVec3::new(0.0, 0.0, 0.5)).length() < 1e-9);
    }
}

/// N11, test 24: a cube on its corner sticks from μ = 0.6√2 on, whatever its size.
#[test]
fn a_cube_on_its_corner_sticks_from_its_critical_friction_on() {
    for (half, mass) in [(1.0_f64, 1.0), (0.01, 3.0)] {
        let inverse = 3.0 / (2.0 * mass * half * half);
        let cube = ContactBody {
            inverse_mass: 1.0 / mass,
            inverse_inertia: DMat3::from_diagonal(DVec3::splat(inverse)),
            r: DVec3::new(half, half, -half),
            v: -DVec3::Z,
            omega: DVec3::ZERO,
        };
        let (collision, _) = Collision::between(&ContactBody::FIXED, &cube, DVec3::Z).expect("a cube");
        let compliance = Compliance::new(&collision.k).expect("a cube");
        let critical = 0.6 * 2.0_f64.sqrt();
        close(compliance.critical_friction(), critical, 1e-14);
        assert_eq!(compliance.sticking(critical * (1.0 + 1e-12)), Sticking::Stable);
        assert_ne!(compliance.sticking(critical * (1.0 - 1e-12)), Sticking::Stable);
    }
}

/// N14, test 24: a sphere slides on or rolls off.
#[test]
fn a_sphere_slides_on_or_rolls_off() {
    let k = DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0));
    let slides = solve(&Collision { k, u: DVec3::new(3.0, 0.0, -2.0) }, &settings(0.2, 0.5));
    close(slides.impulse.z, 3.0, 1e-12);
    assert!((slides.velocity - DVec3::new(0.9, 0.0, 1.0)).length() < 1e-12);
    // 3.5 μ (1 + e)|u_z| = 2.1 is the limit.
    let u = DVec3::new(1.2, -1.6, -2.0);
    let rolls = solve(&Collision { k, u }, &settings(0.2, 0.5));
    assert!((rolls.impulse.truncate() + u.truncate() * (2.0 / 7.0)).length() < 1e-12);
    assert_eq!(rolls.scheme, Scheme::ClosedForm);
}

/// Test 30 without the flight: twenty bounces of a sphere with backspin follow the closed form of N14, step by step, and
/// so does the moment from which on it rolls.
#[test]
fn a_bouncing_sphere_with_backspin_follows_the_closed_form() {
    let (mu, e, radius) = (0.3, 0.6, 0.1);
    let mut ball = ContactBody {
        inverse_mass: 1.0,
        inverse_inertia: DMat3::from_diagonal(DVec3::splat(2.5 / (radius * radius))),
        r: DVec3::new(0.0, 0.0, -radius),
        v: DVec3::new(6.0, 0.0, -5.0),
        omega: DVec3::new(0.0, -60.0, 0.0),
    };
    let (mut v, mut omega, mut rolling) = (DVec2::new(6.0, -5.0), -60.0, 0);
    for _ in 0..20 {
        let (collision, world) = Collision::between(&ContactBody::FIXED, &ball, DVec3::Z).expect("a ball");
        ball = ball.after(world * solve(&collision, &settings(mu, e)).impulse);
        // Slip of the contact point; ω = (0, ω, 0) gives it the velocity v − ωR.
        let slip = v.x - omega * radius;
        let p_z = -(1.0 + e) * v.y;
        let p_x = if slip.abs() <= 3.5 * mu * p_z { -slip * 2.0 / 7.0 } else { -mu * p_z * slip.signum() };
        rolling += i32::from(slip.abs() <= 1e-12);
        v = DVec2::new(v.x + p_x, -e * v.y);
        omega -= p_x * radius * 2.5 / (radius * radius);
        assert!((ball.v - DVec3::new(v.x, 0.0, v.y)).length() < 1e-8 && (ball.omega.y - omega).abs() < 1e-8);
        ball.v.z = -ball.v.z;
        v.y = -v.y;
    }
    assert!(rolling > 3, "it never came to roll");
}

/// Routh's graphical method for a planar impact, done with ruler and compass: the impulse moves in the (p_x, p_z) plane
/// along the line of limiting friction until it meets the line of sticking S (u_x = 0), then along S if that is inside
/// the cone or along the other line of friction if not; compression ends at the line C (u_z = 0).
fn routh(k: [f64; 3], u: DVec2, mu: f64, e: f64) -> (DVec2, DVec2) {
    let [k11, k13, k33] = k;
    let velocity = |p: DVec2| u + DVec2::new(k11 * p.x + k13 * p.y, k13 * p.x + k33 * p.y);
    let along = if u.x == 0.0 { 0.0 } else { -mu * u.x.signum() };
    let stick = -k13 / k11;
    let after = if stick.abs() <= mu { stick } else { mu.copysign(stick) };
    // Corner of the broken line, as a height p_z.
    let corner = if u.x == 0.0 { 0.0 } else { -u.x / (k11 * along + k13) };
    let corner = if corner < 0.0 { f64::INFINITY } else { corner };
    let first = if u.x == 0.0 { after } else { along };
    let point = |p_z: f64| DVec2::new(first * p_z.min(corner) + after * (p_z - corner).max(0.0), p_z);
    // Highest crossing of C by bisection (u_z rises at the end), then the work by a fine trapezium rule of the exact
    // piecewise linear u_z: its corners are included, so the rule is exact.
    let crossing = |mut from: f64, mut to: f64| {
        for _ in 0..200 {
            let middle = 0.5 * (from + to);
            if velocity(point(middle)).y < 0.0 { from = middle } else { to = middle }
        }
        from
    };
    let top = 1e3;
    let p_c = crossing(0.0, top);
    let work = |from: f64, to: f64| {
        let mut sum = 0.0;
        let mut last = from;
        for next in [corner.clamp(from, to), to] {
            sum += 0.5 * (velocity(point(last)).y + velocity(point(next)).y) * (next - last);
            last = next;
        }
        sum
    };
    let wanted = -e * e * work(0.0, p_c);
    let (mut from, mut to) = (p_c, top);
    for _ in 0..200 {
        let middle = 0.5 * (from + to);
        if work(p_c, middle) < wanted { from = middle } else { to = middle }
    }
    (point(from), velocity(point(from)))
}

/// Planar impacts against Routh's construction, over all kinds of sliding.
#[test]
fn planar_impacts_follow_rouths_construction() {
    let mut compared = 0;
    for degrees in [20.0, 35.0, 50.0, 65.0, 80.0, 110.0, 140.0] {
        for mu in [0.0, 0.1, 0.3, 0.6, 1.0] {
            for u_x in [-2.0, -0.5, -0.1, 0.0, 0.1, 0.5, 2.0] {
                for e in [0.0, 0.4, 1.0] {
                    let k = rod(degrees);
                    let outcome = solve(&Collision { k, u: DVec3::new(u_x, 0.0, -1.0) }, &settings(mu, e));
                    let parts = [k.x_axis.x, k.x_axis.z, k.z_axis.z];
                    let (p, u) = routh(parts, DVec2::new(u_x, -1.0), mu, e);
                    assert!((DVec2::new(outcome.impulse.x, outcome.impulse.z) - p).length() < 1e-10);
                    assert!((DVec2::new(outcome.velocity.x, outcome.velocity.z) - u).length() < 1e-10);
                    assert_eq!(outcome.evaluations, 0);
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 7 * 5 * 7 * 3);
}

/// The closed form of planar impacts is the limit of the integrator for spatial ones: a hair off the plane, the
/// outcome is a hair off.
#[test]
fn closed_forms_agree_with_the_integrator_beside_them() {
    for (mu, u_x) in [(0.2, 1.0), (0.4, 0.3), (0.9, -0.4), (0.3, 2.0)] {
        let k = rod(40.0);
        let flat = solve(&Collision { k, u: DVec3::new(u_x, 0.0, -1.0) }, &settings(mu, 0.7));
        let tilted = solve(&Collision { k, u: DVec3::new(u_x, 1e-11, -1.0) }, &settings(mu, 0.7));
        assert_eq!((flat.scheme, tilted.scheme), (Scheme::ClosedForm, Scheme::Polar), "{mu} {u_x}");
        assert!((flat.impulse - tilted.impulse).length() < 1e-10, "{flat:?} {tilted:?}");
        assert!((flat.velocity - tilted.velocity).length() < 1e-10, "{flat:?} {tilted:?}");
    }
}

/// §13: a slow collision in the cone is reversed, outside it boosted, a fast one left alone; the numbers of 3.18.
#[test]
fn micro_collisions_reverse_or_boost() {
    let micro = MicroSettings::default();
    close(micro.threshold(), 0.14007, 1e-5);
    close(micro.boosted(0.2, 1e-3), 0.2, 0.0);
    close(micro.boosted(0.2, 0.0), 5.0, 1e-15);
    close(micro.boosted(0.2, 0.5e-3), 0.2 + 4.8 / 4.0, 1e-15);
    let k = REFERENCE[0].collision.k;
    let decide = |u: DVec3, mu: f64| {
        let settings = settings(mu, 0.2);
        micro_collision(&Collision { k, u }, &settings, &micro, 0.5e-3).expect("valid")
    };
    let slow = DVec3::new(0.0, 0.0, -0.1);
    let reversed = decide(slow, 0.31);
    assert_eq!(reversed.kind, MicroKind::Reversed);
    assert_eq!(reversed.outcome.velocity, -slow);
    assert!((k * reversed.outcome.impulse + 2.0 * slow).length() < 1e-15);
    // Below the critical friction √37/20 the reversing impulse is outside the cone.
    let boosted = decide(slow, 0.30);
    assert_eq!(boosted.kind, MicroKind::Boosted { e: 0.2 + 4.8 / 4.0 });
    // The boost pushes it back out, but creates no energy.
    assert!(boosted.outcome.velocity.z > 0.09 && boosted.outcome.work.abs() < 1e-17);
    assert!(boosted.outcome.velocity.z <= micro.e_max * micro.threshold());
    assert_eq!(decide(2.0 * slow, 0.31).kind, MicroKind::Ordinary);
    let weightless = MicroSettings { gravity: 0.0, ..micro };
    let ordinary =
        micro_collision(&Collision { k, u: slow }, &settings(0.31, 0.2), &weightless, 0.0).expect("valid");
    assert_eq!(ordinary.kind, MicroKind::Ordinary);
}

/// 13.4: the corner thresholds |M⁻¹s| of two boxes.
#[test]
fn corners_of_boxes_have_their_critical_friction() {
    for (half, expected) in [(DVec3::new(0.1, 0.1, 0.05), 1.0607), (DVec3::new(0.1, 0.1, 0.02), 0.7315)] {
        let square = half * half;
        let inertia = DVec3::new(square.y + square.z, square.z + square.x, square.x + square.y) / 3.0;
        let turn = DMat3::from_quat(DQuat::from_rotation_z(0.3));
        let body = ContactBody {
            inverse_mass: 1.0,
            inverse_inertia: turn * DMat3::from_diagonal(inertia.recip()) * turn.transpose(),
            r: turn * DVec3::new(half.x, half.y, -half.z),
            v: -DVec3::Z,
            omega: DVec3::ZERO,
        };
        let (collision, _) = Collision::between(&ContactBody::FIXED, &body, DVec3::Z).expect("a box");
        close(Compliance::new(&collision.k).expect("a box").critical_friction(), expected, 5e-5);
    }
}
