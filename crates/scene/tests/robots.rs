//! Robots from URDF and MJCF: closed forms, hostile files, and real robots against Pinocchio and MuJoCo.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::{
    DoubleDouble, ExtendedDynamics, Link, LinkTree, MassMatrix, Scalar, Workspace, forward_kinematics,
    inverse_dynamics,
};
use rattleback_dynamics::world::LedgerSettings;
use rattleback_dynamics::{Event, FreeMotion, Properties, Registry, Simulator, World};
use rattleback_geometry::symmetric_eigen;
use rattleback_scene::robot::{Base, RobotModel, RobotOptions};
use rattleback_scene::{FileAccess, Scene, SceneError};
use std::f64::consts::PI;
use std::fmt::Write as _;
use std::path::Path;

const G: f64 = 9.81;

fn urdf(text: &str) -> RobotModel {
    RobotModel::parse(text, "robot.urdf", &RobotOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn mjcf(text: &str) -> RobotModel {
    RobotModel::parse(text, "robot.xml", &RobotOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> SceneError {
    match RobotModel::parse(text, "robot", &RobotOptions::default()) {
        Ok(_) => panic!("accepted: {}", &text[..text.len().min(200)]),
        Err(error) => error,
    }
}

fn link(name: &str, mass: f64, z: f64, moment: f64) -> String {
    format!(
        "<link name='{name}'><inertial><origin xyz='0 0 {z}'/><mass value='{mass}'/>\
         <inertia ixx='{moment}' iyy='{moment}' izz='{moment}'/></inertial></link>"
    )
}

fn hinge(name: &str, parent: &str, child: &str, z: f64) -> String {
    format!(
        "<joint name='{name}' type='continuous'><parent link='{parent}'/><child link='{child}'/>\
         <origin xyz='0 0 {z}'/><axis xyz='0 1 0'/></joint>"
    )
}

/// Physical pendulum: φ̈ = −m g l sin φ/(I + m l²).
#[test]
fn pendulum_accelerates_as_the_formula_says() {
    let (m, l, i) = (2.0, 0.7, 0.05);
    let text = format!(
        "<robot name='p'><link name='base'/>{}{}</robot>",
        link("rod", m, -l, i),
        hinge("j", "base", "rod", 0.0)
    );
    let robot = urdf(&text);
    for phi in [-2.0_f64, 0.3, 1.5] {
        let expected = -m * G * l * phi.sin() / (i + m * l * l);
        let a = robot.accelerations(&[phi], &[0.4], &[0.0]).unwrap();
        assert!((a[0] - expected).abs() < 1e-12 * expected.abs(), "{} {expected}", a[0]);
    }
    assert_eq!(robot.center_of_mass(&[0.0]).unwrap(), (m, DVec3::new(0.0, 0.0, -l)));
}

/// Small oscillations of a bob of `mjcf`: T = 2π √((I + m l²)/(m g l)), I = 2/5 m r² of the sphere.
#[test]
fn pendulum_of_an_mjcf_sphere_has_its_period() {
    let (r, l) = (0.1, 0.8);
    let robot = mjcf(&format!(
        "<mujoco><worldbody><body pos='0 0 2'><joint axis='0 1 0'/>\
         <geom size='{r}' pos='0 0 -{l}' density='500'/></body></worldbody></mujoco>"
    ));
    let m = 500.0 * 4.0 / 3.0 * PI * r * r * r;
    let (mass, center) = robot.center_of_mass(&[0.0]).unwrap();
    assert!((mass - m).abs() < 1e-12 && (center - DVec3::new(0.0, 0.0, 2.0 - l)).length() < 1e-12);
    let period = 2.0 * PI * ((0.4 * r * r + l * l) / (G * l)).sqrt();
    let mut mechanism = robot.mechanism().unwrap();
    mechanism.set_state(&[1e-4], &[0.0]).unwrap();
    for _ in 0..1000 {
        mechanism.step(period / 1000.0).unwrap();
    }
    // After one period it is back where it began, at rest.
    assert!((mechanism.positions()[0] - 1e-4).abs() < 1e-11, "{}", mechanism.positions()[0]);
    assert!(mechanism.velocities()[0].abs() < 1e-10, "{}", mechanism.velocities()[0]);
}

/// Two point masses on massless rods, absolute angles θ₁, θ₂ from the vertical (the textbook's double pendulum).
#[test]
fn double_pendulum_accelerates_as_the_textbook_says() {
    let (m1, m2, l1, l2) = (1.3, 0.6, 0.9, 0.5);
    let bodies = format!("{}{}", link("a", m1, -l1, 0.0), link("b", m2, -l2, 0.0));
    let joints = format!("{}{}", hinge("ja", "base", "a", 0.0), hinge("jb", "a", "b", -l1));
    // Joints before links: the order of a file has no meaning.
    let by_urdf = urdf(&format!("<robot name='d'>{joints}<link name='base'/>{bodies}</robot>"));
    let by_mjcf = mjcf(&format!(
        "<mujoco><compiler angle='radian'/><default><joint axis='0 1 0'/></default><worldbody><body name='a'>\
         <joint name='ja'/><inertial pos='0 0 -{l1}' mass='{m1}' diaginertia='0 0 0'/><body name='b' pos='0 0 -{l1}'>\
         <joint name='jb'/><inertial pos='0 0 -{l2}' mass='{m2}' diaginertia='0 0 0'/></body></body></worldbody></mujoco>"
    ));
    for (t1, t2, w1, w2) in [(0.3_f64, -0.8_f64, 1.0, -2.0), (2.0, 1.1, -0.4, 3.0), (-1.2, 2.9, 0.0, 0.7)] {
        let d: f64 = t1 - t2;
        let denominator = 2.0 * m1 + m2 - m2 * (2.0 * d).cos();
        let a1 = (-G * (2.0 * m1 + m2) * t1.sin()
            - m2 * G * (t1 - 2.0 * t2).sin()
            - 2.0 * d.sin() * m2 * (w2 * w2 * l2 + w1 * w1 * l1 * d.cos()))
            / (l1 * denominator);
        let a2 = 2.0
            * d.sin()
            * (w1 * w1 * l1 * (m1 + m2) + G * (m1 + m2) * t1.cos() + w2 * w2 * l2 * m2 * d.cos())
            / (l2 * denominator);
        for robot in [&by_urdf, &by_mjcf] {
            let a = robot.accelerations(&[t1, t2 - t1], &[w1, w2 - w1], &[0.0, 0.0]).unwrap();
            assert!((a[0] - a1).abs() < 1e-11 * (1.0 + a1.abs()), "{} {a1}", a[0]);
            assert!((a[0] + a[1] - a2).abs() < 1e-11 * (1.0 + a2.abs()), "{} {a2}", a[0] + a[1]);
        }
    }
}

/// Limits, damping, friction and mimic of URDF; a floating base.
#[test]
fn urdf_reads_what_is_in_joints() {
    let text = format!(
        "<robot name='r'>{}{}{}<joint name='a' type='revolute'><parent link='l0'/><child link='l1'/><axis xyz='0 0 2'/>\
         <limit lower='-1' upper='2' effort='30' velocity='4'/><dynamics damping='0.5' friction='0.25'/></joint>\
         <joint name='b' type='prismatic'><parent link='l1'/><child link='l2'/><limit lower='0' upper='1' effort='1' velocity='1'/>\
         <mimic joint='a' multiplier='3' offset='0.1'/></joint><transmission name='t'/></robot>",
        link("l0", 1.0, 0.0, 1.0),
        link("l1", 1.0, 0.0, 1.0),
        link("l2", 1.0, 0.0, 1.0)
    );
    let robot = urdf(&text);
    let joint = robot.joint("a").unwrap();
    assert_eq!((joint.limit, joint.max_force, joint.max_speed), (Some([-1.0, 2.0]), 30.0, 4.0));
    assert_eq!((joint.damping, joint.friction), (0.5, 0.25));
    assert_eq!(robot.couplings()[0].terms, [(1, 1.0), (0, -3.0)]);
    assert_eq!(robot.couplings()[0].offset, 0.1);
    assert!(robot.warnings()[0].message.contains("<transmission>"));
    let floating = RobotOptions { base: Base::Floating, ..RobotOptions::default() };
    let robot = RobotModel::parse(&text, "r.urdf", &floating).unwrap();
    assert_eq!(robot.multibody().velocity_count(), 8);
    // Without contact and joint forces everything falls.
    let a =
        robot.accelerations(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.2, 0.3], &[0.0; 8], &[0.0; 8]).unwrap();
    let fall = [0.0, 0.0, -G, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert!(a.iter().zip(fall).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?}");
}

/// Classes of defaults, Euler angles, references, armature, equality, exclusion and actuators of MJCF.
#[test]
fn mjcf_reads_defaults_and_sections() {
    let robot = mjcf(
        "<mujoco model='m'><compiler angle='degree' eulerseq='zyx'/>
         <default><geom density='100'/><default class='heavy'><geom density='2000'/><joint armature='0.25' damping='3'/></default></default>
         <worldbody><geom type='plane' size='1 1 1'/>
           <body name='a' childclass='heavy' euler='90 0 0'><joint name='ja' axis='0 0 1' range='-90 90' ref='30'/>
             <geom type='box' size='.1 .2 .3'/>
             <body name='b' pos='1 0 0'><joint name='jb' type='slide' axis='1 0 0' class='main'/><geom class='main' type='capsule' fromto='0 0 0 0 0 1' size='.05'/>
             <site name='s' pos='0 0 1'/></body></body>
         </worldbody>
         <contact><exclude body1='a' body2='b'/></contact>
         <equality><joint joint1='jb' joint2='ja' polycoef='0.1 2'/><connect body1='b' anchor='0 0 1'/></equality>
         <actuator><motor name='u' joint='ja' gear='50' ctrlrange='-1 1'/><position joint='jb' kp='7'/></actuator>
         <tendon/></mujoco>",
    );
    assert_eq!(robot.name(), "m");
    let links = robot.multibody().links();
    assert!((links[0].mass - 2000.0 * 8.0 * 0.006).abs() < 1e-9);
    let capsule = 100.0 * PI * 0.0025 * (1.0 + 4.0 / 3.0 * 0.05);
    assert!((links[1].mass - capsule).abs() < 1e-12);
    assert!((links[1].center_of_mass - DVec3::new(0.0, 0.0, 0.5)).length() < 1e-12);
    assert_eq!((links[0].armature, links[1].armature), (0.25, 0.0));
    let limit = robot.joint("ja").unwrap().limit.unwrap();
    assert!((limit[0] + 120.0 * PI / 180.0).abs() < 1e-12 && (limit[1] - 60.0 * PI / 180.0).abs() < 1e-12);
    assert_eq!(robot.exclusions(), [[Some(0), Some(1)]]);
    assert_eq!((robot.couplings()[0].offset, robot.couplings()[0].terms[1]), (0.1, (0, -2.0)));
    // 90° about z: b is at (0, 1, 0), its top at (0, 1, 1).
    assert!((robot.loops()[0].points[1] - DVec3::new(0.0, 1.0, 1.0)).length() < 1e-12);
    assert_eq!((robot.actuators()[0].gear, robot.actuators()[0].range), (50.0, [-1.0, 1.0]));
    assert_eq!(robot.actuators().len(), 2);
    let warning = &robot.warnings()[0];
    assert!(warning.message.contains("<tendon>") && warning.place.line == 12, "{warning}");
}

/// Three hinges about one point, away from the body's origin, hold that point and turn like a ball joint.
#[test]
fn several_joints_of_a_body_act_one_after_the_other() {
    let robot = mjcf(
        "<mujoco><compiler angle='radian'/><worldbody><body name='b' pos='0 0 3'><joint axis='1 0 0' pos='0 0 1'/>
         <joint axis='0 1 0' pos='0 0 1'/><joint axis='0 0 1' pos='0 0 1'/><geom size='0.2'/></body></worldbody></mujoco>",
    );
    let tree = robot.multibody();
    let mut work = Workspace::<f64>::new(tree);
    let q: [f64; 3] = [0.3, -0.7, 1.1];
    forward_kinematics(tree, &mut work, &q);
    let rotation = glam::DMat3::from_rotation_x(q[0])
        * glam::DMat3::from_rotation_y(q[1])
        * glam::DMat3::from_rotation_z(q[2]);
    let body = tree.find("b").unwrap();
    let origin = DVec3::new(0.0, 0.0, 4.0) - rotation * DVec3::Z;
    assert!((work.origin(body, 0) - origin).length() < 1e-12);
    assert!((work.rotation(body, 0) - rotation).abs().to_cols_array().iter().all(|x| *x < 1e-12));
}

/// Hostile files: each error is typed and has the line of its cause.
#[test]
fn faults_are_errors_with_their_place() {
    let two = format!("{}{}{}", link("a", 1.0, 0.0, 1.0), link("b", 1.0, 0.0, 1.0), link("c", 1.0, 0.0, 1.0));
    let cases: Vec<(&str, String, usize)> = vec![
        ("cycle: ", format!("<robot>{two}\n{}\n{}\n{}</robot>", hinge("1", "a", "b", 0.0), hinge("2", "b", "c", 0.0), hinge("3", "c", "a", 0.0)), 4),
        ("two parents", format!("<robot>{two}\n{}\n{}</robot>", hinge("1", "a", "c", 0.0), hinge("2", "b", "c", 0.0)), 3),
        ("both have no parent", format!("<robot>\n{two}</robot>"), 2),
        ("moves no mass", format!("<robot>{two}<link name='d'/>{}{}\n{}</robot>", hinge("1", "a", "b", 0.0), hinge("2", "b", "c", 0.0), hinge("3", "c", "d", 0.0)), 2),
        ("finite", "<robot><link name='a'>\n<inertial><mass value='NaN'/></inertial></link></robot>".into(), 2),
        ("finite", "<robot><link name='a'>\n<inertial><mass value='1e999'/></inertial></link></robot>".into(), 2),
        ("finite", "<mujoco><worldbody>\n<body pos='0 1e200 0'/></worldbody></mujoco>".into(), 2),
        ("numbers with blanks", "<mujoco><worldbody>\n<body pos='0 x 0'/></worldbody></mujoco>".into(), 2),
        ("unknown link `z`", format!("<robot>{two}\n{}</robot>", hinge("1", "a", "z", 0.0)), 2),
        ("a link called `a`", "<robot><link name='a'/>\n<link name='a'/></robot>".into(), 2),
        ("missing.stl", "<robot><link name='a'><collision><geometry>\n<mesh filename='missing.stl'/></geometry></collision></link></robot>".into(), 2),
        ("missing.stl", "<mujoco><asset>\n<mesh name='m' file='missing.stl'/></asset><worldbody><body><geom type='mesh' mesh='m'/></body></worldbody></mujoco>".into(), 2),
        ("unknown mesh `n`", "<mujoco><worldbody><body>\n<geom type='mesh' mesh='n'/></body></worldbody></mujoco>".into(), 2),
        ("unknown default class", "<mujoco><worldbody>\n<geom class='n' size='1'/></worldbody></mujoco>".into(), 2),
        ("document type", "<!DOCTYPE r [<!ENTITY a 'x'>]>\n<robot/>".into(), 1),
        ("", "<robot><link name='a'>\n</robot>".into(), 2),
        ("", String::new(), 1),
        ("begins with <robot>", "<sdf/>".into(), 1),
        ("itself", "<mujoco>\n<include file='nowhere.xml'/></mujoco>".into(), 2),
        ("not zero", format!("<robot>{two}\n<joint name='j' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 0'/></joint></robot>"), 2),
        ("no moment above", "<robot>\n<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='9'/></inertial></link></robot>".into(), 2),
    ];
    for (expected, text, line) in cases {
        let error = refused(&text);
        let place = error.place().unwrap_or_else(|| panic!("{error}")).clone();
        let message = error.to_string();
        if !expected.is_empty() && !["itself", "document type", "cycle: "].contains(&expected) {
            assert!(message.contains(expected), "`{expected}`: {message}");
        }
        assert!(place.line == line || expected == "cycle: ", "`{expected}` in line {line}: {message}");
    }
}

/// Depth and length are no danger for the stack.
#[test]
fn deep_and_long_files_do_not_overflow_the_stack() {
    let deep = 10_000;
    let text = format!("{}{}", "<a>".repeat(deep), "</a>".repeat(deep));
    refused(&text);
    refused(&format!("<robot>{text}</robot>"));
    refused(&format!("<mujoco>{}{}</mujoco>", "<default class='x'>".repeat(deep), "</default>".repeat(deep)));
    let body = "<body pos='0 0 -.1'><joint axis='0 1 0'/><geom size='.05'/>";
    let nested =
        format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", body.repeat(deep), "</body>".repeat(deep));
    assert_eq!(mjcf(&nested).multibody().velocity_count(), deep);
    let frames = format!(
        "<mujoco><worldbody>{}{}</worldbody></mujoco>",
        "<frame pos='1 0 0'>".repeat(deep),
        "</frame>".repeat(deep)
    );
    assert_eq!(mjcf(&frames).multibody().velocity_count(), 0);
    let long = 100_000;
    let mut chain = String::from("<robot name='chain'><link name='l0'/>");
    for k in 1..=long {
        let (parent, child) = (format!("l{}", k - 1), format!("l{k}"));
        chain += &link(&child, 0.5, -0.1, 0.01);
        chain += &hinge(&format!("j{k}"), &parent, &child, -0.2);
    }
    let robot = urdf(&(chain.clone() + "</robot>"));
    assert_eq!(robot.multibody().velocity_count(), long);
    let zero = vec![0.0; long];
    let a = robot.accelerations(&zero, &zero, &zero).unwrap();
    // It hangs at rest.
    assert!(a.iter().all(|a| a.abs() < 1e-9));
    // The same as a ring.
    let ring = format!("{chain}{}</robot>", hinge("last", &format!("l{long}"), "l0", 0.0));
    let message = refused(&ring).to_string();
    assert!(message.contains("cycle") && message.len() < 2000, "{}", message.len());
}

/// Random changes of files: an answer or an error, never a panic.
#[test]
fn mutated_files_do_not_panic() {
    let good = [
        format!("<robot name='r'>{}{}{}</robot>", link("a", 1.0, 0.1, 1.0), link("b", 1.0, 0.2, 1.0), hinge("j", "a", "b", 0.5)),
        "<mujoco><compiler angle='radian'/><default><geom size='.1'/></default><worldbody><body name='a' pos='0 0 1'><freejoint/><geom type='box' size='1 1 1'/>\
         <body><joint axis='0 1 0' range='-1 1'/><geom type='capsule' fromto='0 0 0 1 0 0'/></body></body></worldbody><equality><weld body1='a'/></equality></mujoco>"
            .into(),
    ];
    let pieces = [
        "'", "<", ">", "/", "nan", "1e308", "-1", "0", "&amp;", "<body>", "</body>", "link", "é", " ", "\0",
        "inf",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut accepted = 0;
    for round in 0..1000 {
        let mut text: Vec<char> = good[round % 2].chars().collect();
        for _ in 0..=random(3) {
            let (from, count) = (random(text.len()), random(6));
            let to = (from + count).min(text.len());
            text.splice(from..to, pieces[random(pieces.len())].chars());
        }
        let text: String = text.into_iter().collect();
        if let Ok(robot) = RobotModel::parse(&text, "mutated", &RobotOptions::default()) {
            accepted += 1;
            let n = robot.multibody().velocity_count();
            let _ = robot.accelerations(robot.initial_positions(), &vec![0.1; n], &vec![0.2; n]);
            let _ = robot.mechanism();
        }
        let _ = Scene::parse(&text, "mutated.xml").map(|scene| scene.build(&Registry::default()).is_ok());
    }
    assert!(accepted > 20, "{accepted}");
}

/// A robot as a scene of rigid bodies: the pendulum falls with the acceleration of the formula.
#[test]
fn a_robot_is_a_scene() {
    let (m, l, i) = (2.0, 0.7, 0.05);
    let text = format!(
        "<robot name='p'><link name='base'/>{}{}</robot>",
        link("rod", m, -l, i),
        hinge("j", "base", "rod", 0.0)
    );
    let text = text.replace("<origin xyz='0 0 0'/>", "<origin xyz='0 0 0' rpy='0 -1.5707963267948966 0'/>");
    let scene = Scene::parse(&text, "pendulum.urdf").unwrap();
    let mut built = scene.build(&Registry::default()).unwrap();
    let rod = built.world.find_body("rod").unwrap();
    let h = 1e-3;
    for _ in 0..10 {
        built.simulator.step(&mut built.world, h).unwrap();
    }
    let expected = m * G * l / (i + m * l * l) * 10.0 * h;
    let omega = built.world.body(rod).unwrap().angular_velocity().length();
    assert!((omega - expected).abs() < 1e-3 * expected, "{omega} {expected}");
    let again = Scene::parse(&scene.to_toml(), "pendulum.toml").unwrap();
    assert_eq!(again.to_toml(), scene.to_toml());
}

/// A robot whose pose in the file lies beyond its limits, as gymnasium's ant: put on them, it falls without gaining energy, as bodies with joints and as a
/// multibody.
#[test]
fn poses_beyond_limits_bring_no_energy() {
    let leg = |name: &str, x: f64| {
        format!(
            "<body name='{name}' pos='{x} 0 0'><joint name='{name}' type='hinge' axis='0 1 0' range='30 70'/>\
             <geom type='capsule' fromto='0 0 0 {x} 0 0' size='0.05'/></body>"
        )
    };
    let text = format!(
        "<mujoco><worldbody><body name='torso' pos='0 0 5'><freejoint/><geom type='sphere' size='0.2'/>{}{}</body></worldbody></mujoco>",
        leg("left", -0.3),
        leg("right", 0.3)
    );
    let scene = Scene::parse(&text, "ant.xml").unwrap();
    let run = |world: &mut World, simulator: &mut dyn Simulator, what: &str| {
        world.open_energy_ledger(LedgerSettings::default()).unwrap();
        let start = world.readout().energy();
        for _ in 0..40 {
            simulator.step(world, 1.0 / 240.0).unwrap();
            for event in world.events() {
                assert!(!matches!(event, Event::EnergyGained { .. }), "{what}: {event:?}");
            }
        }
        let gained = world.readout().energy() - start;
        assert!(gained < 1e-6 * start, "{what}: {gained} J");
    };
    let registry = Registry::default();
    for name in ["realtime", "constraint"] {
        let mut world = scene.build(&registry).unwrap().world;
        let mut simulator = registry.simulators.make(name, &Properties::new()).unwrap();
        run(&mut world, &mut *simulator, name);
    }
    let mut world = World::default();
    let multibody = mjcf(&text).to_multibody(&mut world).unwrap();
    world.add_multibody(multibody).unwrap();
    run(&mut world, &mut FreeMotion::default(), "multibody");
}

/// An arm of six links, stretched out, that falls until its joints strike their limits.
const FALLING_ARM: &str = "<mujoco><worldbody><body name='a'><joint name='a' axis='0 0 1' range='-45 45'/><geom type='capsule' fromto='0 0 0 .1 0 0' size='.05'/>\
    <body name='b' pos='.1 0 0'><joint name='b' axis='0 1 0' range='-45 45'/><geom type='capsule' fromto='0 0 0 .4 0 0' size='.05'/>\
    <body name='c' pos='.4 0 0'><joint name='c' axis='0 1 0' range='-30 30'/><geom type='capsule' fromto='0 0 0 .4 0 0' size='.04'/>\
    <body name='d' pos='.4 0 0'><joint name='d' axis='0 1 0' range='-45 45'/><geom type='capsule' fromto='0 0 0 .1 .1 0' size='.03'/>\
    <body name='e' pos='.1 .1 0'><joint name='e' axis='0 0 1' range='-45 45'/><geom type='capsule' fromto='0 0 0 .1 0 0' size='.03'/>\
    <body name='f' pos='.1 0 0'><joint name='f' axis='0 1 0' range='-45 45'/><geom type='capsule' fromto='0 0 0 .1 0 0' size='.03'/>\
    </body></body></body></body></body></body></worldbody></mujoco>";

/// Largest gain of energy in a step of 1/240 s during a second, J.
fn largest_gain(world: &mut World, simulator: &mut dyn Simulator) -> f64 {
    let (mut energy, mut most) = (world.readout().energy(), 0.0_f64);
    for _ in 0..240 {
        simulator.step(world, 1.0 / 240.0).unwrap();
        let now = world.readout().energy();
        (energy, most) = (now, most.max(now - energy));
    }
    most
}

/// Joints that strike their limits lose energy, or keep it, and never gain any: as bodies under `constraint`, and as a multibody.
#[test]
fn joints_that_strike_their_limits_gain_no_energy() {
    let registry = Registry::default();
    let mut world = Scene::parse(FALLING_ARM, "arm.xml").unwrap().build(&registry).unwrap().world;
    let mut simulator = registry.simulators.make("constraint", &Properties::new()).unwrap();
    let gain = largest_gain(&mut world, &mut *simulator);
    assert!(gain < 1e-6, "constraint: {gain} J");
    let mut world = World::default();
    let multibody = mjcf(FALLING_ARM).to_multibody(&mut world).unwrap();
    world.add_multibody(multibody).unwrap();
    let gain = largest_gain(&mut world, &mut FreeMotion::default());
    assert!(gain < 1e-6, "multibody: {gain} J");
}

/// The same under `realtime`.
#[test]
fn joints_that_strike_their_limits_gain_no_energy_in_real_time() {
    let registry = Registry::default();
    let mut world = Scene::parse(FALLING_ARM, "arm.xml").unwrap().build(&registry).unwrap().world;
    let mut simulator = registry.simulators.make("realtime", &Properties::new()).unwrap();
    let gain = largest_gain(&mut world, &mut *simulator);
    assert!(gain < 1e-3, "realtime: {gain} J");
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// ‖a − b‖ relative to ‖b‖, largest components.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(1e-300_f64, |size, b| size.max(b.abs()));
    a.iter().zip(b).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs())) / size
}

/// Order of the peer's joints ⇒ places of their positions and velocities in ours.
fn places(robot: &RobotModel, dump: &serde_json::Value) -> (Vec<usize>, Vec<usize>) {
    let tree = robot.multibody();
    if dump["peer"] == "mujoco" {
        return ((0..tree.position_count()).collect(), (0..tree.velocity_count()).collect());
    }
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for joint in dump["links"].as_array().unwrap() {
        let name = joint["name"].as_str().unwrap();
        let own = robot.joint(name).unwrap_or_else(|| panic!("no joint {name}"));
        q.extend(tree.positions_of(own.link));
        v.extend(tree.velocities_of(own.link));
    }
    (q, v)
}

/// Largest relative difference of q̈.
const TOLERANCE: f64 = 1e-9;

/// Accelerations with 106 bits, H q̈ = τ − h with the matrix by composite inertias: exact for the numbers of the tree, by another algorithm than the one that is
/// checked. Shows whose error a difference is.
fn reference(tree: &LinkTree, gravity: DVec3, [q, v, f]: [&[f64]; 3]) -> Vec<f64> {
    let wide = |x: &[f64]| x.iter().map(|x| DoubleDouble::splat(*x)).collect::<Vec<_>>();
    let (q, v, n) = (wide(q), wide(v), v.len());
    let (mut work, mut mass) = (Workspace::new(tree), MassMatrix::new(tree));
    let (still, mut rest) = (vec![DoubleDouble::default(); n], vec![DoubleDouble::default(); n]);
    inverse_dynamics(tree, &mut work, (&q, &v, &still), None, gravity, &mut rest).unwrap();
    for (rest, force) in rest.iter_mut().zip(wide(f)) {
        *rest = force - *rest;
    }
    mass.compute(tree, &mut work, &q).unwrap();
    mass.solve(&mut rest).unwrap();
    rest.into_iter().map(|a| a.high).collect()
}

/// Backward error of accelerations, |M q̈ + h − τ| in parts of |M| |q̈| + |h| + |τ|, the largest component: by how much the equations of motion would have to
/// be other ones for q̈ to be exact.
fn backward_error(
    robot: &RobotModel,
    work: &mut Workspace<f64>,
    (q, v, f): (&[f64], &[f64], &[f64]),
    a: &[f64],
) -> f64 {
    let (tree, n) = (robot.multibody(), a.len());
    let (mut forces, mut bias, mut dense) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * n]);
    inverse_dynamics(tree, work, (q, v, a), None, robot.gravity(), &mut forces).unwrap();
    inverse_dynamics(tree, work, (q, v, &vec![0.0; n]), None, robot.gravity(), &mut bias).unwrap();
    let mut mass = MassMatrix::new(tree);
    mass.compute(tree, work, q).unwrap();
    mass.write_dense(&mut dense);
    let size = |k: usize| {
        let inertial: f64 = (0..n).map(|j| (dense[k * n + j] * a[j]).abs()).sum();
        inertial + bias[k].abs() + f[k].abs()
    };
    (0..n).map(|k| (forces[k] - f[k]).abs() / size(k)).fold(0.0, f64::max)
}

/// The tree that the peer has, from its dump.
fn peer_tree(dump: &serde_json::Value) -> LinkTree {
    use rattleback_dynamics::multibody::joint::{
        FixedJoint, FreeJoint, PrismaticJoint, RevoluteJoint, SphericalJoint,
    };
    let vector = |value: &serde_json::Value| DVec3::from_slice(&numbers(value));
    let link = |value: &serde_json::Value| {
        let parent = value["parent"].as_i64().and_then(|parent| usize::try_from(parent).ok());
        let name = value["name"].as_str().unwrap();
        let axis = || vector(&value["axis"]).normalize();
        let link = match value["joint"].as_str() {
            Some("revolute") => Link::new(name, parent, RevoluteJoint { axis: axis() }),
            Some("prismatic") => Link::new(name, parent, PrismaticJoint { axis: axis() }),
            Some("spherical") => Link::new(name, parent, SphericalJoint),
            Some("free") => Link::new(name, parent, FreeJoint),
            _ => Link::new(name, parent, FixedJoint),
        };
        let rotation = DQuat::from_slice(&numbers(&value["rotation"])).normalize();
        let inertia = DMat3::from_cols_slice(&numbers(&value["inertia"]));
        let mass = value["mass"].as_f64().unwrap();
        let mut link =
            link.at(vector(&value["position"]), rotation).with_mass(mass, vector(&value["center"]), inertia);
        link.armature = value["armature"].as_f64().unwrap();
        link
    };
    let links = dump["links"].as_array().unwrap().iter().map(link).collect();
    let mut links: Vec<Link> = links;
    for (index, link) in links.iter_mut().enumerate() {
        link.name = format!("{} {index}", link.name);
    }
    LinkTree::new(links).unwrap()
}

/// Our tree with inertias rounded as MuJoCo rounds them, and the largest part of a tensor that this takes away.
///
/// MuJoCo keeps principal moments and axes. Its axes are those of a Jacobi iteration that does not turn by less than about 1e-6 rad; what is then left beside
/// the diagonal is dropped. Here: of each tensor, only the diagonal along the peer's axes. None if the trees do not have the same links.
fn with_axes_of_the_peer(robot: &RobotModel, dump: &serde_json::Value, q: &[f64]) -> Option<(LinkTree, f64)> {
    let (ours, theirs) = (robot.multibody(), peer_tree(dump));
    if ours.links().len() != theirs.links().len() || ours.position_count() != theirs.position_count() {
        return None;
    }
    let (mut a, mut b) = (Workspace::<f64>::new(ours), Workspace::<f64>::new(&theirs));
    forward_kinematics(ours, &mut a, q);
    forward_kinematics(&theirs, &mut b, q);
    let (mut links, mut most) = (ours.links().to_vec(), 0.0_f64);
    for (k, link) in links.iter_mut().enumerate().filter(|(_, link)| link.mass > 0.0) {
        let axes = symmetric_eigen(theirs.links()[k].inertia).1;
        // From the peer's principal axes to the axes of our link.
        let turn = a.rotation(k, 0).transpose() * b.rotation(k, 0) * axes;
        let along = turn.transpose() * link.inertia * turn;
        let kept = DMat3::from_diagonal(DVec3::new(along.x_axis.x, along.y_axis.y, along.z_axis.z));
        let size = link.inertia.abs().to_cols_array().into_iter().fold(0.0, f64::max);
        most = most.max((along - kept).abs().to_cols_array().into_iter().fold(0.0, f64::max) / size);
        let inertia = turn * kept * turn.transpose();
        link.inertia = 0.5 * (inertia + inertia.transpose());
    }
    Some((LinkTree::new(links).ok()?, most))
}

/// Real robots from packages against Pinocchio and MuJoCo. Needs `benchmarks/multibody/dump_models.py OUT` and RATTLEBACK_ROBOT_DUMPS=OUT.
#[test]
#[ignore = "needs files that benchmarks/multibody/dump_models.py writes"]
fn real_robots_agree_with_their_peers() {
    let folder =
        std::env::var("RATTLEBACK_ROBOT_DUMPS").expect("RATTLEBACK_ROBOT_DUMPS is the folder of the dumps");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let (mut report, mut bad) = (String::new(), 0);
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let dump: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let name = dump["name"].as_str().unwrap();
        let Some(path) = dump["path"].as_str() else { continue };
        let base = if dump["floating"] == true { Base::Floating } else { Base::Fixed };
        let meshes = dump["peer"] == "mujoco";
        let options = RobotOptions { base, access: FileAccess::Anywhere, meshes };
        let robot = match RobotModel::load(Path::new(path), &options) {
            Ok(robot) => robot,
            Err(error) => {
                let _ = writeln!(report, "{name:16} {error}");
                bad += 1;
                continue;
            }
        };
        let tree = robot.multibody();
        let states = dump["states"].as_array().unwrap();
        let (at_q, at_v) = places(&robot, &dump);
        if at_v.len() != tree.velocity_count() || at_q.len() != numbers(&states[0]["q"]).len() {
            let _ = writeln!(
                report,
                "{name:16} {} velocities, the peer has {}",
                tree.velocity_count(),
                at_v.len()
            );
            bad += 1;
            continue;
        }
        let (n, mut work) = (tree.velocity_count(), Workspace::<f64>::new(tree));
        let [mut worst_a, mut worst_g, mut worst_r, mut worst_p, mut worst_c] = [0.0_f64; 5];
        let [mut own_error, mut peer_error, mut rounded_a] = [0.0_f64; 3];
        let (theirs, mut extended) = (peer_tree(&dump), 0);
        let rounded =
            if meshes { with_axes_of_the_peer(&robot, &dump, &numbers(&states[0]["q"])) } else { None };
        let mut dynamics = ExtendedDynamics::new(tree);
        for state in states {
            let ours = |key: &str, places: &[usize], count| {
                let mut all = vec![0.0; count];
                for (place, x) in places.iter().zip(numbers(&state[key])) {
                    all[*place] = x;
                }
                all
            };
            let q = ours("q", &at_q, tree.position_count());
            let [v, f, a, b, g] = ["v", "f", "a", "b", "g"].map(|key| ours(key, &at_v, n));
            let accelerations = robot.accelerations(&q, &v, &f).unwrap();
            let mut again = vec![0.0; n];
            let state_of = (&q[..], &v[..], &f[..]);
            extended +=
                usize::from(dynamics.forward(tree, state_of, None, robot.gravity(), &mut again).unwrap());
            assert_eq!(accelerations, again, "{name}");
            worst_a = worst_a.max(difference(&accelerations, &a));
            own_error =
                own_error.max(difference(&accelerations, &reference(tree, robot.gravity(), [&q, &v, &f])));
            if let Some((tree, _)) = &rounded {
                let mut moved = vec![0.0; n];
                ExtendedDynamics::new(tree)
                    .forward(tree, state_of, None, robot.gravity(), &mut moved)
                    .unwrap();
                rounded_a = rounded_a.max(difference(&moved, &a));
            }
            if difference(&accelerations, &a) > 0.1 * TOLERANCE {
                // The peer by the numbers of its own model.
                let [q, v, f, a] = ["q", "v", "f", "a"].map(|key| numbers(&state[key]));
                let exact = reference(&theirs, robot.gravity(), [&q, &v, &f]);
                peer_error = peer_error.max(difference(&a, &exact));
            }
            let mut forces = vec![0.0; n];
            inverse_dynamics(tree, &mut work, (&q, &v, &b), None, robot.gravity(), &mut forces).unwrap();
            worst_g = worst_g.max(difference(&forces, &g));
            worst_r = worst_r.max(backward_error(&robot, &mut work, (&q, &v, &f), &accelerations));
            if let Some(places) = state["places"].as_object() {
                forward_kinematics(tree, &mut work, &q);
                for (body, place) in places {
                    let Some(link) = tree.find(body) else { panic!("{name}: no link {body}") };
                    let (p, r) = (work.origin(link, 0), work.rotation(link, 0).transpose().to_cols_array());
                    let own: Vec<f64> = p.to_array().into_iter().chain(r).collect();
                    worst_p = worst_p.max(difference(&own, &numbers(place)));
                }
                let (_, center) = robot.center_of_mass(&q).unwrap();
                worst_c = worst_c.max((center - DVec3::from_slice(&numbers(&state["com"]))).length());
            }
        }
        let mass = robot.center_of_mass(robot.initial_positions()).unwrap().0;
        let worst_m = (mass / dump["mass"].as_f64().unwrap() - 1.0).abs();
        // Ours must be exact for the numbers of the model. It must agree with the peer, too, unless the peer is farther from the exact answer to its own model than
        // the tolerance: iCub moves point masses by joints whose axes meet in one point, so that its mass matrix is singular but for rounding (condition up to 2e14).
        let is_oracle = peer_error <= TOLERANCE;
        let agrees = worst_a <= TOLERANCE
            || rounded.as_ref().is_some_and(|(_, dropped)| *dropped <= 2e-6 && rounded_a <= TOLERANCE);
        let fails = (is_oracle && !agrees)
            || own_error > TOLERANCE
            || worst_r > TOLERANCE
            || worst_g > 1e-9
            || worst_p > 1e-9
            || worst_c > 1e-9
            || worst_m > 1e-9;
        let mut inertia = String::new();
        if worst_a > 0.1 * TOLERANCE {
            let _ = write!(inertia, ", the peer from its exact {peer_error:.1e}");
            if let Some((_, dropped)) = rounded {
                let _ = write!(inertia, "; q̈ {rounded_a:.1e} with its principal axes, off by {dropped:.1e}");
            }
        }
        bad += usize::from(fails);
        let _ = writeln!(
            report,
            "{name:16} {n:3} v {:4} states: q̈ {worst_a:.1e}, from the exact {own_error:.1e} ({extended} extended), τ {worst_g:.1e}, backward error \
             {worst_r:.1e}, places {worst_p:.1e}, centre {worst_c:.1e}, mass {worst_m:.1e}, {} warnings{inertia}{}",
            states.len(),
            robot.warnings().len(),
            if fails { "  <<<" } else { "" }
        );
    }
    println!("{report}");
    assert_eq!(bad, 0, "{report}");
}
