// The worker: it has the device. A message is a list of frames, the answer what became of each, in the same order.
import { loadScenario } from "flowsteer/scenario";

export interface Question {
  readonly port: number;
  readonly frames: readonly Uint8Array[];
}

/** Plain data: an outcome has objects of the device, which no message can hold. */
export interface Answer {
  readonly verdict: string;
  readonly reason: string | null;
  readonly to: readonly string[];
}

// No `await` before `onmessage` is set: messages that come until then would be lost.
const loading = loadScenario({
  flowsteer: 1,
  queues: [{ name: "web" }],
  tables: [{ name: "root", level: 0 }],
  rules: [
    { name: "web", table: "root", match: { "outer.tcp_dport": 443 }, actions: [{ queue: "web" }] },
    { name: "no telnet", table: "root", match: { "outer.tcp_dport": 23 }, actions: ["drop"] },
  ],
});

/** The answers to a question, or why there are none: the error of a worker does not reach its page by itself. */
export type Reply = readonly Answer[] | string;

self.onmessage = async ({ data }: MessageEvent<Question>) => {
  const reply: Reply = await answer(data).catch((error: Error) => error.message);
  self.postMessage(reply);
};

async function answer({ port, frames }: Question): Promise<readonly Answer[]> {
  const { device } = await loading;
  return device.receiveBatch(port, frames).map(({ verdict, reason, to }) => ({
    ...{ verdict, reason: reason ?? null },
    to: to.map(({ name }) => name),
  }));
}
