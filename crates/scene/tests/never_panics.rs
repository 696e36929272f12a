//! Whatever text comes in: a scene, or an error with a line and a column. Never a panic, never a half-built world.

use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, SceneError, built_ins};

/// Small scenes that together use all keys.
fn corpus() -> Vec<String> {
    let mut texts: Vec<String> = built_ins()
        .iter()
        .filter(|scene| !scene.text.contains("count"))
        .map(|scene| scene.text.into())
        .collect();
    texts.push(include_str!("everything.toml").into());
    texts
}

/// Words that hit what numbers and names are checked for.
const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "-1e308",
    "1e-308",
    "nan",
    "-inf",
    "9223372036854775807",
    "0x7f",
    "1.5",
    "true",
    "''",
    "'world'",
    "[]",
    "[[]]",
    "{}",
    "[0, 0, 0]",
    "[1, 0, 0, 0]",
    "[[0, 1]]",
    "'a[1]'",
    "'box'",
    "\"\\u0000\"",
    "1979-05-27",
    "=",
    "\n",
    "]",
    "}",
    "[[body]]\n",
    "[[force]]\n",
    "[x]\n",
    "type",
    "name",
    "é",
    "\u{FEFF}",
    "#",
];

fn below(random: &mut Pcg64, n: usize) -> usize {
    (random.next_u64() % n.max(1) as u64) as usize
}

/// A place between two words.
fn boundary(random: &mut Pcg64, text: &str) -> usize {
    let mut at = below(random, text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The word, number or other character that starts at a place.
fn word_end(text: &str, at: usize) -> usize {
    let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let rest = &text[at..];
    let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
    at + if length > 0 { length } else { rest.chars().next().map_or(0, char::len_utf8) }
}

fn mutated(random: &mut Pcg64, corpus: &[String]) -> String {
    let mut text = corpus[below(random, corpus.len())].clone();
    for _ in 0..=below(random, 3) {
        let at = boundary(random, &text);
        let end = word_end(&text, at);
        match below(random, 5) {
            0 => text.replace_range(at..end, ""),
            1 => text.replace_range(at..end, TOKENS[below(random, TOKENS.len())]),
            2 => text.insert_str(at, TOKENS[below(random, TOKENS.len())]),
            3 => {
                let other = &corpus[below(random, corpus.len())];
                let from = boundary(random, other);
                let line_end = other[from..].find('\n').map_or(other.len(), |length| from + length + 1);
                text.insert_str(at, &other[from..line_end]);
            }
            _ => text.truncate(at),
        }
    }
    text
}

/// Checks the properties of every result ⇒ whether the text was a scene that can be built.
fn check(text: &str, registry: &Registry) -> bool {
    let result = Scene::parse(text, "fuzz").and_then(|scene| {
        let written = scene.to_toml();
        let again = Scene::parse(&written, "written");
        let again = again.unwrap_or_else(|error| panic!("{error}\nwritten from\n{text}"));
        assert_eq!(again.to_toml(), written, "written from\n{text}");
        if text.contains("count") || text.contains("resolution") {
            return Ok(false);
        }
        scene.build(registry).map(|built| built.dt > 0.0)
    });
    match result {
        Ok(built) => built,
        Err(SceneError::Fault(fault)) => {
            let lines = text.matches('\n').count() + 1;
            assert!(
                (1..=lines).contains(&fault.place.line) && fault.place.column >= 1 && fault.place.width >= 1
            );
            assert!(
                fault.to_string().starts_with(&format!("fuzz:{}:{}: ", fault.place.line, fault.place.column))
            );
            false
        }
        Err(other) => panic!("an error without a place: {other}"),
    }
}

/// 10⁵ mutated scenes.
#[test]
fn mutated_scenes_are_built_or_refused_in_place() {
    let (corpus, registry) = (corpus(), Registry::default());
    let mut random = Pcg64::new(1, 1);
    let built = (0..100_000).filter(|_| check(&mutated(&mut random, &corpus), &registry)).count();
    // Mutations in comments and titles leave scenes whole; if none were, the test would only look at the parser.
    assert!(built > 5_000, "{built}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        check(&text, &Registry::empty());
    }

    #[test]
    fn any_bytes_that_look_like_toml(text in "[a-z\\[\\]{}=.,#\"'0-9\n\r\t \\\\é-]{0,120}") {
        check(&text, &Registry::empty());
    }

    /// Any number of copies that can be counted is either built exactly or refused.
    #[test]
    fn copies_are_counted(nx in 1usize..6, ny in 1usize..6, nz in 1usize..6, seed in 0u32..100) {
        let text = format!(
            "seed = {seed}\n[[body]]\nname = 'b'\nshape = {{ type = 'box', half_extents = [1, 2, 3] }}\n\
             repeat = {{ count = [{nx}, {ny}, {nz}], spacing = [10, 20, 30], jitter = 0.5, scale = [0.5, 2], \
             random_orientation = true }}"
        );
        let registry = Registry::default();
        let built = Scene::parse(&text, "x").unwrap().build(&registry).unwrap();
        prop_assert_eq!(built.world.iter_bodies().count(), nx * ny * nz);
        for (index, body) in built.world.iter_bodies().enumerate() {
            let grid = glam::DVec3::new((index % nx) as f64, (index / nx % ny) as f64, (index / nx / ny) as f64);
            let off = (body.position() - grid * glam::DVec3::new(10.0, 20.0, 30.0)).abs();
            prop_assert!(off.max_element() <= 0.5);
            // 48 m³ of water, scaled by 1/8 to 8.
            prop_assert!((6_000.0 * 0.999..=384_000.0 * 1.001).contains(&body.mass()));
        }
        let again = Scene::parse(&text, "x").unwrap().build(&registry).unwrap();
        prop_assert_eq!(again.world.snapshot().unwrap(), built.world.snapshot().unwrap());
    }
}
