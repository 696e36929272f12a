use glam::DVec3;
use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Body, Simulator, World};
use rattleback_geometry::Shape;
fn main() {
    let substeps: i64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(4);
    for (name, heavy) in [("tower", 1.0), ("heavy 30", 30.0), ("heavy 1000", 1000.0)] {
        let mut world = World::default();
        world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
        let ids: Vec<_> = (0..10).map(|k| {
            let shape = Shape::cuboid(DVec3::splat(0.5)).unwrap();
            world.add_body(Body::dynamic().at(0.0, 0.0, 0.5 + k as f64).with_shape(shape).mass(if k == 9 { heavy } else { 1.0 })).unwrap()
        }).collect();
        let mut sim = Realtime::new(RealtimeSettings { sleep: false, substeps, ..Default::default() }).unwrap();
        let mut worst = vec![];
        for s in 0..1200 {
            sim.step(&mut world, 1.0 / 60.0).unwrap();
            if s % 240 == 239 {
                let p = world.body(ids[9]).unwrap().position();
                worst.push(format!("({:.4} {:.4} {:.4})", p.x, p.y, p.z - 9.5));
            }
        }
        println!("  {name}: top {}", worst.join(" "));
    }
    // pyramid
    for base in [30] {
        let mut world = World::default();
        world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
        let mut ids = vec![];
        for i in 0..base { for j in i..base {
            let w: f64 = std::env::var("RB_GAP").ok().and_then(|v| v.parse().ok()).unwrap_or(1.0);
            let x = w * ((i as f64 + 1.0) * 0.5 + (j - i) as f64 - 0.5 * base as f64);
            let shape = Shape::cuboid(DVec3::splat(0.5)).unwrap();
            ids.push((world.add_body(Body::dynamic().at(x, 0.0, 0.5 + i as f64).with_shape(shape)).unwrap(), DVec3::new(x, 0.0, 0.5 + i as f64)));
        }}
        let mut sim = Realtime::new(RealtimeSettings { sleep: false, substeps, ..Default::default() }).unwrap();
        let start = std::time::Instant::now();
        for s in 0..600 {
            sim.step(&mut world, 1.0 / 60.0).unwrap();
            if s % 300 == 299 {
                let (mut h, mut v) = (0.0_f64, 0.0_f64);
                for (id, p) in &ids { let d = world.body(*id).unwrap().position() - *p; h = h.max(d.truncate().length()); v = v.min(d.z); }
                println!("  pyramid {base} step {s}: sideways {h:.5} down {v:.5} {:?}", start.elapsed() / (s + 1));
            }
        }
    }
}
