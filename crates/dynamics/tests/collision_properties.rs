//! What must hold for every collision: energy, friction cone, works, momentum, symmetries; and that nothing breaks it.

use crate::collision_random::Random;
use glam::{DMat3, DQuat, DVec2, DVec3};
use proptest::prelude::*;
use rattleback_dynamics::impact::{
    Collision, CollisionError, CollisionSettings, Compliance, ContactBody, Law, MicroSettings, Outcome, Rays,
    Restitution, Sticking, micro_collision, rays, resolve,
};

impl Random {
    /// A positive definite matrix with eigenvalues spread over 10^decades, in random axes.
    fn matrix(&mut self, decades: f64) -> DMat3 {
        let axes = DMat3::from_quat(DQuat::from_scaled_axis(self.vector(3.0)));
        let value = |random: &mut Self| 10.0_f64.powf(random.within(-decades, 0.0));
        let diagonal = DVec3::new(value(self), value(self), value(self));
        let k = axes * DMat3::from_diagonal(diagonal) * axes.transpose();
        (k + k.transpose()) * 0.5
    }

    fn body(&mut self) -> ContactBody {
        // Principal moments that obey the triangle inequality, from half-sides of a box.
        let half = DVec3::new(self.within(0.05, 1.0), self.within(0.05, 1.0), self.within(0.05, 1.0));
        let square = half * half;
        let mass = 10.0_f64.powf(self.within(-2.0, 2.0));
        let inertia =
            DVec3::new(square.y + square.z, square.z + square.x, square.x + square.y) * (mass / 3.0);
        let axes = DMat3::from_quat(DQuat::from_scaled_axis(self.vector(3.0)));
        ContactBody {
            inverse_mass: mass.recip(),
            inverse_inertia: axes * DMat3::from_diagonal(inertia.recip()) * axes.transpose(),
            r: axes * half,
            v: self.vector(1.0),
            omega: self.vector(2.0),
        }
    }

    fn approach(&mut self) -> DVec3 {
        let u = self.vector(1.0);
        DVec3::new(u.x, u.y, -u.z.abs() - 1e-6)
    }

    fn settings(&mut self) -> CollisionSettings {
        CollisionSettings {
            e: self.within(0.0, 1.0),
            mu: self.within(0.0, 2.0),
            ..CollisionSettings::default()
        }
    }
}

fn solve(collision: &Collision, settings: &CollisionSettings) -> Outcome {
    resolve(collision, settings).unwrap_or_else(|error| panic!("{error}: {collision:?} {settings:?}"))
}

/// Test 25: 10⁵ collisions with K of condition up to 10⁶. (10⁶ of boxes, with the worst of each printed: `--example collision_table`.)
#[test]
fn no_collision_creates_energy_or_leaves_the_friction_cone() {
    let mut random = Random(11);
    for n in 0..100_000 {
        let decades = if n % 4 == 0 { 6.0 } else { 1.0 };
        let collision = Collision { k: random.matrix(decades), u: random.approach() };
        let settings = random.settings();
        let out = solve(&collision, &settings);
        let case = (collision, settings, out);
        assert!(out.impulse.z > 0.0 && out.velocity.z >= 0.0, "{case:?}");
        let reach = settings.mu * out.impulse.z;
        assert!(out.impulse.truncate().length() <= reach * (1.0 + 1e-9) + 1e-15, "{case:?}");
        // Energy: the scale is that of the works that cancel in it.
        let scale = out.compression_work.abs() + collision.u.length() * out.impulse.length();
        assert!(out.work <= 1e-12 * scale && out.normal_work() <= 1e-12 * scale, "{case:?}");
        let due = -settings.e * settings.e * out.compression_work;
        assert!((out.restitution_work - due).abs() <= 1e-9 * out.compression_work.abs(), "{case:?}");
        // Rounding of p shows in K p in proportion to |K||p|, however much of it cancels.
        let norm = collision.k.to_cols_array().iter().map(|k| k * k).sum::<f64>().sqrt();
        let size = collision.u.length() + norm * out.impulse.length();
        let missing = collision.u + collision.k * out.impulse - out.velocity;
        assert!(missing.length() <= 1e-12 * size, "{missing:?} {case:?}");
        assert!(out.evaluations < 200, "{case:?}");
    }
}

