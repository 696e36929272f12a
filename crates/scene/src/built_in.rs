//! Built-in scenes: files in `scenes/`, shared by tests, benchmarks, viewer and documentation.

/// A built-in scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Name to open it by.
    pub name: &'static str,
    /// One line about what happens in it.
    pub summary: &'static str,
    /// Its file in `scenes/`: TOML or a script.
    pub file: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

/// Name ⇒ name of the file.
macro_rules! file {
    ($name:literal) => {
        concat!($name, ".toml")
    };
    ($name:literal script) => {
        concat!($name, ".rhai")
    };
}

macro_rules! scenes {
    ($($name:literal $($kind:ident)?: $summary:literal;)+) => {
        &[$(BuiltIn {
            name: $name,
            summary: $summary,
            file: file!($name $($kind)?),
            text: include_str!(concat!("../scenes/", file!($name $($kind)?))),
        }),+]
    };
}

static SCENES: &[BuiltIn] = scenes! {
    "arch": "thirteen stones stand on two feet without mortar";
    "argon": "sixty-four Lennard-Jones atoms fall together into a droplet";
    "arm": "three motors swing an arm through a row of blocks";
    "avalanche": "rocks hit slope and wall, but not each other";
    "balls-in-dish": "seven balls gather in a dish, six around one";
    "binary": "two equal stars circle each other in 17.2 s";
    "block-drop": "two blocks bounce and end as a stack";
    "block-on-ramp": "a block slides down a ramp, stops after 2 s and stays";
    "bowling": "a ball slides, rolls and hits ten pins";
    "brick-wall": "a steel ball flies into a wall of a hundred and five bricks";
    "bridge": "crates fall on a rope bridge of thirty planks";
    "bullet": "eight metres a step, and stopped by a wall of a millimetre";
    "car": "four sprung wheels drive a chassis over a row of bars";
    "card-house": "fifteen cards in three storeys lean and stand";
    "chain": "ninety-nine light links swing a heavy ball";
    "chain-of-balls": "one ball in, one ball out, one collision at a time";
    "chute": "six caps slide out of a tray, none through its walls";
    "coins": "eight coins roll, collide, rattle down and rest";
    "cradle": "five touching balls pass a blow on within one step";
    "crane" script: "a jib turns, and the ball on its chain hits a stack of thirty crates";
    "damped-springs": "under-damped, critically damped and over-damped springs";
    "domino-spiral" script: "a hundred and forty-one dominos fall along a spiral, one after the other";
    "dominos": "seven dominos topple in a row";
    "exploding-text": "the letters of two words fly apart in a box";
    "figure-eight": "three bodies chase each other along a figure eight";
    "free-fall": "five throws at 20 m/s; complementary angles reach equally far";
    "heavy-top": "a thousand kilograms stand on nine boxes of one";
    "ions": "four charges in a trap become a regular tetrahedron";
    "jenga": "a ball hits a tower of fifty-four blocks";
    "lever": "a falling block throws a stack of boxes over a plank";
    "newtons-cradle": "one ball swings in on its strings, one swings out";
    "platter": "a ball on a turning platter goes round in circles of its own";
    "pool-break": "a cue ball breaks a rack of fifteen";
    "quadruped": "eight motors walk a body on four legs";
    "raft": "balls, a raft and a cone float at the depth of Archimedes' principle";
    "ragdoll": "a doll of eleven limbs falls down the stairs";
    "rattleback": "a loaded ellipsoid refuses to spin one way";
    "shaker": "kinematic bodies on every kind of path";
    "sorter": "trap doors sort parts by mass, mostly";
    "spinning-top": "a disc on a ball joint goes round instead of falling";
    "spring-chain": "two normal modes of eight beads between two walls";
    "spring-pendulum": "bouncing turns into swinging and back";
    "swarm": "one hundred thousand weightless tumbling boxes";
    "symmetric-top": "a plate wobbles about twice as fast as it spins";
    "tennis-racket": "rotation about the middle axis flips over and over";
    "track" script: "a ball rolls down a gutter of 35 564 triangles without ghost collisions at their edges";
    "triple-pendulum": "three rods in joint coordinates keep their energy in chaos";
    "vortex": "thirty bodies collide in a whirlwind";
    "wind-tunnel": "balls of different mass are carried by a stream";
};

/// All built-in scenes, by name.
pub fn built_ins() -> &'static [BuiltIn] {
    SCENES
}
