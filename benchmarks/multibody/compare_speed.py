"""Time per call beside Pinocchio and MuJoCo, in alternating runs: minima over all of them, µs, and ratios.

    VENV/bin/python compare_speed.py PATH/TO/multibody_peers OUT [--runs 5]        OUT as dump_models.py wrote it

The peers are called from Python. The price of a call is taken off: that of the same function on a model of one hinge, which includes that
hinge's own arithmetic (about 0.1 µs), and that of handing over the mass matrix, which grows with the robot. Pinocchio runs in both frame conventions; the
faster counts. MuJoCo moves the same links, without contact, limits and other constraints. `peer_speed.cpp` times Pinocchio without Python.
"""

import argparse
import pathlib
import subprocess
import time

import mujoco
import numpy as np
import pinocchio as pin

ROBOTS = [("panda", False), ("anymal_b", True), ("talos", True), ("chain100", False), ("chain400", False)]
ONE = """<robot name="one"><link name="base"/><link name="a"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
<inertia ixx="0.002" iyy="0.002" izz="0.0004" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="base"/>
<child link="a"/><axis xyz="0 1 0"/><limit effort="1" lower="-3" upper="3" velocity="10"/></joint></robot>"""


def least(call, count, rounds):
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter_ns()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter_ns() - start) / count)
    return best


def pinocchio_calls(model):
    data, rng = model.createData(), np.random.default_rng(3)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
    v, f = rng.normal(size=(2, model.nv))
    calls = {"rnea": [lambda: pin.rnea(model, data, q, v, f)], "aba": [], "crba": []}
    for convention in (pin.Convention.LOCAL, pin.Convention.WORLD):
        calls["aba"].append(lambda c=convention: pin.aba(model, data, q, v, f, c))
        calls["crba"].append(lambda c=convention: pin.crba(model, data, q, c))
    if model.nv <= 100:
        calls["aba_derivatives"] = [lambda: pin.computeABADerivatives(model, data, q, v, f)]
    return calls


def mujoco_call(path):
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return None, 0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, rng = mujoco.MjData(model), np.random.default_rng(4)
    data.qpos[:], data.qvel[:] = rng.uniform(-1, 1, model.nq), rng.normal(size=model.nv)
    return lambda: mujoco.mj_forward(model, data), model.nv


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    one_path = arguments.out / "one.urdf"
    one_path.write_text(ONE)
    one_model = pin.buildModelFromXML(ONE)
    one = pinocchio_calls(one_model)
    one_forward, _ = mujoco_call(one_path)
    times = {}

    def note(robot, what, ns):
        times[robot, what] = min(ns, times.get((robot, what), float("inf")))

    for _ in range(arguments.runs):
        for robot, floating in ROBOTS:
            path = str(arguments.out / f"{robot}.urdf")
            model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
            # Rounds of a fraction of a millisecond: some are not interrupted even on a busy machine.
            count = max(1, 1000 // model.nv)
            data, hinge = model.createData(), one_model.createData()
            for what, calls in pinocchio_calls(model).items():
                price = min(least(call, 100, 100) for call in one[what])
                if what == "crba":
                    price += max(0.0, least(lambda: data.M, 100, 100) - least(lambda: hinge.M, 100, 100))
                note(robot, f"pinocchio {what}", min(least(call, count, 200) for call in calls) - price)
            forward, velocities = mujoco_call(arguments.out / f"{robot}.mjcf.xml")
            if forward:
                price = least(one_forward, 100, 100)
                note(robot, f"mujoco mj_forward ({velocities} velocities)", least(forward, count, 200) - price)
            text = subprocess.run(
                [arguments.program, "--rounds", "300", str(arguments.out / f"{robot}.json")], capture_output=True, text=True, check=True
            ).stdout
            for line in text.splitlines():
                parts = line.split()
                if len(parts) == 3 and parts[0] == robot:
                    note(robot, f"ours {parts[1]}", float(parts[2]))
    for robot, _ in ROBOTS:
        for (name, what), ns in sorted(times.items()):
            if name != robot:
                continue
            ours = times.get((robot, "ours " + what.split()[1]))
            if what.startswith("mujoco"):
                ours = times.get((robot, "ours aba"))
            ratio = f"   ours {ours / 1000:8.2f}   peer/ours {ns / ours:.2f}" if not what.startswith("ours") and ours else ""
            print(f"{robot:10} {what:40} {ns / 1000:9.2f} µs{ratio}")


main()
