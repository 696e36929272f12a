//! Worst errors of contacts against their own certificates and against brute force, over many poses per pair:
//! `cargo run --release -p rattleback-geometry --example contact_oracle -- 100000 [pairs whose name contains
//! this]`

#[path = "../tests/contact_oracle/mod.rs"]
mod contact_oracle;
#[path = "../tests/lens/mod.rs"]
mod lens;
#[path = "../tests/pair_kind/mod.rs"]
mod pair_kind;
#[path = "../tests/random/mod.rs"]
mod random;

use contact_oracle::{PAIRS, SPECIAL, worst_errors};

fn main() {
    let poses = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(300);
    println!("{poses} poses per pair; errors in units of the larger of distance and size of the pair");
    println!(
        "{:<28}{:>7}{:>7}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "pair",
        "apart",
        "deep",
        "distance",
        "depth",
        "points",
        "manifold",
        "swapped",
        "moved",
        "manifold↔",
        "cached",
        "disagree"
    );
    let name = std::env::args().nth(2).unwrap_or_default();
    for pair in PAIRS.iter().chain(SPECIAL).filter(|pair| pair.name.contains(&name)) {
        let worst = worst_errors(pair, poses, 1);
        println!(
            "{:<28}{:>7}{:>7}{:>10.1e}{:>10.1e}{:>10.1e}{:>10.1e}{:>10.1e}{:>10.1e}{:>10.1e}{:>10.1e}{:>10}",
            pair.name,
            worst.apart,
            worst.deep,
            worst.distance,
            worst.depth,
            worst.witness,
            worst.manifold,
            worst.swapped,
            worst.moved,
            worst.manifold_moved,
            worst.cached,
            worst.disagreements
        );
    }
}
