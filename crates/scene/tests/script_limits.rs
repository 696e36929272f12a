//! Scripts that try to run for ever, to take all memory or to overflow the stack: each is stopped, with its place and the reason.

use rattleback_dynamics::Registry;
use rattleback_scene::Scene;
use std::time::{Duration, Instant};

fn refusal(script: &str) -> Option<String> {
    let built =
        Scene::parse(script, "a.rhai").and_then(|scene| scene.build(&Registry::default()).map(|_| ()));
    built.err().map(|error| error.to_string())
}

/// The largest resident size this process ever had, bytes; none where the system does not report it.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kib| kib << 10)
}

/// Depth: copying, comparing and dropping a value recurse. Each script, and the message when it is stopped.
const DEEP: &[(&str, &str)] = &[
    ("let a = []; for i in 0..100000 { a = [a]; } set(\"title\", a)", "deep"),
    ("let a = #{}; for i in 0..100000 { a = #{ a: a }; } set(\"title\", a)", "deep"),
    ("let a = []; loop { let b = []; b.push(a); a = b; }", "stopped"),
    ("let a = [[]]; loop { a[0] = [a[0]]; }", "deep"),
    ("let a = #{x: 1}; loop { a.x = #{x: a.x}; }", "deep"),
    ("fn wrap(x) { [x] } let a = 1; loop { a = wrap(a); }", "deep"),
    ("fn f(x) { x } let f = Fn(\"f\"); loop { f = f.curry(f); }", "stopped"),
    ("let a = []; let n = [0]; n.pad(100000, 0); n.reduce(|s, x| [s], [])", "deep"),
    ("let n = [0]; n.pad(50000, 0); n.reduce(|s, x| #{s: s}, 0)", "deep"),
    ("let x = 0; let g = || x; loop { x = [g]; g = || x; }", "deep"),
    ("let a = [0]; let f = |x| { a = [a]; x }; loop { f.call(1); }", "deep"),
    ("let a = []; loop { let b = a; a = [b, b]; }", "stopped"),
    (
        "fn deeper(a, n) { if n > 0 { deeper([[[[a]]]], n - 1) } else { a } } let a = 0; loop { a = deeper(a, 20); }",
        "deep",
    ),
];

/// Work: the cost of an operation depends on its data.
const ENDLESS: &[(&str, &str)] = &[
    ("let x = []; for i in 0..0x7fffffffffffffff { x.pad(9999, 1); }", "stopped"),
    ("let x = []; x.pad(50000, 1); for i in 0..0x7fffffffffffffff { x.sort(); }", "stopped"),
    ("let x = []; x.pad(50000, 1); loop { x.reverse(); }", "stopped"),
    ("let x = []; x.pad(50000, 1); loop { x.contains(2); }", "stopped"),
    ("let x = []; x.pad(50000, 1); loop { x == x; }", "stopped"),
    ("let x = []; x.pad(50000, 1); loop { x.splice(0, 1000, x.extract(0, 1000)); }", "stopped"),
    ("let x = []; x.pad(50000, 1); loop { let y = x; }", "stopped"),
    ("let x = []; x.pad(50000, 1); loop { `${x[0]}`; switch x { 1 => 2, _ => 3 } }", "stopped"),
    ("let x = []; x.pad(50000, 1); loop { for y in x { break; } }", "stopped"),
    ("let x = []; x.pad(50000, 1); let m = #{x: x}; loop { m.x; }", "stopped"),
    ("loop { [].pad(100000, 0); }", "stopped"),
    ("let s = \"x\"; s.pad(60000, 'y'); loop { s.to_chars(); }", "stopped"),
    ("let s = \"x\"; s.pad(60000, 'y'); loop { s.split(\"\"); }", "stopped"),
    ("let s = \"x\"; s.pad(60000, 'y'); loop { s[59999]; }", "stopped"),
    (
        "let s = \"x\"; s.pad(60000, 'y'); loop { s.to_upper(); s.index_of(\"z\"); s.contains(\"yyyyz\"); }",
        "stopped",
    ),
    ("let s = \"x\"; s.pad(60000, 'y'); loop { s == s + \"\"; }", "stopped"),
    ("fn text() { let s = \"\"; s.pad(60000, \"ab\"); s } loop { text() + \"\"; }", "stopped"),
    ("for i in range(0.0, 1.0, 1e-300) { }", "stopped"),
    ("for i in 0..0x7fffffffffffffff { }", "stopped"),
    ("for i in range(0, 1, 0) { }", "range"),
    ("let x = 0; do { x += 1; } while true;", "stopped"),
    ("loop { try { throw 1; } catch { } }", "stopped"),
    ("try { loop { } } catch { } set(\"title\", \"caught\");", "stopped"),
    ("loop { try { let a = []; a.pad(1000000000, 1); } catch { } }", "too large"),
    ("fn f(n) { f(n + 1) } try { f(0); } catch { }", "deep"),
    ("fn f(n) { g(n) } fn g(n) { f(n) } f(0);", "deep"),
    ("let f = |f, n| f.call(f, n + 1); f.call(f, 0);", "deep"),
    ("let x = [3, 1, 2]; x.sort(|a, b| { loop { } });", "stopped"),
    ("let x = [3, 1, 2]; x.map(|a| { while true { } });", "stopped"),
    ("sleep(1000000);", "sleep"),
    ("eval(\"loop {}\");", "eval"),
    ("parse_json(\"{}\");", "parse_json"),
    ("let b = blob(1000000000); loop { b += b; }", "blob"),
];

