#!/usr/bin/env python3
"""Stable poses of random meshes: `rattleback poses --method none` against trimesh's compute_stable_poses.

    python3 -m venv venv && venv/bin/pip install numpy scipy networkx trimesh
    venv/bin/python compare.py ../../target/release/rattleback [MESHES] [SEED]

Half of the meshes are hulls of random points, half star-shaped and not convex. Both programs take the solid angle of each hull face and
pass that of unstable faces on. They differ in one rule: over which edge an unstable face topples. trimesh takes the edge that the line from the face's
centroid to the projected centre of mass crosses; rattleback the edge nearest to the projected centre of mass. So every mesh is
compared twice: as it is, and with trimesh's rule replaced (`nearest_edge` below, on trimesh's hull and solid angles).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import trimesh
from trimesh import poses as tp


def random_mesh(rng, kind):
    if kind == "hull":
        points = rng.normal(size=(rng.integers(6, 60), 3)) * [1, rng.uniform(0.3, 1), rng.uniform(0.3, 1)]
        return trimesh.convex.convex_hull(points)
    ball = trimesh.creation.icosphere(subdivisions=2)
    ball.vertices *= np.exp(0.5 * rng.normal(size=(len(ball.vertices), 1)))
    ball.vertices *= [1, rng.uniform(0.4, 1), rng.uniform(0.4, 1)]
    return ball


def nearest_edge(mesh):
    """Face normals and shares by the rule of the nearest edge, on trimesh's hull."""
    hull, com = mesh.convex_hull, mesh.center_mass
    p = np.array([tp._compute_static_prob(t, com) for t in hull.triangles])
    height = np.einsum("ij,ij->i", hull.face_normals, hull.triangles[:, 0] - com)
    beyond = {}
    for (f, g), edge in zip(hull.face_adjacency, hull.face_adjacency_edges):
        a, b = hull.vertices[edge]
        for face, other in ((f, g), (g, f)):
            n = hull.face_normals[face]
            out = np.cross(b - a, n)
            out /= np.linalg.norm(out)
            if out @ (hull.triangles_center[face] - a) > 0:
                out = -out
            beyond.setdefault(face, []).append((out @ (com - a), other))
    for face in np.argsort(-height):
        distance, other = max(beyond[face])
        if distance > 0:
            p[other] += p[face]
            p[face] = 0
    return hull.face_normals, p


def matched(reference, found):
    """Largest difference of shares of the same direction, and how many directions have no partner."""
    worst, alone = 0.0, 0
    rest = list(range(len(found)))
    for normal, share in reference:
        near = [i for i in rest if np.linalg.norm(found[i][0] - normal) < 2e-3]
        if not near:
            alone += share > 1e-9
            worst = max(worst, share)
            continue
        worst = max(worst, abs(sum(found[i][1] for i in near) - share))
        rest = [i for i in rest if i not in near]
    alone += sum(found[i][1] > 1e-9 for i in rest)
    return worst, alone


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "rattleback"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    rng = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    plain, ruled, equal, total = [], [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(count):
            mesh = random_mesh(rng, "hull" if k % 2 == 0 else "star")
            path, out = Path(folder) / "mesh.obj", Path(folder) / "poses.json"
            with open(path, "w") as file:
                for v in mesh.vertices * 0.01:
                    file.write("v %.17g %.17g %.17g\n" % tuple(v))
                for f in mesh.faces + 1:
                    file.write("f %d %d %d\n" % tuple(f))
            command = [program, "poses", path, "--method", "none", "--smooth", "0", "--json", out]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            ours = [(np.array(p["down"]), p["quasi_static"]) for p in json.loads(out.read_text())["poses"]]
            transforms, shares = tp.compute_stable_poses(mesh, threshold=-1.0)
            theirs = [(-t[2, :3], p) for t, p in zip(transforms, shares)]
            difference, alone = matched(theirs, ours)
            plain.append(difference)
            equal += difference < 1e-6 and alone == 0
            normals, p = nearest_edge(mesh)
            difference, alone = matched([(n, s) for n, s in zip(normals, p) if s > 0], ours)
            ruled.append(difference if alone == 0 else max(difference, 1.0))
            total += len(ours)
    print(f"{count} meshes, {total} stable poses")
    print(f"as trimesh topples:   equal within 1e-6 on {equal} meshes; median difference {np.median(plain):.1e}, worst {max(plain):.4f}")
    print(f"with the nearest edge: worst difference {max(ruled):.1e} (same stable faces on all: {max(ruled) < 1})")


main()
