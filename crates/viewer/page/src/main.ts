// The page: connects server, view and controls.

import "./style.css";
import { Connection } from "./connection";
import { element, make, short } from "./element";
import { Gallery } from "./gallery";
import { OVERLAYS } from "./overlays";
import { BodyPanel } from "./panel";
import { Plots } from "./plots";
import type { Frame, Scene } from "./protocol";
import { SceneView } from "./scene_view";
import { Sliders } from "./sliders";

const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];
const KEYS: [string, string][] = [
  ["Space", "play or pause"],
  [".", "one step"],
  ["R", "back to the beginning"],
  ["[ ]", "slower, faster"],
  ["G", "all scenes"],
  ["I", "overlays (1 to 9 and 0 switch them one by one)"],
  ["P", "plots"],
  ["J", "joints of multibodies"],
  ["F", "whole scene into view"],
  ["C", "follow the selected body"],
  ["W A S D Q E", "fly"],
  ["L", "light or dark"],
  ["Esc", "release, close"],
  ["drag a body", "pull it by a damped spring; a link while paused: pose it"],
  ["click a body", "show its properties"],
  ["drag elsewhere", "turn the camera; right button shifts it, wheel zooms"],
];
/** A press that moves by less than this many pixels is a click. */
const CLICK = 5;
const MESSAGE_MS = 7000;
/** Most channels that the server sends. */
const MAX_CHANNELS = 12;

const view = new SceneView(element<HTMLCanvasElement>("view"));
const plots = new Plots(element("plots"), element("plot-list"));
const panel = new BodyPanel();
const sliders = new Sliders((slider, value) => connection.send({ do: "joint", slider, value }));
let scene: Scene | null = null;
let speed = 1;
let frames = 0;
let scrubbing = false;
let level = 2;
/** Name of the selected body. */
let chosenName: string | null = null;

const connection = new Connection({
  scene: showScene,
  geometry: (geometry) => {
    view.setGeometry(geometry);
    showOverlays();
  },
  frame: showFrame,
  body: (body) => {
    panel.show(body);
    if (body.name !== chosenName) {
      chosenName = body.name;
      listChannels();
    }
  },
  gallery: () => void gallery.show(),
  message: showMessage,
  connected: (yes) => document.body.classList.toggle("offline", !yes),
});
const gallery = new Gallery(
  (name) => connection.send({ do: "open", scene: name }),
  () => scene !== null,
);
connection.onConnect(() => [overlaysCommand(), { do: "watch", body: view.chosen }, { do: "plot", channels: plots.chosen }]);

function showMessage(text: string, bad: boolean) {
  const message = make("div", bad ? "bad" : "", text);
  element("messages").append(message);
  setTimeout(() => message.remove(), MESSAGE_MS);
}

function showWarnings(warnings: string[]) {
  const box = element("warnings");
  box.hidden = warnings.length === 0;
  box.querySelector("summary")!.textContent = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  box.querySelector("ul")!.replaceChildren(...warnings.map((text) => make("li", "", text)));
}

function showScene(next: Scene) {
  const fresh = next.epoch !== scene?.epoch;
  scene = next;
  view.announce(next);
  document.title = `${next.title} – Rattleback`;
  element("title").textContent = next.title;
  element("subtitle").textContent = next.description;
  element("subtitle").title = next.description;
  showWarnings(next.warnings);
  const simulators = element<HTMLSelectElement>("simulator");
  simulators.replaceChildren(...next.simulators.map(({ name, doc }) => {
    const option = make("option", "", name) as HTMLOptionElement;
    option.value = name;
    option.title = doc;
    return option;
  }));
  simulators.value = next.simulator ?? "";
  element("simulator-label").hidden = next.states !== null;
  element("scrubber").hidden = next.states === null;
  element<HTMLInputElement>("scrub").max = String((next.states ?? 1) - 1);
  if (fresh) {
    chosenName = null;
    setChannels([]);
    panel.expect(null);
    sliders.set(next.states === null ? next.sliders : []);
    setSpeed(1, false);
    element<HTMLButtonElement>("follow").disabled = true;
    if (gallery.open) gallery.hide();
  }
}

