//! Random forests of links with every kind of joint, and a rod, for the tests of articulated bodies.
#![allow(dead_code)]

use glam::{DMat3, DQuat, DVec3};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use rattleback_dynamics::multibody::joint::{
    CylindricalJoint, FixedJoint, FreeJoint, PlanarJoint, PrismaticJoint, RevoluteJoint, ScrewJoint,
    SphericalJoint, UniversalJoint,
};
use rattleback_dynamics::multibody::{Link, LinkTree, SpatialForce, Vector};

/// Gravity of the earth, m/s².
pub const G: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// Random numbers.
pub struct Random(Pcg64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), 1))
    }
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }
    pub fn direction(&mut self) -> DVec3 {
        (self.vector() + DVec3::splat(1e-3)).normalize()
    }
    pub fn rotation(&mut self) -> DQuat {
        DQuat::from_axis_angle(self.direction(), 3.0 * self.unit())
    }
    pub fn numbers(&mut self, count: usize, size: f64) -> Vec<f64> {
        (0..count).map(|_| size * self.signed()).collect()
    }
    /// A forest with every kind of joint, some of them with armature.
    pub fn tree(&mut self, count: usize) -> LinkTree {
        let mut links: Vec<Link> = Vec::new();
        for index in 0..count {
            let on_world = index == 0 || self.unit() < 0.1;
            let parent = (!on_world).then(|| (self.unit() * index as f64) as usize);
            let name = index.to_string();
            let link = match (self.unit() * 10.0) as u32 {
                0 | 1 => Link::new(name, parent, RevoluteJoint { axis: self.direction() }),
                2 => Link::new(name, parent, PrismaticJoint { axis: self.direction() }),
                3 => Link::new(name, parent, SphericalJoint),
                4 => Link::new(name, parent, FreeJoint),
                5 => Link::new(
                    name,
                    parent,
                    UniversalJoint { first: self.direction(), second: self.direction() },
                ),
                6 => Link::new(name, parent, CylindricalJoint { axis: self.direction() }),
                7 => Link::new(name, parent, PlanarJoint),
                8 => Link::new(name, parent, FixedJoint),
                _ => Link::new(name, parent, ScrewJoint { axis: self.direction(), lead: self.signed() }),
            };
            let axes = DMat3::from_quat(self.rotation());
            let moments = DVec3::splat(1.0) + self.vector().abs();
            let inertia = axes * DMat3::from_diagonal(0.1 * moments) * axes.transpose();
            let mut link = link.at(self.vector(), self.rotation());
            link = link.with_mass(0.2 + self.unit(), self.vector(), 0.5 * (inertia + inertia.transpose()));
            if self.unit() < 0.3 {
                link.armature = self.unit();
            }
            links.push(link);
        }
        LinkTree::new(links).unwrap()
    }
    /// Positions away from the reference position.
    pub fn positions(&mut self, tree: &LinkTree) -> Vec<f64> {
        let mut q = tree.neutral();
        let way = self.numbers(tree.velocity_count(), 3.0);
        tree.advance(&mut q, &way, 1.0);
        q
    }
}

/// A rod of 1 kg and 1 m that hangs from its joint along −z.
pub fn rod(link: Link) -> Link {
    let inertia = DMat3::from_diagonal(DVec3::new(1.0 / 12.0, 1.0 / 12.0, 1e-4));
    link.with_mass(1.0, DVec3::new(0.0, 0.0, -0.5), inertia)
}

impl Random {
    /// A force and a torque for every link.
    pub fn forces_on(&mut self, tree: &LinkTree) -> Vec<SpatialForce<f64>> {
        let one = |random: &mut Self| SpatialForce {
            torque: Vector::splat(random.vector()),
            force: Vector::splat(random.vector()),
        };
        tree.links().iter().map(|_| one(self)).collect()
    }
}

/// |a − b| ≤ tolerance × the largest of b, or of 1.
pub fn assert_close(got: &[f64], expected: &[f64], tolerance: f64, place: &str) {
    assert_eq!(got.len(), expected.len(), "{place}");
    let scale = expected.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    for (k, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!(
            (got - expected).abs() <= tolerance * scale,
            "{place}, number {k}: {got} instead of {expected}, difference {:e} of {scale}",
            got - expected
        );
    }
}

/// A floating base with an arm of spherical and universal joints and a leg of three hinges.
pub fn floating_tree() -> LinkTree {
    let inertia = DMat3::from_diagonal(DVec3::new(0.1, 0.12, 0.15));
    let links = [
        Link::new("base", None, FreeJoint),
        Link::new("arm", Some(0), SphericalJoint).at(DVec3::X, DQuat::IDENTITY),
        Link::new("hand", Some(1), UniversalJoint { first: DVec3::X, second: DVec3::Y }),
        Link::new("leg", Some(0), RevoluteJoint { axis: DVec3::Y }),
        Link::new("foot", Some(3), RevoluteJoint { axis: DVec3::X }).at(DVec3::Y, DQuat::IDENTITY),
        Link::new("toe", Some(4), RevoluteJoint { axis: DVec3::Z }).at(DVec3::Y, DQuat::IDENTITY),
    ];
    let links = links.map(|link| link.with_mass(1.0, DVec3::new(0.1, 0.2, -0.4), inertia));
    LinkTree::new(links.to_vec()).unwrap()
}
