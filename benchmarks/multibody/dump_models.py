"""Writes robots with random states and the answers of Pinocchio and MuJoCo as JSON, for `cargo run --release` here.

    python -m venv VENV && VENV/bin/pip install pin mujoco example-robot-data dm-control gymnasium
    VENV/bin/python dump_models.py OUT [--states 1000]

Robots are read from the packages; none is copied here. A file holds the links (parent, joint, frame, inertia) and states: positions q,
velocities v, joint forces f with the peer's accelerations `a`; accelerations `b` with the peer's joint forces `g`; for the first ten states
the peer's mass matrix. Positions and velocities are in our conventions: quaternions x, y, z, w; velocities of a floating base along its own axes, linear
first. The first ten states also have the peer's centre of mass (`com`) and the places of its bodies (`places`: x, y, z and the rotation row by row).
`path` is the file in the package: `RATTLEBACK_ROBOT_DUMPS=OUT cargo test --release -p rattleback-scene --test suite real_robots -- --ignored --nocapture` reads it with our readers and compares.
OUT also gets each robot as Pinocchio saves its models, its URDF, and its links for `peer_speed.cpp`.
"""

import argparse
import json
import pathlib
import shutil
import site
import sys

import mujoco
import numpy as np
import pinocchio as pin

PACKAGES = pathlib.Path(site.getsitepackages()[0])
ROBOTS = PACKAGES / "cmeel.prefix/share/example-robot-data/robots"
# (name, URDF, floating base)
URDF = [
    ("panda", "panda_description/urdf/panda.urdf", False),
    ("ur5", "ur_description/urdf/ur5_robot.urdf", False),
    ("kinova", "kinova_description/robots/kinova.urdf", False),
    ("allegro", "allegro_hand_description/urdf/allegro_right_hand.urdf", False),
    ("anymal_b", "anymal_b_simple_description/robots/anymal.urdf", True),
    ("anymal_c", "anymal_c_simple_description/urdf/anymal.urdf", True),
    ("go1", "go1_description/urdf/go1.urdf", True),
    ("solo12", "solo_description/robots/solo12.urdf", True),
    ("hyq", "hyq_description/robots/hyq_no_sensors.urdf", True),
    ("talos", "talos_data/robots/talos_reduced.urdf", True),
    ("talos_full", "talos_data/robots/talos_full_v2.urdf", True),
    ("g1", "g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    ("icub", "icub_description/robots/icub.urdf", True),
    ("romeo", "romeo_description/urdf/romeo.urdf", True),
]
MJCF = [
    ("mj_humanoid", "dm_control/suite/humanoid.xml"),
    ("mj_humanoid_cmu", "dm_control/suite/humanoid_CMU.xml"),
    ("mj_quadruped", "dm_control/suite/quadruped.xml"),
    ("mj_dog", "dm_control/suite/dog.xml"),
    ("mj_jaco_arm", "dm_control/third_party/kinova/jaco_arm.xml"),
    ("mj_jaco_hand", "dm_control/third_party/kinova/jaco_hand.xml"),
    ("mj_ant", "gymnasium/envs/mujoco/assets/ant.xml"),
    ("mj_walker2d", "gymnasium/envs/mujoco/assets/walker2d_v5.xml"),
    ("mj_pusher", "gymnasium/envs/mujoco/assets/pusher_v5.xml"),
    ("mj_cheetah", "dm_control/suite/cheetah.xml"),
    ("mj_fruitfly", "dm_control/locomotion/walkers/assets/fruitfly_v2/fruitfly.xml"),
    ("mj_rodent", "dm_control/locomotion/walkers/assets/rodent.xml"),
]


def chain_urdf(count):
    """A chain of rods that hang along −z, axes alternating between y and x."""
    parts = ['<robot name="chain"><link name="base"/>']
    for k in range(count):
        parent = "base" if k == 0 else f"link{k - 1}"
        axis = "0 1 0" if k % 2 == 0 else "1 0 0"
        z = 0 if k == 0 else -0.2
        parts.append(
            f'<link name="link{k}"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>'
            '<inertia ixx="0.002" iyy="0.002" izz="0.0004" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint{k}" type="revolute"><parent link="{parent}"/><child link="link{k}"/>'
            f'<origin xyz="0 0 {z}"/><axis xyz="{axis}"/>'
            '<limit effort="1" lower="-3" upper="3" velocity="10"/></joint>'
        )
    return "".join(parts) + "</robot>"


def rows(matrix):
    return np.asarray(matrix).reshape(-1).tolist()


def quaternion(rotation):
    q = pin.Quaternion(np.asarray(rotation)).normalized()
    return [q.x, q.y, q.z, q.w]


def pinocchio_joint(joint):
    """(kind, axis or none, way of its positions)."""
    name = joint.shortname()
    axes = {"X": [1.0, 0, 0], "Y": [0, 1.0, 0], "Z": [0, 0, 1.0]}
    if name == "JointModelFreeFlyer":
        return "free", None, "same"
    if name == "JointModelSpherical":
        return "spherical", None, "same"
    for prefix, kind in (("JointModelRUB", "revolute"), ("JointModelR", "revolute"), ("JointModelP", "prismatic")):
        if name.startswith(prefix) and name[len(prefix):] in axes:
            return kind, axes[name[len(prefix):]], "circle" if prefix == "JointModelRUB" else "same"
    kind = "prismatic" if "Prismatic" in name else "revolute"
    # The axis of an unaligned joint is its motion at the neutral position.
    data = joint.createData()
    neutral = np.array([1.0, 0.0]) if joint.nq == 2 else np.zeros(joint.nq)
    joint.calc(data, neutral)
    motion = np.asarray(data.S).reshape(6)
    axis = motion[:3] if kind == "prismatic" else motion[3:]
    return kind, (axis / np.linalg.norm(axis)).tolist(), "circle" if joint.nq == 2 else "same"


def dump_pinocchio(name, path, floating, out, states, locked=()):
    model = (
        pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(str(path))
    )
    if locked:
        model = pin.buildReducedModel(model, [model.getJointId(joint) for joint in locked], pin.neutral(model))
    data = model.createData()
    links, ways = [], []
    for index in range(1, model.njoints):
        joint, inertia, placement = model.joints[index], model.inertias[index], model.jointPlacements[index]
        kind, axis, way = pinocchio_joint(joint)
        ways.append((joint.idx_q, joint.nq, way))
        links.append(
            {
                "name": model.names[index],
                "parent": model.parents[index] - 1,
                "joint": kind,
                "axis": axis,
                "rotation": quaternion(placement.rotation),
                "position": rows(placement.translation),
                "mass": inertia.mass,
                "center": rows(inertia.lever),
                "inertia": rows(inertia.inertia),
                "armature": float(model.armature[joint.idx_v]) if joint.nv else 0.0,
            }
        )
    rng = np.random.default_rng(1)
    low = np.clip(model.lowerPositionLimit, -3, 3)
    high = np.clip(model.upperPositionLimit, -3, 3)
    records, masses = [], []
    for _ in range(states):
        q = pin.neutral(model)
        for start, count, way in ways:
            if way == "circle":
                angle = rng.uniform(-3, 3)
                q[start : start + 2] = [np.cos(angle), np.sin(angle)]
            elif count == 1:
                q[start] = rng.uniform(low[start], max(high[start], low[start]))
            else:
                q[start : start + count] = rng.normal(size=count)
        q = pin.normalize(model, q)
        v, f, b = rng.normal(size=(3, model.nv))
        f *= 10
        a = pin.aba(model, data, q, v, f).copy()
        g = pin.rnea(model, data, q, v, b).copy()
        if not np.isfinite(a).all():
            raise ValueError("a joint moves no mass: the accelerations of Pinocchio are not finite")
        if len(masses) < 10:
            mass = pin.crba(model, data, q).copy()
            mass = np.triu(mass) + np.triu(mass, 1).T
            masses.append(rows(mass))
        ours = []
        for start, count, way in ways:
            ours += [float(np.arctan2(q[start + 1], q[start]))] if way == "circle" else rows(q[start : start + count])
        record = {"q": ours, "v": rows(v), "f": rows(f), "a": rows(a), "b": rows(b), "g": rows(g)}
        if len(records) < 10:
            pin.framesForwardKinematics(model, data, q)
            # Pinocchio leaves out what is fixed to the world.
            moving, still = pin.computeTotalMass(model), model.inertias[0]
            center = pin.centerOfMass(model, data, q) * moving + still.lever * still.mass
            record["com"] = rows(center / (moving + still.mass))
            record["places"] = {
                frame.name: rows(data.oMf[index].translation) + rows(data.oMf[index].rotation)
                for index, frame in enumerate(model.frames)
                if frame.type == pin.FrameType.BODY and frame.name != "universe"
            }
        records.append(record)
    source = {"floating": floating, "mass": sum(inertia.mass for inertia in model.inertias)}
    if not locked:
        source["path"] = str(path)
    write(out, name, "pinocchio", [0, 0, -9.81], links, records, masses, source)
    shutil.copy(path, out / f"{name}.urdf")
    model.saveToText(str(out / f"{name}.model"))
    return model.nv


def dump_mujoco(name, path, out, states):
    model = mujoco.MjModel.from_xml_path(str(path))
    # Only masses, joints and gravity: no contact, limits, friction, springs, dampers, tendons, fluid, equalities.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    for field in ("dof_damping", "jnt_stiffness", "tendon_stiffness", "tendon_damping", "body_gravcomp", "tendon_armature"):
        if hasattr(model, field):
            getattr(model, field)[:] = 0
    model.opt.density = model.opt.viscosity = 0
    model.opt.wind[:] = 0
    data = mujoco.MjData(model)
    links, frame = [], {0: (-1, np.zeros(3))}
    order = []  # (joint or none) for every link
    for body in range(1, model.nbody):
        parent, offset = frame[int(model.body_parentid[body])]
        position, rotation = model.body_pos[body] - offset, model.body_quat[body]
        joints = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        anchor = np.zeros(3)
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, rotation)
        matrix = matrix.reshape(3, 3)
        entries = list(joints) or [None]
        for place, joint in enumerate(entries):
            kind, axis, armature = "fixed", None, 0.0
            new = anchor
            if joint is not None:
                kind = {0: "free", 1: "spherical", 2: "prismatic", 3: "revolute"}[int(model.jnt_type[joint])]
                new = np.zeros(3) if kind == "free" else model.jnt_pos[joint].copy()
                if kind in ("prismatic", "revolute"):
                    axis = rows(model.jnt_axis[joint] / np.linalg.norm(model.jnt_axis[joint]))
                armature = float(model.dof_armature[model.jnt_dofadr[joint]])
            if place == 0:
                where, turn = position + matrix @ new, [rotation[1], rotation[2], rotation[3], rotation[0]]
            else:
                where, turn = new - anchor, [0.0, 0.0, 0.0, 1.0]
            if kind == "free":
                where, turn = np.zeros(3), [0.0, 0.0, 0.0, 1.0]
            anchor = new
            last = place == len(entries) - 1
            inertial = np.zeros(9)
            mujoco.mju_quat2Mat(inertial, model.body_iquat[body])
            inertial = inertial.reshape(3, 3)
            tensor = inertial @ np.diag(model.body_inertia[body]) @ inertial.T
            links.append(
                {
                    "name": f"{model.body(body).name or body}/{place}",
                    "parent": parent if place == 0 else len(links) - 1,
                    "joint": kind,
                    "axis": axis,
                    "rotation": [float(x) for x in turn],
                    "position": rows(where),
                    "mass": float(model.body_mass[body]) if last else 0.0,
                    "center": rows(model.body_ipos[body] - anchor) if last else [0.0, 0.0, 0.0],
                    "inertia": rows(0.5 * (tensor + tensor.T)) if last else [0.0] * 9,
                    "armature": armature,
                }
            )
            order.append(joint)
        frame[body] = (len(links) - 1, anchor)
    rng = np.random.default_rng(2)
    records, masses = [], []
    for _ in range(states):
        q, v, f, b, world_v, world_f = [], [], [], [], np.zeros(model.nv), np.zeros(model.nv)
        world_b = np.zeros(model.nv)
        data.qpos[:] = model.qpos0
        turns = []
        for joint in order:
            if joint is None:
                continue
            at, dof, kind = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint]), int(model.jnt_type[joint])
            count = {0: 6, 1: 3, 2: 1, 3: 1}[kind]
            own_v, own_f, own_b = rng.normal(size=count), 10 * rng.normal(size=count) * 0.1, rng.normal(size=count)
            if kind in (2, 3):
                limited = bool(model.jnt_limited[joint])
                low, high = model.jnt_range[joint] if limited else (-2.0, 2.0)
                value = rng.uniform(low, high)
                data.qpos[at] = value
                q.append(float(value - model.qpos0[at]))
                world_v[dof], world_f[dof], world_b[dof] = own_v[0], own_f[0], own_b[0]
            else:
                turn = rng.normal(size=4)
                turn /= np.linalg.norm(turn)
                if kind == 0:
                    place = rng.normal(size=3)
                    data.qpos[at : at + 3] = place
                    data.qpos[at + 3 : at + 7] = turn
                    q += rows(place)
                    matrix = np.zeros(9)
                    mujoco.mju_quat2Mat(matrix, turn)
                    matrix = matrix.reshape(3, 3)
                    turns.append((dof, matrix, own_v))
                    # Ours along the link's axes; MuJoCo's linear part along the world's.
                    world_v[dof : dof + 3], world_v[dof + 3 : dof + 6] = matrix @ own_v[:3], own_v[3:]
                    world_f[dof : dof + 3], world_f[dof + 3 : dof + 6] = matrix @ own_f[:3], own_f[3:]
                    world_b[dof : dof + 3] = matrix @ (own_b[:3] + np.cross(own_v[3:], own_v[:3]))
                    world_b[dof + 3 : dof + 6] = own_b[3:]
                else:
                    data.qpos[at : at + 4] = turn
                    world_v[dof : dof + 3], world_f[dof : dof + 3], world_b[dof : dof + 3] = own_v, own_f, own_b
                q += [turn[1], turn[2], turn[3], turn[0]]
            v += rows(own_v)
            f += rows(own_f)
            b += rows(own_b)
        data.qvel[:], data.qfrc_applied[:] = world_v, world_f
        mujoco.mj_forward(model, data)
        a = data.qacc_smooth.copy()
        data.qacc[:] = world_b
        g = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 1, g)
        # mj_rne leaves the rotors out.
        g += model.dof_armature * world_b
        for dof, matrix, own_v in turns:
            a[dof : dof + 3] = matrix.T @ a[dof : dof + 3] - np.cross(own_v[3:], own_v[:3])
            g[dof : dof + 3] = matrix.T @ g[dof : dof + 3]
        # Joints in the order of our links.
        take = []
        for joint in order:
            if joint is not None:
                dof, kind = int(model.jnt_dofadr[joint]), int(model.jnt_type[joint])
                take += list(range(dof, dof + {0: 6, 1: 3, 2: 1, 3: 1}[kind]))
        q = [float(x) for x in q]
        record = {"q": q, "v": v, "f": f, "a": rows(a[take]), "b": b, "g": rows(g[take])}
        if len(records) < 10:
            moving = model.body_mass[1:]
            record["com"] = rows(moving @ data.xipos[1:] / moving.sum())
            record["places"] = {
                model.body(body).name: rows(data.xpos[body]) + rows(data.xmat[body])
                for body in range(1, model.nbody)
                if model.body(body).name
            }
        records.append(record)
    source = {"path": str(path), "floating": False, "mass": float(model.body_mass.sum())}
    write(out, name, "mujoco", rows(model.opt.gravity), links, records, masses, source)
    return model.nv


