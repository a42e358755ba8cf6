/** A packet as a frame of the document. */
import type { ScenarioFrame } from "flowsteer/scenario";
import type { PipelineEnd } from "../../engine/api.js";
import type { FormLayer } from "./model.js";
import { hexOf } from "../../text/hex.js";

export interface Added {
  readonly layers: readonly FormLayer[];
  readonly bytes: Uint8Array;
  readonly linkType: number;
  readonly name: string;
  /** `port:1`, or `qp:web` for a queue that sends it. */
  readonly from: string;
}

export function frameOf({ layers, bytes, linkType, name, from }: Added): ScenarioFrame {
  const port = /^port:(\d+)$/.exec(from)?.[1];
  const send = /^qp:(.*)$/s.exec(from)?.[1];
  return {
    ...(name.trim() !== "" && { name: name.trim() }),
    ...bytesOf(layers, bytes),
    ...(send !== undefined && { send }),
    ...(port !== undefined && port !== "1" && { port: Number(port) }),
    ...(linkType !== 1 && { linkType }),
  };
}

/** Headers are easier to read; what JSON has no values for is given as bytes. */
function bytesOf(layers: readonly FormLayer[], bytes: Uint8Array): ScenarioFrame {
  const values = layers.flatMap((layer) => Object.values(layer));
  if (values.some((value) => typeof value === "bigint")) return { hex: hexOf(bytes) };
  const plain = layers.map((layer) =>
    Object.fromEntries(
      Object.entries(layer).map(([name, value]) => [name, value instanceof Uint8Array ? hexOf(value) : value]),
    ),
  );
  return { headers: plain } as ScenarioFrame;
}

/** Where a frame can come from: ports, and queues that send. */
export function origins(ports: number, ends: readonly PipelineEnd[]): { readonly id: string; readonly text: string }[] {
  return [
    ...Array.from({ length: Math.max(1, ports) }, (_, i) => ({
      id: `port:${i + 1}`,
      text: `arrives at port ${i + 1}`,
    })),
    ...ends
      .filter(({ kind }) => kind === "qp")
      .map(({ name }) => ({ id: `qp:${name}`, text: `sent by queue ${name}` })),
  ];
}
