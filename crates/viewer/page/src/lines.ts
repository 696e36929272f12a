// Line segments that are drawn anew every frame.

import * as THREE from "three";

export class Lines {
  readonly object: THREE.LineSegments;
  private capacity = 256;
  private positions = new Float32Array(6 * this.capacity);
  private colours = new Float32Array(6 * this.capacity);
  private count = 0;

  constructor(onTop = false) {
    const material = new THREE.LineBasicMaterial({ vertexColors: true, depthTest: !onTop, transparent: onTop });
    this.object = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = onTop ? 5 : 2;
    this.attach();
  }

  begin() {
    this.count = 0;
  }

  add(a: THREE.Vector3, b: THREE.Vector3, colour: THREE.Color) {
    if (this.count === this.capacity) this.grow();
    const at = 6 * this.count++;
    a.toArray(this.positions, at);
    b.toArray(this.positions, at + 3);
    colour.toArray(this.colours, at);
    colour.toArray(this.colours, at + 3);
  }

  /** An arrow: its shaft, and two segments for its head. */
  arrow(from: THREE.Vector3, along: THREE.Vector3, colour: THREE.Color) {
    const to = from.clone().add(along);
    this.add(from, to, colour);
    const side = new THREE.Vector3(along.y, along.z, along.x).cross(along);
    if (side.lengthSq() === 0) return;
    side.setLength(0.09 * along.length());
    const neck = from.clone().addScaledVector(along, 0.82);
    this.add(to, neck.clone().add(side), colour);
    this.add(to, neck.sub(side), colour);
  }

  end() {
    const geometry = this.object.geometry;
    geometry.setDrawRange(0, 2 * this.count);
    geometry.attributes.position.needsUpdate = true;
    geometry.attributes.color.needsUpdate = true;
    this.object.visible = this.count > 0;
  }

  get segments(): number {
    return this.count;
  }

  private grow() {
    this.capacity *= 2;
    const wider = (old: Float32Array) => {
      const array = new Float32Array(6 * this.capacity);
      array.set(old);
      return array;
    };
    this.positions = wider(this.positions);
    this.colours = wider(this.colours);
    this.attach();
  }

  private attach() {
    this.object.geometry.dispose();
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3).setUsage(THREE.DynamicDrawUsage));
    geometry.setAttribute("color", new THREE.BufferAttribute(this.colours, 3).setUsage(THREE.DynamicDrawUsage));
    this.object.geometry = geometry;
  }
}
