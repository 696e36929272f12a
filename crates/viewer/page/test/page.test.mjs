// The page in a real browser: headless Chromium, driven by Playwright, against the real program.
//
// RATTLEBACK names the program, CHROMIUM the browser, ARTEFACTS the folder for screenshots.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { inflateSync } from "node:zlib";
import { chromium } from "playwright-core";

const program = process.env.RATTLEBACK ?? "rattleback";
const artefacts = process.env.ARTEFACTS ?? join(tmpdir(), "rattleback-screenshots");
const PATIENCE = 30_000;
mkdirSync(artefacts, { recursive: true });

let browser;
const folder = mkdtempSync(join(tmpdir(), "rattleback-page-"));

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--ignore-gpu-blocklist",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Arguments of `view` ⇒ running program and the address it printed. */
async function serve(...args) {
  const child = spawn(program, ["view", ...args, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(text.trim());
    });
    child.on("exit", (code) => reject(new Error(`the program ended with ${code}`)));
  });
  return { url, stop: () => child.kill("SIGINT") };
}

/** Opens a page on a scene, does something with it, and makes sure that the page complained about nothing. */
async function visit(args, use, options = {}) {
  const server = await serve(...args);
  const context = await browser.newContext({ viewport: { width: 960, height: 600 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  try {
    await page.goto(server.url);
    await use(page, server);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
    server.stop();
  }
}

const facts = (page) => page.evaluate(() => window.rattleback.facts());

/** Waits until the facts of the page satisfy a condition ⇒ the facts. */
async function until(page, condition, what) {
  const end = Date.now() + PATIENCE;
  let last;
  while (Date.now() < end) {
    last = await facts(page);
    if (condition(last)) return last;
    await page.waitForTimeout(50);
  }
  assert.fail(`${what}: ${JSON.stringify(last)}`);
}

/** PNG of eight bits without interlacing ⇒ how many different colours it has. */
function colours(png) {
  const chunks = [];
  let [width, channels] = [0, 3];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    if (type === "IHDR") [width, channels] = [png.readUInt32BE(at + 8), png[at + 17] === 6 ? 4 : 3];
    if (type === "IDAT") chunks.push(png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(chunks));
  const row = width * channels;
  const seen = new Set();
  let previous = Buffer.alloc(row);
  for (let at = 0; at < raw.length; at += row + 1) {
    const filter = raw[at];
    const line = Buffer.from(raw.subarray(at + 1, at + 1 + row));
    for (let i = 0; i < row; i++) {
      const a = i >= channels ? line[i - channels] : 0;
      const b = previous[i];
      const c = i >= channels ? previous[i - channels] : 0;
      const p = a + b - c;
      const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
      const paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      line[i] += [0, a, b, (a + b) >> 1, paeth][filter];
    }
    for (let i = 0; i < row; i += 4 * channels) seen.add((line[i] << 16) | (line[i + 1] << 8) | line[i + 2]);
    previous = line;
  }
  return seen.size;
}

/** A scene with a door on a hinge, a drawer, a lamp on a ball joint, a rope, and a dish of triangles. */
function hinges() {
  const [rings, spokes] = [6, 24];
  const vertices = [[0, 0, 0]];
  const faces = [];
  for (let ring = 1; ring <= rings; ring++) {
    for (let k = 0; k < spokes; k++) {
      const [r, angle] = [0.12 * ring, (2 * Math.PI * k) / spokes];
      vertices.push([r * Math.cos(angle), r * Math.sin(angle), 0.5 * r * r]);
      const at = (ring, k) => (ring === 0 ? 0 : 1 + (ring - 1) * spokes + (k % spokes));
      if (ring === 1) faces.push([0, at(1, k), at(1, k + 1)]);
      else faces.push([at(ring - 1, k), at(ring, k), at(ring, k + 1)], [at(ring - 1, k), at(ring, k + 1), at(ring - 1, k + 1)]);
    }
  }
  const ball = (x) => ({ name: `ball ${x}`, position: [x, -1.2, 0.5], shape: { type: "sphere", radius: 0.08 } });
  const scene = {
    title: "Hinges",
    simulator: { type: "realtime", space: "uniform-grid" },
    body: [
      { name: "floor", status: "fixed", position: [0, 0, -0.2], shape: { type: "half-space" } },
      { name: "door", position: [0.5, 0, 0.6], shape: { type: "box", half_extents: [0.45, 0.03, 0.5] } },
      { name: "drawer", position: [-1, 0, 0.4], shape: { type: "box", half_extents: [0.2, 0.2, 0.1] } },
      { name: "lamp", position: [-1, 1, 0.8], shape: { type: "capsule", radius: 0.05, height: 0.4 } },
      { name: "bob", position: [1.6, 0.6, 0.6], shape: { type: "sphere", radius: 0.12 } },
      { name: "dish", status: "fixed", position: [0, -1.2, -0.1], shape: { type: "mesh", vertices, faces } },
      ball(-0.2),
      ball(0.1),
    ],
    joint: [
      { type: "revolute", bodies: ["door"], position: [0, 0, 0.6], axis: [0, 0, 1], limited: true, min: -0.4, max: 1.6, speed: 0.5, effort: 20 },
      { type: "prismatic", bodies: ["drawer"], position: [-1, 0, 0.4], axis: [0, 1, 0], limited: true, min: -0.3, max: 0.5 },
      { type: "spherical", bodies: ["lamp"], position: [-1, 1, 1.05], cone: 0.5 },
      { type: "distance", bodies: ["bob"], anchors: [[1.2, 0.6, 1.2], [1.6, 0.6, 0.6]], max: 0.9 },
    ],
  };
  const path = join(folder, "hinges.json");
  writeFileSync(path, JSON.stringify(scene));
  return path;
}

/** Takes a screenshot, keeps it, and makes sure that it is not blank. */
async function shoot(page, name) {
  const png = await page.screenshot({ path: join(artefacts, `${name}.png`) });
  const count = colours(png);
  assert.ok(count > 60, `${name} has only ${count} colours`);
  return png;
}

/** Body ⇒ a point of the window where it is the body in front. */
async function point(page, wanted) {
  return page.evaluate((wanted) => {
    const { dynamic, onScreen, pick } = window.rattleback;
    for (const body of wanted === null ? dynamic() : [wanted]) {
      const at = onScreen(body);
      if (at && pick(at.x, at.y) === body && document.elementFromPoint(at.x, at.y)?.id === "view") return { body, ...at };
    }
    return null;
  }, wanted);
}

test("the gallery shows every scene with a picture, and opens one", async () => {
  await visit([], async (page) => {
    await page.waitForSelector(".scene-card");
    assert.ok((await page.locator(".scene-card").count()) >= 20);
    await page.waitForFunction(() => {
      const shown = [...document.querySelectorAll(".scene-card img")].slice(0, 6);
      return shown.length === 6 && shown.every((image) => image.complete && image.naturalWidth > 100);
    }, null, { timeout: PATIENCE });
    await shoot(page, "gallery");
    await page.fill("#gallery-search", "seven dominos");
    assert.equal(await page.locator(".scene-card:visible").count(), 1);
    await page.click(".scene-card:visible");
    const opened = await until(page, (f) => f.scene === "dominos" && f.drawn > 5 && f.time > 0.2, "the scene plays");
    assert.equal(opened.playing, true);
    assert.equal(await page.locator("#gallery").isVisible(), false);
    await shoot(page, "dominos");
    await page.keyboard.press("g");
    await page.waitForSelector("#gallery:visible");
  });
});

test("play, pause, step and reset", async () => {
  await visit(["coins", "--paused"], async (page) => {
    const start = await until(page, (f) => f.frames > 0 && f.drawn > 1, "the first frame");
    assert.deepEqual([start.playing, start.time], [false, 0]);
    await page.click("#step");
    const stepped = await until(page, (f) => f.steps === 1, "one step");
    assert.ok(stepped.time > 0 && !stepped.playing);
    await page.keyboard.press(".");
    await until(page, (f) => f.steps === 2, "another step");
    await page.click("#play");
    await until(page, (f) => f.playing && f.time > 0.3, "time passes");
    await page.keyboard.press(" ");
    const paused = await until(page, (f) => f.playing === false, "pause");
    await page.waitForTimeout(400);
    assert.equal((await facts(page)).time, paused.time);
    await shoot(page, "coins");
    await page.click("#reset");
    await until(page, (f) => f.time === 0, "reset");
    await page.selectOption("#speed", "0.25");
    await page.click("#play");
    const before = await until(page, (f) => f.time > 0.05, "slow motion");
    await page.waitForTimeout(1000);
    const passed = (await facts(page)).time - before.time;
    assert.ok(passed > 0.05 && passed < 0.6, `${passed} s passed in a second at a quarter of the speed`);
  });
});

test("a body is dragged by the mouse", async () => {
  await visit(["block-drop", "--paused"], async (page) => {
    await until(page, (f) => f.frames > 0 && f.drawn > 1, "the first frame");
    const at = await point(page, null);
    assert.ok(at, "a body can be gripped");
    const position = () => page.evaluate((body) => window.rattleback.position(body), at.body);
    const before = await position();
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + 40, at.y - 140, { steps: 5 });
    await page.keyboard.press(" ");
    await until(page, (f) => f.playing && f.time > 1.5, "time passes while the body is held");
    await shoot(page, "drag");
    const held = await position();
    const moved = Math.hypot(...held.map((x, i) => x - before[i]));
    assert.ok(moved > 0.02, `it moved by ${moved} m`);
    await page.mouse.up();
    const end = Date.now() + PATIENCE;
    while ((await position())[2] > held[2] - 0.02) {
      assert.ok(Date.now() < end, "let go, it falls");
      await page.waitForTimeout(50);
    }
  });
});

test("a click on a body shows its properties", async () => {
  await visit(["brick-wall", "--paused"], async (page) => {
    await until(page, (f) => f.frames > 0 && f.drawn > 1, "the first frame");
    const at = await point(page, null);
    await page.mouse.click(at.x, at.y);
    await page.waitForSelector("#body-table td");
    const text = await page.locator("#body-panel").innerText();
    for (const word of ["mass", "kg", "velocity", "contacts"]) assert.ok(text.includes(word), text);
    await page.keyboard.press("c");
    await page.keyboard.press("p");
    await page.keyboard.press(" ");
    await until(page, (f) => f.samples > 10, "plots fill");
    await shoot(page, "brick-wall");
    await page.keyboard.press("Escape");
    assert.equal((await facts(page)).chosen, null);
  });
});

test("every overlay draws something", async () => {
  await visit(["brick-wall"], async (page) => {
    await until(page, (f) => f.contacts > 0, "bricks touch");
    await page.click("#toggle-overlays");
    for (const overlay of ["contacts", "boxes", "axes", "velocities", "trajectories", "cells"]) {
      const box = page.locator(`#overlay-list input[value="${overlay}"]`);
      await page.keyboard.press("r");
      await until(page, (f) => f.time > 0.4 && f.time < 20, "the ball hits the wall");
      await box.check();
      await until(page, (f) => f.segments > 20, overlay);
      await shoot(page, `overlay-${overlay}`);
      await box.uncheck();
      await until(page, (f) => f.segments === 0, `${overlay} off`);
    }
  });
  await visit(["block-drop"], async (page) => {
    await page.keyboard.press("5");
    await page.selectOption("#speed", "10");
    await until(page, (f) => f.asleep > 0 && f.sections.includes(5), "a body sleeps");
    await shoot(page, "overlay-sleeping");
  });
  await visit(["spring-chain"], async (page) => {
    await until(page, (f) => f.segments > 20, "springs are shown without being asked for");
    await shoot(page, "overlay-springs");
    await page.keyboard.press("7");
    await until(page, (f) => f.segments === 0, "springs off");
  });
});

test("joints with their limits, cells of a grid, and levels of a mesh", async () => {
  await visit([hinges()], async (page) => {
    await until(page, (f) => f.drawn > 3, "the scene plays");
    await page.keyboard.press("8");
    const joints = await until(page, (f) => f.segments > 40 && f.sections.includes(7), "joints");
    await shoot(page, "overlay-joints");
    await page.keyboard.press("9");
    await until(page, (f) => f.segments > joints.segments && f.sections.includes(8), "cells");
    await shoot(page, "overlay-cells");
    await page.keyboard.press("9");
    await page.keyboard.press("8");
    await until(page, (f) => f.segments === 0, "both off");
    await page.click("#toggle-overlays");
    await page.locator('#overlay-list input[value="hierarchy"]').check();
    const coarse = await until(page, (f) => f.segments > 10 && f.sections.includes(9), "boxes of the mesh");
    await shoot(page, "overlay-hierarchy");
    await page.fill("#level", "0");
    await page.keyboard.press("Enter");
    await until(page, (f) => f.segments === 12, "level 0 is one box");
    assert.ok(coarse.segments > 12);
  });
});

test("channels are chosen and plotted", async () => {
  await visit(["spring-pendulum", "--paused"], async (page) => {
    const start = await until(page, (f) => f.frames > 0 && f.drawn > 1, "the first frame");
    assert.ok(start.plots.includes("time by stage") && start.plots.includes("step by stage"));
    await page.keyboard.press("p");
    await page.click("#channels summary");
    await page.locator('#channel-list input[value="energy.drift"]').check();
    const at = await point(page, null);
    await page.mouse.click(at.x, at.y);
    const speed = page.locator('#channel-list input[value$=".speed"]');
    await speed.waitFor();
    await speed.check();
    await page.fill("#channel-name", "momentum.z");
    await page.press("#channel-name", "Enter");
    const chosen = await until(page, (f) => f.plots.length === start.plots.length + 3, "three more plots");
    assert.ok(chosen.plots.includes("energy.drift") && chosen.plots.includes("momentum.z"));
    await page.click("#play");
    await until(page, (f) => f.samples > 30 && f.values.length >= 3 + 1 + 1 + 4 + 3, "all curves have values");
    await shoot(page, "channels");
    await page.locator('#channel-list input[value="energy.drift"]').uncheck();
    await until(page, (f) => f.plots.length === start.plots.length + 2, "one less");
    await page.fill("#channel-name", "missing.z");
    await page.press("#channel-name", "Enter");
    await page.waitForSelector("#messages div");
    assert.match(await page.locator("#messages div").first().innerText(), /missing/);
  });
});

test("the simulator is switched while the scene runs", async () => {
  await visit(["dominos"], async (page) => {
    const first = await until(page, (f) => f.time > 0.1, "the scene plays");
    const others = await page.locator("#simulator option").allInnerTexts();
    assert.ok(others.includes("realtime") && others.includes("impulse"));
    const other = others.find((name) => name !== first.simulator && name !== "free-motion");
    await page.selectOption("#simulator", other);
    const then = await until(page, (f) => f.simulator === other, "another simulator");
    await until(page, (f) => f.time > then.time + 0.1, "it goes on");
    await shoot(page, "switched");
  });
});

test("a recording is scrubbed and played", async () => {
  const file = join(folder, "run.rbrec");
  const ran = spawnSync(program, ["run", "coins", "--for", "2", "--record", file, "--every", "4", "--quiet"]);
  assert.equal(ran.status, 0, String(ran.stderr));
  await visit([file, "--paused"], async (page) => {
    const start = await until(page, (f) => f.frames > 0, "the first frame");
    assert.ok(start.states > 50);
    const half = Math.floor(start.states / 2);
    await page.fill("#scrub", String(half));
    const middle = await until(page, (f) => f.state === half, "the middle");
    assert.ok(Math.abs(middle.time - 1) < 0.1);
    await shoot(page, "recording");
    await page.fill("#scrub", "0");
    await until(page, (f) => f.state === 0 && f.time === 0, "the beginning");
    await page.click("#play");
    await until(page, (f) => f.state > 5, "it plays");
    assert.equal(await page.locator("#simulator-label").isVisible(), false);
  });
});

test("help, dark paper and a small window", async () => {
  await visit(
    ["bowling"],
    async (page) => {
      await until(page, (f) => f.drawn > 3 && f.time > 0.1, "the scene plays");
      await shoot(page, "phone");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
      await page.keyboard.press("l");
      await page.keyboard.press("?");
      await page.waitForSelector("#help[open]");
      await shoot(page, "phone-dark-help");
    },
    { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true },
  );
});

test("a page without the token shows the reason", async () => {
  const server = await serve("coins");
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(server.url.split("?")[0]);
    await page.waitForSelector("#messages div", { timeout: PATIENCE });
    assert.match(await page.locator("#messages div").first().innerText(), /token/);
  } finally {
    await context.close();
    server.stop();
  }
});

test("sliders pose the joints of a paused multibody", async () => {
  await visit(["arm", "--paused"], async (page) => {
    // The shoulder is at 80°: the positions of a frame have arrived.
    const before = await until(page, (now) => Math.abs(now.sliders[1] - 1.3963) < 1e-3 && now.drawn > 0, "no sliders");
    await page.evaluate(() => window.dispatchEvent(new KeyboardEvent("keydown", { key: "8" })));
    await page.waitForTimeout(300);
    await shoot(page, "arm-sliders");
    const wanted = before.sliders[0] + 0.4;
    await page.evaluate((wanted) => {
      const input = document.querySelector("#slider-list input");
      input.value = String(wanted);
      input.dispatchEvent(new Event("input"));
    }, wanted);
    const moved = await until(page, (now) => Math.abs(now.sliders[0] - wanted) < 1e-3 && now.frames > before.frames + 5, "the joint did not follow");
    assert.equal(moved.playing, false);
    await shoot(page, "arm-posed");
  });
});
