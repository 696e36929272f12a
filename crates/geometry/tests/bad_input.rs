//! Whatever comes in, nothing panics, hangs or yields an invalid shape.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec2, DVec3};
use proptest::prelude::*;
use rattleback_geometry::{
    Aabb, BoundingSphere, ConvexPolyhedron, HeightField, MassModel, MassProperties, MeshReport, OrientedBox,
    PolygonSoup, Polyhedron, Pose, Shape, ShapeError, SupportShape, TriangleMesh, convex_hull,
    convex_hull_with, generate, merge_coplanar, welded,
};

/// Numbers as a fuzzer would choose them: ordinary, special and extreme.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -2.0..2.0f64,
        2 => prop::sample::select(vec![0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 1e-300, 1e300, 1e50, 1e-50, 1e49, 1e-160, 1e160]),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX, 5e-324]),
        1 => any::<f64>(),
    ]
}

fn vector() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(number()).prop_map(DVec3::from_array)
}

fn soup() -> impl Strategy<Value = PolygonSoup> {
    let point = prop_oneof![6 => prop::array::uniform3(-2i8..3).prop_map(|p| DVec3::from_array(p.map(f64::from))), 1 => vector()];
    let face = prop::collection::vec(0u32..9, 0..6);
    (prop::collection::vec(point, 0..9), prop::collection::vec(face, 0..14)).prop_map(|(points, faces)| {
        let mut soup = PolygonSoup::new(points);
        for face in faces {
            soup.push_face(&face);
        }
        soup
    })
}

/// All queries of a shape.
fn interrogate(shape: &Shape, pose: &Pose, p: DVec3, density: f64) {
    if let Some(bounds) = shape.aabb(pose) {
        assert!(bounds.min().is_finite() && bounds.max().is_finite());
    }
    if let Some(sphere) = shape.bounding_sphere() {
        assert!(sphere.radius() >= 0.0);
    }
    let _ = (
        shape.extent_along(p),
        shape.oriented_box(),
        shape.rotation_radius(p),
        shape.contains(p),
        shape.support(p),
        shape.volume(),
    );
    for model in [
        MassModel::Exact,
        MassModel::Sampled { resolution: 3, refined: true },
        MassModel::Surface { segments: 5 },
    ] {
        if let Ok(body) = shape.mass_properties_with(density, model) {
            assert!(body.mass > 0.0 && body.inertia.is_finite() && body.center_of_mass.is_finite());
            let _ = (body.principal(), body.transformed(pose));
        }
    }
    let _ = shape.surface(4);
    // What can be written can be read.
    let text = serde_json::to_string(shape).unwrap();
    let back: Shape = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn primitives_answer_or_refuse(a in number(), b in number(), v in vector(), p in vector(), q in prop::array::uniform4(number()), density in number()) {
        let pose = Pose::new(DQuat::from_array(q), p);
        let shapes = [
            Shape::sphere(a), Shape::cuboid(v), Shape::cylinder(a, b), Shape::capsule(a, b), Shape::cone(a, b),
            Shape::ellipsoid(v), Shape::half_space(v),
        ];
        let parts: Vec<_> = shapes.iter().flatten().map(|shape| (pose, shape.clone())).collect();
        for shape in shapes.iter().flatten() {
            interrogate(shape, &pose, p, density);
            interrogate(shape, &Pose::IDENTITY, p, density);
        }
        if let Ok(compound) = Shape::compound(parts) {
            interrogate(&compound, &pose, p, density);
        }
        let _ = (Aabb::new(v, p), BoundingSphere::new(v, a), OrientedBox::new(pose, v), OrientedBox::fit(&[v, p, v + p]));
        let _ = MassProperties::new(a, v, DMat3::from_cols(v, p, DVec3::new(a, b, density)));
        let _ = (generate::torus(a, b, 3, 3), generate::cuboid_with_hole(v, a, b));
        let _ = HeightField::new(2, 2, DVec2::new(a, b), vec![v.x, v.y, v.z, density]).map(|field| {
            interrogate(&Shape::height_field(field).unwrap(), &pose, p, density);
        });
    }

    #[test]
    fn soups_answer_or_refuse(soup in soup(), tolerance in number(), p in vector(), density in number()) {
        if let Ok(report) = MeshReport::of(&soup) {
            let solid = Polyhedron::new(&soup);
            prop_assert!(report.first_error().is_none() || solid.is_err());
        }
        if let Ok(mesh) = TriangleMesh::from_soup(&soup) {
            interrogate(&Shape::mesh(mesh.reversed()).unwrap(), &Pose::IDENTITY, p, density);
            interrogate(&Shape::mesh(mesh).unwrap(), &Pose::IDENTITY, p, density);
        }
        let _ = (welded(&soup, tolerance), merge_coplanar(&soup, tolerance));
        for polyhedron in [Polyhedron::new(&soup), Polyhedron::merged(&soup, tolerance), Polyhedron::merged(&soup, 1e-9)].into_iter().flatten() {
            let _ = ConvexPolyhedron::new(polyhedron);
        }
    }

    #[test]
    fn points_have_a_hull_or_a_reason(points in prop::collection::vec(vector(), 0..20), tolerance in number(), p in vector()) {
        let _ = (BoundingSphere::ritter(&points), OrientedBox::fit(&points));
        if let Ok(sphere) = BoundingSphere::smallest(&points) {
            prop_assert!(points.iter().all(|p| p.distance(sphere.center()) <= sphere.radius()) || !sphere.radius().is_finite());
        }
        let _ = convex_hull_with(&points, tolerance);
        if let Ok(hull) = convex_hull(&points) {
            interrogate(&Shape::convex(hull).unwrap(), &Pose::IDENTITY, p, 1.0);
        }
    }
}

