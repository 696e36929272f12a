//! Constraint simulator: joints and mechanisms, against closed forms and conservation laws.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::joint::{
    BreakThresholds, Distance, Fixed, JointFrames, Prismatic, Revolute, Spherical, Universal,
};
use rattleback_dynamics::simulator::Constraint;
use rattleback_dynamics::simulator::constraint::JointLoad;
use rattleback_dynamics::{Body, BodyId, Event, JointId, Material, Path, ShapePart, Simulator, World};
use rattleback_geometry::{MassProperties, Pose, Shape};

const G: f64 = 9.81;

/// Mass properties of a rod along z, with a small moment about its axis.
fn rod(mass: f64, length: f64) -> MassProperties {
    let across = mass * length * length / 12.0;
    let moments = DMat3::from_diagonal(DVec3::new(across, across, 0.05 * across));
    MassProperties::new(mass, DVec3::ZERO, moments).unwrap()
}

/// A rod between two points, without shapes.
fn bar(world: &mut World, from: DVec3, to: DVec3, mass: f64) -> BodyId {
    let turn = DQuat::from_rotation_arc(DVec3::Z, (to - from).normalize());
    let body = Body::dynamic().pose(Pose::new(turn, 0.5 * (from + to)));
    world.add_body(body.mass_properties(rod(mass, from.distance(to)))).unwrap()
}

fn run(world: &mut World, simulator: &mut Constraint, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as usize {
        simulator.step(world, dt).unwrap();
    }
}

fn reaction(simulator: &Constraint, joint: JointId) -> JointLoad {
    *simulator.joint_reactions().iter().find(|reaction| reaction.joint == joint).unwrap()
}

/// Joint frames fixed in their bodies, for measuring the errors of anchors and axes.
#[derive(Default)]
struct JointErrors(Vec<[(Option<BodyId>, Pose); 2]>);

impl JointErrors {
    /// Adds a joint with its bodies, position and axis.
    fn add(&mut self, world: &World, bodies: [Option<BodyId>; 2], at: DVec3, axis: DVec3) {
        let frame = Pose::new(DQuat::from_rotation_arc(DVec3::Z, axis), at);
        self.0.push(
            bodies.map(|body| {
                (body, body.map_or(frame, |id| world.body(id).unwrap().pose().inverse() * frame))
            }),
        );
    }

    /// Largest distance of two anchors, m, and largest angle of two axes, rad.
    fn largest(&self, world: &World) -> (f64, f64) {
        let mut worst = (0.0_f64, 0.0_f64);
        for sides in &self.0 {
            let [a, b] =
                sides.map(|(body, frame)| body.map_or(frame, |id| world.body(id).unwrap().pose() * frame));
            let tilt = (a.rotation * DVec3::Z).cross(b.rotation * DVec3::Z).length();
            worst = (worst.0.max(a.translation.distance(b.translation)), worst.1.max(tilt));
        }
        worst
    }
}

/// A rod hinged at one end, released at an angle ⇒ its period from the upward zeros of its angle, s.
fn period(angle: f64, dt: f64, swings: usize) -> f64 {
    let mut world = World::default();
    let end = DVec3::new(angle.sin(), 0.0, -angle.cos());
    let id = bar(&mut world, DVec3::ZERO, end, 1.0);
    world.add_joint(JointFrames::to_world(id).along(DVec3::Y), Revolute::default()).unwrap();
    let mut simulator = Constraint::default();
    let state = |world: &World| {
        let body = world.body(id).unwrap();
        let p = body.position();
        (p.x.atan2(-p.z), -body.angular_velocity().y)
    };
    let (mut last, mut zeros) = (state(&world), Vec::new());
    while zeros.len() <= swings {
        let t = world.time();
        simulator.step(&mut world, dt).unwrap();
        let now = state(&world);
        if last.0 < 0.0 && now.0 >= 0.0 {
            // The angle and its rate at both ends of a step make a cubic whose zero is good to the fourth
            // order.
            let at = |s: f64| {
                let (a, b) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s) * (1.0 - s));
                last.0 + a * (now.0 - last.0) + dt * (b * last.1 + s * s * (s - 1.0) * now.1)
            };
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if at(middle) < 0.0 { low = middle } else { high = middle }
            }
            zeros.push(t + dt * low);
        }
        last = now;
        assert!(world.time() < 60.0);
    }
    (zeros[swings] - zeros[0]) / swings as f64
}

/// ART-1: hinged rod, T = 4 √(2L/3g) K(sin ½θ₀): small swings 1.637947 s, 30° 1.666461 s, 90° 1.933335 s,
/// 170° 3.995546 s.
#[test]
fn hinged_rods_have_their_periods() {
    for (degrees, expected) in
        [(0.01, 1.637946586), (30.0, 1.666461267), (90.0, 1.933334854), (170.0, 3.995545838)]
    {
        let found = period(f64::to_radians(degrees), 0.01, 3);
        assert!((found - expected).abs() < 1e-7, "{degrees}°: {found} for {expected}");
    }
}

