/**
 * Matchers for frames. They trace a frame, so the device stays as it is; where one fails, its message has the explanation.
 */
import {
  printExplanation,
  trace,
  traceSend,
  why,
  whySend,
  type TraceOutcome,
  type WhyTarget,
} from "../explain/index.js";
import { inCall, refuse } from "../errors.js";
import { namesHint } from "../base/nearest.js";
import { portOf } from "../model/base/port/ports.js";
import type { Device } from "../model/device/device.js";
import type { QueuePair } from "../model/queuePair/queuePair.js";
import { REASONS } from "../model/traffic/outcome.js";
import { LINK_TYPES } from "../packet/capture/linkTypes.js";
import { buildFrame, parsePacket } from "../packet/index.js";

/** A frame before it arrives at a device, or before a queue pair sends it. */
export interface SteeredFrame {
  readonly device: Device;
  readonly bytes: Uint8Array;
  /** LINKTYPE_* of its first header. */
  readonly linkType: number;
  /** The port that it arrives on. */
  readonly port: number;
  /** The queue pair that sends it; null for one that arrives. */
  readonly sender: QueuePair | null;
}

/** Where a frame comes from: a port, 1 without one, or a queue pair. */
export type SteeredFrom = { readonly port?: number } | { readonly sender: QueuePair };

/**
 * A frame for the matchers.
 * @param frame its bytes from the link header on, or packet notation (docs/packet.md)
 * @throws SteeringError notation that is not understood
 * @example
 *     await expect(steered(device, "ipv4 / tcp > 443")).toDeliverTo("web");
 */
export function steered(device: Device, frame: Uint8Array | string, from: SteeredFrom = {}): SteeredFrame {
  const [port, sender] = "sender" in from ? [1, from.sender] : [from.port ?? 1, null];
  if (typeof frame !== "string") return { device, bytes: frame, linkType: LINK_TYPES.ETHERNET, port, sender };
  const { layers, linkType } = parsePacket(frame);
  return { device, bytes: buildFrame(layers), linkType, port, sender };
}

/** What the matchers of this module do; for a declaration of `Matchers` of Vitest or Jest. */
export interface SteeringMatchers<R = Promise<void>> {
  /**
   * The frame reaches this queue or port, itself or by a copy.
   * @param name as outcomes have it (`qp:web`, `port:1`), or without its kind (`web`)
   */
  toDeliverTo(name: string): R;
  /** The frame hits this rule or flow. */
  toHitRule(name: string): R;
  /** A rule, a check or the end of a table drops the frame for this reason, such as `hop_limit` (docs/errors.md). */
  toDropBecause(reason: string): R;
  /** No rule takes the frame: it misses. */
  toMiss(): R;
}

/** The answer of a matcher. */
export interface MatcherResult {
  readonly pass: boolean;
  /** What `expect` says where the answer is not the wanted one. */
  readonly message: () => string;
}

/** For `expect.extend`: the functions of `SteeringMatchers`, with the frame before their arguments. */
export const matchers: {
  readonly [K in keyof SteeringMatchers]: (
    frame: SteeredFrame,
    ...args: Parameters<SteeringMatchers[K]>
  ) => Promise<MatcherResult>;
} = {
  toDeliverTo: async (frame, name) =>
    judge(frame, `deliver to ${name}`, destination(frame.device, name), ({ to, copies }) =>
      [...to, ...copies].some((one) => one.name === name || one.name.replace(/^[a-z]+:/, "") === name),
    ),
  toHitRule: (frame, name) =>
    judge(frame, `hit rule ${name}`, { kind: "rule", name }, ({ rules }) => rules.includes(name)),
  toDropBecause: async (frame, reason) =>
    judge(
      frame,
      `drop because of ${knownReason(reason)}`,
      { kind: "end" },
      (end) => end.verdict === "drop" && end.reason === reason,
    ),
  toMiss: (frame) => judge(frame, "miss", { kind: "end" }, ({ verdict }) => verdict === "miss"),
};

/** A queue, by its label or its name; a port is an end of the device. @throws SteeringError EINVAL: no such port */
function destination(device: Device, name: string): WhyTarget {
  const [, port] = /^port:(\d+)$/.exec(name) ?? [];
  if (port === undefined) return { kind: "queue", name };
  inCall("toDeliverTo", () => portOf("name", device, Number(port)));
  return { kind: "end" };
}

/** @throws SteeringError EINVAL: no outcome has this reason */
function knownReason(reason: string): string {
  if (reason !== "none" && (REASONS as readonly string[]).includes(reason)) return reason;
  const hint = namesHint(
    reason,
    "reasons",
    REASONS.filter((one) => one !== "none"),
  );
  return refuse({ code: "EINVAL", call: "toDropBecause", reason: "unknown_name", path: "reason", value: reason, hint });
}

async function judge(
  { device, bytes, linkType, port, sender }: SteeredFrame,
  wanted: string,
  target: WhyTarget,
  isMet: (outcome: TraceOutcome) => boolean,
): Promise<MatcherResult> {
  const { outcome } = await (sender === null
    ? trace(device, port, bytes, { linkType })
    : traceSend(device, sender, bytes));
  const pass = isMet(outcome);
  // A name that nothing has is refused, whatever the frame does.
  const about = await explained(target);
  const text = pass ? await explained({ kind: "end" }) : about;
  return { pass, message: () => `expected the frame ${pass ? "not " : ""}to ${wanted}\n\n${text}` };

  async function explained(about: WhyTarget): Promise<string> {
    return printExplanation(
      await (sender === null ? why(device, port, bytes, about, { linkType }) : whySend(device, sender, bytes, about)),
    );
  }
}
