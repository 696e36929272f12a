//! Static and continuous tests of vertices, faces and edges.

use glam::DVec3;
use rattleback_deformable::contact::{FeaturePair, conservative_time_of_impact};
use rattleback_geometry::primitive::Triangle;
use rattleback_geometry::swept::{MovingPoint, MovingTriangle, swept_edges, swept_vertex_face};

use crate::random::Random;

fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

fn exact(kind: FeaturePair, a: &[DVec3; 4], b: &[DVec3; 4]) -> Option<f64> {
    let point = |k: usize| MovingPoint { start: a[k], end: b[k] };
    match kind {
        FeaturePair::VertexFace => {
            let face =
                MovingTriangle::new(&Triangle::new(a[1], a[2], a[3]), &Triangle::new(b[1], b[2], b[3]));
            swept_vertex_face(point(0), &face).map(|hit| hit.time)
        }
        FeaturePair::EdgeEdge => swept_edges([point(0), point(1)], [point(2), point(3)]).map(|hit| hit.time),
    }
}

/// T-DCC-01: reference times of impact.
#[test]
fn reference_times_of_impact() {
    let cases = [
        (
            FeaturePair::VertexFace,
            [v(0.3, 0.3, 0.8), v(0., 0., 0.), v(1., 0., 0.), v(0., 1., 0.)],
            [v(0.2, 0.3, -0.6), v(0., 0., 1.), v(1., 0., 0.), v(0., 1., 0.5)],
            0.401970252123,
        ),
        (
            FeaturePair::VertexFace,
            [v(0.1, 0.2, 0.5), v(-2., -1., 0.2), v(2., -1., -0.4), v(0., 2., 0.3)],
            [v(-0.4, 0.3, -0.7), v(-2., -1., 1.6), v(2., -1., -1.9), v(0., 2., -1.2)],
            0.589996776607,
        ),
        (
            FeaturePair::EdgeEdge,
            [v(-1., 0., 0.), v(1., 0., 0.2), v(0.1, -1., 1.), v(-0.2, 1., 0.7)],
            [v(-1., 0.1, 0.9), v(1., -0.2, 0.6), v(0.3, -1., -0.3), v(0.1, 1., 0.1)],
            0.469264204256,
        ),
    ];
    for (kind, a, b, time) in cases {
        assert!((exact(kind, &a, &b).unwrap() - time).abs() < 1e-9);
        let p: [DVec3; 4] = std::array::from_fn(|k| b[k] - a[k]);
        let safe = conservative_time_of_impact(kind, &a, &p, 0.0, 1.0);
        assert!(safe <= time && safe > 0.5 * time, "{safe} of {time}");
    }
}

/// T-DCC-02 (conservative side): never later than the first root of the coplanarity cubic, never before it without a cause.
#[test]
fn conservative_times_are_never_late() {
    let mut random = Random::new(5);
    let (mut hits, mut early) = (0, 0.0_f64);
    for round in 0..20_000 {
        let kind = if round % 2 == 0 { FeaturePair::VertexFace } else { FeaturePair::EdgeEdge };
        let mut a: [DVec3; 4] = std::array::from_fn(|_| random.vector(-1.0, 1.0));
        if round % 5 == 0 {
            // Nearly in one plane at the start.
            for x in &mut a {
                x.z *= 1e-3;
            }
        }
        let b: [DVec3; 4] = std::array::from_fn(|k| a[k] + random.vector(-1.0, 1.0));
        let p: [DVec3; 4] = std::array::from_fn(|k| b[k] - a[k]);
        let safe = conservative_time_of_impact(kind, &a, &p, 0.0, 1.0);
        if let Some(time) = exact(kind, &a, &b) {
            hits += 1;
            assert!(safe <= time, "{kind:?}: {safe} after {time}, {a:?} {b:?}");
            early = early.max(time - safe);
        }
    }
    assert!(hits > 1000, "{hits}");
}