/// MJ-2: a horizontal double pendulum of two rods at release: α₁ = 9g/7, α₂ = −3g/7, inner joint mg/14, pivot
/// 2mg/7.
#[test]
fn double_rods_have_their_initial_accelerations() {
    let mut world = World::default();
    let a = bar(&mut world, DVec3::ZERO, DVec3::X, 1.0);
    let b = bar(&mut world, DVec3::X, 2.0 * DVec3::X, 1.0);
    let pivot = world.add_joint(JointFrames::to_world(a).along(DVec3::Y), Revolute::default()).unwrap();
    let inner = world
        .add_joint(JointFrames::between(a, b).at(DVec3::X).along(DVec3::Y), Revolute::default())
        .unwrap();
    let mut simulator = Constraint::default();
    let dt = 1e-6;
    simulator.step(&mut world, dt).unwrap();
    let alpha = |id| world.body(id).unwrap().angular_velocity().y / dt;
    assert!((alpha(a) - 9.0 * G / 7.0).abs() < 1e-8, "{}", alpha(a));
    assert!((alpha(b) + 3.0 * G / 7.0).abs() < 1e-8, "{}", alpha(b));
    let found =
        [reaction(&simulator, inner), reaction(&simulator, pivot)].map(|reaction| reaction.force.length());
    assert!((found[0] - G / 14.0).abs() < 1e-8 && (found[1] - 2.0 * G / 7.0).abs() < 1e-8, "{found:?}");
}

/// MJ-5: a double pendulum conserves its energy to 1e-8 J over 10 s, with joint errors below 1e-12 m.
#[test]
fn double_pendulums_conserve_energy() {
    let mut world = World::default();
    let a = bar(&mut world, DVec3::ZERO, DVec3::X, 1.0);
    let b = bar(&mut world, DVec3::X, 2.0 * DVec3::X, 1.0);
    let mut errors = JointErrors::default();
    errors.add(&world, [None, Some(a)], DVec3::ZERO, DVec3::Y);
    errors.add(&world, [Some(a), Some(b)], DVec3::X, DVec3::Y);
    world.add_joint(JointFrames::to_world(a).along(DVec3::Y), Revolute::default()).unwrap();
    world.add_joint(JointFrames::between(a, b).at(DVec3::X).along(DVec3::Y), Revolute::default()).unwrap();
    let mut simulator = Constraint::default();
    let before = world.readout().energy();
    for _ in 0..600 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
        assert!((world.readout().energy() - before).abs() < 1e-8, "{}", world.readout().energy() - before);
        assert!(errors.largest(&world).0 < 1e-12, "{:?}", errors.largest(&world));
    }
}

/// MJ-3: in a hanging chain every joint carries the weight below it, to 1e-10.
#[test]
fn joints_of_a_hanging_chain_carry_the_weight_below() {
    let mut world = World::default();
    let mut joints = Vec::new();
    let mut above = None;
    for k in 0..12 {
        let top = -f64::from(k) * DVec3::Z;
        let id = bar(&mut world, top, top - DVec3::Z, 1.0 + 0.1 * f64::from(k));
        let joint_frames =
            above.map_or(JointFrames::to_world(id), |above| JointFrames::between(above, id)).at(top);
        joints.push(world.add_joint(joint_frames, Spherical::default()).unwrap());
        above = Some(id);
    }
    let mut simulator = Constraint::default();
    run(&mut world, &mut simulator, 0.1, 0.01);
    for (k, joint) in joints.iter().enumerate() {
        let weight: f64 = (k..12).map(|k| G * (1.0 + 0.1 * k as f64)).sum();
        let found = reaction(&simulator, *joint).force;
        assert!((found - weight * DVec3::Z).length() < 1e-10 * weight, "{k}: {found} for {weight}");
    }
}

/// Four bars in a plane: ground, crank, coupler, rocker; hinges all along y.
fn four_bar() -> (World, JointErrors, Vec<JointId>) {
    let mut world = World::default();
    let corners =
        [DVec3::ZERO, DVec3::new(0.0, 0.0, 0.5), DVec3::new(1.2, 0.0, 0.9), DVec3::new(1.0, 0.0, 0.0)];
    let bars: Vec<BodyId> = (0..3).map(|k| bar(&mut world, corners[k], corners[k + 1], 1.0)).collect();
    let (mut errors, mut joints) = (JointErrors::default(), Vec::new());
    let ends = [
        [None, Some(bars[0])],
        [Some(bars[0]), Some(bars[1])],
        [Some(bars[1]), Some(bars[2])],
        [None, Some(bars[2])],
    ];
    for (ends, corner) in ends.into_iter().zip(corners) {
        errors.add(&world, ends, corner, DVec3::Y);
        let joint_frames = match ends {
            [Some(a), Some(b)] => JointFrames::between(a, b),
            [_, b] => JointFrames::to_world(b.unwrap()),
        };
        joints.push(world.add_joint(joint_frames.at(corner).along(DVec3::Y), Revolute::default()).unwrap());
    }
    (world, errors, joints)
}

/// MJ-4: a planar four-bar linkage has 20 rows of which 17 are independent, which is reported; over 100 s its
/// energy is conserved to 1e-6, with joint errors below 1e-10.
#[test]
fn four_bar_linkages_conserve_energy_and_joints() {
    let (mut world, errors, joints) = four_bar();
    let mut simulator = Constraint::default();
    let before = world.readout().energy();
    let (mut worst, mut drift, mut lowest) = (0.0_f64, (0.0_f64, 0.0_f64), f64::INFINITY);
    for step in 0..6000 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
        if step == 0 {
            let expected = Event::JointsRedundant { time: 0.0, joints: joints.clone(), rows: 20, rank: 17 };
            assert_eq!(world.events(), [expected]);
        } else {
            assert!(world.events().is_empty(), "{:?}", world.events());
        }
        let readout = world.readout();
        worst = worst.max((readout.energy() - before).abs());
        lowest = lowest.min(readout.potential_energy);
        let (apart, tilt) = errors.largest(&world);
        drift = (drift.0.max(apart), drift.1.max(tilt));
    }
    println!("four-bar: energy {:e} J of {} J, drift {drift:?}", worst, before - lowest);
    assert!(worst < 1e-6 * (before - lowest), "{worst} of {}", before - lowest);
    assert!(drift.0 < 1e-10 && drift.1 < 1e-10, "{drift:?}");
}

