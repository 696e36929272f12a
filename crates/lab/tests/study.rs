//! Studies against closed forms: a block that slides down a ramp, v(t) = v₀ + g (sin θ − μ cos θ) t.

use rattleback_dynamics::Registry;
use rattleback_lab::study::effects::effect;
use rattleback_lab::study::{Experiment, TrialRecord};
use rattleback_scene::{FileAccess, ParameterValue, StudyFile};

const V0: f64 = 5.48;
const STUDY: &str = r#"
scene = "block-on-ramp"
duration = 0.4
design = "latin-hypercube"
samples = 12

[parameter.friction]
range = [0.1, 0.6]
set = ["materials.default.static_friction", "materials.default.kinetic_friction"]

[parameter.mass]
normal = [1, 0.1]
set = "body.block.mass"

[parameter.g]
values = [9.81, 1.62]

[set]
"gravity" = "[0, 0, -g]"

[result.speed]
channel = "block.speed"
[result.earlier]
channel = "block.speed"
at = 0.2005
[result.mean]
channel = "block.speed"
take = "mean"
[result.far]
channel = "block.x"
take = "time"
above = 1.0
[result.blocks]
channel = "bl*.x"
above = 1.0
below = 100.0
[result.touching]
event = "contact-began"
body = "block"
with = "ramp"
"#;

fn experiment(text: &str) -> Experiment {
    let study = StudyFile::parse(text, "study").unwrap_or_else(|error| panic!("{error}"));
    Experiment::new(study, FileAccess::SceneFolder, &Registry::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn records(experiment: &Experiment, threads: usize) -> Vec<TrialRecord> {
    let mut records = Vec::new();
    experiment.run(threads, &mut records, &Registry::default(), |_| true).unwrap();
    records
}

#[test]
fn results_are_those_of_the_closed_form() {
    let experiment = experiment(STUDY);
    assert_eq!(experiment.runs(), 24);
    let all = records(&experiment, 2);
    for record in &all {
        assert_eq!(record.error, None);
        let values = experiment.trial(record.index).values;
        let [mu, _, g] = [0, 1, 2].map(|at: usize| values[at].number().unwrap());
        let (sin, cos) = 30_f64.to_radians().sin_cos();
        let a = g * (sin - mu * cos);
        let speed = |t: f64| V0 + a * t;
        let result = |at: usize| record.results[at].unwrap();
        for (got, expected) in [(result(0), speed(0.4)), (result(1), speed(0.2005)), (result(2), speed(0.2))]
        {
            assert!((got / expected - 1.0).abs() < 2e-3, "{values:?}: {got} {expected}");
        }
        // x = x₀ + cos θ (v₀ t + ½ a t²) = 1 m, at the end of a step.
        let t = result(3);
        let x = |t: f64| 0.0125625 + cos * (V0 * t + 0.5 * a * t * t);
        assert!((x(t - 0.5e-3) - 1.0).abs() < 8e-3, "{t} {}", x(t));
        assert_eq!(result(4), 1.0);
    }
    let speed = |parameter| effect(&experiment, &all, parameter, 0, &|_| true).share.unwrap();
    let on_earth = |values: &[ParameterValue]| values[2].number() == Some(9.81);
    // Alone, friction explains almost everything; mass nothing.
    let friction = effect(&experiment, &all, 0, 0, &on_earth);
    assert!(friction.share.unwrap() > 0.8, "{friction:?}");
    assert!(friction.levels.windows(2).all(|pair| pair[1].mean < pair[0].mean), "{friction:?}");
    assert!(speed(1) < 0.5, "{}", speed(1));
}

/// Neither threads nor what was there already change a result.
#[test]
fn threads_and_interruptions_change_nothing() {
    let experiment = experiment(&STUDY.replace("duration = 0.4", "duration = 0.05"));
    let one = records(&experiment, 1);
    assert_eq!(records(&experiment, 3), one);
    let mut some: Vec<TrialRecord> = one.iter().rev().step_by(3).cloned().collect();
    let mut count = 0;
    experiment
        .run(2, &mut some, &Registry::default(), |_| {
            count += 1;
            true
        })
        .unwrap();
    assert_eq!((some, count), (one, 16));
}

#[test]
fn errors_have_their_places_in_the_study() {
    let refused = |from: &str, to: &str| {
        let study = StudyFile::parse(&STUDY.replace(from, to), "study.toml").unwrap();
        Experiment::new(study, FileAccess::SceneFolder, &Registry::default()).unwrap_err().to_string()
    };
    for (from, to, messages) in [
        ("body.block.mass", "body.blok.mass", ["study.toml:11:", "did you mean `block`"]),
        ("body.block.mass", "body.block.mas", ["study.toml:11:", "unknown key `mas`"]),
        ("-g]\"", "-h]\"", ["study.toml:19:", "formula"]),
        ("channel = \"block.x\"", "channel = \"blck.x\"", ["study.toml:", "did you mean `block`"]),
        ("contact-began", "contact-begin", ["study.toml:", "did you mean `contact-began`"]),
        ("block-on-ramp", "block-on-rampe", ["study.toml:2:", "did you mean `block-on-ramp`"]),
        ("channel = \"bl*.x\"", "channel = \"nail*.x\"", ["study.toml:", "there is no body `nail*`"]),
        (
            "channel = \"block.speed\"\n[result.earlier]",
            "channel = \"block.velocity\"\n[result.earlier]",
            ["study.toml:", "one number"],
        ),
    ] {
        let found = refused(from, to);
        assert!(messages.iter().all(|message| found.contains(message)), "{messages:?}\n{found}");
    }
}

/// The studies of the program open, and the first run of each works for a short time.
#[test]
fn built_in_studies_run() {
    for name in ["bowling", "chute"] {
        let mut study = StudyFile::open(name).unwrap();
        study.duration = Some(0.02);
        let experiment = Experiment::new(study, FileAccess::SceneFolder, &Registry::default()).unwrap();
        for index in [0, 1] {
            let record = experiment.run_one(index, &Registry::default());
            assert_eq!(record.error, None, "{name}");
            assert!(record.results[0].is_some(), "{name}: {record:?}");
        }
    }
}