/// The path by brute force: Coulomb's law in small steps of p_z, ended by Stronge's balance of works.
fn brute_force(collision: &Collision, settings: &CollisionSettings, steps_to_unit: f64) -> DVec3 {
    let Collision { k, u: start } = *collision;
    let (mut u, mut p) = (start, DVec3::ZERO);
    let (mut w_minus, mut w_plus) = (0.0, 0.0);
    let step = -start.z / k.z_axis.z / steps_to_unit;
    for _ in 0..(100.0 * steps_to_unit) as u32 {
        let xi = |u: DVec3| (-settings.mu * u.truncate().normalize_or_zero()).extend(1.0);
        let middle = u + 0.5 * step * (k * xi(u));
        let push = step * xi(middle);
        let next = u + k * push;
        let work = 0.5 * (u.z + next.z) * push.z;
        if work < 0.0 {
            w_minus -= work;
        } else {
            w_plus += work;
        }
        (u, p) = (next, p + push);
        if u.z >= 0.0 && w_plus >= settings.e * settings.e * w_minus {
            break;
        }
    }
    p
}

/// An integration by small steps, independent of rays and pieces, comes to the same impulse.
#[test]
fn brute_force_agrees_while_the_contact_slides() {
    let (mut random, mut compared) = (Random(5), 0);
    while compared < 100 {
        let collision = Collision { k: random.matrix(0.7), u: random.approach() - 0.2 * DVec3::Z };
        let settings = CollisionSettings { mu: random.within(0.0, 0.4), ..random.settings() };
        let out = solve(&collision, &settings);
        // Small steps cannot follow the sliding through the origin.
        if out.slip.stick.is_some() || out.velocity.truncate().length() < 0.1 {
            continue;
        }
        let p = brute_force(&collision, &settings, 4000.0);
        assert!(
            (p - out.impulse).length() < 1e-3 * out.impulse.length(),
            "{collision:?} {settings:?} {p} {out:?}"
        );
        compared += 1;
    }
}

/// Tests 25, 26: momentum of the pair is conserved and the work is the change of kinetic energy of two explicit bodies.
#[test]
fn momentum_is_kept_and_work_is_kinetic_energy() {
    let mut random = Random(23);
    for _ in 0..5_000 {
        let (a, b) = (random.body(), random.body());
        let Ok((collision, world)) = Collision::between(&a, &b, random.vector(1.0)) else { continue };
        let out = solve(&collision, &random.settings());
        let p = world * out.impulse;
        let (a2, b2) = (a.after(-p), b.after(p));
        let energy = |c: &ContactBody| {
            let inertia = c.inverse_inertia.inverse();
            0.5 * (c.v.length_squared() / c.inverse_mass + c.omega.dot(inertia * c.omega))
        };
        let change = energy(&a2) + energy(&b2) - energy(&a) - energy(&b);
        let scale = energy(&a) + energy(&b) + energy(&a2) + energy(&b2);
        assert!((change - out.work).abs() <= 1e-10 * scale, "{change} {out:?}");
        let momentum = |c: &ContactBody| c.v / c.inverse_mass;
        let lost = momentum(&a2) + momentum(&b2) - momentum(&a) - momentum(&b);
        assert!(lost.length() <= 1e-12 * (momentum(&a2).length() + momentum(&b2).length()));
        // Angular momentum about the contact point, at −r from each centre.
        let angular = |c: &ContactBody| c.inverse_inertia.inverse() * c.omega - c.r.cross(momentum(c));
        let lost = angular(&a2) + angular(&b2) - angular(&a) - angular(&b);
        assert!(lost.length() <= 1e-11 * (angular(&a2).length() + angular(&b2).length()));
    }
}

