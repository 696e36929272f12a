// Overlays: contacts, boxes, axes, velocities, joints and other quantities drawn over the bodies.

import * as THREE from "three";
import type { Bodies } from "./bodies";
import { Lines } from "./lines";
import { Section, type Frame, type Scene } from "./protocol";

export interface Overlay {
  name: string;
  label: string;
  colour: string;
  key: string;
}

/** In the order of the list. */
export const OVERLAYS: Overlay[] = [
  { name: "contacts", label: "contacts and forces", colour: "#e5484d", key: "1" },
  { name: "boxes", label: "bounding boxes", colour: "#3a8fd0", key: "2" },
  { name: "axes", label: "principal axes", colour: "#8e63ce", key: "3" },
  { name: "velocities", label: "velocities and angular velocities", colour: "#2f9e63", key: "4" },
  { name: "sleeping", label: "sleeping bodies", colour: "#76808c", key: "5" },
  { name: "trajectories", label: "trajectories", colour: "#d98a1f", key: "6" },
  { name: "springs", label: "springs", colour: "#67727e", key: "7" },
  { name: "joints", label: "joints and limits", colour: "#c0589a", key: "8" },
  { name: "cells", label: "cells or tree of the broad phase", colour: "#2a9d8f", key: "9" },
  { name: "hierarchy", label: "hierarchy of meshes", colour: "#b8862b", key: "0" },
];

/** Colours of joints by kind of line: arms, anchors, axes, limits, present values. */
const JOINT_COLOURS = ["#7f8894", "#c0589a", "#3a8fd0", "#e0a030", "#e5484d"].map((hex) => new THREE.Color(hex));
/** Levels of grids and trees, coarse to fine. */
const LEVEL_COLOURS = ["#20639b", "#2a9d8f", "#8ab34a", "#e0a030", "#e5744d", "#c0589a", "#7a5cc0"].map((hex) => new THREE.Color(hex));
/** Corners of a box that share an edge, as bits. */
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((a) => [1, 2, 4].filter((bit) => !(a & bit)).map((bit) => [a, a | bit]));

const TRAIL = 400;
/** Most bodies of which all trajectories are drawn; with more, only that of the selected body. */
const MANY = 120;
const COILS = 9;
const COIL_STEPS = 10;

function levelColour(level: number): THREE.Color {
  return LEVEL_COLOURS[level % LEVEL_COLOURS.length];
}

export class Overlays {
  readonly group = new THREE.Group();
  readonly shown = new Set<string>();
  private readonly lines = new Lines();
  private readonly top = new Lines(true);
  private readonly trails = new Map<number, THREE.Vector3[]>();
  private dots: THREE.InstancedMesh | null = null;
  private radius = 1;
  private colours = new Map(OVERLAYS.map((overlay) => [overlay.name, new THREE.Color(overlay.colour)]));

  constructor() {
    this.group.add(this.lines.object, this.top.object);
  }

  /** Number of line segments drawn. */
  get segments(): number {
    return this.lines.segments + this.top.segments + (this.dots?.count ?? 0);
  }

  begin(scene: Scene) {
    this.radius = scene.radius;
    this.trails.clear();
    if (scene.springs) this.shown.add("springs");
    else this.shown.delete("springs");
    if (!scene.joints) this.shown.delete("joints");
  }

  forgetTrails() {
    this.trails.clear();
  }

  draw(frame: Frame, bodies: Bodies, chosen: number | null, drag: [THREE.Vector3, THREE.Vector3] | null) {
    this.lines.begin();
    this.top.begin();
    if (this.dots) this.dots.count = 0;
    if (this.shown.has("contacts")) this.drawContacts(frame);
    if (this.shown.has("boxes")) this.drawBoxes(frame);
    if (this.shown.has("axes")) this.drawAxes(bodies);
    if (this.shown.has("velocities")) this.drawVelocities(frame);
    if (this.shown.has("springs")) this.drawSprings(frame);
    if (this.shown.has("joints")) this.drawJoints(frame);
    if (this.shown.has("cells")) this.drawCells(frame);
    if (this.shown.has("hierarchy")) this.drawHierarchy(frame, bodies);
    if (this.shown.has("trajectories")) this.drawTrails(bodies, chosen);
    else this.trails.clear();
    const asleep = frame.sections.get(Section.sleeping);
    bodies.showAsleep(new Set(this.shown.has("sleeping") ? asleep?.words : []));
    if (drag) this.top.add(drag[0], drag[1], this.colours.get("contacts")!);
    this.lines.end();
    this.top.end();
  }