/// Eight bodies, eight ball joints: a tail of two bodies, the first of which is static, on a loop of six
/// (§15, §25 scene 6).
fn eight_body_loop() -> (World, JointErrors) {
    let mut world = World::default();
    // Ends of the bodies: a tail down to the loop, and the loop, slightly out of plane to avoid singular
    // positions.
    let p = [
        DVec3::new(0.0, 0.0, 2.0),
        DVec3::new(0.0, 0.0, 1.5),
        DVec3::new(0.0, 0.1, 1.0),
        DVec3::new(0.4, 0.0, 0.7),
        DVec3::new(0.5, -0.1, 0.2),
        DVec3::new(0.1, 0.0, -0.2),
        DVec3::new(-0.4, 0.1, -0.1),
        DVec3::new(-0.6, -0.1, 0.5),
    ];
    // B1 is static; B2 hangs on J1; B3 hangs on J2 and carries J3 and J8; B4…B8 close the loop.
    let held = world.add_body(Body::fixed().position(p[0])).unwrap();
    let b2 = bar(&mut world, p[0], p[1], 1.0);
    let b3 = bar(&mut world, p[1], p[2], 1.5);
    let b4 = bar(&mut world, p[2], p[3], 0.8);
    let b5 = bar(&mut world, p[3], p[4], 1.0);
    let b6 = bar(&mut world, p[4], p[5], 1.2);
    let b7 = bar(&mut world, p[5], p[6], 0.7);
    let b8 = bar(&mut world, p[6], p[7], 1.0);
    let mut errors = JointErrors::default();
    let ends = [
        (held, b2, p[0]),
        (b2, b3, p[1]),
        (b3, b4, p[2]),
        (b4, b5, p[3]),
        (b6, b5, p[4]),
        (b6, b7, p[5]),
        (b8, b7, p[6]),
        (b8, b3, p[7]),
    ];
    for (a, b, at) in ends {
        errors.add(&world, [Some(a), Some(b)], at, DVec3::Z);
        world.add_joint(JointFrames::between(a, b).at(at), Spherical::default()).unwrap();
    }
    (world, errors)
}

/// The loop of eight bodies swings under gravity for 100 s: energy to 1e-6 of the largest kinetic energy,
/// joint errors below 1e-10 m.
#[test]
fn the_loop_of_eight_bodies_conserves_energy_and_joints() {
    let (mut world, errors) = eight_body_loop();
    let mut simulator = Constraint::default();
    let before = world.readout().energy();
    let (mut worst, mut drift, mut fastest) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..6000 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
        assert!(world.events().is_empty(), "{:?}", world.events());
        let readout = world.readout();
        worst = worst.max((readout.energy() - before).abs());
        fastest = fastest.max(readout.kinetic_energy);
        drift = drift.max(errors.largest(&world).0);
    }
    println!("loop of eight: energy {worst:e} J of {fastest} J, drift {drift:e}");
    assert!(fastest > 1.0 && worst < 1e-6 * fastest, "{worst} of {fastest}");
    assert!(drift < 1e-10, "{drift}");
}

/// A small sphere at a point of a rod's frame, as its collider.
fn knob(radius: f64, at: DVec3) -> ShapePart {
    ShapePart { pose: Pose::at(at), ..ShapePart::from(Shape::sphere(radius).unwrap()) }
}

/// AR-1: a hinged rod hits a stop at a distance d from its pivot: impulses of stop and pivot; none at the
/// pivot for d = 2L/3, the centre of percussion.
#[test]
fn struck_rods_have_a_centre_of_percussion() {
    for (d, stop, pivot) in [(0.4, 2.5, 1.0), (2.0 / 3.0, 1.5, 0.0), (0.9, 10.0 / 9.0, -7.0 / 18.0)] {
        let mut world = World::weightless();
        let material = Material { restitution: 0.5, ..Material::with_friction(0.0) };
        world.set_material(world.default_material(), material).unwrap();
        let turn = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
        let body = Body::dynamic()
            .pose(Pose::new(turn, 0.5 * DVec3::X))
            .with_part(knob(0.01, DVec3::new(0.0, 0.0, d - 0.5)))
            .mass_properties(rod(1.0, 1.0))
            .angular_velocity(2.0 * DVec3::Y)
            .velocity(DVec3::new(0.0, 0.0, -1.0));
        let id = world.add_body(body).unwrap();
        let ball = Body::fixed().position(DVec3::new(d, 0.0, -0.02)).with_shape(Shape::sphere(0.01).unwrap());
        world.add_body(ball).unwrap();
        let joint = world.add_joint(JointFrames::to_world(id).along(DVec3::Y), Revolute::default()).unwrap();
        let mut simulator = Constraint::default();
        simulator.step(&mut world, 1e-6).unwrap();
        let struck = world.events().iter().find_map(|event| match event {
            Event::Collision { impulse, .. } => Some(impulse.z.abs()),
            _ => None,
        });
        let found = reaction(&simulator, joint).impulse.z;
        assert!((struck.unwrap() - stop).abs() < 1e-9, "{d}: {struck:?} for {stop}");
        // On the rod; the impulse of the stop is upwards.
        assert!((-found - pivot).abs() < 1e-9, "{d}: {found} for {pivot}");
        let omega = world.body(id).unwrap().angular_velocity();
        assert!((omega + DVec3::Y).length() < 1e-8, "{omega}");
    }
}

