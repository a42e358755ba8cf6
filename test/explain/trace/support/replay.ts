/** Takes a frame along the steps of its trace: what the steps say must fit together, and lead to the outcome. */
import { expect } from "vitest";
import { HITS_PER_FRAME } from "../../../../src/abi/engine.js";
import type { ByteChange, Trace, TraceDestination } from "../../../../src/explain/index.js";

/** Checks that the changes of the steps make the frames of the destinations, and that the rules are those of the outcome. */
export function replay(trace: Trace): void {
  const { steps, outcome } = trace;
  const frames = new Map([[0, trace.frame.bytes]]);
  const arrived: { to: string; copy: boolean; frame: string }[] = [];
  const looped = steps.some((step) => step.kind === "move" && step.cause === "loopback");
  const hit: string[] = [];
  for (const step of steps) {
    const frame = frames.get(step.branch);
    // Of several frames that left, the steps do not say which one is looped back.
    if (frame === undefined) continue;
    switch (step.kind) {
      case "action":
        frames.set(step.branch, changed(frame, step.bytes));
        break;
      case "fork":
        frames.set(step.into, frame);
        break;
      case "destination":
        if (step.refused === null) arrived.push({ to: step.to, copy: step.copy, frame });
        break;
      case "lookup":
        if (step.rule !== null && !step.passedOver && step.rule.kind !== "connection") hit.push(step.rule.name);
        break;
      default:
        break;
    }
  }
  // Of identical flows the outcome of a looped frame lists some; a lookup that found one rule too many is no hit.
  if (looped || steps.some((step) => step.kind === "end" && step.reason === "hop_limit")) return;
  const listed = outcome.rules.slice(0, trace.complete ? undefined : hit.length);
  expect(listed.join(" = ")).toBe(hit.slice(0, HITS_PER_FRAME).join(" = "));
  if (!trace.complete) return;
  const names = ({ name, frame }: TraceDestination): string => `${name} ${frame}`;
  for (const copy of [false, true]) {
    const got = arrived.filter((one) => one.copy === copy).map(({ to, frame }) => `${to} ${frame}`);
    expect(got).toEqual((copy ? outcome.copies : outcome.to).map(names));
  }
}

/** The frame after changes, which have offsets of the frame before. */
function changed(frame: string, changes: readonly ByteChange[]): string {
  let result = frame;
  for (const { offset, before, after } of [...changes].reverse()) {
    expect(result.slice(2 * offset, 2 * offset + before.length)).toBe(before);
    result = result.slice(0, 2 * offset) + after + result.slice(2 * offset + before.length);
  }
  return result;
}
