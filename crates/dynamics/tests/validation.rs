//! The typed interface refuses what a scene file would be refused for.

use glam::DVec3;
use rattleback_dynamics::force::{Drag, Gravity, PointForce, Spring};
use rattleback_dynamics::joint::{Distance, Revolute};
use rattleback_dynamics::property::{Allowed, Component, ValueType};
use rattleback_dynamics::simulator::{
    Constraint, ConstraintSettings, Impulse, ImpulseSettings, Penalty, PenaltySettings, Realtime,
    RealtimeSettings, Sequential, SequentialSettings,
};
use rattleback_dynamics::world::{CombineRules, CombinedMaterial};
use rattleback_dynamics::{
    Body, JointFrames, Material, Properties, Registry, Signal, Simulator, Value, World,
};
use rattleback_geometry::Shape;

/// Values of every type that no property accepts: not finite, empty, or outside of what is allowed.
fn bad_values(value_type: ValueType, allowed: &Allowed) -> Vec<Value> {
    let numbers = match allowed {
        Allowed::Positive => vec![f64::NAN, f64::INFINITY, 0.0, -1.0],
        Allowed::NonNegative => vec![f64::NAN, f64::INFINITY, -1.0],
        Allowed::Within(low, high) => vec![f64::NAN, low - 1.0, high + 1.0],
        _ => vec![f64::NAN, f64::NEG_INFINITY],
    };
    match value_type {
        ValueType::Real => numbers.into_iter().map(Value::Real).collect(),
        ValueType::Int => match allowed {
            Allowed::Positive => vec![Value::Int(0), Value::Int(-1)],
            Allowed::NonNegative => vec![Value::Int(-1)],
            Allowed::Within(low, high) => vec![Value::Int(*low as i64 - 1), Value::Int(*high as i64 + 1)],
            _ => Vec::new(),
        },
        ValueType::Signal => [Value::Signal(Signal::Table(Vec::new()))]
            .into_iter()
            .chain(numbers.into_iter().map(|x| Value::Signal(Signal::Constant(x))))
            .collect(),
        ValueType::Vec3 => vec![Value::Vec3(DVec3::new(0.0, f64::NAN, 0.0))],
        ValueType::VectorSignal => vec![
            Value::VectorSignal(Signal::Table(Vec::new())),
            Value::VectorSignal(Signal::Constant(DVec3::splat(f64::INFINITY))),
            Value::VectorSignal(Signal::Table(vec![(1.0, DVec3::X), (0.0, DVec3::Y)])),
        ],
        _ => Vec::new(),
    }
}

/// Settings that are out of range do not become a simulator, whichever door they come through.
#[test]
fn simulators_refuse_settings_out_of_range() {
    macro_rules! refuse {
        ($($simulator:ident, $settings:ident);*) => {$({
            let mut tried = 0;
            // By name.
            let good = $settings::default();
            assert!($simulator::new(good.clone()).is_ok());
            for spec in good.specs() {
                for value in bad_values(spec.value_type, &spec.allowed) {
                    let mut settings = good.clone();
                    assert!(settings.set(&spec.name, value.clone()).is_err(), "{} = {value}", spec.name);
                    tried += 1;
                }
            }
            assert!(tried > 0);
        })*};
    }
    refuse!(Impulse, ImpulseSettings; Realtime, RealtimeSettings; Constraint, ConstraintSettings;
        Penalty, PenaltySettings; Sequential, SequentialSettings);

    // By field.
    for epsilon in [f64::NAN, -1.0, f64::INFINITY] {
        let refused =
            Impulse::new(ImpulseSettings { collision_epsilon: epsilon, ..ImpulseSettings::default() });
        assert!(refused.unwrap_err().to_string().contains("collision_epsilon"));
    }
    assert!(Impulse::new(ImpulseSettings { threads: 0, ..ImpulseSettings::default() }).is_err());
    assert!(Realtime::new(RealtimeSettings { substeps: 0, ..RealtimeSettings::default() }).is_err());
    assert!(Constraint::new(ConstraintSettings { substeps: -1, ..ConstraintSettings::default() }).is_err());
    for name in ["impulse", "realtime", "constraint", "penalty", "sequential"] {
        let given = Properties::from([("space".to_string(), Value::Text("no such space".into()))]);
        let refused = Registry::default().simulators.make(name, &given).unwrap_err().to_string();
        assert!(refused.contains("dynamic-bvh"), "{refused}");
    }
}