/// AR-2: two rods in line, hinged, struck at one end by Q: joint impulse Q/4, V₁ = 5Q/4m, aW₁ = 9Q/4m, V₂ =
/// −Q/4m, aW₂ = 3Q/4m.
#[test]
fn hinged_rods_transmit_impulses() {
    let mut world = World::weightless();
    let material = Material { restitution: 0.8, ..Material::with_friction(0.0) };
    world.set_material(world.default_material(), material).unwrap();
    let turn = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
    let make = |x: f64| Body::dynamic().pose(Pose::new(turn, x * DVec3::X)).mass_properties(rod(1.0, 1.0));
    let a = world.add_body(make(0.5).with_part(knob(0.01, DVec3::new(0.0, 0.0, -0.5)))).unwrap();
    let b = world.add_body(make(1.5)).unwrap();
    let joint = world
        .add_joint(JointFrames::between(a, b).at(DVec3::X).along(DVec3::Y), Revolute::default())
        .unwrap();
    let ball = Body::dynamic().at(0.0, 0.0, -0.02).with_shape(Shape::sphere(0.01).unwrap()).mass(0.3);
    world.add_body(ball.velocity(DVec3::Z)).unwrap();
    let mut simulator = Constraint::default();
    simulator.step(&mut world, 1e-9).unwrap();
    let q = world.events().iter().find_map(|event| match event {
        Event::Collision { impulse, .. } => Some(impulse.z.abs()),
        _ => None,
    });
    let q = q.unwrap();
    let close =
        |found: f64, expected: f64| assert!((found - expected * q).abs() < 1e-7, "{found} {}", expected * q);
    let state =
        |id| (world.body(id).unwrap().velocity().z, world.body(id).unwrap().angular_velocity().y * 0.5);
    close(state(a).0, 1.25);
    close(state(a).1, 2.25);
    close(state(b).0, -0.25);
    close(state(b).1, -0.75);
    close(reaction(&simulator, joint).impulse.z.abs(), 0.25);
}

/// AR-5: a rod hinged at one end with the other on the floor: half its weight on each.
#[test]
fn a_hinged_rod_shares_its_weight_with_the_floor() {
    let mut world = World::default();
    world.set_material(world.default_material(), Material::with_friction(0.0)).unwrap();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let turn = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
    let body = Body::dynamic().pose(Pose::new(turn, DVec3::new(0.5, 0.0, 0.01)));
    let id = world
        .add_body(body.with_part(knob(0.01, DVec3::new(0.0, 0.0, 0.5))).mass_properties(rod(2.0, 1.0)))
        .unwrap();
    let joint_frames = JointFrames::to_world(id).at(DVec3::new(0.0, 0.0, 0.01)).along(DVec3::Y);
    let joint = world.add_joint(joint_frames, Revolute::default()).unwrap();
    let mut simulator = Constraint::default();
    run(&mut world, &mut simulator, 1.0, 1.0 / 24.0);
    let floor: f64 = simulator.contacts().map(|contact| contact.force.z.abs()).sum();
    assert!((floor - G).abs() < 1e-9, "{floor}");
    assert!(
        (reaction(&simulator, joint).force - G * DVec3::Z).length() < 1e-9,
        "{:?}",
        reaction(&simulator, joint)
    );
    assert!(world.body(id).unwrap().angular_velocity().length() < 1e-10);
}

/// AR-5, AR-6: an A-frame of two rods at 40° stands for μ = 0.43 and collapses for 0.41, the limit being ½
/// tan φ = 0.41955; while it stands each foot bears mg and the apex transmits the thrust.
#[test]
fn a_frames_stand_on_friction() {
    for (mu, stands) in [(0.43, true), (0.41, false)] {
        let mut world = World::default();
        world.set_material(world.default_material(), Material::with_friction(mu)).unwrap();
        world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
        let phi = f64::to_radians(40.0);
        let apex = DVec3::new(0.0, 0.0, phi.cos() + 1e-3);
        let legs = [-1.0, 1.0].map(|side| {
            let down = DVec3::new(side * phi.sin(), 0.0, -phi.cos());
            let turn = DQuat::from_rotation_arc(DVec3::Z, down);
            let body = Body::dynamic().pose(Pose::new(turn, apex + 0.5 * down));
            let foot = knob(1e-3, DVec3::new(0.0, 0.0, 0.5));
            world.add_body(body.with_part(foot).mass_properties(rod(1.0, 1.0))).unwrap()
        });
        let joint_frames = JointFrames::between(legs[0], legs[1]).at(apex).along(DVec3::Y);
        let joint = world.add_joint(joint_frames, Revolute::default()).unwrap();
        let mut simulator = Constraint::default();
        run(&mut world, &mut simulator, 0.5, 1.0 / 240.0);
        let sunk = 0.5 * phi.cos() + 1e-3 - world.body(legs[0]).unwrap().position().z;
        if stands {
            assert!(sunk.abs() < 1e-6, "{sunk}");
            let forces: Vec<DVec3> = simulator.contacts().map(|contact| contact.force).collect();
            assert_eq!(forces.len(), 2);
            // Moments of a leg about the apex; the contact is a millimetre below the centre of the foot.
            let thrust = 0.5 * G * phi.sin() / (phi.cos() + 1e-3);
            assert!((reaction(&simulator, joint).force.length() - thrust).abs() < 1e-6);
            for force in forces {
                assert!((force.z.abs() - G).abs() < 1e-6 && (force.x.abs() - thrust).abs() < 1e-6, "{force}");
            }
        } else {
            assert!(sunk > 1e-3, "{sunk}");
        }
    }
}

