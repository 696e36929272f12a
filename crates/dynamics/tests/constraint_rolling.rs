//! Constraint simulator: rolling without slip, against an independent integration of the equations of
//! rolling.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::simulator::Constraint;
use rattleback_dynamics::{Body, BodyId, Material, Simulator, World};
use rattleback_geometry::{MassProperties, Shape};

const G: f64 = 9.81;

/// Numbers in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }
}

/// An ellipsoid whose centre of mass and principal axes are not those of its surface.
#[derive(Clone, Copy, Debug)]
struct Roller {
    axes: DVec3,
    mass: f64,
    /// In the frame of the surface.
    center: DVec3,
    inertia: DMat3,
}

impl Roller {
    fn random(random: &mut Random) -> Self {
        let axes =
            DVec3::new(random.between(0.05, 0.2), random.between(0.05, 0.2), random.between(0.03, 0.06));
        let moments = DVec3::new(axes.y.hypot(axes.z), axes.z.hypot(axes.x), axes.x.hypot(axes.y));
        let turn = DMat3::from_quat(DQuat::from_scaled_axis(0.3 * random.vector()));
        let mass = random.between(0.1, 2.0);
        let inertia = 0.2 * mass * (turn * DMat3::from_diagonal(moments * moments) * turn.transpose());
        let inertia = 0.5 * (inertia + inertia.transpose());
        Self { axes, mass, center: 0.1 * axes * random.vector(), inertia }
    }

    /// Lowest point and its rate, from the centre of mass, in the frame of the surface, for the direction up
    /// and its rate there.
    fn contact(&self, up: DVec3, rate: DVec3) -> [DVec3; 2] {
        let square = self.axes * self.axes;
        let length = up.dot(square * up).sqrt();
        let change = up.dot(square * rate) / length;
        let r = -(square * up) / length - self.center;
        [r, -(square * rate) / length + square * up * (change / (length * length))]
    }

    /// ω̇ of a rolling body in the frame of its surface: I ω̇ + ω×Iω = r × m(v̇ + g up), v = −ω×r.
    fn acceleration(&self, q: DQuat, omega: DVec3) -> DVec3 {
        let up = q.conjugate() * DVec3::Z;
        let [r, r_rate] = self.contact(up, -omega.cross(up));
        let skew = DMat3::from_cols(
            DVec3::new(0.0, r.z, -r.y),
            DVec3::new(-r.z, 0.0, r.x),
            DVec3::new(r.y, -r.x, 0.0),
        );
        // r × (−ω̇×r) = r × (r × ω̇).
        let matrix = self.inertia - self.mass * (skew * skew);
        let turning = -omega.cross(r_rate + omega.cross(r));
        let right = r.cross(self.mass * (turning + G * up)) - omega.cross(self.inertia * omega);
        matrix.inverse() * right
    }

    /// Runge–Kutta of order 4, many steps.
    fn integrate(&self, mut q: DQuat, mut omega: DVec3, time: f64, steps: usize) -> (DQuat, DVec3) {
        let h = time / steps as f64;
        let rate =
            |q: DQuat, w: DVec3| (q * DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * 0.5, self.acceleration(q, w));
        for _ in 0..steps {
            let (q1, w1) = rate(q, omega);
            let (q2, w2) = rate((q + q1 * (0.5 * h)).normalize(), omega + 0.5 * h * w1);
            let (q3, w3) = rate((q + q2 * (0.5 * h)).normalize(), omega + 0.5 * h * w2);
            let (q4, w4) = rate((q + q3 * h).normalize(), omega + h * w3);
            q = (q + (q1 + q2 * 2.0 + q3 * 2.0 + q4) * (h / 6.0)).normalize();
            omega += h / 6.0 * (w1 + 2.0 * w2 + 2.0 * w3 + w4);
        }
        (q, omega)
    }

    /// A world with the body rolling on a rough floor.
    fn world(&self, q: DQuat, omega: DVec3) -> (World, BodyId) {
        let mut world = World::default();
        world.set_material(world.default_material(), Material::with_friction(50.0)).unwrap();
        world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
        let up = q.conjugate() * DVec3::Z;
        let [r, _] = self.contact(up, DVec3::ZERO);
        let lowest = q * (r + self.center);
        let mass = MassProperties::new(self.mass, self.center, self.inertia).unwrap();
        let body = Body::dynamic()
            .position(DVec3::new(0.0, 0.0, -lowest.z))
            .orientation(q)
            .angular_velocity(q * omega)
            .velocity(-(q * omega.cross(r)))
            .mass_properties(mass)
            .with_shape(Shape::ellipsoid(self.axes).unwrap());
        let id = world.add_body(body).unwrap();
        (world, id)
    }
}