function showFrame(frame: Frame) {
  frames++;
  view.setFrame(frame);
  plots.add(frame);
  sliders.update(frame);
  const play = element("play");
  const label = frame.playing ? "Pause" : "Play";
  if (play.getAttribute("aria-label") !== label) {
    play.setAttribute("aria-label", label);
    element("play-icon").setAttribute("d", frame.playing ? "M6 4h4v16H6zM14 4h4v16h-4z" : "M7 4l13 8-13 8z");
  }
  const plain = scene !== null && scene.pace === 1;
  element("clock").textContent = plain ? `${frame.time.toFixed(2)} s` : short(frame.time, "s");
  if (!scrubbing) element<HTMLInputElement>("scrub").value = String(frame.state);
  const facts = [];
  if (frame.contacts > 0) facts.push(`${frame.contacts} contacts`);
  if (frame.asleep > 0) facts.push(`${frame.asleep} asleep`);
  if (scene && scene.states !== null) facts.push(`state ${frame.state + 1} of ${scene.states}`);
  else facts.push(`step ${short(frame.stepMs / 1000, "s")}`);
  if (frame.playing) facts.push(plain ? `${frame.rate.toFixed(2)}× real time` : `${short(frame.rate, "s")} each second`);
  const numbers = element("numbers");
  numbers.textContent = facts.join(" · ");
  numbers.classList.toggle("late", frame.late);
}

function setSpeed(factor: number, send = true) {
  speed = factor;
  element<HTMLSelectElement>("speed").value = String(factor);
  if (send) connection.send({ do: "speed", factor });
}

function togglePlay() {
  connection.send({ do: view.frame?.playing ? "pause" : "play" });
}

function overlaysCommand() {
  return { do: "show", overlays: [...view.overlays.shown, ...(sliders.open ? ["sliders"] : [])], level };
}

/** Plots other channels. */
function setChannels(names: string[]) {
  plots.choose(names.slice(0, MAX_CHANNELS));
  connection.send({ do: "plot", channels: plots.chosen });
  listChannels();
}