/// J-2: a bead on a rod that turns with Ω: r = r₀ cosh Ωt, with the joint force 2 m Ω ṙ.
#[test]
fn beads_on_turning_rods_move_outwards() {
    let mut world = World::weightless();
    let omega = 1.5;
    let path = Path::Steady { velocity: DVec3::ZERO, angular_velocity: omega * DVec3::Z };
    let hub = world.add_body(Body::kinematic(path)).unwrap();
    let bead = Body::dynamic().at(0.1, 0.0, 0.0).with_shape(Shape::sphere(0.01).unwrap()).mass(2.0);
    let bead =
        world.add_body(bead.velocity(0.1 * omega * DVec3::Y).angular_velocity(omega * DVec3::Z)).unwrap();
    let joint =
        world.add_joint(JointFrames::between(hub, bead).along(DVec3::X), Prismatic::default()).unwrap();
    let mut simulator = Constraint::default();
    run(&mut world, &mut simulator, 2.0, 0.01);
    let (r, phase) = (world.body(bead).unwrap().position().length(), omega * world.time());
    assert!((r - 0.1 * phase.cosh()).abs() < 1e-7, "{r} {}", 0.1 * phase.cosh());
    let push = 2.0 * 2.0 * omega * 0.1 * omega * phase.sinh();
    assert!((reaction(&simulator, joint).force.length() / push - 1.0).abs() < 1e-5);
}

/// J-3: a Hooke joint between two shafts at 30°: ω₂/ω₁ = cos β/(1 − sin²β cos²θ); 14 rows, of which 11 are
/// independent.
#[test]
fn hooke_joints_have_their_velocity_ratio() {
    let mut world = World::weightless();
    let beta = f64::to_radians(30.0);
    let axes = [DVec3::X, DVec3::new(beta.cos(), beta.sin(), 0.0)];
    let shape = Shape::cylinder(0.1, 0.05).unwrap();
    let [a, b] = [(-0.3, axes[0], 1.0), (0.3, axes[1], 0.001)].map(|(along, axis, mass)| {
        let turn = DQuat::from_rotation_arc(DVec3::Z, axis);
        let body = Body::dynamic().pose(Pose::new(turn, along * axis)).with_shape(shape.clone()).mass(mass);
        world.add_body(body).unwrap()
    });
    for (id, axis) in [(a, axes[0]), (b, axes[1])] {
        let at = world.body(id).unwrap().position();
        world.add_joint(JointFrames::to_world(id).at(at).along(axis), Revolute::default()).unwrap();
    }
    // The cross: one arm on the first shaft, the other on the second, perpendicular to each other.
    let arm = DVec3::Z;
    let other = axes[1].cross(arm).normalize();
    let cross = DQuat::from_mat3(&DMat3::from_cols(other, arm.cross(other), arm));
    world.add_joint(JointFrames::between(a, b).oriented(cross), Universal::default()).unwrap();
    world.body_mut(a).unwrap().set_angular_velocity(5.0 * axes[0]).unwrap();
    let mut simulator = Constraint::default();
    simulator.step(&mut world, 0.005).unwrap();
    let redundant = world.events().iter().find_map(|event| match event {
        Event::JointsRedundant { rows, rank, joints, .. } => Some((*rows, *rank, joints.len())),
        _ => None,
    });
    assert_eq!(redundant, Some((14, 11, 3)));
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for _ in 0..400 {
        simulator.step(&mut world, 0.005).unwrap();
        let speed = |id, axis: DVec3| world.body(id).unwrap().angular_velocity().dot(axis);
        let ratio = speed(b, axes[1]) / speed(a, axes[0]);
        // The arm on the first shaft starts perpendicular to the plane of both shafts, where the second turns
        // slowest.
        let theta = world.joint(world.iter_joints().next().unwrap().0).unwrap().angle();
        let law = beta.cos() / (1.0 - (beta.sin() * theta.sin()).powi(2));
        let start = beta.cos() / (1.0 - (beta.sin() * theta.cos()).powi(2));
        assert!((ratio - law).abs().min((ratio - start).abs()) < 1e-5, "{theta}: {ratio} {law} {start}");
        (least, most) = (least.min(ratio), most.max(ratio));
    }
    assert!((least - beta.cos()).abs() < 1e-3 && (most - 1.0 / beta.cos()).abs() < 1e-3, "{least} {most}");
}

