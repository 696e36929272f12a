// Bodies as instanced meshes: one mesh per surface, one instance per part.

import * as THREE from "three";
import type { Rows, SceneGeometry } from "./protocol";

interface Piece {
  mesh: THREE.InstancedMesh;
  instance: number;
  local: THREE.Matrix4;
}

/** Most static boxes that become translucent where they hide moving bodies. */
const MAX_WALLS = 48;
/** Most moving bodies that are tested for that. */
const SAMPLES = 48;

const ASLEEP = new THREE.Color(0x76808c);

export class Bodies {
  readonly group = new THREE.Group();
  readonly count: number;
  readonly positions: Float32Array;
  readonly quaternions: Float32Array;
  /** Approximate radius of each body. */
  readonly sizes: Float32Array;
  private readonly pieces: Piece[][];
  private readonly owners = new Map<THREE.Object3D, Uint32Array>();
  private readonly pose = new THREE.Matrix4();
  private readonly matrix = new THREE.Matrix4();
  private asleep = new Set<number>();
  private readonly walls: { mesh: THREE.InstancedMesh; body: number; local: THREE.Matrix4 }[] = [];
  private readonly watched: number[];

  constructor(readonly geometry: SceneGeometry) {
    const count = geometry.colours.length;
    this.count = count;
    this.positions = new Float32Array(3 * count);
    this.quaternions = new Float32Array(4 * count);
    this.sizes = new Float32Array(count);
    this.pieces = Array.from({ length: count }, () => []);
    const bySurface = new Map<string, SceneGeometry["parts"]>();
    const moving = Array.from(geometry.statuses.keys()).filter((body) => geometry.statuses[body] !== 2);
    const every = Math.max(1, Math.ceil(moving.length / SAMPLES));
    this.watched = moving.filter((_, i) => i % every === 0);
    const isWall = (part: SceneGeometry["parts"][0]) =>
      geometry.statuses[part.body] === 2 && !part.sensor && geometry.surfaces[part.surface].triangles.length === 36;
    const alone = geometry.parts.filter(isWall).length <= MAX_WALLS;
    for (const [i, part] of geometry.parts.entries()) {
      const wall = alone && isWall(part) ? ` wall ${i}` : "";
      const key = `${part.surface} ${part.sensor}${wall}`;
      const list = bySurface.get(key);
      if (list) list.push(part);
      else bySurface.set(key, [part]);
    }
    for (const [key, parts] of bySurface) this.addMesh(parts, key.includes("wall"));
  }