/// Test 27: scaling, rotation about the normal, and exchange of the bodies.
#[test]
fn outcomes_transform_with_the_collision() {
    let mut random = Random(31);
    for _ in 0..3_000 {
        let (a, b, normal) = (random.body(), random.body(), random.vector(1.0));
        let Ok((collision, world)) = Collision::between(&a, &b, normal) else { continue };
        let settings = random.settings();
        let out = solve(&collision, &settings);
        let size = out.impulse.length() + 1e-30;
        let faster = solve(&Collision { u: 7.0 * collision.u, ..collision }, &settings);
        assert!((faster.impulse - 7.0 * out.impulse).length() <= 1e-9 * size);
        let turn = DMat3::from_rotation_z(random.within(-3.0, 3.0));
        let k = turn * collision.k * turn.transpose();
        let k = (k + k.transpose()) * 0.5;
        let turned = solve(&Collision { k, u: turn * collision.u }, &settings);
        assert!((turned.impulse - turn * out.impulse).length() <= 1e-9 * size, "{collision:?} {settings:?}");
        let (exchanged, other) = Collision::between(&b, &a, -normal).expect("as before");
        let back = other * solve(&exchanged, &settings).impulse;
        assert!((back + world * out.impulse).length() <= 1e-9 * size, "{collision:?} {settings:?}");
    }
}

/// Test 23: without friction all laws are one, and nothing acts along the surface.
#[test]
fn without_friction_all_restitutions_agree() {
    let mut random = Random(41);
    for _ in 0..2_000 {
        let collision = Collision { k: random.matrix(2.0), u: random.approach() };
        let e = random.within(0.0, 1.0);
        for restitution in [Restitution::Newton, Restitution::Poisson, Restitution::Stronge] {
            let out = solve(&collision, &CollisionSettings { e, mu: 0.0, restitution, law: Law::Integrated });
            assert!((out.velocity.z + e * collision.u.z).abs() <= 1e-12, "{out:?}");
            assert_eq!(out.impulse.truncate(), DVec2::ZERO);
        }
    }
}

/// Test 28: three criteria of stability agree, rays come in the numbers they must, and the secular equation finds the
/// diverging one.
#[test]
fn rays_and_stability_agree() {
    let mut random = Random(53);
    for _ in 0..20_000 {
        let k = random.matrix(1.5);
        let compliance = Compliance::new(&k).expect("positive definite");
        let mu = random.within(0.01, 2.0);
        if (compliance.critical_friction() / mu - 1.0).abs() < 1e-6 {
            continue;
        }
        let inverse = k.inverse().z_axis;
        let by_inverse = inverse.truncate().length() <= mu * inverse.z;
        let (a, b, c_f, e, d) = (k.x_axis.x, k.y_axis.y, k.x_axis.y, k.x_axis.z, k.y_axis.z);
        let determinant = a * b - c_f * c_f;
        let left = (b * b + c_f * c_f) * e * e + (a * a + c_f * c_f) * d * d - 2.0 * (a + b) * c_f * d * e;
        let by_lemma = left <= (mu * determinant).powi(2);
        let sticking = compliance.sticking(mu);
        assert_eq!(sticking == Sticking::Stable, by_inverse);
        assert_eq!(by_inverse, by_lemma);
        let Rays::Some { .. } = rays(&compliance, mu) else { panic!("not a sphere") };
        let found = rays(&compliance, mu);
        let diverging: Vec<_> = found.as_slice().iter().filter(|ray| ray.growth > 0.0).collect();
        let converging = found.as_slice().len() - diverging.len();
        match sticking {
            Sticking::Stable => {
                assert!(diverging.is_empty() && (converging == 2 || converging == 4), "{k:?} {mu} {found:?}");
            }
            Sticking::Unstable { direction, lambda } => {
                assert!(diverging.len() == 1 && (converging == 1 || converging == 3), "{k:?} {mu} {found:?}");
                assert!((DVec2::from_angle(diverging[0].angle) - direction).length() < 1e-9);
                assert!((diverging[0].growth - lambda).abs() < 1e-9);
                assert!(compliance.flow(mu, direction).kappa > 0.0);
            }
        }
    }
}