/// Random rattlebacks, spun either way: the vertical angular velocity agrees with the equations of rolling
/// within 1 % of its maximum.
#[test]
fn loaded_ellipsoids_follow_the_equations_of_rolling() {
    let mut random = Random(7);
    let count = std::env::var("ROLLERS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    for case in 0..count {
        let roller = Roller::random(&mut random);
        let tilt = DQuat::from_scaled_axis(
            0.1 * DVec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), 0.0),
        );
        let spin = random.between(2.0, 8.0) * if case % 2 == 0 { 1.0 } else { -1.0 };
        let mut state =
            (tilt, tilt.conjugate() * DVec3::new(random.between(-0.3, 0.3), random.between(-0.3, 0.3), spin));
        let (mut world, id) = roller.world(state.0, state.1);
        let mut simulator = Constraint::default();
        let (dt, mut worst, mut largest) = (1e-3, 0.0_f64, 0.0_f64);
        for _ in 0..100 {
            for _ in 0..100 {
                simulator.step(&mut world, dt).unwrap();
            }
            state = roller.integrate(state.0, state.1, 0.1, 400);
            let exact = (state.0 * state.1).z;
            let found = world.body(id).unwrap().angular_velocity().z;
            largest = largest.max(exact.abs());
            worst = worst.max((exact - found).abs());
            if std::env::var("ROLLERS_SHOW").is_ok() {
                println!("{case} {:.1} {exact:.5} {found:.5}", world.time());
            }
        }
        println!("{case}: error {worst:e} of {largest}");
        assert!(worst < 0.01 * largest, "{case}: {worst} of {largest}");
    }
}

/// Rolling friction with the lever b decelerates a ball by 5 b g/(7 r): it stops after v₀²/(2 a), and stays.
#[test]
fn balls_stop_by_rolling_friction() {
    let mut random = Random(11);
    for _ in 0..30 {
        let (radius, speed) = (random.between(0.05, 0.5), random.between(0.2, 2.0));
        let lever = random.between(0.01, 0.1) * radius;
        let dt = [1.0 / 60.0, 1.0 / 240.0, 1e-3][(3.0 * random.next()) as usize];
        let (mut world, ball) = ball_with_rolling_friction(DVec3::Z, radius, lever);
        let mut body = world.body_mut(ball).unwrap();
        body.set_velocity(speed * DVec3::X).unwrap();
        body.set_angular_velocity(speed / radius * DVec3::Y).unwrap();
        let a = 5.0 * lever * G / (7.0 * radius);
        let mut simulator = Constraint::default();
        while world.time() < speed / a + 0.1 {
            simulator.step(&mut world, dt).unwrap();
        }
        let body = world.body(ball).unwrap();
        let (distance, expected) = (body.position().x, speed * speed / (2.0 * a));
        assert!(
            (distance / expected - 1.0).abs() < 1e-3,
            "r {radius}, b {lever}, dt {dt}: {distance} {expected}"
        );
        assert!(body.velocity().length() < 1e-9, "r {radius}, b {lever}, dt {dt}: {}", body.velocity());
    }
}

/// A ball rests on a slope up to tan θ = b/r, and rolls down a steeper one.
#[test]
fn rolling_friction_holds_balls_on_slopes() {
    let mut random = Random(12);
    for _ in 0..30 {
        let (radius, ratio) = (random.between(0.05, 0.5), random.between(0.01, 0.1));
        for (part, holds) in [(random.between(0.1, 0.98), true), (random.between(1.02, 2.0), false)] {
            let slope = (part * ratio).atan();
            let normal = DVec3::new(slope.sin(), 0.0, slope.cos());
            let (mut world, ball) = ball_with_rolling_friction(normal, radius, ratio * radius);
            let begin = world.body(ball).unwrap().position();
            let mut simulator = Constraint::default();
            for _ in 0..60 {
                simulator.step(&mut world, 1.0 / 60.0).unwrap();
            }
            let moved = world.body(ball).unwrap().position().distance(begin);
            let free = 5.0 / 14.0 * G * (slope.sin() - ratio * slope.cos());
            let error = if holds { moved } else { (moved / free - 1.0).abs() };
            assert!(error < if holds { 1e-9 } else { 2e-2 }, "{slope} {ratio}: moved {moved}, {free}");
        }
    }
}

fn ball_with_rolling_friction(normal: DVec3, radius: f64, lever: f64) -> (World, BodyId) {
    let mut world = World::default();
    let material = Material { rolling_friction: lever, ..Material::with_friction(0.8) };
    let material = world.add_material(material).unwrap();
    let ground = Body::fixed().with_shape(Shape::half_space(normal).unwrap());
    world.add_body(ground.material(material)).unwrap();
    let ball = Body::dynamic().with_shape(Shape::sphere(radius).unwrap()).position(radius * normal);
    let ball = world.add_body(ball.material(material)).unwrap();
    (world, ball)
}
