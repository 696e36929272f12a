// The WebSocket: commands out, scenes and frames in; reconnects when it breaks.

import { readFrame, readSceneGeometry, type BodyReport, type Frame, type Scene, type SceneGeometry } from "./protocol";

export interface MessageHandlers {
  scene(scene: Scene): void;
  geometry(geometry: SceneGeometry): void;
  frame(frame: Frame): void;
  body(body: BodyReport): void;
  gallery(): void;
  message(text: string, bad: boolean): void;
  connected(yes: boolean): void;
}

const RETRY_MS = 1000;

export class Connection {
  private socket: WebSocket | null = null;
  private initial: (() => object[]) | null = null;

  constructor(private readonly handlers: MessageHandlers) {
    this.open();
  }

  /** Commands to send first on every new connection. */
  onConnect(commands: () => object[]) {
    this.initial = commands;
  }

  send(command: object) {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(command));
    }
  }

  private open() {
    const token = new URLSearchParams(location.search).get("token") ?? "";
    const socket = new WebSocket(`ws://${location.host}/socket?token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      this.handlers.connected(true);
      for (const command of this.initial?.() ?? []) this.send(command);
    };
    socket.onclose = () => {
      this.handlers.connected(false);
      if (!opened && !token) {
        this.handlers.message("Open the address that the program printed: this one has no token in it.", true);
      }
      setTimeout(() => this.open(), RETRY_MS);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.receive(JSON.parse(event.data));
      else if (new Uint32Array(event.data, 0, 1)[0] === 2) this.handlers.geometry(readSceneGeometry(event.data));
      else this.handlers.frame(readFrame(event.data));
    };
  }

  private receive(message: Record<string, unknown>) {
    if (message.scene) this.handlers.scene(message.scene as Scene);
    else if (message.body) this.handlers.body(message.body as BodyReport);
    else if (message.gallery) this.handlers.gallery();
    else if (message.error) this.handlers.message(String(message.error), true);
    else if (message.notice) this.handlers.message(String(message.notice), true);
  }
}
