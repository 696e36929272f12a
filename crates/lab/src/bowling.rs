//! Which throw fells more pins, the straight one or the hook?
//!
//! x points across the lane to the right, y down the lane. A straight ball starts along y without rotation. A hook ball starts
//! 2° to the right, v = |v| (sin 2°, cos 2°), with an angular velocity of −12 rad/s about y. At its contact with the lane it slips with
//! s = (v_x + 12 r, v_y), so friction a = −μ g s/|s| bends its way to the left until it rolls, after T = 2 |s| / (7 μ g);
//! from there it goes straight. Its way to the pin line, x = v_x T + ½ a_x T² + (v_x + a_x T)(t − T), is taken off the
//! start so that both batches cross the pin line in the same window.

use crate::impulse_scenes::{ExperimentError, open};
use glam::DVec3;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use rattleback_dynamics::{BodyId, Registry, Simulator, World};
use rattleback_geometry::Pose;
use rattleback_scene::Scene;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Width of the window of starts, m.
const WINDOW: f64 = 0.40;
/// Width of a bin, m.
pub const BIN: f64 = 0.005;
/// y of the head pin's axis, m.
const PIN_LINE: f64 = 18.288;
/// The ball has touched nothing before it is so near to the pin line, m.
const APPROACH: f64 = 0.19;
/// Time that pins have to fall after the ball has arrived, s.
const AFTERMATH: f64 = 2.2;
/// A pin that leans farther than this has been felled: cos 30°.
const UPRIGHT: f64 = 0.8660254037844386;

const RADIUS: f64 = 0.1085;
const SPEED: f64 = 7.6;
const FRICTION: f64 = 0.12;
const HOOK_SPIN: f64 = 12.0;

/// How a ball is thrown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Without rotation, along the lane.
    Straight,
    /// With an angular velocity that curves its path to the left.
    Hook,
}

/// What a throw came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Where the ball's path crosses the pin line, m to the right of the head pin.
    pub crossing: f64,
    /// Pins that lean by more than 30° at the end, or have left the deck.
    pub felled: u32,
}

/// Both batches.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Straight throws, by their starts.
    pub straight: Vec<Outcome>,
    /// Hooks, by their starts.
    pub hook: Vec<Outcome>,
}

/// Mean number of felled pins of the throws that cross near x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Middle, m.
    pub x: f64,
    /// None if no straight throw crosses here.
    pub straight: Option<f64>,
    /// None if no hook crosses here.
    pub hook: Option<f64>,
}

impl Report {
    /// Bins of 5 mm over the whole window, from left to right.
    pub fn bins(&self) -> Vec<Bin> {
        let count = (WINDOW / BIN).round() as i32;
        (0..count)
            .map(|k| {
                let low = -0.5 * WINDOW + f64::from(k) * BIN;
                let x = low + 0.5 * BIN;
                Bin {
                    x,
                    straight: mean(&self.straight, low..low + BIN),
                    hook: mean(&self.hook, low..low + BIN),
                }
            })
            .collect()
    }

    /// Range of crossings ⇒ mean pins of (straight, hook) throws, if both have any.
    pub fn means(&self, low: f64, high: f64) -> Option<(f64, f64)> {
        Some((mean(&self.straight, low..high)?, mean(&self.hook, low..high)?))
    }
}

fn mean(outcomes: &[Outcome], range: std::ops::Range<f64>) -> Option<f64> {
    let felled: Vec<f64> = outcomes
        .iter()
        .filter(|outcome| range.contains(&outcome.crossing))
        .map(|outcome| f64::from(outcome.felled))
        .collect();
    if felled.is_empty() { None } else { Some(felled.iter().sum::<f64>() / felled.len() as f64) }
}

/// (velocity, angular velocity about y) ⇒ displacement to the right up to the pin line, m.
fn drift(velocity: DVec3, spin: f64, way: f64) -> f64 {
    let slip = DVec3::new(velocity.x - RADIUS * spin, velocity.y, 0.0);
    let deceleration = FRICTION * 9.81;
    let acceleration = -deceleration * slip / slip.length();
    let sliding = 2.0 * slip.length() / (7.0 * deceleration);
    let after = velocity + acceleration * sliding;
    let place = velocity * sliding + 0.5 * acceleration * sliding * sliding;
    place.x + after.x * (way - place.y) / after.y
}

