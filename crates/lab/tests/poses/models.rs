//! Part kinds by formula.

use rattleback_dynamics::Registry;
use rattleback_lab::poses::models::source_kinds;
use rattleback_lab::poses::{
    Disturbance, Landscape, Method, PoseStudy, SOURCE_ANGLE, SOURCE_TABLES, Stop, StudySettings, perturbed,
    pose_error, quasi_static, table_text,
};

/// As many stable poses as the source's parts, quasi-static shares within two points of its column (both sorted: its order is that of physical frequency), and
/// estimates that add up.
#[test]
fn the_four_kinds_have_the_poses_of_the_source() {
    for (kind, table) in source_kinds().iter().zip(&SOURCE_TABLES) {
        let part = kind.part().unwrap();
        assert!(part.notes().is_empty() || part.notes()[0].contains("inwards"), "{:?}", part.notes());
        let landscape = Landscape::of(&part, 0.02).unwrap();
        assert_eq!(landscape.poses.len(), table.rows.len(), "{}", kind.name);
        let found = quasi_static(&part, &landscape);
        let mut wanted = table.column(0);
        wanted.sort_by(|a, b| b.total_cmp(a));
        for (a, b) in found.iter().zip(&wanted) {
            assert!((a - b).abs() < 0.02, "{}: {found:?} {wanted:?}", kind.name);
        }
    }
}

/// The tables of the four kinds in the layout of the source, with our drops as the reference.
#[test]
fn the_tables_of_the_four_kinds_are_printed() {
    let registry = Registry::default();
    for kind in source_kinds() {
        let part = kind.part().unwrap();
        let landscape = Landscape::of(&part, 0.02).unwrap();
        let settings = StudySettings::default();
        let study = PoseStudy::new(&part, &landscape, &settings, &registry).unwrap();
        let dynamic =
            study.run(Method::Bootstrap, Stop::Drops(400), 2, &mut Vec::new(), |_, _| true).unwrap();
        assert_eq!(dynamic.failed, 0);
        assert!(dynamic.unsettled <= 4, "{}: {} unsettled", kind.name, dynamic.unsettled);
        let cone = perturbed(&part, &landscape, Disturbance::Cone, SOURCE_ANGLE).unwrap();
        let strip = perturbed(&part, &landscape, Disturbance::EdgeStrip, SOURCE_ANGLE).unwrap();
        let still = quasi_static(&part, &landscape);
        assert!(pose_error(&dynamic.p, &dynamic.p) == 0.0);
        let columns =
            [("quasi-static", still), ("cone", cone), ("edge strip", strip), ("dynamic", dynamic.p)];
        println!("{}", table_text(kind.name, &columns));
    }
}
