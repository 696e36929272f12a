"""Time per call beside Pinocchio and MuJoCo in one alternating run: least and median µs, and ratios.

    python compare_speed.py OURS PEERS OUT [--turns 7] [--rounds 40]        called by `run`

OURS is the program of this folder, PEERS `peer_speed`, OUT what dump_models.py wrote. In every turn each robot is measured by both, one right after the
other; which of the two comes first changes from turn to turn. Pinocchio runs in both frame conventions, the faster counts. MuJoCo moves the same links, without contact,
limits and other constraints; `mj_forward` is compared with our forward dynamics (ABA), which gives the same accelerations.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys

ROBOTS = ["panda7", "panda", "anymal_b", "talos", "g1", "chain400"]
PAIRS = [("aba", "aba"), ("rnea", "rnea"), ("crba", "crba"), ("aba", "mj_forward"), ("aba_of_four", "aba"), ("rnea_of_four", "rnea")]


def measure(command):
    found = {}
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        parts = line.split()
        if len(parts) == 4:
            least, median = float(parts[2]), float(parts[3])
            # Of two frame conventions the faster.
            if parts[1] not in found or least < found[parts[1]][0]:
                found[parts[1]] = (least, median)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ours")
    parser.add_argument("peers")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    samples = {}
    for turn in range(arguments.turns):
        for robot in ROBOTS:
            commands = [
                ("ours", [arguments.ours, "--speed", "--rounds", str(arguments.rounds), str(arguments.out / f"{robot}.json")]),
                ("peer", [arguments.peers, str(arguments.rounds), str(arguments.out / f"{robot}.links")]),
            ]
            for side, command in commands if turn % 2 == 0 else reversed(commands):
                for what, (least, median) in measure(command).items():
                    samples.setdefault((robot, side, what), []).append((least, median))

    def summary(robot, side, what):
        own = samples[robot, side, what]
        return min(least for least, _ in own) / 1000, statistics.median(median for _, median in own) / 1000

    print("µs per call; least / median; peer ÷ ours, above 1: we are faster")
    slower = 0
    for robot in ROBOTS:
        for ours, peer in PAIRS:
            a = summary(robot, "ours", ours)
            own_peer = ours.endswith("four")
            b = summary(robot, "ours" if own_peer else "peer", peer)
            ratios = b[0] / a[0], b[1] / a[1]
            name = {"mj_forward": "MuJoCo mj_forward"}.get(peer, f"ours, one by one: {peer}" if own_peer else f"Pinocchio {peer}")
            wanted = 2.0 if own_peer else 1.0
            slower += min(ratios) < wanted
            note = "" if min(ratios) >= wanted else f"   below {wanted}"
            print(
                f"{robot:9} {ours:13} {a[0]:8.2f} / {a[1]:8.2f}   {name:24} {b[0]:8.2f} / {b[1]:8.2f}   ratio {ratios[0]:6.2f} / {ratios[1]:6.2f}{note}"
            )
    sys.exit(1 if slower else 0)


main()
