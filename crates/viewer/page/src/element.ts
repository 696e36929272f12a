// Elements of the page, by id.

/** Id ⇒ element of the page; throws if there is none. */
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** Tag, class and text ⇒ new element. */
export function make(tag: string, className = "", text = ""): HTMLElement {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

const PREFIXES = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T"];

/** A number with three digits and an SI prefix. */
export function short(x: number, unit: string): string {
  if (!Number.isFinite(x)) return `– ${unit}`;
  if (x === 0) return `0 ${unit}`;
  const power = Math.floor(Math.log10(Math.abs(x)) / 3 + 1e-9);
  if (power < -5 || power > 4) return `${x.toExponential(2)} ${unit}`;
  // 0.12 m rather than 120 mm.
  const shift = power === -1 && Math.abs(x) >= 0.01 ? 0 : power;
  return `${Number((x / 1000 ** shift).toPrecision(3))} ${PREFIXES[shift + 5]}${unit}`;
}
