//! Free flight of many bodies: straight line for the centre of mass, torque-free rotation about it.
//!
//! Over the time h: x ← x + h v, and attitude and angular momentum by [`free_rotation`](super::free_rotation). Bodies
//! that need a series of the same order are turned four at a time; the result does not depend on the grouping.

use super::free_rotation::{Briskness, Cut, Spin, advance, advance_one, briskness, cut};
#[cfg(target_arch = "x86_64")]
use super::lane::Wide;
use super::lane::{Four, FourLanes, into_body, into_world};
use super::{Inertia, Motion};
use glam::{DQuat, DVec3};

const LANES: usize = 4;
/// Bodies that are sorted by order together; their states stay in the first-level cache meanwhile.
const BLOCK: usize = 64;

/// Moves every body along its force-free path for the time h.
pub fn fly(motion: &mut [Motion], inertia: &[Inertia], h: f64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[allow(unsafe_code)]
        // SAFETY: the one requirement of the function is the instruction set, which has just been found to be there.
        unsafe {
            fly_avx2(motion, inertia, h);
        }
        return;
    }
    fly_blocks::<Four>(motion, inertia, h);
}

/// The same code in 256-bit registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fly_avx2(motion: &mut [Motion], inertia: &[Inertia], h: f64) {
    fly_blocks::<Wide>(motion, inertia, h);
}

#[inline(always)]
fn fly_blocks<T: FourLanes>(motion: &mut [Motion], inertia: &[Inertia], h: f64) {
    for (motion, inertia) in motion.chunks_mut(BLOCK).zip(inertia.chunks(BLOCK)) {
        fly_block::<T>(motion, inertia, h);
    }
}

/// Places of bodies within a block that are to be treated alike.
struct List {
    places: [u8; BLOCK],
    count: usize,
}

impl List {
    const EMPTY: Self = Self { places: [0; BLOCK], count: 0 };

    #[inline(always)]
    fn push(&mut self, place: usize) {
        self.places[self.count] = place as u8;
        self.count += 1;
    }

    /// Four places at a time; the last group repeats its first member, which is then done twice with the same result.
    #[inline(always)]
    fn groups(&self) -> impl Iterator<Item = [usize; LANES]> + '_ {
        self.places[..self.count]
            .chunks(LANES)
            .map(|group| std::array::from_fn(|lane| usize::from(*group.get(lane).unwrap_or(&group[0]))))
    }
}

#[inline(always)]
fn fly_block<T: FourLanes>(motion: &mut [Motion], inertia: &[Inertia], h: f64) {
    let mut gentle = List::EMPTY;
    let mut brisk = List::EMPTY;
    let count = motion.len();
    for start in (0..count).step_by(LANES) {
        let places: [usize; LANES] = std::array::from_fn(|lane| (start + lane).min(count - 1));
        let spin = load::<T>(motion, inertia, places);
        let Briskness { reach, angle, drift } = briskness(&spin, T::splat(h));
        let (reach, angle, drift) = (reach.values(), angle.values(), drift.values());
        let cuts: [Cut; LANES] = std::array::from_fn(|lane| {
            cut(Briskness { reach: reach[lane], angle: angle[lane], drift: drift[lane] })
        });
        // Neighbours are mostly alike; only a mixed group has to be sorted.
        if cuts == [Cut::Steady; LANES] {
            store(motion, inertia, places, &advance::<T, 1>(&spin, T::splat(h)));
            continue;
        }
        if cuts == [Cut::Gentle; LANES] {
            store(motion, inertia, places, &advance::<T, 7>(&spin, T::splat(h)));
            continue;
        }
        for (lane, cut) in cuts.into_iter().enumerate().take(count - start) {
            match cut {
                Cut::Gentle => gentle.push(start + lane),
                Cut::Brisk => brisk.push(start + lane),
                Cut::Steady | Cut::Wild { .. } => {
                    fly_alone(&mut motion[start + lane], &inertia[start + lane], h);
                }
            }
        }
    }
    for places in gentle.groups() {
        let end = advance::<T, 7>(&load(motion, inertia, places), T::splat(h));
        store(motion, inertia, places, &end);
    }
    for places in brisk.groups() {
        let end = advance::<T, 11>(&load(motion, inertia, places), T::splat(h));
        store(motion, inertia, places, &end);
    }
    for body in motion {
        body.x += h * body.v;
    }
}

/// Row i of the result holds component i of all four.
#[inline(always)]
fn transpose<T: FourLanes, const N: usize>(rows: [[f64; N]; LANES]) -> [T; N] {
    std::array::from_fn(|c| T::new([rows[0][c], rows[1][c], rows[2][c], rows[3][c]]))
}

#[inline(always)]
fn load<T: FourLanes>(motion: &[Motion], inertia: &[Inertia], [a, b, c, d]: [usize; LANES]) -> Spin<T> {
    let (bodies, masses) = (
        [&motion[a], &motion[b], &motion[c], &motion[d]],
        [&inertia[a], &inertia[b], &inertia[c], &inertia[d]],
    );
    let q: [T; 4] = transpose(bodies.map(|body| body.q.to_array()));
    let omega: [T; 3] = transpose(bodies.map(|body| body.omega.to_array()));
    let moments: [T; 3] = transpose(masses.map(|inertia| inertia.moments.to_array()));
    let j: [T; 3] = transpose(masses.map(|inertia| inertia.inverse_moments.to_array()));
    let w = into_body(q, omega);
    Spin { q, m: [moments[0] * w[0], moments[1] * w[1], moments[2] * w[2]], j }
}

#[inline(always)]
fn store<T: FourLanes>(motion: &mut [Motion], inertia: &[Inertia], places: [usize; LANES], spin: &Spin<T>) {
    let Spin { q, m, .. } = *spin;
    // Divided by the moments, not multiplied by their rounded inverses: I (m / I) is m without a bias.
    let moments: [T; 3] = transpose(places.map(|place| inertia[place].moments.to_array()));
    let omega = into_world(q, [m[0] / moments[0], m[1] / moments[1], m[2] / moments[2]]);
    let q = [q[0].values(), q[1].values(), q[2].values(), q[3].values()];
    let omega = [omega[0].values(), omega[1].values(), omega[2].values()];
    for (lane, place) in places.into_iter().enumerate() {
        let body = &mut motion[place];
        body.q = DQuat::from_xyzw(q[0][lane], q[1][lane], q[2][lane], q[3][lane]);
        body.omega = DVec3::new(omega[0][lane], omega[1][lane], omega[2][lane]);
    }
}

/// One body that does not fill a group of lanes, or turns too fast for one series.
fn fly_alone(body: &mut Motion, inertia: &Inertia, h: f64) {
    let q = body.q.to_array();
    let w = into_body(q, body.omega.to_array());
    let m = (inertia.moments * DVec3::from_array(w)).to_array();
    let Spin { q, m, .. } = advance_one(Spin { q, m, j: inertia.inverse_moments.to_array() }, h);
    body.q = DQuat::from_array(q);
    body.omega = DVec3::from_array(into_world(q, (DVec3::from_array(m) / inertia.moments).to_array()));
}
