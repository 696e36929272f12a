// Sliders for the joint positions of multibodies.

import { element, make } from "./element";
import { Section, type Frame, type Slider } from "./protocol";

export class Sliders {
  private readonly card = element("sliders");
  private readonly list = element("slider-list");
  private readonly button = element<HTMLButtonElement>("toggle-sliders");
  private inputs: HTMLInputElement[] = [];
  private outputs: HTMLElement[] = [];
  private units: string[] = [];
  /** The slider under the pointer, which frames do not move. */
  private held: number | null = null;

  constructor(private readonly move: (slider: number, value: number) => void) {
    addEventListener("pointerup", () => (this.held = null));
  }

  /** A slider for each joint position of a scene; the card is shown if there is any. */
  set(sliders: Slider[]) {
    this.inputs = [];
    this.outputs = [];
    this.units = sliders.map((slider) => slider.unit);
    const rows = sliders.map((slider, index) => {
      const row = make("label");
      const input = document.createElement("input");
      input.type = "range";
      [input.min, input.max, input.step] = [String(slider.min), String(slider.max), "any"];
      // Until the first frame; without it the browser shows the middle of its own range, 50.
      input.value = "0";
      input.dataset.joint = slider.name;
      const output = make("output");
      input.addEventListener("pointerdown", () => (this.held = index));
      input.addEventListener("input", () => {
        this.show(index, Number(input.value));
        this.move(index, Number(input.value));
      });
      this.inputs.push(input);
      this.outputs.push(output);
      row.append(make("span", "", slider.name), output, input);
      return row;
    });
    this.list.replaceChildren(...rows);
    this.button.hidden = sliders.length === 0;
    this.setOpen(sliders.length > 0);
  }

  get open(): boolean {
    return !this.card.hidden;
  }

  setOpen(open: boolean) {
    this.card.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
  }

  /** Positions of a frame. */
  update(frame: Frame) {
    const rows = frame.sections.get(Section.sliders);
    if (!rows || !this.open) return;
    for (let row = 0; row < rows.count; row++) {
      const index = rows.words[2 * row];
      if (index === this.held || !this.inputs[index]) continue;
      const value = rows.reals[2 * row + 1];
      this.inputs[index].value = String(value);
      this.show(index, value);
    }
  }

  /** Positions shown, for tests. */
  get values(): number[] {
    return this.inputs.map((input) => Number(input.value));
  }

  private show(index: number, value: number) {
    this.outputs[index].textContent = `${value.toFixed(3)} ${this.units[index]}`;
  }
}
