// Live plots: what has been seen in the last seconds, on canvases of their own.

import { make, short } from "./element";
import type { Frame } from "./protocol";

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
  { title: "time of a step", unit: "s", curves: [{ label: "step", colour: "#d98a1f", value: (frame) => frame.stepMs / 1000 }] },
];

export class Plots {
  private readonly plots: Plot[];
  private times: number[] = [];
  private values: number[][] = [];
  private epoch = -1;

  constructor(private readonly box: HTMLElement) {
    this.plots = PLOTS.map(({ title, unit, curves }) => {
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
      box.append(figure);
      return { title, unit, curves, canvas, readings };
    });
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
        const text = `${curve.label} ${short(values[i][values[i].length - 1], plot.unit)}`;
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
    let [low, high] = [Math.min(0, ...values.flat()), Math.max(0, ...values.flat())];
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
      list.forEach((value, k) => context.lineTo(x(this.times[k]), y(value)));
      context.stroke();
    });
  }
}
