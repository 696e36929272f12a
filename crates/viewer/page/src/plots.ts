// Live plots: what has been seen in the last seconds, on canvases of their own.

import { make, short } from "./element";
import { Section, type Frame } from "./protocol";

interface Curve {
  label: string;
  colour: string;
  value: (frame: Frame) => number;
}

interface Plot {
  title: string;
  unit: string;
  curves: Curve[];
  canvas: HTMLCanvasElement;
  readings: HTMLElement[];
}

const SAMPLES = 600;
const length = (v: number[]) => Math.hypot(...v);

const PLOTS: { title: string; unit: string; curves: Curve[] }[] = [
  {
    title: "energy",
    unit: "J",
    curves: [
      { label: "kinetic", colour: "#3a8fd0", value: (frame) => frame.kinetic },
      { label: "potential", colour: "#2f9e63", value: (frame) => frame.potential },
      { label: "total", colour: "#e5744d", value: (frame) => frame.kinetic + frame.potential },
    ],
  },
  { title: "momentum", unit: "N·s", curves: [{ label: "|p|", colour: "#8e63ce", value: (frame) => length(frame.momentum) }] },
  {
    title: "angular momentum",
    unit: "N·m·s",
    curves: [{ label: "|L|", colour: "#c75fb4", value: (frame) => length(frame.angularMomentum) }],
  },
  {
    title: "step by stage",
    unit: "s",
    curves: ["pairs", "contacts", "solve", "motion"].map((label, k) => ({
      label,
      colour: ["#3a8fd0", "#e5744d", "#d98a1f", "#2f9e63"][k],
      value: (frame: Frame) => (frame.stagesMs.some((time) => time > 0) ? frame.stagesMs[k] / 1000 : NaN),
    })),
  },
  {
    title: "time by stage",
    unit: "s",
    curves: [
      { label: "step", colour: "#d98a1f", value: (frame) => frame.stepMs / 1000 },
      { label: "publish", colour: "#3a8fd0", value: (frame) => frame.publishMs / 1000 },
      { label: "encode", colour: "#2f9e63", value: (frame) => frame.encodeMs / 1000 },
      { label: "send", colour: "#8e63ce", value: (frame) => frame.sendMs / 1000 },
    ],
  },
];
const COLOURS = ["#e5484d", "#2f9e63", "#3a8fd0", "#d98a1f", "#8e63ce", "#12a594", "#c2298a", "#86827b", "#99543a"];
/** Units by the last word of a channel; pure numbers have none. */
const UNITS: [RegExp, string][] = [
  [/^(position|[xyz])$/, "m"],
  [/^(velocity|speed|v[xyz])$/, "m/s"],
  [/^(body_)?omega(_[xyz])?$/, "rad/s"],
  [/^(energy|total|kinetic|potential|kinetic_energy|work|step_work)$/, "J"],
  [/^momentum$/, "N·s"],
  [/^angular_momentum$/, "N·m·s"],
];
/** Categories of the energy ledger. */
const WORK = ["force", "contact", "friction", "joint", "motor", "damping", "kinematic", "external", "integrator"];
/** Components of channels, as the server numbers them. */
const COMPONENTS: Record<string, string[]> = { energy: ["total", "kinetic", "potential"], orientation: ["w", "x", "y", "z"] };
/** Components of channels of the world alone: `work` of a force is one number. */
const WORLD_COMPONENTS: Record<string, string[]> = { work: WORK, step_work: WORK };

/** A channel and its place in the list that was sent ⇒ its plot. How many numbers it has is seen in the first frame. */
function chosen(channel: string, index: number): { title: string; unit: string; curves: Curve[] } {
  const quantity = channel.split(".").pop() ?? "";
  const scalar = ["speed", "kinetic_energy", "drift", "total", "kinetic", "potential", "work", ...WORK].includes(quantity) || /^(v|omega_|body_omega_)?[xyz]$|^q[wxyz]$/.test(quantity);
  const labels = WORLD_COMPONENTS[channel] ?? COMPONENTS[quantity] ?? (scalar ? [quantity] : ["x", "y", "z"]);
  const value = (component: number) => (frame: Frame) => {
    const rows = frame.sections.get(Section.channels);
    for (let i = 0; rows && i < rows.count; i++) {
      if (rows.words[3 * i] === index && rows.words[3 * i + 1] === component) return rows.reals[3 * i + 2];
    }
    return NaN;
  };
  const whole = ["momentum", "angular_momentum", "work", "step_work"].find((name) => channel.startsWith(name)) ?? quantity;
  const unit = UNITS.find(([word]) => word.test(whole))?.[1] ?? "";
  return { title: channel, unit, curves: labels.map((label, k) => ({ label, colour: COLOURS[k % COLOURS.length], value: value(k) })) };
}

