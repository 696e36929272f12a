// Messages of the server. crates/viewer/src/message.rs describes the layout.

/** Properties of a scene, from JSON. */
export interface Scene {
  epoch: number;
  name: string;
  title: string;
  description: string;
  dt: number;
  duration: number;
  /** Simulated seconds per second at speed 1. */
  pace: number;
  /** Quaternion x y z w that rotates the up direction of the scene to y. */
  up: [number, number, number, number];
  weightless: boolean;
  origin: [number, number, number];
  center: [number, number, number];
  radius: number;
  /** Half the sides of the box that the camera frames. */
  half: [number, number, number];
  toward: [number, number, number];
  simulator: string | null;
  simulators: { name: string; doc: string }[];
  /** Number of states of a recording. */
  states: number | null;
  springs: boolean;
  joints: boolean;
  sliders: Slider[];
  /** Bodies that are links of multibodies, which can be dragged like dynamic bodies. */
  links: number[];
  /** Channels that the scene suggests, and channels that can be plotted. */
  plot: string[];
  /** What the scene file or the chosen simulator gives reason to warn of. */
  warnings: string[];
  channels: { world: string[]; body: string[] };
  bodies: number;
}

/** A joint position that can be set. */
export interface Slider {
  name: string;
  unit: string;
  min: number;
  max: number;
}

/** Report of the selected body. */
export interface BodyReport {
  index: number;
  name: string;
  status: string;
  asleep: boolean;
  mass: number;
  moments: number[];
  position: number[];
  velocity: number[];
  omega: number[];
  energy: number;
  contact_count: number;
  contacts: { with: string | null; force: number; gap: number }[];
}

export interface Surface {
  positions: Float32Array;
  normals: Float32Array;
  triangles: Uint32Array;
}

/** Bodies, parts and surfaces of a scene. */
export interface SceneGeometry {
  epoch: number;
  colours: Uint32Array;
  /** 0 dynamic, 1 kinematic, 2 static, 3 disabled. */
  statuses: Uint32Array;
  /** Seven numbers per body: centre of mass and principal axes in the body frame. */
  principals: Float32Array;
  parts: { body: number; surface: number; sensor: boolean; pose: Float32Array; scale: Float32Array }[];
  planes: { body: number; pose: Float32Array }[];
  surfaces: Surface[];
}

/** Ids of the sections of a frame. */
export const Section = {
  poses: 1,
  contacts: 2,
  boxes: 3,
  velocities: 4,
  sleeping: 5,
  springs: 6,
  joints: 7,
  cells: 8,
  hierarchy: 9,
  channels: 10,
  sliders: 11,
} as const;
const ROW_WORDS: Record<number, number> = { 1: 6, 2: 7, 3: 7, 4: 10, 5: 1, 6: 6, 7: 7, 8: 7, 9: 14, 10: 3, 11: 2 };
const HEAD_WORDS = 30;

export interface Rows {
  count: number;
  reals: Float32Array;
  words: Uint32Array;
}

export interface Frame {
  epoch: number;
  frame: number;
  playing: boolean;
  late: boolean;
  time: number;
  kinetic: number;
  potential: number;
  momentum: [number, number, number];
  angularMomentum: [number, number, number];
  stepMs: number;
  /** Pairs, contacts, solve, motion; zeros from simulators that do not measure them. */
  stagesMs: number[];
  /** Time to publish a frame, to encode it and to send it. */
  publishMs: number;
  encodeMs: number;
  sendMs: number;
  rate: number;
  steps: number;
  asleep: number;
  state: number;
  contacts: number;
  sections: Map<number, Rows>;
}

/** Binary message ⇒ scene geometry. */
export function readSceneGeometry(buffer: ArrayBuffer): SceneGeometry {
  const words = new Uint32Array(buffer);
  const reals = new Float32Array(buffer);
  const [, epoch, bodies, parts, planes, surfaces] = words;
  let at = 6;
  const colours = new Uint32Array(bodies);
  const statuses = new Uint32Array(bodies);
  const principals = new Float32Array(7 * bodies);
  for (let i = 0; i < bodies; i++, at += 9) {
    colours[i] = words[at];
    statuses[i] = words[at + 1];
    principals.set(reals.subarray(at + 2, at + 9), 7 * i);
  }
  const geometry: SceneGeometry = { epoch, colours, statuses, principals, parts: [], planes: [], surfaces: [] };
  for (let i = 0; i < parts; i++, at += 13) {
    geometry.parts.push({
      body: words[at],
      surface: words[at + 1],
      sensor: words[at + 2] !== 0,
      pose: reals.subarray(at + 3, at + 10),
      scale: reals.subarray(at + 10, at + 13),
    });
  }
  for (let i = 0; i < planes; i++, at += 8) {
    geometry.planes.push({ body: words[at], pose: reals.subarray(at + 1, at + 8) });
  }
  for (let i = 0; i < surfaces; i++) {
    const [corners, triangles] = [words[at], words[at + 1]];
    at += 2;
    const take = (length: number) => (at += length) - length;
    const p = take(3 * corners);
    const n = take(3 * corners);
    const t = take(3 * triangles);
    geometry.surfaces.push({
      positions: reals.slice(p, n),
      normals: reals.slice(n, t),
      triangles: words.slice(t, at),
    });
  }
  return geometry;
}

/** Binary message ⇒ frame. */
export function readFrame(buffer: ArrayBuffer): Frame {
  const words = new Uint32Array(buffer);
  const reals = new Float32Array(buffer);
  const view = new DataView(buffer);
  const sections = new Map<number, Rows>();
  let at = HEAD_WORDS;
  for (let i = 0; i < words[22]; i++) {
    const [id, count] = [words[at], words[at + 1]];
    const length = count * (ROW_WORDS[id] ?? 0);
    at += 2;
    sections.set(id, { count, reals: reals.subarray(at, at + length), words: words.subarray(at, at + length) });
    at += length;
  }
  return {
    epoch: words[1],
    frame: words[2],
    playing: (words[3] & 1) !== 0,
    late: (words[3] & 2) !== 0,
    time: view.getFloat64(16, true),
    kinetic: view.getFloat64(24, true),
    potential: view.getFloat64(32, true),
    momentum: [reals[10], reals[11], reals[12]],
    angularMomentum: [reals[13], reals[14], reals[15]],
    stepMs: reals[16],
    stagesMs: Array.from(reals.subarray(26, 30)),
    publishMs: reals[23],
    encodeMs: reals[24],
    sendMs: reals[25],
    rate: reals[17],
    steps: words[18],
    asleep: words[19],
    state: words[20],
    contacts: words[21],
    sections,
  };
}