/// EX-1: a pendulum falls onto its limit: it passes it by less than 1e-9 rad, and stays at rest there.
#[test]
fn limits_stop_and_hold() {
    let mut world = World::default();
    let id = bar(&mut world, DVec3::ZERO, DVec3::X, 1.0);
    let stop = Revolute { limited: true, min: -10.0, max: 0.5, ..Revolute::default() };
    let joint = world.add_joint(JointFrames::to_world(id).along(DVec3::Y), stop).unwrap();
    let mut simulator = Constraint::default();
    let (mut most, mut hit) = (0.0_f64, None);
    for _ in 0..120 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
        let angle = world.joint(joint).unwrap().angle();
        most = most.max(angle);
        if hit.is_none() && angle > 0.5 - 1e-9 {
            hit = Some(world.time());
        }
    }
    assert!(most < 0.5 + 1e-9 && most > 0.5 - 1e-9, "{most}");
    // ½ I ω² = m g L/2 sin θ: the time is the integral of dθ/√(3 (g/L) sin θ).
    let steps = 200_000;
    let fall: f64 = (0..steps)
        .map(|k| {
            // θ = s², so that the integrand is smooth at 0.
            let s = 0.5_f64.sqrt() * (f64::from(k) + 0.5) / f64::from(steps);
            2.0 * s * 0.5_f64.sqrt() / f64::from(steps) / (3.0 * G * (s * s).sin()).sqrt()
        })
        .sum();
    assert!((hit.unwrap() - fall).abs() < 1.0 / 60.0, "{hit:?} {fall}");
    assert!(world.body(id).unwrap().angular_velocity().length() < 1e-9);
}

/// EX-2: a motor holds its speed against gravity to 1e-9 rad/s; one whose maximum torque is too small stalls.
#[test]
fn motors_hold_their_speed_or_stall() {
    for max_torque in [100.0, 2.0] {
        let mut world = World::default();
        // A weight at a radius of 0.5 m: the motor needs up to m g r = 4.905 N m.
        let body = Body::dynamic().at(0.5, 0.0, 0.0).with_shape(Shape::sphere(0.05).unwrap()).mass(1.0);
        let id = world.add_body(body).unwrap();
        let motor = Revolute { max_torque, speed: (-2.0).into(), ..Revolute::default() };
        let joint = world.add_joint(JointFrames::to_world(id).along(DVec3::Y), motor).unwrap();
        let mut simulator = Constraint::default();
        let (mut worst, mut highest) = (0.0_f64, -1.0_f64);
        for step in 0..300 {
            simulator.step(&mut world, 0.01).unwrap();
            if step > 0 {
                worst = worst.max((world.body(id).unwrap().angular_velocity().y + 2.0).abs());
            }
            highest = highest.max(world.body(id).unwrap().position().z);
        }
        if max_torque > 5.0 {
            assert!(worst < 1e-9, "{worst}");
            assert!((world.joint(joint).unwrap().angle() + 6.0).abs() < 0.03);
        } else {
            assert!(worst > 0.5 && highest < 0.3, "{worst} {highest}");
        }
    }
}

/// EX-3: a cantilever on a rigid joint breaks at its weight and at the torque m g L/2, each to ±0.1 %.
#[test]
fn rigid_joints_break_at_their_thresholds() {
    let (weight, torque) = (2.0 * G, 2.0 * G * 0.25);
    let never = BreakThresholds::default();
    let cases = [
        (BreakThresholds { force: 1.001 * weight, ..never }, false),
        (BreakThresholds { force: 0.999 * weight, ..never }, true),
        (BreakThresholds { torque: 1.001 * torque, ..never }, false),
        (BreakThresholds { torque: 0.999 * torque, ..never }, true),
    ];
    for (breaking, breaks) in cases {
        let mut world = World::default();
        let shape = Shape::cuboid(DVec3::new(0.25, 0.05, 0.05)).unwrap();
        let id = world.add_body(Body::dynamic().at(0.25, 0.0, 0.0).with_shape(shape).mass(2.0)).unwrap();
        let joint = world.add_joint(JointFrames::to_world(id).breaking(breaking), Fixed::default()).unwrap();
        let mut simulator = Constraint::default();
        simulator.step(&mut world, 0.01).unwrap();
        let broke = world
            .events()
            .iter()
            .any(|event| matches!(event, Event::JointBroke { joint: found, .. } if *found == joint));
        assert_eq!(broke, breaks, "{breaking:?}");
        run(&mut world, &mut simulator, 0.5, 0.01);
        let fallen = world.body(id).unwrap().position().z < -0.1;
        assert_eq!(fallen, breaks, "{breaking:?}");
    }
}

