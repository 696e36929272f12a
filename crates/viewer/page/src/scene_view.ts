// The view of the scene: camera, light, bodies, ground, overlays.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Bodies } from "./bodies";
import { Ground } from "./ground";
import { Overlays } from "./overlays";
import { Section, type SceneGeometry, type Frame, type Scene } from "./protocol";

const FIELD = 40;
const FLY_KEYS: Record<string, [number, number, number]> = {
  KeyW: [0, 0, -1],
  KeyS: [0, 0, 1],
  KeyA: [-1, 0, 0],
  KeyD: [1, 0, 0],
  KeyQ: [0, -1, 0],
  KeyE: [0, 1, 0],
};

export interface Hit {
  body: number;
  /** In scene coordinates. */
  point: THREE.Vector3;
  distance: number;
}

export class SceneView {
  readonly camera = new THREE.PerspectiveCamera(FIELD, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly overlays = new Overlays();
  bodies: Bodies | null = null;
  frame: Frame | null = null;
  chosen: number | null = null;
  following = false;
  /** The dragged point of a body, in its own frame, and its target. */
  drag: { body: number; point: THREE.Vector3; target: THREE.Vector3 } | null = null;
  drawn = 0;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly root = new THREE.Group();
  private readonly sky = new THREE.HemisphereLight(0xf4f8ff, 0xb8bcc2, 1.25);
  private readonly sun = new THREE.DirectionalLight(0xfffaf4, 2.3);
  private readonly outline: THREE.Mesh;
  private ground: Ground | null = null;
  private info: Scene | null = null;
  private dark = false;
  private readonly keys = new Set<string>();
  private lastTime = 0;
  private clearedAt = 0;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3;
    this.scene.add(this.root, this.sky, this.sun, this.sun.target);
    this.root.add(this.overlays.group);
    const halo = new THREE.MeshBasicMaterial({ color: 0xf0905a, wireframe: true, transparent: true, opacity: 0.35 });
    this.outline = new THREE.Mesh(new THREE.SphereGeometry(1, 20, 12), halo);
    this.outline.visible = false;
    this.root.add(this.outline);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.zoomToCursor = true;
    addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (!typing && !event.ctrlKey && !event.metaKey && event.code in FLY_KEYS) this.keys.add(event.code);
    });
    addEventListener("keyup", (event) => this.keys.delete(event.code));
    addEventListener("blur", () => this.keys.clear());
    addEventListener("resize", () => this.resize());
    this.resize();
  }

  /** Properties of a new scene, or of the same with another simulator; the geometry follows in a message of its own. */
  announce(info: Scene) {
    const fresh = info.epoch !== this.info?.epoch;
    this.info = info;
    if (fresh) {
      this.chosen = null;
      this.drag = null;
      this.following = false;
      this.frame = null;
    }
  }

  setGeometry(geometry: SceneGeometry) {
    const info = this.info;
    if (!info) return;
    if (this.bodies) {
      this.root.remove(this.bodies.group);
      this.bodies.dispose();
    }
    if (this.ground) this.root.remove(this.ground.group);
    this.root.quaternion.set(...info.up);
    this.root.updateMatrixWorld(true);
    this.bodies = new Bodies(geometry);
    this.ground = new Ground(info, this.bodies);
    this.root.add(this.bodies.group, this.ground.group);
    this.overlays.begin(info);
    this.paint(this.dark);
    this.frameAll();
  }

  setFrame(frame: Frame) {
    if (!this.bodies || frame.epoch !== this.bodies.geometry.epoch) return;
    if (this.frame && frame.time < this.frame.time) this.overlays.forgetTrails();
    const before = this.following && this.chosen !== null ? this.world(this.bodies.center(this.chosen)) : null;
    this.frame = frame;
    const poses = frame.sections.get(Section.poses);
    if (poses) this.bodies.move(poses);
    this.ground?.follow(this.bodies);
    if (before && this.chosen !== null) {
      const by = this.world(this.bodies.center(this.chosen)).sub(before);
      this.camera.position.add(by);
      this.controls.target.add(by);
    }
  }

  /** Scene coordinates ⇒ the picture's, with y up. */
  world(point: THREE.Vector3): THREE.Vector3 {
    return this.root.localToWorld(point);
  }

  /** Everything that moves into view, where it is now. */
  frameNow() {
    const { bodies, info } = this;
    if (!bodies || !info) return;
    const box = new THREE.Box3();
    for (let body = 0; body < bodies.count; body++) {
      if (bodies.geometry.statuses[body] > 1) continue;
      const reach = new THREE.Vector3().setScalar(bodies.sizes[body]);
      const at = bodies.center(body);
      box.expandByPoint(at.clone().add(reach)).expandByPoint(at.sub(reach));
    }
    if (box.isEmpty()) return this.frameAll();
    const center = box.getCenter(new THREE.Vector3());
    const half = box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
    this.lookAt(center.toArray(), half.toArray(), this.camera.position.clone().sub(this.controls.target).normalize());
  }

  private lookAt(middle: [number, number, number], half: [number, number, number], toward: THREE.Vector3) {
    this.following = false;
    const center = this.world(new THREE.Vector3(...middle));
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(toward, this.distanceFor(half, toward));
    this.controls.update();
  }

  /** Moves the camera so that the whole scene is in view. */
  frameAll() {
    const info = this.info;
    if (!info) return;
    const toward = new THREE.Vector3(...info.toward).applyQuaternion(this.root.quaternion);
    this.controls.minDistance = 0.02 * info.radius;
    this.controls.maxDistance = 60 * info.radius;
    this.lookAt(info.center, info.half, toward);
    this.camera.near = 0.004 * info.radius;
    this.camera.far = 300 * info.radius;
    this.camera.updateProjectionMatrix();
    const fog = this.scene.fog as THREE.Fog | null;
    if (fog) [fog.near, fog.far] = [10 * info.radius, 42 * info.radius];
    const reach = 2.2 * info.radius;
    const shadow = this.sun.shadow.camera;
    [shadow.left, shadow.right, shadow.bottom, shadow.top] = [-reach, reach, -reach, reach];
    [shadow.near, shadow.far] = [0.1 * info.radius, 16 * info.radius];
    shadow.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * info.radius;
    this.sun.shadow.bias = -0.0004;
  }

  /** Distance at which the camera sees the whole box between the bars above and below. */
  private distanceFor(half: [number, number, number], toward: THREE.Vector3): number {
    const ahead = toward.clone().negate();
    const right = ahead.clone().cross(new THREE.Vector3(0, 1, 0)).normalize();
    const above = right.clone().cross(ahead);
    const tangent = Math.tan(THREE.MathUtils.degToRad(FIELD / 2));
    const [across, up] = [(tangent * this.camera.aspect) / 1.12, tangent / 1.45];
    let distance = 0.2 * Math.hypot(...half);
    for (let bits = 0; bits < 8; bits++) {
      const corner = new THREE.Vector3(...half.map((side, i) => (bits & (1 << i) ? side : -side)));
      corner.applyQuaternion(this.root.quaternion);
      const sides = Math.max(Math.abs(corner.dot(right)) / across, Math.abs(corner.dot(above)) / up);
      distance = Math.max(distance, sides - corner.dot(ahead));
    }
    return distance;
  }

  paint(dark: boolean) {
    this.dark = dark;
    const background = dark ? 0x171b21 : 0xe9edf1;
    this.scene.background = new THREE.Color(background);
    const radius = this.info?.radius ?? 1;
    this.scene.fog = new THREE.Fog(background, 10 * radius, 42 * radius);
    this.sky.intensity = dark ? 0.75 : 1.35;
    this.sky.groundColor.set(dark ? 0x30363e : 0xc2c8ce);
    this.sun.intensity = dark ? 2.2 : 2.1;
    this.ground?.paint(dark);
  }

  /** Window coordinates ⇒ the nearest body there. */
  pick(x: number, y: number): Hit | null {
    if (!this.bodies) return null;
    const ray = this.ray(x, y);
    this.root.updateMatrixWorld(true);
    for (const hit of ray.intersectObject(this.bodies.group, true)) {
      const body = this.bodies.owner(hit.object, hit.instanceId);
      if (body === null) continue;
      return { body, point: this.root.worldToLocal(hit.point.clone()), distance: hit.distance };
    }
    return null;
  }

  /** Window coordinates and a distance from the camera ⇒ scene coordinates: the pointer on a sphere. */
  onSphere(x: number, y: number, distance: number): THREE.Vector3 {
    const { origin, direction } = this.ray(x, y).ray;
    return this.root.worldToLocal(origin.clone().addScaledVector(direction, distance));
  }

  /** Window coordinates of a body; null behind the camera. */
  onScreen(body: number): { x: number; y: number } | null {
    if (!this.bodies) return null;
    const p = this.world(this.bodies.center(body)).project(this.camera);
    if (p.z > 1) return null;
    const box = this.canvas.getBoundingClientRect();
    return { x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
  }

  private ray(x: number, y: number): THREE.Raycaster {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    this.camera.updateMatrixWorld();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  private resize() {
    const { clientWidth, clientHeight } = this.canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
  }

  /** Draws a frame; called once per animation frame. */
  draw(time: number) {
    this.fly(Math.min(0.1, (time - this.lastTime) / 1000));
    this.lastTime = time;
    this.controls.update();
    const radius = this.info?.radius ?? 1;
    this.sun.target.position.copy(this.controls.target);
    const slant = new THREE.Vector3(0.45, 1, 0.5).multiplyScalar(6 * radius);
    this.sun.position.copy(this.controls.target).add(slant);
    if (this.frame && this.bodies) {
      const drag = this.drag
        ? ([
            this.drag.point.clone().applyQuaternion(this.bodies.quaternion(this.drag.body)).add(this.bodies.position(this.drag.body)),
            this.drag.target,
          ] as [THREE.Vector3, THREE.Vector3])
        : null;
      this.overlays.draw(this.frame, this.bodies, this.chosen, drag);
      this.outline.visible = this.chosen !== null;
      if (this.chosen !== null) {
        this.outline.position.copy(this.bodies.center(this.chosen));
        this.outline.scale.setScalar(1.12 * (this.bodies.sizes[this.chosen] || 0.03 * radius));
      }
    }
    if (this.frame && time - this.clearedAt > 150) {
      this.clearedAt = time;
      this.bodies?.clearView(this.root.worldToLocal(this.camera.position.clone()));
    }
    this.renderer.render(this.scene, this.camera);
    this.drawn++;
  }

  private fly(seconds: number) {
    if (this.keys.size === 0) return;
    const by = new THREE.Vector3();
    for (const key of this.keys) by.add(new THREE.Vector3(...FLY_KEYS[key]));
    by.applyQuaternion(this.camera.quaternion);
    by.multiplyScalar(1.2 * (this.info?.radius ?? 1) * seconds);
    this.camera.position.add(by);
    this.controls.target.add(by);
  }
}
