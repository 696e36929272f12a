// The gallery: built-in scenes with thumbnails.

import { element, make } from "./element";

interface Entry {
  name: string;
  summary: string;
}

export class Gallery {
  private readonly box = element("gallery");
  private readonly grid = element("gallery-grid");
  private readonly search = element<HTMLInputElement>("gallery-search");
  private loaded = false;

  constructor(
    private readonly choose: (scene: string) => void,
    private readonly mayClose: () => boolean,
  ) {
    element("gallery-close").addEventListener("click", () => this.hide());
    this.search.addEventListener("input", () => this.filter());
  }

  get open(): boolean {
    return !this.box.hidden;
  }

  async show() {
    this.box.hidden = false;
    element("gallery-close").hidden = !this.mayClose();
    if (this.loaded) return;
    this.loaded = true;
    const answer = await fetch("gallery.json");
    for (const { name, summary } of (await answer.json()) as Entry[]) {
      const card = make("button", "scene-card");
      card.dataset.scene = name;
      const picture = document.createElement("img");
      picture.loading = "lazy";
      picture.alt = "";
      picture.src = `thumbnail/${name}.png`;
      const text = make("div");
      text.append(make("b", "", name.replaceAll("-", " ")), make("span", "", summary));
      card.append(picture, text);
      card.addEventListener("click", () => {
        this.choose(name);
        this.box.hidden = true;
      });
      this.grid.append(card);
    }
    this.filter();
  }

  hide() {
    if (this.mayClose()) this.box.hidden = true;
  }

  private filter() {
    const wanted = this.search.value.trim().toLowerCase();
    for (const card of this.grid.children) {
      (card as HTMLElement).hidden = !(card.textContent ?? "").toLowerCase().includes(wanted);
    }
  }
}
