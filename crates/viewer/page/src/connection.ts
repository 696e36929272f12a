// The WebSocket: commands out, scenes and frames in; comes back by itself when it breaks.

import { readCast, readFrame, type BodyReport, type Cast, type Frame, type Scene } from "./protocol";

export interface Audience {
  scene(scene: Scene): void;
  cast(cast: Cast): void;
  frame(frame: Frame): void;
  body(body: BodyReport): void;
  gallery(): void;
  message(text: string, bad: boolean): void;
  connected(yes: boolean): void;
}

const RETRY_MS = 1000;

export class Connection {
  private socket: WebSocket | null = null;
  private greeting: (() => object[]) | null = null;

  constructor(private readonly audience: Audience) {
    this.open();
  }

  /** What to say first on every new connection. */
  greetWith(commands: () => object[]) {
    this.greeting = commands;
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
      this.audience.connected(true);
      for (const command of this.greeting?.() ?? []) this.send(command);
    };
    socket.onclose = () => {
      this.audience.connected(false);
      if (!opened && !token) {
        this.audience.message("Open the address that the program printed: this one has no token in it.", true);
      }
      setTimeout(() => this.open(), RETRY_MS);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.hear(JSON.parse(event.data));
      else if (new Uint32Array(event.data, 0, 1)[0] === 2) this.audience.cast(readCast(event.data));
      else this.audience.frame(readFrame(event.data));
    };
  }

  private hear(message: Record<string, unknown>) {
    if (message.scene) this.audience.scene(message.scene as Scene);
    else if (message.body) this.audience.body(message.body as BodyReport);
    else if (message.gallery) this.audience.gallery();
    else if (message.error) this.audience.message(String(message.error), true);
    else if (message.notice) this.audience.message(String(message.notice), true);
  }
}