/// J-5: two boxes on a rigid joint move as one body of both shapes.
#[test]
fn a_rigid_joint_makes_one_body() {
    let mut two = World::weightless();
    let [one, other] =
        [DVec3::new(0.3, 0.1, 0.2), DVec3::new(0.2, 0.4, 0.1)].map(|half| Shape::cuboid(half).unwrap());
    let at = DVec3::new(0.5, 0.2, -0.1);
    let a = two.add_body(Body::dynamic().with_shape(one.clone()).density(500.0)).unwrap();
    let b = two.add_body(Body::dynamic().position(at).with_shape(other.clone()).density(500.0)).unwrap();
    two.add_joint(JointFrames::between(a, b), Fixed::default()).unwrap();
    let mut whole = World::weightless();
    let parts =
        Body::dynamic().with_shape(one).with_part(ShapePart { pose: Pose::at(at), ..ShapePart::from(other) });
    let c = whole.add_body(parts.density(500.0)).unwrap();
    let (v, omega) = (DVec3::new(0.3, -0.2, 0.1), DVec3::new(1.0, -2.0, 0.7));
    whole.body_mut(c).unwrap().set_velocity(v).unwrap();
    whole.body_mut(c).unwrap().set_angular_velocity(omega).unwrap();
    for id in [a, b] {
        let center = two.body(id).unwrap().motion().x;
        let v = whole.body(c).unwrap().velocity_at(center);
        two.body_mut(id).unwrap().set_velocity(v).unwrap();
        two.body_mut(id).unwrap().set_angular_velocity(omega).unwrap();
    }
    let mut simulators = [Constraint::default(), Constraint::default()];
    run(&mut two, &mut simulators[0], 5.0, 0.01);
    run(&mut whole, &mut simulators[1], 5.0, 0.01);
    let [x, y] = [two.body(a).unwrap().pose(), whole.body(c).unwrap().pose()];
    assert!((x.translation - y.translation).length() < 1e-7, "{x:?} {y:?}");
    assert!(x.rotation.dot(y.rotation).abs() > 1.0 - 1e-13);
}

