//! Worst errors of the nearest-point searches against trying everything and against parry, over many poses per pair:
//! `cargo run --release -p rattleback-geometry --example closest_oracle -- 100000`

#[path = "../tests/closest_oracle/mod.rs"]
mod closest_oracle;
#[path = "../tests/random/mod.rs"]
mod random;

use closest_oracle::{PAIRS, worst_errors};

fn main() {
    let poses = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    println!("{poses} poses per pair; errors in units of the larger of distance and size of the pair");
    println!(
        "{:<26}{:>8}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "pair", "apart", "deep", "distance", "depth", "witness", "swapped", "moved", "parry"
    );
    for pair in PAIRS {
        let worst = worst_errors(pair, poses, 1);
        println!(
            "{:<26}{:>8}{:>8}{:>12.1e}{:>12.1e}{:>12.1e}{:>12.1e}{:>12.1e}{:>12.1e}",
            pair.name,
            worst.apart,
            worst.deep,
            worst.distance,
            worst.depth,
            worst.witness,
            worst.swapped,
            worst.moved,
            worst.parry
        );
    }
}
