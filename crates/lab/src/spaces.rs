//! How the cost of finding pairs grows with the number of boxes, for each space on each of some scenes.
//!
//! If a step takes t seconds for n moving boxes, t ∝ n^p; the exponent p is the slope of log t over log n (least squares).
//! p = 1 means a constant cost per box, p = 2 that all pairs are tested.

use std::time::Instant;

use glam::DVec3;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{Mobility, PairChanges, ProxyId, SpaceError, SpaceKind};

/// Steps before the clock starts: structures settle, buffers grow.
const WARM_UP: usize = 4;
/// Steps on the clock: the same for any number of boxes, for bursts must neither be missed nor met twice as often.
const STEPS: usize = 30;
/// A space that takes longer for a step is not measured with more boxes, s.
const PATIENCE: f64 = 1.0;

/// What the boxes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// Unit boxes, one in eight cubic metres, drifting by up to 2 cm a step.
    Gas,
    /// A heap on the floor, densest in the middle, that creeps by a millimetre a step.
    Pile,
    /// Sides from 1 to 1000, most of them small.
    MixedSizes,
    /// One moving box among a hundred fixed ones.
    MostlyFixed,
    /// The gas at 60 cm a step.
    Fast,
    /// A thousand boxes of gas above all the others, which are fixed: time per moving box should not depend on these.
    FixedWorld,
}

/// Moving boxes of [`Scene::FixedWorld`].
const FLOATING: usize = 1000;

impl Scene {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Gas, Self::Pile, Self::MixedSizes, Self::MostlyFixed, Self::Fast, Self::FixedWorld];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gas => "gas",
            Self::Pile => "pile",
            Self::MixedSizes => "mixed-sizes",
            Self::MostlyFixed => "mostly-fixed",
            Self::Fast => "fast",
            Self::FixedWorld => "fixed-world",
        }
    }

    /// The scene with `count` boxes, the same for the same seed.
    pub fn boxes(self, count: usize, seed: u64) -> Boxes {
        let mut random = Random(seed);
        let reach_of = |count: usize| 0.5 * (count as f64 * 8.0).cbrt();
        let moving = if self == Self::FixedWorld { count.min(FLOATING) } else { count };
        let (reach, world_reach) = (reach_of(moving), reach_of(count - moving));
        let mut list = Vec::with_capacity(count);
        for k in 0..count {
            let (mut center, mut side, mut step, mut mobility) =
                (reach * random.vector(), 1.0, 0.02 * random.vector(), Mobility::Moving);
            match self {
                Self::Pile => {
                    let height = random.unit() * random.unit() * 0.3 * reach;
                    center = DVec3::new(center.x * random.unit(), center.y * random.unit(), height);
                    step *= 0.05;
                }
                Self::MixedSizes => {
                    // A share ∝ side⁻³ of each size fills the volume evenly.
                    side = (1.0 / (1.0 - random.unit() * (1.0 - 1e-9))).cbrt().min(1000.0);
                    center *= 1.5;
                }
                Self::MostlyFixed if k % 100 > 0 => mobility = Mobility::Fixed,
                Self::FixedWorld if k >= FLOATING => {
                    mobility = Mobility::Fixed;
                    let below = DVec3::Z * (world_reach + 1.5 * reach + 1.0);
                    center = world_reach * random.vector() - below;
                }
                Self::Gas | Self::MostlyFixed | Self::FixedWorld => {}
                Self::Fast => step *= 30.0,
            }
            list.push(Moving { center, half: 0.5 * side, step, mobility });
        }
        Boxes { list, reach: 1.5 * reach }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [−1, 1)³.
    fn vector(&mut self) -> DVec3 {
        2.0 * DVec3::new(self.unit(), self.unit(), self.unit()) - 1.0
    }
}

#[derive(Clone, Copy, Debug)]
struct Moving {
    center: DVec3,
    half: f64,
    step: DVec3,
    mobility: Mobility,
}

/// Boxes that move in a cube and are reflected by its walls.
#[derive(Clone, Debug)]
pub struct Boxes {
    list: Vec<Moving>,
    reach: f64,
}

impl Boxes {
    /// Everything moves by a step.
    pub fn advance(&mut self) {
        for item in self.list.iter_mut().filter(|item| item.mobility == Mobility::Moving) {
            item.center += item.step;
            for axis in 0..3 {
                if item.center[axis].abs() > self.reach {
                    item.step[axis] = -item.center[axis].signum() * item.step[axis].abs();
                }
            }
        }
    }