/// Starts of a batch: one in each of `throws` equal parts of the window, somewhere in it by the seed.
fn starts(throws: u32, seed: u64) -> Vec<f64> {
    let mut random = Pcg64::new(u128::from(seed), 1);
    let mut unit = || (random.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
    (0..throws).map(|k| WINDOW * ((f64::from(k) + unit()) / f64::from(throws) - 0.5)).collect()
}

/// Throws one ball so that it would cross the pin line at about x.
///
/// # Errors
/// A step failed.
pub fn throw(kind: Kind, x: f64, registry: &Registry) -> Result<Outcome, ExperimentError> {
    let (mut built, mut impulse) = open(&Scene::built_in("bowling")?, registry)?;
    let world = &mut built.world;
    let ball = world.find_body("ball").ok_or_else(|| ExperimentError::NoBody("ball".into()))?;
    let angle = if kind == Kind::Hook { 2f64.to_radians() } else { 0.0 };
    let velocity = SPEED * DVec3::new(angle.sin(), angle.cos(), 0.0);
    let spin = if kind == Kind::Hook { -HOOK_SPIN } else { 0.0 };
    let start = world.body(ball)?.position();
    let mut body = world.body_mut(ball)?;
    body.set_pose(Pose::at(DVec3::new(x - drift(velocity, spin, PIN_LINE - start.y), start.y, start.z)))?;
    body.set_velocity(velocity)?;
    body.set_angular_velocity(DVec3::new(0.0, spin, 0.0))?;
    let pins: Vec<BodyId> = world
        .iter_bodies()
        .filter(|body| body.name().is_some_and(|name| name.starts_with("pin")))
        .map(|body| body.id())
        .collect();

    let (mut crossing, mut end) = (x, built.duration);
    while built.world.time() < end {
        impulse.step(&mut built.world, built.dt)?;
        let ball = built.world.body(ball)?;
        let left = PIN_LINE - ball.position().y;
        if left > APPROACH {
            crossing = ball.position().x + ball.velocity().x / ball.velocity().y * left;
            end = built.world.time() + AFTERMATH;
        }
        if built.world.time() > built.duration + AFTERMATH {
            break;
        }
    }
    Ok(Outcome { crossing, felled: felled(&built.world, &pins)? })
}

fn felled(world: &World, pins: &[BodyId]) -> Result<u32, ExperimentError> {
    let mut count = 0;
    for pin in pins {
        let pin = world.body(*pin)?;
        let upright = (pin.orientation() * DVec3::Z).z;
        count += u32::from(upright < UPRIGHT || pin.position().z < -0.02);
    }
    Ok(count)
}

/// (throws in each batch, seed, threads, callback after each throw) ⇒ both batches; the same for any number of threads.
pub fn experiment(
    throws: u32,
    seed: u64,
    threads: usize,
    done: &(dyn Fn() + Sync),
) -> Result<Report, ExperimentError> {
    let starts = starts(throws, seed);
    let jobs: Vec<(Kind, f64)> = [Kind::Straight, Kind::Hook]
        .into_iter()
        .flat_map(|kind| starts.iter().map(move |x| (kind, *x)))
        .collect();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<Outcome, ExperimentError>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, 256) {
            scope.spawn(|| {
                let registry = Registry::default();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((kind, x)) = jobs.get(index) else { break };
                    let outcome = throw(*kind, *x, &registry);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
                    done();
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    let mut outcomes = results.into_iter().map(|(_, outcome)| outcome).collect::<Result<Vec<_>, _>>()?;
    let hook = outcomes.split_off(outcomes.len() / 2);
    Ok(Report { straight: outcomes, hook })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straight ball keeps its x; a hook crosses where the closed form of its sliding predicts, and any number of threads
    /// gives the same.
    #[test]
    fn balls_cross_where_they_are_aimed() {
        let one = experiment(1, 3, 1, &|| ()).unwrap();
        let x = starts(1, 3)[0];
        assert!((one.straight[0].crossing - x).abs() < 1e-9, "{one:?} {x}");
        assert!((one.hook[0].crossing - x).abs() < 0.02, "{one:?} {x}");
        assert_eq!(experiment(1, 3, 2, &|| ()).unwrap(), one);
    }

    #[test]
    fn starts_cover_the_window_evenly() {
        let starts = starts(320, 1);
        for (k, x) in starts.iter().enumerate() {
            assert!((k as f64..k as f64 + 1.0).contains(&((x + 0.2) * 800.0)), "{k} {x}");
        }
    }

    #[test]
    fn bins_are_means() {
        let at = |crossing, felled| Outcome { crossing, felled };
        let report = Report { straight: vec![at(0.001, 4), at(0.004, 7)], hook: vec![at(0.006, 9)] };
        let bins = report.bins();
        assert_eq!(bins.len(), 80);
        assert_eq!((bins[40].straight, bins[40].hook, bins[41].hook), (Some(5.5), None, Some(9.0)));
        assert_eq!(report.means(0.0, 0.01), Some((5.5, 9.0)));
    }
}
