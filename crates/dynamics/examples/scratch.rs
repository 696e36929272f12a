use glam::*;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::*;
use rattleback_geometry::{Pose, Shape};
use std::time::Instant;
fn report(name: &str, sim: &Impulse, t: f64, clock: Instant) {
    let s = clock.elapsed().as_secs_f64();
    let c = sim.counters();
    println!(
        "{name}: {t:.3} s simulated in {s:.4} s = {:.0}x; checks {} coll {} micro {} rev {} rested {} woken {} pairs {} mingap {:.2e} eps {:.2e}",
        t / s,
        c.checks,
        c.collisions,
        c.microcollisions,
        c.reversed,
        c.rested,
        c.woken,
        c.pairs_made,
        sim.smallest_gap(),
        sim.collision_epsilon()
    );
}
fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    if which.is_empty() || which == "ball" {
        let mut w = World::default();
        let m = w.add_material(Material::bouncy(1.0)).unwrap();
        w.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(m)).unwrap();
        let b = w
            .add_body(Body::dynamic().at(0., 0., 1.).with_shape(Shape::sphere(0.1).unwrap()).material(m))
            .unwrap();
        let mut s = Impulse::default();
        let c = Instant::now();
        for _ in 0..600 {
            s.step(&mut w, 1. / 60.).unwrap();
        }
        report("ball e=1", &s, 10., c);
        println!("  energy {:?}", w.readout());
        let _ = b;
    }
    if which.is_empty() || which == "ramp" {
        for rest in [false, true] {
            for (hz, e) in [(0.05, 0.2), (0.1, 0.0)] {
                let mut w = World::default();
                let a = 30f64.to_radians();
                let n = DVec3::new(a.sin(), 0., a.cos());
                let down = DVec3::new(a.cos(), 0., -a.sin());
                let m = w.add_material(Material { restitution: e, ..Material::with_friction(0.9) }).unwrap();
                w.add_body(Body::fixed().with_shape(Shape::half_space(n).unwrap()).material(m)).unwrap();
                let h = DVec3::new(0.1, 0.1, hz / 2.0);
                let q = DQuat::from_rotation_y(a);
                let b = w
                    .add_body(
                        Body::dynamic()
                            .position(n * (h.z + 0.5e-3))
                            .orientation(q)
                            .velocity(5.48 * down)
                            .with_shape(Shape::cuboid(h).unwrap())
                            .mass(1.0)
                            .material(m),
                    )
                    .unwrap();
                let x0 = w.body(b).unwrap().position().dot(down);
                let mut s =
                    Impulse::new(ImpulseSettings { rest, collision_epsilon: 1e-3, ..Default::default() })
                        .unwrap();
                let c = Instant::now();
                let mut stop = None;
                let mut x25 = 0.;
                for k in 0..5000 {
                    s.step(&mut w, 1e-3).unwrap();
                    let b = w.body(b).unwrap();
                    if k == 2499 {
                        x25 = b.position().dot(down);
                    }
                    if stop.is_none() && b.velocity().dot(down) < 0.0 {
                        stop = Some((w.time(), b.position().dot(down) - x0));
                    }
                }
                report("ramp", &s, 5., c);
                println!(
                    "  rest {rest} stop {stop:?} final {:.5} creep {:.4} mm/s",
                    w.body(b).unwrap().position().dot(down) - x0,
                    (w.body(b).unwrap().position().dot(down) - x25) / 2.5 * 1e3
                );
            }
        }
    }
    if which.is_empty() || which == "stack" {
        for n in std::env::args().nth(2).map_or(vec![1, 2, 3, 4, 6, 10], |n| vec![n.parse().unwrap()]) {
            let mut w = World::default();
            let m = w.add_material(Material { restitution: 0.1, ..Material::with_friction(0.5) }).unwrap();
            w.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(m)).unwrap();
            let mut ids = vec![];
            for k in 0..n {
                ids.push(
                    w.add_body(
                        Body::dynamic()
                            .at(
                                0.003 * ((k * 7) % 3) as f64,
                                0.002 * ((k * 5) % 3) as f64,
                                0.0505 + 0.101 * k as f64,
                            )
                            .with_shape(Shape::cuboid(DVec3::splat(0.05)).unwrap())
                            .mass(1.0)
                            .material(m),
                    )
                    .unwrap(),
                );
            }
            let mut s = Impulse::default();
            let c = Instant::now();
            let mut done = 0.;
            for _ in 0..600 {
                if let Err(e) = s.step(&mut w, 1. / 60.) {
                    println!("{e}");
                    break;
                }
                done = w.time();
                if c.elapsed().as_secs_f64() > 10. {
                    break;
                }
            }
            report(&format!("stack {n}"), &s, done, c);
            println!(
                "  top z {:.5} resting {}",
                w.body(ids[n - 1]).unwrap().position().z,
                s.resting().count()
            );
        }
    }
    if which.is_empty() || which == "rattle" {
        for spin in [5.0, -5.0] {
            rattle(spin);
        }
    }
    if which.is_empty() || which == "cradle" {
        let mut w = World::weightless();
        let m = w.add_material(Material { restitution: 1.0, ..Material::with_friction(0.0) }).unwrap();
        let eps = 1e-4;
        let mut ids = vec![];
        for k in 0..5 {
            let x = if k == 0 { -1.0 } else { 0.1 * k as f64 + eps * k as f64 * 0.9 };
            ids.push(
                w.add_body(
                    Body::dynamic()
                        .at(x, 0., 0.)
                        .with_shape(Shape::sphere(0.05).unwrap())
                        .mass(1.0)
                        .velocity(if k == 0 { DVec3::X } else { DVec3::ZERO })
                        .material(m),
                )
                .unwrap(),
            );
        }
        let mut s = Impulse::new(ImpulseSettings { collision_epsilon: eps, ..Default::default() }).unwrap();
        let c = Instant::now();
        for _ in 0..120 {
            s.step(&mut w, 1. / 60.).unwrap();
        }
        report("cradle", &s, 2., c);
        for i in ids {
            print!(" {:.6}", w.body(i).unwrap().velocity().x);
        }
        println!();
    }
}
fn rattle(spin: f64) {
    let (a, b, cc) = (0.10, 0.02, 0.015);
    let mut w = World::default();
    let m = w.add_material(Material { restitution: 0.1, ..Material::with_friction(0.8) }).unwrap();
    w.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(m)).unwrap();
    let s2 = 0.5f64.sqrt();
    let shape = Shape::ellipsoid(DVec3::new(a, b, cc)).unwrap();
    let p = DVec3::new(a * s2, b * s2, 0.);
    // equilibrium: find orientation so that com above contact: com c=0.03*p/0.53; contact point k with normal ∥ (c-k)
    let com = p * 0.03 / 0.53;
    let mut d = DVec3::new(0., 0., -1.);
    let sup =
        |d: DVec3| DVec3::new(a * a * d.x, b * b * d.y, cc * cc * d.z) / (d * DVec3::new(a, b, cc)).length();
    for _ in 0..200000 {
        let g = sup(d) - com;
        let gt = g - g.dot(d) * d;
        d = (d - 0.05 * gt).normalize();
    }
    let k = sup(d);
    let down = d;
    println!("residual {:.2e}", (k - com).normalize().cross(d).length());
    let q = DQuat::from_rotation_arc(down, -DVec3::Z);
    let height = (com - k).length();
    let eps = 1.5e-4;
    let pos = DVec3::new(0., 0., height + 0.5 * eps) - q * com;
    let body = Body::dynamic()
        .position(pos)
        .orientation(q)
        .with_shape(shape)
        .mass(0.5)
        .point_mass(0.03, p)
        .material(m)
        .angular_velocity(DVec3::Z * spin + q * DVec3::new(0.05, 0.05, 0.));
    let id = w.add_body(body).unwrap();
    let v = {
        let bd = w.body(id).unwrap();
        let r = bd.center_of_mass();
        let contact = DVec3::new(r.x, r.y, 0.);
        bd.angular_velocity().cross(r - contact)
    };
    w.body_mut(id).unwrap().set_velocity(v).unwrap();
    println!(
        "tilt {:.3} deg mass {}",
        (q * DVec3::Z).angle_between(DVec3::Z).to_degrees(),
        w.body(id).unwrap().mass()
    );
    let mut s = Impulse::new(ImpulseSettings { collision_epsilon: eps, ..Default::default() }).unwrap();
    let c = Instant::now();
    let mut cross = None;
    let mut avg = 0.0;
    for st in 0..10000 {
        s.step(&mut w, 1e-3).unwrap();
        let wz = w.body(id).unwrap().angular_velocity().z;
        avg = 0.98 * avg + 0.02 * wz;
        if cross.is_none() && st > 200 && avg * spin < 0. {
            cross = Some(w.time());
        }
        if st % 1000 == 999 {
            print!(" {:.2}", avg);
        }
    }
    println!();
    report("rattle", &s, 10., c);
    println!("  spin {spin} reversal {cross:?}");
}