/// Test 29, E-15: Newton creates energy in some collisions, Poisson in none but its normal force does net work in some,
/// Stronge neither.
#[test]
fn only_newton_creates_energy_and_only_stronge_keeps_the_normal_force_passive() {
    let (mut random, mut newton, mut poisson) = (Random(61), 0, 0);
    for _ in 0..10_000 {
        let collision = Collision { k: random.matrix(1.0), u: random.approach() };
        let settings = random.settings();
        let by = |restitution| solve(&collision, &CollisionSettings { restitution, ..settings });
        newton += i32::from(by(Restitution::Newton).work > 1e-9);
        let outcome = by(Restitution::Poisson);
        assert!(outcome.work <= 1e-12, "{collision:?} {settings:?}");
        poisson += i32::from(outcome.normal_work() > 1e-9);
    }
    assert!(newton > 10 && poisson > 10, "{newton} {poisson}");
}

/// What each of the algebraic laws keeps: a push, the cone, and for Chatterjee and Ruina the energy.
#[test]
fn algebraic_laws_push_within_the_cone() {
    let mut random = Random(71);
    for _ in 0..20_000 {
        let collision = Collision { k: random.matrix(1.5), u: random.approach() };
        let settings = random.settings();
        for law in Law::ALL {
            let out = solve(&collision, &CollisionSettings { law, ..settings });
            assert!(out.impulse.z >= 0.0, "{law:?} {out:?}");
            let reach = settings.mu * out.impulse.z * (1.0 + 1e-9) + 1e-12;
            assert!(out.impulse.truncate().length() <= reach, "{law:?} {collision:?} {out:?}");
            if law == Law::ChatterjeeRuina {
                assert!(out.work <= 1e-12, "{out:?}");
            }
        }
    }
}

/// Needles, feathers against mountains, friction like glue, grazing and vanishing velocities: an answer or a typed error.
#[test]
fn extremes_have_an_answer_that_is_a_number() {
    let velocities = [
        DVec3::new(0.0, 0.0, -1.0),
        DVec3::new(1e-300, 0.0, -1.0),
        DVec3::new(1.0, -2.0, -1e-300),
        DVec3::new(1.0, -2.0, -1e-12),
        DVec3::new(1e-300, 1e-301, -1e-300),
        DVec3::new(3e150, 1e150, -1e150),
        DVec3::new(-0.3, 0.2, -5e-324),
        DVec3::new(0.3, 0.2, -1.0),
        DVec3::new(0.3, 0.2, 0.0),
        DVec3::new(0.3, 0.2, 1.0),
    ];
    let mut random = Random(83);
    for (mass, needle) in [(1.0, 1.0), (1e12, 1.0), (1e-12, 1.0), (1.0, 1e12), (1e12, 1e6), (1e-100, 1.0)] {
        let axes = DMat3::from_quat(DQuat::from_scaled_axis(random.vector(3.0)));
        let inverse = DVec3::new(1.0, 1.0, needle) / mass;
        let body = ContactBody {
            inverse_mass: 1.0 / mass,
            inverse_inertia: axes * DMat3::from_diagonal(inverse) * axes.transpose(),
            r: random.vector(1.0),
            v: DVec3::ZERO,
            omega: DVec3::ZERO,
        };
        let light = ContactBody { inverse_mass: 1.0, inverse_inertia: DMat3::IDENTITY, ..random.body() };
        for other in [ContactBody::FIXED, light] {
            let (collision, _) = Collision::between(&other, &body, random.vector(1.0)).expect("bodies");
            for u in velocities {
                for mu in [0.0, 1e-300, 0.3, 1.0, 1e6, 1e300] {
                    for e in [0.0, 0.5, 1.0] {
                        check_extreme(&Collision { u, ..collision }, mu, e);
                    }
                }
            }
        }
    }
}