  private addMesh(parts: SceneGeometry["parts"], wall: boolean) {
    const surface = this.geometry.surfaces[parts[0].surface];
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(surface.positions, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(surface.normals, 3));
    geometry.setIndex(new THREE.BufferAttribute(surface.triangles, 1));
    const glass = parts[0].sensor;
    const material = new THREE.MeshStandardMaterial({
      roughness: 0.55,
      metalness: 0.02,
      side: THREE.DoubleSide,
      transparent: glass,
      opacity: glass ? 0.3 : 1,
      depthWrite: !glass,
    });
    const mesh = new THREE.InstancedMesh(geometry, material, parts.length);
    mesh.frustumCulled = false;
    // Instances move: a ray has to test each of them.
    mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(), 1e12);
    mesh.castShadow = !glass;
    mesh.receiveShadow = !glass;
    const owners = new Uint32Array(parts.length);
    parts.forEach((part, instance) => {
      owners[instance] = part.body;
      const [x, y, z, qx, qy, qz, qw] = part.pose;
      const scale = new THREE.Vector3(...part.scale);
      const local = new THREE.Matrix4().compose(
        new THREE.Vector3(x, y, z),
        new THREE.Quaternion(qx, qy, qz, qw),
        scale,
      );
      this.pieces[part.body].push({ mesh, instance, local });
      if (wall) this.walls.push({ mesh, body: part.body, local });
      const reach = Math.hypot(x, y, z) + Math.max(scale.x, scale.y, scale.z);
      this.sizes[part.body] = Math.max(this.sizes[part.body], reach);
      mesh.setColorAt(instance, new THREE.Color(this.geometry.colours[part.body]));
    });
    this.owners.set(mesh, owners);
    this.group.add(mesh);
  }

  /** Updates the poses that changed. */
  move(rows: Rows) {
    const shorts = new Int16Array(rows.words.buffer, rows.words.byteOffset, 2 * rows.words.length);
    const touched = new Set<THREE.InstancedMesh>();
    const q = new THREE.Quaternion();
    const p = new THREE.Vector3();
    const one = new THREE.Vector3(1, 1, 1);
    for (let i = 0; i < rows.count; i++) {
      const body = rows.words[6 * i];
      if (body >= this.count) continue;
      p.set(rows.reals[6 * i + 1], rows.reals[6 * i + 2], rows.reals[6 * i + 3]);
      const at = 12 * i + 8;
      q.set(shorts[at], shorts[at + 1], shorts[at + 2], shorts[at + 3]).normalize();
      p.toArray(this.positions, 3 * body);
      q.toArray(this.quaternions, 4 * body);
      this.pose.compose(p, q, one);
      for (const { mesh, instance, local } of this.pieces[body]) {
        mesh.setMatrixAt(instance, this.matrix.multiplyMatrices(this.pose, local));
        touched.add(mesh);
      }
    }
    for (const mesh of touched) mesh.instanceMatrix.needsUpdate = true;
  }

  /** Greys out sleeping bodies; an empty set restores all colours. */
  showAsleep(asleep: Set<number>) {
    const paint = (body: number, asleep: boolean) => {
      const colour = new THREE.Color(this.geometry.colours[body]);
      if (asleep) colour.lerp(ASLEEP, 0.8);
      for (const { mesh, instance } of this.pieces[body] ?? []) {
        mesh.setColorAt(instance, colour);
        if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
      }
    };
    for (const body of asleep) if (!this.asleep.has(body)) paint(body, true);
    for (const body of this.asleep) if (!asleep.has(body)) paint(body, false);
    this.asleep = asleep;
  }

  /** Makes static boxes translucent that are between the camera and a third of the moving bodies. */
  clearView(eye: THREE.Vector3) {
    const one = new THREE.Vector3(1, 1, 1);
    const unit = new THREE.Box3(one.clone().negate(), one);
    for (const { mesh, body, local } of this.walls) {
      const frame = new THREE.Matrix4().compose(this.position(body), this.quaternion(body), one).multiply(local).invert();
      const from = eye.clone().applyMatrix4(frame);
      let hidden = 0;
      for (const other of this.watched) {
        const to = this.center(other).applyMatrix4(frame);
        const way = to.clone().sub(from);
        const hit = new THREE.Ray(from, way.clone().normalize()).intersectBox(unit, new THREE.Vector3());
        // A camera within a wall sees no body.
        if (unit.containsPoint(from)) hidden++;
        else if (hit && hit.distanceTo(from) < way.length() && !unit.containsPoint(to)) hidden++;
      }
      const clear = 3 * hidden > this.watched.length;
      const material = mesh.material as THREE.MeshStandardMaterial;
      if (material.transparent !== clear) {
        material.transparent = clear;
        material.opacity = clear ? 0.12 : 1;
        material.depthWrite = !clear;
        material.needsUpdate = true;
        mesh.castShadow = !clear;
      }
    }
  }

  /** (mesh, instance) ⇒ index of its body. */
  owner(object: THREE.Object3D, instance: number | undefined): number | null {
    return this.owners.get(object)?.[instance ?? 0] ?? null;
  }

  position(body: number, into = new THREE.Vector3()): THREE.Vector3 {
    return into.fromArray(this.positions, 3 * body);
  }

  quaternion(body: number, into = new THREE.Quaternion()): THREE.Quaternion {
    return into.fromArray(this.quaternions, 4 * body);
  }

  /** Centre of mass. */
  center(body: number, into = new THREE.Vector3()): THREE.Vector3 {
    const principal = this.geometry.principals;
    into.fromArray(principal, 7 * body).applyQuaternion(this.quaternion(body));
    return into.add(this.position(body));
  }

  /** Principal axes in the world. */
  principalAxes(body: number): THREE.Quaternion {
    const axes = new THREE.Quaternion().fromArray(this.geometry.principals, 7 * body + 3);
    return axes.premultiply(this.quaternion(body));
  }

  /** Whether a body is dynamic. */
  isDynamic(body: number): boolean {
    return this.geometry.statuses[body] === 0;
  }

  dispose() {
    for (const child of this.group.children) {
      const mesh = child as THREE.InstancedMesh;
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
      mesh.dispose();
    }
  }
}
