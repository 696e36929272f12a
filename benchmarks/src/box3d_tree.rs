//! Box3D's broad phase, driven by hand: its dynamic tree by way of its C functions, and around it what its world does in a step.
//! Boxes are kept enlarged by its margin; a box that has left its own is enlarged in the tree; boxes that were are queried
//! what overlaps them, and new pairs go into a set; pairs whose enlarged boxes have parted leave it; the tree rebuilds the
//! parts that were enlarged.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::os::raw::{c_int, c_void};

use box3d_sys::{
    b3AABB, b3DynamicTree, b3DynamicTree_Create, b3DynamicTree_CreateProxy, b3DynamicTree_Destroy,
    b3DynamicTree_EnlargeProxy, b3DynamicTree_Query, b3DynamicTree_RayCast, b3DynamicTree_Rebuild,
    b3RayCastInput, b3Vec3,
};
use glam::{DVec3, Vec3};
use rattleback_geometry::Aabb;
use rattleback_geometry::primitive::Ray;

/// `B3_MAX_AABB_MARGIN`, in metres.
const MARGIN: f32 = 0.05;

/// One multiplication: numbers of pairs are spread well enough by it.
#[derive(Default)]
struct PairHasher(u64);

impl Hasher for PairHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only numbers are hashed");
    }

    fn write_u64(&mut self, pair: u64) {
        let mixed = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// The tree, the enlarged boxes, and the pairs.
pub struct Box3dTree {
    tree: b3DynamicTree,
    proxies: Vec<c_int>,
    fat: Vec<[Vec3; 2]>,
    tight: Vec<[Vec3; 2]>,
    moved: Vec<u32>,
    pairs: HashSet<u64, BuildHasherDefault<PairHasher>>,
}

fn corners(bounds: &Aabb) -> [Vec3; 2] {
    [bounds.min().as_vec3(), bounds.max().as_vec3()]
}

fn vector(v: Vec3) -> b3Vec3 {
    b3Vec3 { x: v.x, y: v.y, z: v.z }
}

fn peer_box([low, high]: [Vec3; 2]) -> b3AABB {
    b3AABB { lowerBound: vector(low), upperBound: vector(high) }
}

fn overlap(a: [Vec3; 2], b: [Vec3; 2]) -> bool {
    a[0].cmple(b[1]).all() && b[0].cmple(a[1]).all()
}

/// Context of the query callback of one box.
struct Asking<'a> {
    index: u64,
    pairs: &'a mut HashSet<u64, BuildHasherDefault<PairHasher>>,
}

unsafe extern "C" fn found(_proxy: c_int, other: u64, context: *mut c_void) -> bool {
    // SAFETY: `step` hands over its own `Asking` and waits for the query to end.
    let asking = unsafe { &mut *context.cast::<Asking>() };
    if other != asking.index {
        let (low, high) = (other.min(asking.index), other.max(asking.index));
        asking.pairs.insert(high << 32 | low);
    }
    true
}

/// What a ray is cast with.
struct Casting<'a> {
    tight: &'a [[Vec3; 2]],
    hit: bool,
}

unsafe extern "C" fn passed(
    input: *const b3RayCastInput,
    _proxy: c_int,
    index: u64,
    context: *mut c_void,
) -> f32 {
    // SAFETY: Box3D hands over its input, and `cast` its own `Casting`; both outlive the cast.
    let (input, casting) = unsafe { (&*input, &mut *context.cast::<Casting>()) };
    let origin = Vec3::new(input.origin.x, input.origin.y, input.origin.z);
    let way = Vec3::new(input.translation.x, input.translation.y, input.translation.z);
    let [low, high] = casting.tight[index as usize];
    let (one, other) = ((low - origin) / way, (high - origin) / way);
    let enter = one.min(other).max_element().max(0.0);
    if enter <= one.max(other).min_element().min(input.maxFraction) {
        casting.hit = true;
        return enter;
    }
    input.maxFraction
}

impl Box3dTree {
    /// Boxes ⇒ tree and pairs.
    pub fn new(boxes: &[Aabb]) -> Self {
        // SAFETY: a number goes in, an owned tree comes out.
        let tree = unsafe { b3DynamicTree_Create(boxes.len() as c_int) };
        let mut this = Self {
            tree,
            proxies: Vec::new(),
            fat: Vec::new(),
            tight: boxes.iter().map(corners).collect(),
            moved: Vec::new(),
            pairs: HashSet::default(),
        };
        for (index, &[low, high]) in this.tight.iter().enumerate() {
            let fat = [low - MARGIN, high + MARGIN];
            // SAFETY: the tree is alive and boxes are finite.
            let proxy =
                unsafe { b3DynamicTree_CreateProxy(&mut this.tree, peer_box(fat), u64::MAX, index as u64) };
            this.proxies.push(proxy);
            this.fat.push(fat);
            this.moved.push(index as u32);
        }
        this.find_pairs();
        this
    }

    /// All bounds ⇒ number of pairs.
    pub fn step(&mut self, boxes: &[Aabb]) -> usize {
        self.moved.clear();
        for (index, bounds) in boxes.iter().enumerate() {
            let [low, high] = corners(bounds);
            self.tight[index] = [low, high];
            let fat = &mut self.fat[index];
            if fat[0].cmple(low).all() && fat[1].cmpge(high).all() {
                continue;
            }
            *fat = [low - MARGIN, high + MARGIN];
            // SAFETY: the tree is alive, the proxy is one of its own, and the box is finite.
            unsafe { b3DynamicTree_EnlargeProxy(&mut self.tree, self.proxies[index], peer_box(*fat)) };
            self.moved.push(index as u32);
        }
        self.find_pairs();
        let fat = &self.fat;
        self.pairs.retain(|pair| overlap(fat[(pair >> 32) as usize], fat[*pair as u32 as usize]));
        self.pairs.len()
    }

    fn find_pairs(&mut self) {
        for &index in &self.moved {
            let mut asking = Asking { index: index.into(), pairs: &mut self.pairs };
            let bounds = peer_box(self.fat[index as usize]);
            // SAFETY: the tree is alive, and `asking` is what `found` expects.
            unsafe {
                let context = (&raw mut asking).cast();
                b3DynamicTree_Query(&self.tree, bounds, u64::MAX, false, Some(found), context);
            }
        }
        // SAFETY: the tree is alive.
        unsafe { b3DynamicTree_Rebuild(&mut self.tree, false) };
    }

    /// Rays of a length ⇒ how many hit a box; each is followed to its first.
    pub fn cast(&self, rays: &[Ray], length: f64) -> usize {
        let single = |v: DVec3| vector(v.as_vec3());
        let hits = |ray: &&Ray| {
            let input = b3RayCastInput {
                origin: single(ray.origin()),
                translation: single(length * ray.direction()),
                maxFraction: 1.0,
            };
            let mut casting = Casting { tight: &self.tight, hit: false };
            // SAFETY: the tree is alive, and `casting` is what `passed` expects.
            unsafe {
                let context = (&raw mut casting).cast();
                b3DynamicTree_RayCast(&self.tree, &input, u64::MAX, false, Some(passed), context);
            }
            casting.hit
        };
        rays.iter().filter(hits).count()
    }
}

impl Drop for Box3dTree {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and not used afterwards.
        unsafe { b3DynamicTree_Destroy(&mut self.tree) };
    }
}
