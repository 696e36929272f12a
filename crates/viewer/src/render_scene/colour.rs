//! Colours of bodies.
//!
//! Copies of a body (`brick[0]`, `brick[1]`, …) share a hue and differ a little in lightness, so that they can be distinguished. Static
//! bodies are grey, kinematic ones slate. Neighbours in the list of hues differ in lightness too, for colour-blind users.

use rattleback_dynamics::Status;
use std::collections::BTreeMap;

/// Red, green, blue in sRGB, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub [f32; 3]);

const HUES: [[u8; 3]; 10] = [
    [0xe0, 0x7a, 0x3f],
    [0x3d, 0x8f, 0xc4],
    [0xe8, 0xb5, 0x3e],
    [0x4f, 0xa8, 0x7d],
    [0xc9, 0x50, 0x5c],
    [0x7b, 0x78, 0xc8],
    [0x3b, 0xb3, 0xb3],
    [0xd8, 0x83, 0xa8],
    [0x9a, 0xb0, 0x3f],
    [0xb3, 0x7a, 0x54],
];
const FIXED: [u8; 3] = [0xb4, 0xb8, 0xbe];
const ANIMATED: [u8; 3] = [0x6d, 0x80, 0x99];
const INACTIVE: [u8; 3] = [0x84, 0x84, 0x84];

/// Assigns colours to bodies.
#[derive(Debug, Default)]
pub(super) struct Palette {
    families: BTreeMap<String, usize>,
}

impl Palette {
    /// (name, index, status) ⇒ colour.
    pub fn pick(&mut self, name: Option<&str>, index: usize, status: Status) -> Colour {
        let base = match status {
            Status::Fixed => FIXED,
            Status::Kinematic => ANIMATED,
            Status::Disabled => INACTIVE,
            Status::Dynamic => match name {
                Some(name) => {
                    let family = name.split('[').next().unwrap_or(name);
                    let next = self.families.len();
                    HUES[*self.families.entry(family.to_owned()).or_insert(next) % HUES.len()]
                }
                None => HUES[(scramble(index) % HUES.len() as u32) as usize],
            },
        };
        let member = name.is_some_and(|name| name.contains('['));
        // ± 12 % among copies of a body.
        let shade = if member { 0.88 + 0.24 * (scramble(index) % 1024) as f32 / 1023.0 } else { 1.0 };
        Colour(base.map(|channel| (f32::from(channel) / 255.0 * shade).min(1.0)))
    }
}

/// Hash of an index.
fn scramble(index: usize) -> u32 {
    let mut x = (index as u32).wrapping_add(1).wrapping_mul(0x9e37_79b9);
    x ^= x >> 15;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^ (x >> 13)
}

impl Colour {
    /// sRGB ⇒ linear light.
    pub fn linear(self) -> [f32; 3] {
        self.0.map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) })
    }

    /// As a number 0xRRGGBB.
    pub fn hex(self) -> u32 {
        self.0.iter().fold(0, |sum, c| (sum << 8) | (c * 255.0).round().clamp(0.0, 255.0) as u32)
    }
}

/// Linear light ⇒ sRGB, the inverse of [`Colour::linear`].
pub(crate) fn srgb(light: f32) -> f32 {
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_share_a_hue_and_members_differ() {
        let mut palette = Palette::default();
        let first = palette.pick(Some("brick[0]"), 0, Status::Dynamic);
        let second = palette.pick(Some("brick[1]"), 1, Status::Dynamic);
        let other = palette.pick(Some("ball"), 2, Status::Dynamic);
        assert_ne!(first, second);
        let ratio = |c: Colour| c.0[0] / c.0[2];
        assert!((ratio(first) - ratio(second)).abs() < 0.05 * ratio(first));
        assert!((ratio(first) - ratio(other)).abs() > 0.5);
    }

    #[test]
    fn srgb_and_light_are_inverse() {
        for i in 0..=100 {
            let c = i as f32 / 100.0;
            assert!((srgb(Colour([c; 3]).linear()[0]) - c).abs() < 1e-5);
        }
    }
}