export class Plots {
  private plots: Plot[];
  private channels: string[] = [];
  private times: number[] = [];
  private values: number[][] = [];
  private epoch = -1;

  constructor(
    private readonly box: HTMLElement,
    private readonly list: HTMLElement,
  ) {
    this.plots = PLOTS.map((plot) => this.make(plot));
  }

  private make({ title, unit, curves }: { title: string; unit: string; curves: Curve[] }): Plot {
    const figure = make("figure");
    const caption = make("figcaption");
    caption.append(make("b", "", title));
    const readings = curves.map((curve) => {
      const reading = make("i");
      reading.style.color = curve.colour;
      caption.append(reading);
      return reading;
    });
    const canvas = document.createElement("canvas");
    figure.append(caption, canvas);
    this.list.append(figure);
    return { title, unit, curves, canvas, readings };
  }

  /** Plots these channels besides what is always plotted. */
  choose(channels: string[]) {
    this.channels = channels;
    for (const plot of this.plots.splice(PLOTS.length)) plot.canvas.closest("figure")?.remove();
    channels.forEach((channel, index) => this.plots.push(this.make(chosen(channel, index))));
    this.times = [];
    this.values = this.plots.flatMap((plot) => plot.curves).map(() => []);
  }

  /** Titles of all plots. */
  get titles(): string[] {
    return this.plots.map((plot) => plot.title);
  }

  /** Names of the channels chosen. */
  get chosen(): string[] {
    return this.channels;
  }

  /** The last value of each curve that has one. */
  get last(): number[] {
    return this.values.map((values) => values[values.length - 1]).filter((value) => Number.isFinite(value));
  }

  /** How many samples there are. */
  get samples(): number {
    return this.times.length;
  }

  add(frame: Frame) {
    const last = this.times[this.times.length - 1];
    if (frame.epoch !== this.epoch || (last !== undefined && frame.time < last)) {
      this.epoch = frame.epoch;
      this.times = [];
      this.values = this.plots.flatMap((plot) => plot.curves).map(() => []);
    }
    if (this.times.length > 0 && frame.time === last) return;
    this.times.push(frame.time);
    this.plots.flatMap((plot) => plot.curves).forEach((curve, i) => this.values[i].push(curve.value(frame)));
    if (this.times.length > SAMPLES) {
      this.times.shift();
      for (const values of this.values) values.shift();
    }
  }

  draw() {
    if (this.box.hidden || this.times.length === 0) return;
    let at = 0;
    for (const plot of this.plots) {
      const values = this.values.slice(at, at + plot.curves.length);
      at += plot.curves.length;
      this.drawPlot(plot, values);
      plot.curves.forEach((curve, i) => {
        const value = values[i][values[i].length - 1];
        const known = Number.isFinite(value);
        const text = !known ? "" : `${curve.label} ${plot.unit === "" ? Number(value?.toPrecision(3)) : short(value, plot.unit)}`;
        if (plot.readings[i].textContent !== text) plot.readings[i].textContent = text;
      });
    }
  }

  private drawPlot(plot: Plot, values: number[][]) {
    const { canvas } = plot;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
    if (width === 0) return;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    if (!context) return;
    context.clearRect(0, 0, width, height);
    const finite = values.flat().filter(Number.isFinite);
    let [low, high] = [Math.min(0, ...finite), Math.max(0, ...finite)];
    if (high - low < 1e-300) [low, high] = [-1, 1];
    const pad = 0.08 * (high - low);
    [low, high] = [low - pad, high + pad];
    const [start, end] = [this.times[0], this.times[this.times.length - 1]];
    const x = (t: number) => ((t - start) / (end - start || 1)) * (width - 2) + 1;
    const y = (v: number) => height - ((v - low) / (high - low)) * height;
    context.lineWidth = ratio;
    context.strokeStyle = getComputedStyle(this.box).getPropertyValue("--line");
    context.beginPath();
    context.moveTo(0, y(0));
    context.lineTo(width, y(0));
    context.stroke();
    context.lineWidth = 1.6 * ratio;
    context.lineJoin = "round";
    values.forEach((list, i) => {
      context.strokeStyle = plot.curves[i].colour;
      context.beginPath();
      list.forEach((value, k) => Number.isFinite(value) && context.lineTo(x(this.times[k]), y(value)));
      context.stroke();
    });
  }
}