  private colour(name: string): THREE.Color {
    return this.colours.get(name)!;
  }

  private drawContacts(frame: Frame) {
    const rows = frame.sections.get(Section.contacts);
    if (!rows) return;
    if (!this.dots || this.dots.instanceMatrix.count < rows.count) {
      if (this.dots) {
        this.group.remove(this.dots);
        this.dots.dispose();
      }
      const material = new THREE.MeshBasicMaterial({ color: this.colour("contacts"), depthTest: false, transparent: true, opacity: 0.9 });
      this.dots = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 10, 8), material, Math.max(256, 2 * rows.count));
      this.dots.frustumCulled = false;
      this.dots.renderOrder = 4;
      this.group.add(this.dots);
    }
    const size = 0.006 * this.radius;
    let strongest = 0;
    for (let i = 0; i < rows.count; i++) strongest = Math.max(strongest, Math.abs(rows.reals[7 * i + 6]));
    const [point, normal] = [new THREE.Vector3(), new THREE.Vector3()];
    const matrix = new THREE.Matrix4();
    for (let i = 0; i < rows.count; i++) {
      point.fromArray(rows.reals, 7 * i);
      normal.fromArray(rows.reals, 7 * i + 3);
      this.dots.setMatrixAt(i, matrix.makeScale(size, size, size).setPosition(point));
      // The largest force is drawn with an eighth of the size of the scene.
      const force = strongest > 0 ? Math.abs(rows.reals[7 * i + 6]) / strongest : 0;
      this.top.arrow(point, normal.multiplyScalar(this.radius * (0.03 + 0.12 * force)), this.colour("contacts"));
    }
    this.dots.count = rows.count;
    this.dots.instanceMatrix.needsUpdate = true;
  }

  private drawBoxes(frame: Frame) {
    const rows = frame.sections.get(Section.boxes);
    if (!rows) return;
    for (let i = 0; i < rows.count; i++) this.drawBox(this.lines, rows.reals, 7 * i, this.colour("boxes"));
  }

  /** An axis-aligned box; its least and greatest corner follow the number at an index. */
  private drawBox(lines: Lines, reals: Float32Array, at: number, colour: THREE.Color) {
    const corner = (bits: number) =>
      new THREE.Vector3(reals[at + (bits & 1 ? 4 : 1)], reals[at + (bits & 2 ? 5 : 2)], reals[at + (bits & 4 ? 6 : 3)]);
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].map(corner);
    for (const [a, b] of EDGES) lines.add(corners[a], corners[b], colour);
  }

  private drawJoints(frame: Frame) {
    const rows = frame.sections.get(Section.joints);
    if (!rows) return;
    for (let i = 0; i < rows.count; i++) {
      const a = new THREE.Vector3().fromArray(rows.reals, 7 * i + 1);
      const b = new THREE.Vector3().fromArray(rows.reals, 7 * i + 4);
      this.top.add(a, b, JOINT_COLOURS[rows.words[7 * i]] ?? this.colour("joints"));
    }
  }

  private drawCells(frame: Frame) {
    const rows = frame.sections.get(Section.cells);
    if (!rows) return;
    for (let i = 0; i < rows.count; i++) this.drawBox(this.lines, rows.reals, 7 * i, levelColour(rows.words[7 * i]));
  }

  private drawHierarchy(frame: Frame, bodies: Bodies) {
    const rows = frame.sections.get(Section.hierarchy);
    if (!rows) return;
    const vector = (at: number) => new THREE.Vector3().fromArray(rows.reals, at);
    for (let i = 0; i < rows.count; i++) {
      const at = 14 * i;
      const body = rows.words[at];
      if (body >= bodies.count) continue;
      const [position, turn] = [bodies.position(body), bodies.quaternion(body)];
      const center = vector(at + 2);
      const half = [vector(at + 5), vector(at + 8), vector(at + 11)];
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => {
        const corner = center.clone();
        half.forEach((side, k) => corner.addScaledVector(side, bits & (1 << k) ? 1 : -1));
        return corner.applyQuaternion(turn).add(position);
      });
      for (const [a, b] of EDGES) this.top.add(corners[a], corners[b], levelColour(rows.words[at + 1]));
    }
  }

  private drawAxes(bodies: Bodies) {
    const colours = [0xe5484d, 0x2f9e63, 0x3a6fd0].map((hex) => new THREE.Color(hex));
    const units = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)];
    for (let body = 0; body < bodies.count; body++) {
      if (!bodies.isDynamic(body)) continue;
      const center = bodies.center(body);
      const axes = bodies.principalAxes(body);
      const length = 0.8 * (bodies.sizes[body] || 0.02 * this.radius);
      units.forEach((unit, i) => {
        const along = unit.clone().applyQuaternion(axes).multiplyScalar(length);
        this.top.add(center, center.clone().add(along), colours[i]);
      });
    }
  }

  private drawVelocities(frame: Frame) {
    const rows = frame.sections.get(Section.velocities);
    if (!rows) return;
    let [fastest, quickest] = [0, 0];
    const vector = (at: number) => new THREE.Vector3().fromArray(rows.reals, at);
    for (let i = 0; i < rows.count; i++) {
      fastest = Math.max(fastest, vector(10 * i + 4).length());
      quickest = Math.max(quickest, vector(10 * i + 7).length());
    }
    const longest = 0.25 * this.radius;
    const angular = new THREE.Color("#c75fb4");
    for (let i = 0; i < rows.count; i++) {
      const center = vector(10 * i + 1);
      const v = vector(10 * i + 4);
      const omega = vector(10 * i + 7);
      if (fastest > 1e-9) this.top.arrow(center, v.multiplyScalar(longest / fastest), this.colour("velocities"));
      if (quickest > 1e-9) this.top.arrow(center, omega.multiplyScalar((0.6 * longest) / quickest), angular);
    }
  }

  private drawSprings(frame: Frame) {
    const rows = frame.sections.get(Section.springs);
    if (!rows) return;
    const width = 0.016 * this.radius;
    for (let i = 0; i < rows.count; i++) {
      const a = new THREE.Vector3().fromArray(rows.reals, 6 * i);
      const b = new THREE.Vector3().fromArray(rows.reals, 6 * i + 3);
      const along = b.clone().sub(a);
      const u = new THREE.Vector3(along.y, along.z, along.x).cross(along);
      if (u.lengthSq() < 1e-30) continue;
      u.setLength(width);
      const v = u.clone().cross(along).setLength(width);
      let last = a;
      const steps = COILS * COIL_STEPS;
      for (let k = 1; k <= steps; k++) {
        const angle = (2 * Math.PI * k) / COIL_STEPS;
        const inside = Math.min(1, k / 8, (steps - k) / 8);
        const point = a.clone().addScaledVector(along, k / steps);
        point.addScaledVector(u, inside * Math.cos(angle)).addScaledVector(v, inside * Math.sin(angle));
        this.lines.add(last, point, this.colour("springs"));
        last = point;
      }
    }
  }

  private drawTrails(bodies: Bodies, chosen: number | null) {
    for (let body = 0; body < bodies.count; body++) {
      if (bodies.geometry.statuses[body] > 1 || (bodies.count > MANY && body !== chosen)) continue;
      const trail = this.trails.get(body) ?? [];
      this.trails.set(body, trail);
      const now = bodies.center(body);
      const last = trail[trail.length - 1];
      if (!last || last.distanceTo(now) > 0.002 * this.radius) trail.push(now);
      if (trail.length > TRAIL) trail.shift();
      const colour = new THREE.Color(bodies.geometry.colours[body]);
      for (let i = 1; i < trail.length; i++) this.lines.add(trail[i - 1], trail[i], colour);
    }
  }
}