/// Defaults of everything that can be made by name pass their own checks.
#[test]
fn defaults_are_sound() {
    let registry = Registry::default();
    for entry in registry.forces.iter() {
        if entry.properties.iter().any(|spec| spec.required) {
            continue;
        }
        let force = registry.forces.make(&entry.name, &Properties::new()).unwrap();
        rattleback_dynamics::property::check(&*force).unwrap_or_else(|error| panic!("{error}"));
    }
    for entry in registry.joints.iter() {
        let joint = registry.joints.make(&entry.name, &Properties::new()).unwrap();
        rattleback_dynamics::property::check(&*joint).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn forces_are_checked_when_they_are_added() {
    let mut world = World::weightless();
    let ball = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    let empty = || Signal::<f64>::Table(Vec::new());
    let refused = [
        world.add_force(Gravity { acceleration: DVec3::new(0.0, 0.0, f64::NAN).into() }),
        world.add_force(Gravity { acceleration: Signal::Table(Vec::new()) }),
        world.add_force(Drag { linear: empty(), ..Drag::default() }),
        world.add_force(Drag { linear: (-1.0).into(), ..Drag::default() }),
        world.add_force(Spring { body_b: Some(ball), stiffness: empty(), ..Spring::default() }),
        world.add_force(Spring { body_b: Some(ball), max_force: f64::NAN, ..Spring::default() }),
        world.add_force(PointForce { force: DVec3::splat(f64::INFINITY).into(), ..PointForce::default() }),
    ];
    for refused in refused {
        refused.unwrap_err();
    }
    assert_eq!(world.iter_forces().count(), 0);
    assert!(world.set_gravity(DVec3::new(f64::NAN, 0.0, 0.0)).is_err());
    // Should an empty table get past all that, it is nothing and not the end of the program.
    assert_eq!(empty().at(1.0), 0.0);
    let mut free = rattleback_dynamics::FreeMotion::default();
    free.step(&mut world, 0.01).unwrap();
}

#[test]
fn joints_are_checked_when_they_are_added() {
    let mut world = World::weightless();
    let ball = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1).unwrap())).unwrap();
    let refused = [
        world.add_joint(JointFrames::to_world(ball), Revolute { min: f64::NAN, ..Revolute::default() }),
        world.add_joint(
            JointFrames::to_world(ball),
            Revolute { speed: Signal::Table(Vec::new()), ..Revolute::default() },
        ),
        world.add_joint(JointFrames::to_world(ball), Revolute { max_torque: -1.0, ..Revolute::default() }),
        world.add_joint(JointFrames::to_world(ball), Distance { max: f64::INFINITY, ..Distance::default() }),
    ];
    for refused in refused {
        refused.unwrap_err();
    }
    assert_eq!(world.joint_count(), 0);
}

#[test]
fn pairs_of_materials_are_checked() {
    let mut world = World::default();
    let other = world.add_material(Material::default()).unwrap();
    let default = world.default_material();
    let mut combine_rules = CombineRules::default();
    let sound = CombinedMaterial::from(&Material::default());
    for wrong in [
        CombinedMaterial { restitution: 2.0, ..sound },
        CombinedMaterial { restitution: f64::NAN, ..sound },
        CombinedMaterial { static_friction: -1.0, kinetic_friction: -1.0, ..sound },
        CombinedMaterial { kinetic_friction: sound.static_friction + 1.0, ..sound },
    ] {
        combine_rules.set_pair(default, other, wrong).unwrap_err();
    }
    combine_rules.set_pair(default, other, sound).unwrap();
}

/// Messages show values as they stand in a file, and call things by what they are.
#[test]
fn messages_show_plain_values_and_ids() {
    let mut drag = Drag::default();
    for (name, value, shown) in [
        ("linear", Value::Real(-1.5), "got -1.5"),
        ("linear", Value::Signal(Signal::Table(Vec::new())), "got a table of 0 values"),
        ("medium_velocity", Value::Vec3(DVec3::new(f64::NAN, 0.0, 1.5)), "got [NaN, 0, 1.5]"),
    ] {
        let message = drag.set(name, value).unwrap_err().to_string();
        assert!(message.contains(shown), "{message}");
        assert!(!message.contains("Real") && !message.contains("Signal"), "{message}");
    }
    let mut world = World::default();
    let first = world.add_body(Body::fixed().named("floor")).unwrap();
    let second = world.add_body(Body::fixed()).unwrap();
    assert_eq!((first.to_string(), second.to_string()), ("body 0v0".into(), "body 1v0".into()));
    let message = format!("{first} and {second} overlap; joint 7v0, anybody 0v0");
    let named = world.with_names(&message);
    assert_eq!(named, "body `floor` and body 1v0 overlap; joint 7v0, anybody 0v0");
    world.remove_body(second).unwrap();
    let gone = world.body(second).unwrap_err().to_string();
    assert_eq!(gone, "there is no body 1v0");
}