/** A checkbox for each channel: those the scene suggests, those of the world and of the selected body, and those typed in. */
function listChannels() {
  if (!scene) return;
  const { world, body } = scene.channels;
  const ofBody = chosenName === null ? [] : body.map((quantity) => `${chosenName}.${quantity}`);
  const names = [...new Set([...scene.plot, ...world, ...ofBody, ...plots.chosen])];
  element("channel-list").replaceChildren(
    ...names.map((name) => {
      const row = make("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.value = name;
      box.checked = plots.chosen.includes(name);
      box.addEventListener("change", () => {
        setChannels(box.checked ? [...plots.chosen, name] : plots.chosen.filter((other) => other !== name));
      });
      row.append(box, make("span", "", name));
      return row;
    }),
  );
}

function toggleOverlay(name: string) {
  const { shown } = view.overlays;
  if (shown.has(name)) shown.delete(name);
  else shown.add(name);
  showOverlays();
}

function showOverlays() {
  for (const box of document.querySelectorAll<HTMLInputElement>("#overlay-list input")) {
    box.checked = view.overlays.shown.has(box.value);
  }
  const springs = document.querySelector<HTMLElement>('#overlay-list label[data-overlay="springs"]');
  if (springs) springs.hidden = !scene?.springs;
  const joints = document.querySelector<HTMLElement>('#overlay-list label[data-overlay="joints"]');
  if (joints) joints.hidden = !scene?.joints;
  element("level-label").hidden = !view.overlays.shown.has("hierarchy");
  for (const name of ["contacts", "sleeping", "cells"]) {
    const row = document.querySelector<HTMLElement>(`#overlay-list label[data-overlay="${name}"]`);
    if (row) row.hidden = scene !== null && scene.states !== null;
  }
  connection.send(overlaysCommand());
}

function choose(body: number | null) {
  view.chosen = body;
  if (body === null) view.following = false;
  panel.expect(body);
  element<HTMLButtonElement>("follow").disabled = body === null;
  connection.send({ do: "watch", body });
}

function toggleFollow() {
  if (view.chosen === null || !view.bodies) return;
  view.following = !view.following;
  if (view.following) view.controls.target.copy(view.world(view.bodies.center(view.chosen)));
}

function setDark(dark: boolean) {
  document.documentElement.classList.toggle("dark", dark);
  view.paint(dark);
  localStorage.setItem("rattleback-theme", dark ? "dark" : "light");
}

function toggleCard(id: string, button: string) {
  const card = element(id);
  card.hidden = !card.hidden;
  element(button).setAttribute("aria-expanded", String(!card.hidden));
}

function toggleSliders() {
  if (!scene?.sliders.length) return;
  sliders.setOpen(!sliders.open);
  connection.send(overlaysCommand());
}

// Bodies under the pointer: a click selects, a drag pulls.
function listenToPointer() {
  const canvas = view.canvas;
  let press: { x: number; y: number; body: number | null; distance: number; held: boolean; id: number } | null = null;
  let target: number[] | null = null;
  canvas.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0 || !event.isPrimary) return;
      const hit = view.pick(event.clientX, event.clientY);
      press = { x: event.clientX, y: event.clientY, body: hit?.body ?? null, distance: hit?.distance ?? 0, held: false, id: event.pointerId };
      const holdable = hit && (view.bodies?.isDynamic(hit.body) || scene?.links.includes(hit.body));
      if (!holdable || !view.bodies || scene?.states != null) return;
      // The camera does not turn while a body is dragged.
      view.controls.enabled = false;
      event.stopImmediatePropagation();
      canvas.setPointerCapture(event.pointerId);
      press.held = true;
      const point = hit.point.clone().sub(view.bodies.position(hit.body)).applyQuaternion(view.bodies.quaternion(hit.body).invert());
      view.drag = { body: hit.body, point, target: hit.point.clone() };
      connection.send({ do: "grab", body: hit.body, point: hit.point.toArray() });
    },
    { capture: true },
  );
  canvas.addEventListener("pointermove", (event) => {
    if (!press?.held || !view.drag || event.pointerId !== press.id) return;
    view.drag.target.copy(view.onSphere(event.clientX, event.clientY, press.distance));
    target = view.drag.target.toArray();
  });
  const end = (event: PointerEvent) => {
    if (!press || event.pointerId !== press.id) return;
    const moved = Math.hypot(event.clientX - press.x, event.clientY - press.y);
    if (press.held) release();
    if (moved < CLICK && event.type === "pointerup") choose(press.body);
    press = null;
  };
  const release = () => {
    if (!view.drag) return;
    view.drag = null;
    target = null;
    view.controls.enabled = true;
    connection.send({ do: "release" });
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") release();
  });
  // At most one message per animation frame.
  return () => {
    if (target) connection.send({ do: "drag", target });
    target = null;
  };
}

function listenToKeys() {
  const help = element<HTMLDialogElement>("help");
  const actions: Record<string, () => void> = {
    " ": togglePlay,
    ".": () => connection.send({ do: "step", count: 1 }),
    r: () => connection.send({ do: "reset" }),
    "[": () => setSpeed(SPEEDS[Math.max(0, SPEEDS.indexOf(speed) - 1)]),
    "]": () => setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, SPEEDS.indexOf(speed) + 1)]),
    g: () => (gallery.open ? gallery.hide() : void gallery.show()),
    i: () => toggleCard("overlays", "toggle-overlays"),
    p: () => toggleCard("plots", "toggle-plots"),
    j: toggleSliders,
    f: () => view.frameNow(),
    c: toggleFollow,
    l: () => setDark(!document.documentElement.classList.contains("dark")),
    "?": () => (help.open ? help.close() : help.showModal()),
    Escape: () => (gallery.open ? gallery.hide() : choose(null)),
  };
  for (const overlay of OVERLAYS) actions[overlay.key] = () => toggleOverlay(overlay.name);
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type !== "checkbox" && event.target.type !== "range";
    if (typing || event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    // Space would press a focused button as well.
    if (event.key === " ") event.preventDefault();
    action();
  });
}