def mjcf(name, links):
    """The same tree for MuJoCo, whose URDF reader refuses some robots."""
    text = lambda values: " ".join(map(repr, map(float, values)))

    def body(index):
        link = links[index]
        x, y, z, w = link["rotation"]
        inertia = np.reshape(link["inertia"], (3, 3))
        moments = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        joint = {"free": "<freejoint/>", "fixed": ""}.get(link["joint"])
        if joint is None:
            kind = {"revolute": "hinge", "prismatic": "slide"}[link["joint"]]
            joint = f'<joint type="{kind}" axis="{text(link["axis"])}" limited="false"/>'
        children = "".join(body(k) for k in range(index + 1, len(links)) if links[k]["parent"] == index)
        return (
            f'<body pos="{text(link["position"])}" quat="{text([w, x, y, z])}">{joint}<inertial pos="{text(link["center"])}"'
            f' mass="{link["mass"]!r}" fullinertia="{text(moments)}"/>{children}</body>'
        )

    roots = "".join(body(k) for k in range(len(links)) if links[k]["parent"] < 0)
    return f'<mujoco model="{name}"><compiler balanceinertia="true"/><worldbody>{roots}</worldbody></mujoco>'


def write(out, name, peer, gravity, links, records, masses, source):
    content = {"name": name, "peer": peer, "gravity": gravity, "links": links, "states": records, "masses": masses}
    content |= source
    if peer == "pinocchio":
        # The same for `peer_speed.cpp`.
        fields = lambda l: [l["parent"], l["joint"], *(l["axis"] or [0, 0, 0]), *l["rotation"], *l["position"], l["mass"], *l["center"], *l["inertia"]]
        sys.setrecursionlimit(10_000)
        (out / f"{name}.mjcf.xml").write_text(mjcf(name, links))
        (out / f"{name}.links").write_text("".join(" ".join(map(str, fields(link))) + "\n" for link in links))
    (out / f"{name}.json").write_text(json.dumps(content))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--states", type=int, default=1000)
    parser.add_argument("--only", nargs="*", help="names of robots; all if none is given")
    arguments = parser.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    wanted = lambda name: not arguments.only or name in arguments.only
    for count in (100, 400):
        if not wanted(f"chain{count}"):
            continue
        path = out / f"chain{count}.source.urdf"
        path.write_text(chain_urdf(count))
        states = min(arguments.states, 50)
        print(f"chain{count}: {dump_pinocchio(f'chain{count}', path, False, out, states)} velocities")
    if wanted("panda7"):
        # An arm of seven axes: without the fingers.
        locked = ["panda_finger_joint1", "panda_finger_joint2"]
        path = ROBOTS / "panda_description/urdf/panda.urdf"
        print(f"panda7: {dump_pinocchio('panda7', path, False, out, arguments.states, locked)} velocities")
    for name, file, floating in filter(lambda robot: wanted(robot[0]), URDF):
        found = ROBOTS / file
        if not found.exists():
            near = sorted(ROBOTS.glob(file.split("/")[0] + "/**/*.urdf"))
            print(f"{name}: no {file}; there are {[str(p.relative_to(ROBOTS)) for p in near]}")
            continue
        try:
            print(f"{name}: {dump_pinocchio(name, found, floating, out, arguments.states)} velocities")
        except Exception as error:  # A peer that cannot read its file is no reason to stop.
            print(f"{name}: {error}")
    for name, file in filter(lambda robot: wanted(robot[0]), MJCF):
        try:
            print(f"{name}: {dump_mujoco(name, PACKAGES / file, out, arguments.states)} velocities")
        except Exception as error:
            print(f"{name}: {error}")


main()