#[test]
fn invalid_shapes_cannot_be_read() {
    for text in [
        r#"{"sphere":{"radius":-1}}"#,
        r#"{"sphere":{"radius":0}}"#,
        r#"{"box":{"half_extents":[1,1,0]}}"#,
        r#"{"cone":{"radius":1,"height":1e300}}"#,
        r#"{"half_space":{"normal":[0,0,0]}}"#,
        r#"{"mesh":{"vertices":[[0,0,0]],"triangles":[[0,1,2]]}}"#,
        r#"{"convex":{"vertices":[[0,0,0],[1,0,0],[0,1,0]],"faces":[[0,1,2],[0,2,1]],"tolerance":1e-9}}"#,
        r#"{"height_field":{"rows":2,"columns":2,"spacing":[1,1],"heights":[0,0,0]}}"#,
        r#"{"compound":{"parts":[]}}"#,
        r#"{"compound":{"parts":[[{"rotation":[0,0,0,2],"translation":[0,0,0]},{"sphere":{"radius":1}}]]}}"#,
        r#"{"compound":{"parts":[[{"rotation":[0,0,0,1],"translation":[0,0,0]},{"half_space":{"normal":[0,0,1]}}]]}}"#,
        r#"{"custom":null}"#,
    ] {
        assert!(serde_json::from_str::<Shape>(text).is_err(), "{text}");
    }
}

#[derive(Debug)]
struct Lens {
    reach: f64,
}

impl SupportShape for Lens {
    fn name(&self) -> &'static str {
        "lens"
    }

    /// Intersection-like body: a sphere flattened along z.
    fn support(&self, d: DVec3) -> DVec3 {
        let s = DVec3::new(self.reach, self.reach, 0.2);
        s * (s * d).normalize_or(DVec3::X)
    }
}

#[test]
fn custom_shapes_work_like_built_in_ones() {
    let lens = Shape::custom(Arc::new(Lens { reach: 1.0 })).unwrap();
    let twin = Shape::ellipsoid(DVec3::new(1.0, 1.0, 0.2)).unwrap();
    let pose = Pose::new(DQuat::from_rotation_x(0.4), DVec3::new(1.0, 2.0, 3.0));
    let (a, b) = (lens.aabb(&pose).unwrap(), twin.aabb(&pose).unwrap());
    assert!(a.min().abs_diff_eq(b.min(), 1e-12) && a.max().abs_diff_eq(b.max(), 1e-12));
    let ratio = lens.volume().unwrap() / twin.volume().unwrap();
    assert!((ratio - 1.0).abs() < 1e-2, "{ratio}");
    assert!(lens.contains(DVec3::ZERO) && !lens.contains(DVec3::Z * 0.21));
    assert!(serde_json::to_string(&lens).is_err(), "a support function cannot be written");
    let bad = Shape::custom(Arc::new(Lens { reach: f64::NAN }));
    assert!(matches!(bad, Err(ShapeError::BadSupport { .. })));
}

#[test]
fn compounds_in_compounds_become_one_list() {
    let sphere = Shape::sphere(0.5).unwrap();
    let inner =
        Shape::compound(vec![(Pose::at(DVec3::X), sphere.clone()), (Pose::at(-DVec3::X), sphere.clone())])
            .unwrap();
    let turn = Pose::new(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2), DVec3::Z);
    let Shape::Compound(outer) = Shape::compound(vec![(turn, inner), (Pose::IDENTITY, sphere)]).unwrap()
    else {
        panic!()
    };
    assert_eq!(outer.parts().len(), 3);
    assert!(outer.parts()[0].0.translation.abs_diff_eq(DVec3::new(0.0, 1.0, 1.0), 1e-15));
    assert!(outer.contains(DVec3::new(0.0, -1.4, 1.0)) && !outer.contains(DVec3::new(1.4, 0.0, 1.0)));
}
