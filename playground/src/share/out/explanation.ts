/** The path of a frame as text and as lines of JSON, as the command prints them. */
import { printExplanation, printTrace } from "flowsteer/explain";
import type { FrameWay } from "../../engine/api.js";

export function explanationText({ frame, trace, near, why }: FrameWay): string {
  const parts = [printTrace(trace, { number: frame, near }), ...(why === null ? [] : [printExplanation(why)])];
  return `${parts.join("\n\n")}\n`;
}

/** schema/explain-1.schema.json describes the lines. */
export function explanationLines({ frame, trace, near, why }: FrameWay): string {
  const records = [
    { kind: "trace", frame, trace, near },
    ...(why === null ? [] : [{ kind: "why", frame, explanation: why }]),
  ];
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}
