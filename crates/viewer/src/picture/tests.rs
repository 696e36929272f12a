use super::*;
use rattleback_dynamics::Body;

fn ball_on_plane() -> World {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let ball = Body::dynamic().named("ball").at(0.0, 0.0, 1.0).with_shape(Shape::sphere(1.0).unwrap());
    world.add_body(ball).unwrap();
    world
}

const SMALL: PictureOptions = PictureOptions { size: (120, 120), frame: None, dark: false };

/// The picture of a ball of radius R at distance d is a disc: it covers π (f R)² / (d² − R²) of the picture, for the focal
/// length f of the camera.
#[test]
fn a_ball_covers_as_much_as_perspective_says() {
    let mut world = World::weightless();
    world.add_body(Body::dynamic().named("ball").with_shape(Shape::sphere(1.0).unwrap())).unwrap();
    let picture = Picture::of(&world, &SMALL);
    let is_ball = |pixel: &&[u8]| i32::from(pixel[0]) > i32::from(pixel[2]) + 20;
    let covered = picture.rgb.chunks(3).filter(is_ball).count() as f64;
    let tangent = 0.35f64.tan() / 1.16;
    let distance = RenderScene::of(&world).frame.distance(DVec3::Z, [tangent; 2]);
    let focal = 60.0 / 0.35f64.tan();
    let expected = std::f64::consts::PI * focal * focal / (distance * distance - 1.0);
    assert!((covered - expected).abs() < 0.05 * expected, "{covered} {expected}");
}

/// Somewhere on the ground it is much darker than the ground is elsewhere, and without the ball it is not.
#[test]
fn bodies_throw_shadows() {
    let grey = |pixel: &[u8]| pixel.iter().max().unwrap() - pixel.iter().min().unwrap() < 24;
    let darkest = |world: &World| {
        let picture = Picture::of(world, &SMALL);
        picture.rgb.chunks(3).filter(|p| grey(p)).map(|p| p[1]).min().unwrap()
    };
    let mut empty = ball_on_plane();
    let ball = empty.find_body("ball").unwrap();
    let with = darkest(&empty);
    empty.body_mut(ball).unwrap().set_pose(Pose::at(DVec3::new(0.0, 0.0, -5.0))).unwrap();
    let without = darkest(&empty);
    assert!(i32::from(with) + 20 < i32::from(without), "{with} {without}");
}

#[test]
fn the_same_world_gives_the_same_picture_and_is_a_png() {
    let (a, b) = (Picture::of(&ball_on_plane(), &SMALL), Picture::of(&ball_on_plane(), &SMALL));
    assert_eq!(a, b);
    let png = a.to_png().unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, a.rgb);
}

/// An empty world, a world of points, enormous and tiny ones: there is always a picture.
#[test]
fn odd_worlds_have_pictures() {
    let of = |world: &World| Picture::of(world, &PictureOptions { size: (40, 30), ..SMALL }).rgb.len();
    assert_eq!(of(&World::default()), 3600);
    for size in [1e-12, 1e9] {
        let mut world = World::weightless();
        world.add_body(Body::dynamic().with_shape(Shape::sphere(size).unwrap()).at(size, 0.0, 0.0)).unwrap();
        assert_eq!(of(&world), 3600);
    }
}
