//! Ids in messages, as names.

use super::{BodyId, Handle, JointId, MultibodyId, World};

impl World {
    /// Message of an error ⇒ the same with the names that bodies and joints have, instead of their ids.
    ///
    /// Errors contain ids only, which are printed as `body 1v0` and `joint 2v0`: slot and generation.
    ///
    /// ```
    /// use rattleback_dynamics::{Body, World};
    /// let mut world = World::default();
    /// let ball = world.add_body(Body::fixed().named("ball"))?;
    /// assert_eq!(world.with_names(&format!("{ball} is stuck")), "body `ball` is stuck");
    /// # Ok::<(), rattleback_dynamics::Error>(())
    /// ```
    pub fn with_names(&self, message: &str) -> String {
        let body = |id| self.body(id).ok()?.name().map(str::to_owned);
        let joint = |id| self.joint(id).ok()?.name().map(str::to_owned);
        let named = replace(message, "body ", |slot, age| body(BodyId::from_parts(slot, age)));
        let named = replace(&named, "joint ", |slot, age| joint(JointId::from_parts(slot, age)));
        let multibody = |id| self.multibody(id).ok()?.name().map(str::to_owned);
        replace(&named, "multibody ", |slot, age| multibody(MultibodyId::from_parts(slot, age)))
    }
}

/// Puts the name behind the word wherever (slot, generation) stands there and has one.
fn replace(message: &str, word: &str, name: impl Fn(u32, u32) -> Option<String>) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(word) {
        let (before, behind) = rest.split_at(at + word.len());
        text.push_str(before);
        rest = behind;
        // "antibody 1v0" is no body.
        let is_word = !before[..at].ends_with(char::is_alphanumeric);
        if let Some((length, slot, age)) = parts(behind).filter(|_| is_word)
            && let Some(name) = name(slot, age)
        {
            text.push('`');
            text.push_str(&name);
            text.push('`');
            rest = &behind[length..];
        }
    }
    text + rest
}

/// `1v0 …` ⇒ how long that is, slot and generation.
fn parts(text: &str) -> Option<(usize, u32, u32)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let slot = digits(text);
    let behind = text[slot..].strip_prefix('v')?;
    let age = digits(behind);
    Some((slot + 1 + age, text[..slot].parse().ok()?, behind[..age].parse().ok()?))
}