/// Memory.
const LARGE: &[(&str, &str)] = &[
    ("let s = \"x\"; loop { s += s; }", "too large"),
    ("let s = \"x\"; loop { s = s + s; }", "too large"),
    ("let s = \"x\"; loop { s = `${s}${s}`; }", "too large"),
    ("let s = \"aaaaaaaaaaaaaaaa\"; loop { s.replace(\"a\", \"aaaaaaaaaaaaaaaa\"); }", "too large"),
    ("let s = \"\"; s.pad(60000, 'a'); let t = \"\"; t.pad(60000, 'b'); s.replace(\"a\", t);", "too large"),
    ("let s = \"\"; s.pad(60000, 'a'); s.replace(\"\", s);", "too large"),
    ("let s = \"\"; s.pad(60000, \"\"); s.pad(-1, 'a'); s.pad(0x7fffffffffffffff, 'a');", "too large"),
    ("let a = [1]; loop { a += a; }", "too large"),
    ("let a = [1]; loop { a.append(a); }", "too large"),
    ("let a = []; a.pad(1000, 1); loop { a.pad(100000, a); }", "too large"),
    ("let a = []; a.pad(90000, 1); let b = a; a.map(|x| b)", "too large"),
    ("let a = []; a.pad(90000, 1); let b = a; a.zip(a, |x, y| b)", ""),
    ("let a = []; a.pad(9000, 1); let b = a; a.reduce(|s, x| { s.append(b); s }, [])", "too large"),
    ("let a = []; a.pad(90000, 1); a.filter(|x| { a.push(1); true })", ""),
    ("let m = #{}; let i = 0; loop { m[`${i}`] = i; i += 1; }", "stopped"),
    ("let m = #{}; let i = 0; loop { m[`${i}`] = #{ a: [i], b: `${i}`, c: #{} }; i += 1; }", "stopped"),
    ("let all = []; loop { let m = #{}; for i in 0..9000 { m[`k${i}`] = [i, i]; } all.push(m); }", "stopped"),
    ("fn hold(n) { let a = []; a.pad(90000, []); if n > 0 { hold(n - 1) } } loop { hold(40); }", "stopped"),
    (
        "fn hold(n) { let a = []; a.pad(90000, []); let b = a; let c = a; let d = a; let e = a; hold(n + 1) } hold(0);",
        "MiB",
    ),
    (
        "fn hold(n) { let m = #{}; for i in 0..9000 { m[`k${i}`] = i; } let p = m; let q = m; let r = m; let s = m; let t = m; hold(n + 1) } hold(0);",
        "",
    ),
    ("let s = \"\"; s.pad(60000, 'a'); loop { body(#{ name: s }); }", "MiB"),
    ("let s = \"\"; s.pad(60000, 'a'); let i = 0; loop { set(s + i, 1); i += 1; }", ""),
    ("loop { body(#{ position: [0, 0, 0] }); }", "values"),
    ("loop { material(`${random()}`, #{ restitution: 0.5 }); }", "stopped"),
    ("let a = [1]; let f = || a; loop { a.push(f); }", ""),
];

