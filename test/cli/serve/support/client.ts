/** A client of the control of `flowsteer serve`. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";

export interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

export class Client {
  readonly socket: Socket;
  readonly #answers: Answer[] = [];
  #wake: (() => void) | null = null;
  #id = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => undefined);
    createInterface({ input: socket }).on("line", (line) => {
      this.#answers.push(JSON.parse(line) as Answer);
      this.#wake?.();
    });
  }

  static async open(path: string): Promise<Client> {
    const socket = connect({ path });
    await once(socket, "connect");
    return new Client(socket);
  }

  /** The next message of the other side. */
  async next(): Promise<Answer> {
    for (;;) {
      const answer = this.#answers.shift();
      if (answer !== undefined) return answer;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  write(text: string): void {
    this.socket.write(`${text}\n`);
  }

  /** Calls a method, while no other message comes. */
  async call(method: string, params: object = {}): Promise<Answer> {
    const id = ++this.#id;
    this.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const answer = await this.next();
    if (answer.id !== id) throw new Error(`no answer of ${method}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async result(method: string, params: object = {}): Promise<unknown> {
    const { result, error } = await this.call(method, params);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }
}
