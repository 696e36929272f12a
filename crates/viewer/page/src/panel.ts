// Properties of the selected body.

import { element, make, short } from "./element";
import type { BodyReport } from "./protocol";

const length = (v: number[]) => Math.hypot(...v);

export class BodyPanel {
  private readonly box = element("body-panel");
  private readonly table = element("body-table");
  private index: number | null = null;

  expect(index: number | null) {
    this.index = index;
    this.box.hidden = index === null;
    if (index !== null) {
      element("body-name").textContent = "…";
      this.table.replaceChildren();
    }
  }

  show(body: BodyReport) {
    if (body.index !== this.index) return;
    element("body-name").textContent = body.name;
    const vector = (v: number[]) => v.map((x) => x.toPrecision(3)).join(", ");
    const rows: [string, string][] = [
      ["status", body.asleep ? `${body.status}, asleep` : body.status],
      ["mass", short(body.mass, "kg")],
      ["moments", `${vector(body.moments)} kg·m²`],
      ["position", `${vector(body.position)} m`],
      ["speed", short(length(body.velocity), "m/s")],
      ["velocity", `${vector(body.velocity)} m/s`],
      ["angular velocity", `${vector(body.omega)} rad/s`],
      ["kinetic energy", short(body.energy, "J")],
      ["contacts", String(body.contact_count)],
    ];
    for (const contact of body.contacts.slice(0, 6)) {
      rows.push([`  ${contact.with ?? "?"}`, short(contact.force, "N")]);
    }
    this.table.replaceChildren(
      ...rows.map(([name, value]) => {
        const row = make("tr");
        row.append(make("th", "", name), make("td", "", value));
        return row;
      }),
    );
  }
}