function listenToControls() {
  const on = (id: string, action: () => void) => element(id).addEventListener("click", action);
  on("play", togglePlay);
  on("step", () => connection.send({ do: "step", count: 1 }));
  on("reset", () => connection.send({ do: "reset" }));
  on("open-gallery", () => void gallery.show());
  on("toggle-overlays", () => toggleCard("overlays", "toggle-overlays"));
  on("toggle-plots", () => toggleCard("plots", "toggle-plots"));
  on("toggle-sliders", toggleSliders);
  on("theme", () => setDark(!document.documentElement.classList.contains("dark")));
  on("open-help", () => element<HTMLDialogElement>("help").showModal());
  on("frame-all", () => view.frameNow());
  on("follow", toggleFollow);
  on("body-close", () => choose(null));
  const simulator = element<HTMLSelectElement>("simulator");
  simulator.addEventListener("change", () => {
    connection.send({ do: "simulator", name: simulator.value });
    simulator.blur();
  });
  const speeds = element<HTMLSelectElement>("speed");
  for (const factor of SPEEDS) {
    const option = make("option", "", `${factor}×`) as HTMLOptionElement;
    option.value = String(factor);
    speeds.append(option);
  }
  speeds.addEventListener("change", () => {
    setSpeed(Number(speeds.value));
    speeds.blur();
  });
  const scrub = element<HTMLInputElement>("scrub");
  scrub.addEventListener("input", () => {
    scrubbing = true;
    connection.send({ do: "seek", state: Number(scrub.value) });
  });
  scrub.addEventListener("change", () => (scrubbing = false));
  for (const overlay of OVERLAYS) {
    const row = make("label");
    row.dataset.overlay = overlay.name;
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = overlay.name;
    box.addEventListener("change", () => toggleOverlay(overlay.name));
    const swatch = make("span", "swatch");
    swatch.style.background = overlay.colour;
    row.append(box, make("span", "", overlay.label), swatch);
    element("overlay-list").append(row);
  }
  const depth = element<HTMLInputElement>("level");
  depth.addEventListener("change", () => {
    level = Math.max(0, Math.min(40, Math.round(Number(depth.value)) || 0));
    connection.send(overlaysCommand());
  });
  const channel = element<HTMLInputElement>("channel-name");
  channel.addEventListener("keydown", (event) => {
    const name = channel.value.trim();
    if (event.key !== "Enter" || name === "" || plots.chosen.includes(name)) return;
    setChannels([...plots.chosen, name]);
    channel.value = "";
  });
  for (const [key, meaning] of KEYS) element("help-list").append(make("kbd", "", key), make("span", "", meaning));
}

listenToControls();
listenToKeys();
const sendDrag = listenToPointer();
const theme = localStorage.getItem("rattleback-theme");
setDark(theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);

function draw(time: number) {
  sendDrag();
  view.draw(time);
  plots.draw();
  requestAnimationFrame(draw);
}
requestAnimationFrame(draw);

/** State of the page, for tests and for the console. */
Object.assign(window, {
  rattleback: {
    facts: () => ({
      frames,
      drawn: view.drawn,
      playing: view.frame?.playing ?? null,
      time: view.frame?.time ?? null,
      steps: view.frame?.steps ?? null,
      state: view.frame?.state ?? null,
      states: scene?.states ?? null,
      scene: scene?.name ?? null,
      simulator: scene?.simulator ?? null,
      bodies: view.bodies?.count ?? 0,
      asleep: view.frame?.asleep ?? 0,
      contacts: view.frame?.contacts ?? 0,
      sections: [...(view.frame?.sections.keys() ?? [])],
      segments: view.overlays.segments,
      samples: plots.samples,
      plots: plots.titles,
      values: plots.last,
      chosen: view.chosen,
      sliders: sliders.values,
    }),
    position: (body: number) => view.bodies?.position(body).toArray() ?? null,
    dynamic: () => Array.from(view.bodies?.geometry.statuses ?? []).flatMap((status, body) => (status === 0 ? [body] : [])),
    onScreen: (body: number) => view.onScreen(body),
    pick: (x: number, y: number) => view.pick(x, y)?.body ?? null,
  },
});