/// Contradictory joints: a ball on two rods of different lengths to the same point. It stays half-way between
/// both lengths, and the joints are named in an event.
#[test]
fn contradictory_joints_are_reported_and_stay_finite() {
    let mut world = World::default();
    let id =
        world.add_body(Body::dynamic().at(0.0, 0.0, -1.0).with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    let frame = Pose::IDENTITY;
    let joints = [0.9, 1.1].map(|length| {
        let rod = Distance { min: length, max: length, ..Distance::default() };
        world.add_joint(JointFrames::to_world(id).frames(frame, frame), rod).unwrap()
    });
    let mut simulator = Constraint::default();
    let mut named = None;
    for _ in 0..50 {
        simulator.step(&mut world, 0.01).unwrap();
        for event in world.events() {
            if let Event::JointsInconsistent { joints, apart, .. } = event
                && *apart > 0.0
            {
                named = Some((joints.clone(), *apart));
            }
        }
        let p = world.body(id).unwrap().position();
        assert!(p.is_finite() && (p.length() - 1.0).abs() < 1e-6, "{p}");
    }
    let (named, apart) = named.unwrap();
    assert_eq!(named, joints);
    assert!((apart - 0.1).abs() < 1e-6, "{apart}");
}

/// A body whose position and velocity violate its joint is projected onto it at once, and the joint is named
/// in an event.
#[test]
fn inconsistent_initial_states_are_projected() {
    let mut world = World::weightless();
    let id = bar(&mut world, DVec3::ZERO, DVec3::X, 1.0);
    let joint = world.add_joint(JointFrames::to_world(id).along(DVec3::Y), Revolute::default()).unwrap();
    let turn = world.body(id).unwrap().orientation();
    world.body_mut(id).unwrap().set_pose(Pose::new(turn, DVec3::new(0.52, 0.03, 0.1))).unwrap();
    world.body_mut(id).unwrap().set_velocity(DVec3::new(0.3, 0.2, -0.4)).unwrap();
    let mut simulator = Constraint::default();
    simulator.step(&mut world, 0.01).unwrap();
    let expected = Event::JointsInconsistent { time: 0.0, joints: vec![joint], apart: 0.0 };
    assert_eq!(world.events(), [expected]);
    let body = world.body(id).unwrap();
    let anchor = body.pose().point(DVec3::new(0.0, 0.0, -0.5));
    assert!(anchor.length() < 1e-12 && body.velocity_at(anchor).length() < 1e-12, "{anchor}");
    assert!(body.velocity().length() > 0.01);
}

/// A figure of six bodies on ball joints and a hinge, 1 cm above the floor when upright ⇒ its world, joint
/// errors and head. `tilt` rotates it about its chest, `height` raises it, m.
fn figure(tilt: DQuat, height: f64) -> (World, JointErrors, BodyId) {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    // Positions relative to the centre of the chest.
    let frame = Pose::new(tilt, DVec3::new(0.0, 0.0, 0.9 + height));
    let limb = |world: &mut World, at: DVec3, half: DVec3| {
        let shape = Shape::cuboid(half).unwrap();
        let body = Body::dynamic().pose(Pose::new(tilt, frame.point(at))).with_shape(shape);
        world.add_body(body.density(500.0)).unwrap()
    };
    let chest = limb(&mut world, DVec3::ZERO, DVec3::new(0.2, 0.1, 0.3));
    let mut errors = JointErrors::default();
    for (side, z, length) in [(-1.0, 0.25, 0.25), (1.0, 0.25, 0.25), (-0.5, -0.3, 0.3), (0.5, -0.3, 0.3)] {
        let hang = DVec3::new(0.24 * side, 0.0, z);
        let id = limb(&mut world, hang - DVec3::new(0.0, 0.0, length), DVec3::new(0.04, 0.04, length - 0.01));
        let anchor = frame.point(hang);
        errors.add(&world, [Some(chest), Some(id)], anchor, DVec3::Z);
        world.add_joint(JointFrames::between(chest, id).at(anchor), Spherical::default()).unwrap();
    }
    let head = limb(&mut world, DVec3::new(0.0, 0.0, 0.45), DVec3::splat(0.1));
    let (neck, axis) = (frame.point(DVec3::new(0.0, 0.0, 0.32)), tilt * DVec3::X);
    errors.add(&world, [Some(chest), Some(head)], neck, axis);
    world.add_joint(JointFrames::between(chest, head).at(neck).along(axis), Revolute::default()).unwrap();
    (world, errors, head)
}

/// Runs a figure ⇒ deepest overlap, m, and largest joint error, m.
fn drop_figure(world: &mut World, errors: &JointErrors, seconds: f64) -> (f64, f64) {
    let mut simulator = Constraint::default();
    let (mut deepest, mut error) = (0.0_f64, 0.0_f64);
    for _ in 0..(120.0 * seconds) as usize {
        simulator.step(world, 1.0 / 120.0).unwrap();
        deepest = simulator.contacts().map(|contact| -contact.gap).fold(deepest, f64::max);
        error = error.max(errors.largest(world).0);
    }
    println!("figure: deepest {deepest:e}, joints {error:e}, left {} J", world.readout().kinetic_energy);
    (deepest, error)
}

/// Scene 10: a figure of six bodies lands upright on its legs, an unstable equilibrium: for two seconds joint
/// errors stay below 1e-10 m, overlaps below 1e-5 m, and it comes to rest.
#[test]
fn a_figure_lands_upright() {
    let (mut world, errors, head) = figure(DQuat::IDENTITY, 0.0);
    let (deepest, error) = drop_figure(&mut world, &errors, 2.0);
    assert!(error < 1e-10, "{error}");
    assert!(deepest < 1e-5, "{deepest}");
    assert!(world.readout().kinetic_energy < 1e-12, "{}", world.readout().kinetic_energy);
    assert!(world.body(head).unwrap().position().z > 1.3);
}

/// Scene 10, tilted by 0.2 rad: the figure falls over and comes to rest on the floor. Joint errors stay below
/// 1e-10 m; overlaps of pairs that turn while they touch stay below 1e-3 m.
#[test]
fn a_tilted_figure_falls_and_comes_to_rest() {
    let tilt = DQuat::from_rotation_x(0.2) * DQuat::from_rotation_y(0.14);
    let (mut world, errors, head) = figure(tilt, 0.15);
    let (deepest, error) = drop_figure(&mut world, &errors, 3.0);
    assert!(error < 1e-10, "{error}");
    assert!(deepest < 1e-3, "{deepest}");
    assert!(world.readout().kinetic_energy < 1e-12, "{}", world.readout().kinetic_energy);
    assert!(world.body(head).unwrap().position().z < 0.2);
    assert!(world.iter_bodies().all(|body| body.position().z > -0.01));
}

/// ART-3: the motion does not depend on the order of the joints, to 1e-9 m.
#[test]
fn the_order_of_joints_does_not_matter() {
    let build = |order: [usize; 3]| {
        let mut world = World::default();
        let p: Vec<DVec3> = (0..4).map(|k| DVec3::new(f64::from(k), 0.1 * f64::from(k * k), 0.0)).collect();
        let bars: Vec<BodyId> = (0..3).map(|k| bar(&mut world, p[k], p[k + 1], 1.0)).collect();
        for k in order {
            let joint_frames = if k == 0 {
                JointFrames::to_world(bars[0])
            } else {
                JointFrames::between(bars[k - 1], bars[k])
            };
            world.add_joint(joint_frames.at(p[k]), Spherical::default()).unwrap();
        }
        let mut simulator = Constraint::default();
        run(&mut world, &mut simulator, 2.0, 0.01);
        world.body(bars[2]).unwrap().position()
    };
    let first = build([0, 1, 2]);
    for order in [[2, 1, 0], [1, 0, 2]] {
        assert!((build(order) - first).length() < 1e-9, "{}", (build(order) - first).length());
    }
}

/// Extreme values in one mechanism: the step returns, all remaining states are finite, and a pendulum beside
/// it moves as if alone.
#[test]
fn extreme_values_do_not_affect_other_mechanisms() {
    let build = |fault: Option<f64>| {
        let mut world = World::default();
        let good = bar(&mut world, DVec3::ZERO, DVec3::X, 1.0);
        world.add_joint(JointFrames::to_world(good).along(DVec3::Y), Revolute::default()).unwrap();
        if let Some(size) = fault {
            let at = 100.0 * DVec3::Y;
            let a = bar(&mut world, at, at + DVec3::X, 1.0);
            let b =
                bar(&mut world, at + DVec3::X, at + 2.0 * DVec3::X, if size > 1.0 { 1e-12 } else { 1e12 });
            world.add_joint(JointFrames::to_world(a).at(at), Spherical::default()).unwrap();
            world.add_joint(JointFrames::between(a, b).at(at + DVec3::X), Spherical::default()).unwrap();
            world.body_mut(b).unwrap().set_velocity(DVec3::new(size, -size, 0.3 * size)).unwrap();
        }
        let mut simulator = Constraint::default();
        run(&mut world, &mut simulator, 0.1, 0.01);
        for body in world.iter_bodies() {
            assert!(body.position().is_finite() && body.velocity().is_finite(), "{fault:?}");
        }
        world.body(good).unwrap().position()
    };
    let alone = build(None);
    for fault in [1e-300, 1.0, 1e5, 1e150, 1e300] {
        assert_eq!(build(Some(fault)), alone, "{fault}");
    }
}