fn check_extreme(collision: &Collision, mu: f64, e: f64) {
    for law in Law::ALL {
        for restitution in [Restitution::Newton, Restitution::Poisson, Restitution::Stronge] {
            let settings = CollisionSettings { restitution, e, mu, law };
            match resolve(collision, &settings) {
                Ok(out) => {
                    let numbers = [out.work, out.compression_work, out.restitution_work];
                    assert!(
                        out.impulse.is_finite() && out.velocity.is_finite(),
                        "{collision:?} {settings:?} {out:?}"
                    );
                    assert!(numbers.iter().all(|x| !x.is_nan()), "{collision:?} {settings:?} {out:?}");
                    if law == Law::Integrated {
                        assert!(
                            out.velocity.z >= 0.0 && out.impulse.z >= 0.0,
                            "{collision:?} {settings:?} {out:?}"
                        );
                    }
                }
                Err(CollisionError::CollisionMatrix { .. } | CollisionError::Overflow) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// §18: coefficients out of range, what is no number, what cannot move.
#[test]
fn bad_input_is_refused_by_name() {
    let collision = Collision { k: DMat3::IDENTITY, u: -DVec3::Z };
    let with = |e, mu| resolve(&collision, &CollisionSettings { e, mu, ..CollisionSettings::default() });
    for (e, mu) in
        [(1.1, 0.5), (-0.1, 0.5), (f64::NAN, 0.5), (0.5, -0.1), (0.5, f64::NAN), (0.5, f64::INFINITY)]
    {
        assert!(matches!(with(e, mu), Err(CollisionError::Coefficient { .. })), "{e} {mu}");
    }
    let nan = Collision { u: DVec3::new(f64::NAN, 0.0, -1.0), ..collision };
    let settings = CollisionSettings::default();
    assert!(matches!(resolve(&nan, &settings), Err(CollisionError::NotFinite { .. })));
    let fixed = ContactBody::FIXED;
    assert_eq!(Collision::between(&fixed, &fixed, DVec3::Z).err(), Some(CollisionError::NoDynamicBody));
    let body = ContactBody { inverse_mass: 1.0, ..fixed };
    assert_eq!(Collision::between(&fixed, &body, DVec3::ZERO).err(), Some(CollisionError::NoNormal));
    let micro = MicroSettings { collision_epsilon: 0.0, ..MicroSettings::default() };
    assert!(micro_collision(&collision, &settings, &micro, 0.0).is_err());
    let separating = solve(&Collision { u: DVec3::new(1.0, 2.0, 0.0), ..collision }, &settings);
    assert_eq!((separating.impulse, separating.velocity), (DVec3::ZERO, DVec3::new(1.0, 2.0, 0.0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any nine numbers and any velocity: never a panic, never a number that is none.
    #[test]
    fn any_input_gives_numbers_or_an_error(
        k in prop::array::uniform9(prop::num::f64::ANY),
        u in prop::array::uniform3(prop::num::f64::ANY),
        mu in prop::num::f64::POSITIVE | prop::num::f64::ZERO,
        e in 0.0..=1.0,
        law in 0..Law::ALL.len(),
    ) {
        // Made symmetric, so that more of them get through the door.
        let k = DMat3::from_cols_array(&[k[0].abs(), k[1], k[2], k[1], k[4].abs(), k[5], k[2], k[5], k[8].abs()]);
        let settings = CollisionSettings { mu, e, law: Law::ALL[law], ..CollisionSettings::default() };
        if let Ok(out) = resolve(&Collision { k, u: DVec3::from_array(u) }, &settings) {
            prop_assert!(out.impulse.is_finite() && out.velocity.is_finite());
        }
    }
}