#[test]
fn what_nests_is_stopped_with_a_reason() {
    are_stopped(DEEP);
}

#[test]
fn what_does_not_end_is_stopped_with_a_reason() {
    are_stopped(ENDLESS);
}

#[test]
fn what_grows_is_stopped_with_a_reason() {
    are_stopped(LARGE);
}

fn are_stopped(scripts: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (script, words) in scripts {
        let began = Instant::now();
        let message = refusal(script).unwrap_or_default();
        let (took, first) = (began.elapsed(), message.lines().next().unwrap_or("not stopped"));
        println!("{took:8.2?} {:5} MB {script}\n         {first}", peak().unwrap_or(0) >> 20);
        let reported = message.starts_with("a.rhai:1:") && message.contains(words);
        if !reported || took > Duration::from_mins(1) {
            wrong.push(format!("{took:?} {script}: {first}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    if let Some(peak) = peak() {
        assert!(peak < 1 << 30, "{} MB", peak >> 20);
    }
}

#[test]
fn a_script_that_is_too_long_is_refused() {
    let script = "let x = 1;\n".repeat(100_000);
    assert!(refusal(&script).unwrap().contains("1048576"));
    // Expressions that lie too deep in each other, by the parser.
    for (open, close) in [("[", "]"), ("(", ")"), ("#{a: ", "}"), ("-", ""), ("!", ""), ("{", "}")] {
        let script = format!("let x = {}1{};", open.repeat(100_000), close.repeat(100_000));
        assert!(refusal(&script).is_some(), "{open}");
    }
    let long = format!("let x = {};", vec!["1"; 100_000].join(" + "));
    assert!(refusal(&long).is_some());
}

/// Limits are larger than scenes need.
#[test]
fn ordinary_scripts_do_not_meet_a_limit() {
    for script in [
        // A height field of 100 × 100.
        "let h = []; for i in 0..100 { for j in 0..100 { h.push((i * 0.1).sin() * (j * 0.1).cos()); } } set(\"title\", `${h.len()}`);",
        // Ten thousand bodies.
        "for i in 0..10000 { body(#{ name: `b${i}`, position: [i, 0, 0], shape: #{ type: \"sphere\", radius: 0.1 } }); }",
        // Closures, sorting, splitting, nested tables.
        "let offset = 2; let f = |x| x + offset; let a = [3, 1, 2].map(f); a.sort(); if a != [3, 4, 5] { throw a; }",
        "let w = \"a,b,c\".split(\",\"); if w.len() != 3 || w[2] != \"c\" { throw w; }",
        "let s = \"a-b\"; s.replace(\"-\", \"+\"); if s != \"a+b\" { throw s; } s.pad(5, '.'); if s != \"a+b..\" { throw s; }",
        "let m = #{ a: 1, b: 2 }; let n = m.map(|k, v| v * 10); if n.b != 20 { throw n; }",
        "let z = [1, 2].zip([3, 4], |a, b| a * b); if z != [3, 8] { throw z; }",
        "let z = [5, 6].map(|a, i| a * i); if z != [0, 6] { throw z; }",
        "fn tree(n) { if n == 0 { 1 } else { tree(n - 1) + tree(n - 1) } } if tree(12) != 4096 { throw 0; }",
        "let x = []; for i in 0..40 { x = [x]; }",
        "let total = 0.0; for i in 0..300000 { total += (i * 0.001).sin(); }",
    ] {
        assert_eq!(refusal(script), None, "{script}");
    }
}
