// Planes of half-spaces, and a grid that shows the scale.

import * as THREE from "three";
import type { Bodies } from "./bodies";
import type { Scene } from "./protocol";

const GRID_VERTEX = `
varying vec2 at;
void main() {
  at = position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;
// Lines of one pixel, every tenth one stronger, fading out with distance.
const GRID_FRAGMENT = `
varying vec2 at;
uniform float spacing;
uniform float reach;
uniform vec3 ink;
uniform float strength;
float lines(float every) {
  vec2 grid = abs(fract(at / every - 0.5) - 0.5) / fwidth(at / every);
  return 1.0 - min(min(grid.x, grid.y), 1.0);
}
void main() {
  float fade = 1.0 - smoothstep(0.15, 1.0, length(at) / reach);
  float line = max(0.55 * lines(spacing), lines(10.0 * spacing));
  gl_FragColor = vec4(ink, strength * line * fade * fade);
}`;

/** The largest of 1, 2, 5 · 10ⁿ not above a length. */
function nice(length: number): number {
  const decade = 10 ** Math.floor(Math.log10(length));
  return [5, 2, 1].map((step) => step * decade).find((step) => step <= length * 1.000001) ?? decade;
}

export class Ground {
  readonly group = new THREE.Group();
  private readonly grids: THREE.ShaderMaterial[] = [];
  private readonly floors: THREE.MeshStandardMaterial[] = [];
  private readonly planes: { body: number; local: THREE.Matrix4; object: THREE.Object3D }[] = [];

  constructor(scene: Scene, bodies: Bodies) {
    const reach = 40 * scene.radius;
    for (const plane of bodies.geometry.planes) {
      const [x, y, z, qx, qy, qz, qw] = plane.pose;
      const local = new THREE.Matrix4().compose(
        new THREE.Vector3(x, y, z),
        new THREE.Quaternion(qx, qy, qz, qw),
        new THREE.Vector3(1, 1, 1),
      );
      const object = new THREE.Group();
      object.matrixAutoUpdate = false;
      object.add(this.floor(reach), this.grid(scene, reach, 0.002 * scene.radius));
      this.planes.push({ body: plane.body, local, object });
      this.group.add(object);
    }
    if (bodies.geometry.planes.length === 0) {
      // Nothing to stand on: a faint grid below everything.
      const up = new THREE.Quaternion(...scene.up).invert();
      const grid = this.grid(scene, 12 * scene.radius, 0);
      const down = new THREE.Vector3(0, -1.02 * scene.radius, 0).applyQuaternion(up);
      grid.position.fromArray(scene.center).add(down);
      grid.quaternion.copy(up).multiply(new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(1, 0, 0), -Math.PI / 2));
      this.group.add(grid);
    }
  }

  private floor(reach: number): THREE.Mesh {
    const material = new THREE.MeshStandardMaterial({ roughness: 0.95, metalness: 0 });
    material.polygonOffset = true;
    material.polygonOffsetFactor = 1;
    material.polygonOffsetUnits = 1;
    this.floors.push(material);
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(2 * reach, 2 * reach, 8, 8), material);
    mesh.receiveShadow = true;
    return mesh;
  }

  private grid(scene: Scene, reach: number, lift: number): THREE.Mesh {
    const material = new THREE.ShaderMaterial({
      vertexShader: GRID_VERTEX,
      fragmentShader: GRID_FRAGMENT,
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
      uniforms: {
        spacing: { value: nice(scene.radius / 5) },
        reach: { value: Math.min(reach, 9 * scene.radius) },
        ink: { value: new THREE.Color() },
        strength: { value: 0.5 },
      },
    });
    this.grids.push(material);
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(2 * reach, 2 * reach), material);
    mesh.position.z = lift;
    mesh.renderOrder = 1;
    return mesh;
  }

  /** Moves planes with their bodies. */
  follow(bodies: Bodies) {
    for (const { body, local, object } of this.planes) {
      const pose = new THREE.Matrix4().compose(bodies.position(body), bodies.quaternion(body), new THREE.Vector3(1, 1, 1));
      object.matrix.multiplyMatrices(pose, local);
    }
  }

  paint(dark: boolean) {
    for (const floor of this.floors) floor.color.set(dark ? 0x2a3038 : 0xdfe3e7);
    for (const grid of this.grids) {
      grid.uniforms.ink.value.set(dark ? 0x8fa0b2 : 0x53606c);
      grid.uniforms.strength.value = dark ? 0.32 : 0.42;
    }
  }
}