    /// Where everything is.
    pub fn iter(&self) -> impl Iterator<Item = (Aabb, Mobility)> + '_ {
        self.list.iter().filter_map(|item| {
            let bounds = Aabb::from_center(item.center, DVec3::splat(item.half)).ok()?;
            Some((bounds, item.mobility))
        })
    }
}

/// What a space needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Boxes, fixed ones included.
    pub boxes: usize,
    /// Moving ones.
    pub moving: usize,
    /// Candidates in the end.
    pub pairs: usize,
    /// Seconds for a step, updates included: the mean, because much of the work comes in bursts.
    pub seconds: f64,
}

/// (space, scene, number of boxes, steps to measure, threads) ⇒ what it needed.
pub fn measure(
    kind: SpaceKind,
    scene: Scene,
    count: usize,
    steps: usize,
    threads: usize,
) -> Result<Measurement, SpaceError> {
    let mut space = kind.create();
    let mut boxes = scene.boxes(count, 1);
    let mut ids: Vec<Option<ProxyId>> = Vec::with_capacity(count);
    for (bounds, mobility) in boxes.iter() {
        let id = space.insert(&bounds, mobility, 0)?;
        ids.push((mobility == Mobility::Moving).then_some(id));
    }
    let mut changes = PairChanges::default();
    space.step(threads, &mut changes);
    let steps = steps.max(1);
    let mut seconds = 0.0;
    let mut moved: Vec<(ProxyId, Aabb)> = Vec::new();
    for step in 0..steps + WARM_UP {
        boxes.advance();
        moved.clear();
        moved.extend(ids.iter().zip(boxes.iter()).filter_map(|(id, (bounds, _))| id.map(|id| (id, bounds))));
        let began = Instant::now();
        for (id, bounds) in &moved {
            space.update(*id, bounds)?;
        }
        space.step(threads, &mut changes);
        if step >= WARM_UP {
            seconds += began.elapsed().as_secs_f64() / steps as f64;
        }
    }
    let moving = ids.iter().flatten().count();
    Ok(Measurement { boxes: count, moving, pairs: space.pair_count(), seconds })
}

/// Measures a space on a scene with 100, 1000 … boxes, up to `largest`, as long as it does not take too long.
pub fn growth(
    kind: SpaceKind,
    scene: Scene,
    largest: usize,
    threads: usize,
) -> Result<Vec<Measurement>, SpaceError> {
    let mut measured: Vec<Measurement> = Vec::new();
    let mut count = 100;
    while count <= largest {
        // Ten times the boxes take at least ten times as long, a hundred times if all pairs are tested.
        let hopeless = |last: &Measurement| last.seconds * 20.0 > PATIENCE;
        if count > 1000 && measured.last().is_some_and(hopeless) {
            break;
        }
        measured.push(measure(kind, scene, count, STEPS, threads)?);
        count *= 10;
    }
    Ok(measured)
}

/// Measurements ⇒ exponent p of t ∝ n^p; None if there are fewer than two.
pub fn growth_exponent(measured: &[Measurement]) -> Option<f64> {
    if measured.len() < 2 {
        return None;
    }
    let points: Vec<(f64, f64)> = measured.iter().map(|m| ((m.boxes as f64).ln(), m.seconds.ln())).collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let (over, under) = points
        .iter()
        .fold((0.0, 0.0), |(over, under), p| (over + (p.0 - x) * (p.1 - y), under + (p.0 - x) * (p.0 - x)));
    (under > 0.0).then(|| over / under)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponent_of_a_power_law_is_its_power() {
        let law = |boxes: usize| Measurement {
            boxes,
            moving: boxes,
            pairs: 0,
            seconds: 3e-9 * (boxes as f64).powf(1.5),
        };
        let exponent = growth_exponent(&[law(100), law(1000), law(10_000)]).unwrap();
        assert!((exponent - 1.5).abs() < 1e-12);
        assert_eq!(growth_exponent(&[law(100)]), None);
    }

    #[test]
    fn exact_spaces_agree_on_every_scene() {
        for scene in Scene::ALL {
            let pairs = |kind| measure(kind, scene, 300, 3, 1).unwrap().pairs;
            let expected = pairs(SpaceKind::BruteForce);
            assert_eq!(pairs(SpaceKind::UniformGrid), expected, "{}", scene.name());
            assert_eq!(pairs(SpaceKind::KdTree), expected, "{}", scene.name());
            assert!(pairs(SpaceKind::DynamicBvh) >= expected, "{}", scene.name());
        }
    }
}
