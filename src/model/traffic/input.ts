/** Frames as callers give them: checked all, before the first is steered, so that a refusal leaves nothing half done. */
import { MAX_FRAME } from "../../abi/engine.js";
import { Link } from "../../abi/headers.js";
import { refuse } from "../../errors.js";
import { checkTime, describe, unsigned } from "../../checks.js";
import { linkOf } from "./links.js";

/** How a frame came in. */
export interface FrameOptions {
  /** LINKTYPE_ number of the capture it is from. @default 1, Ethernet */
  linkType?: number;
  /** Its length on the wire, where the capture cut it. @default its length */
  wireLength?: number;
  /** When it comes in, in nanoseconds: what meters and connections go by. @default the clock of the device */
  time?: bigint;
}

/** The same for all frames of a call, or one for each. */
export type BatchOptions = FrameOptions | readonly FrameOptions[];

const DEFAULTS: FrameOptions = {};

/** The options of frame i. */
export function optionsOf(options: BatchOptions, i: number): FrameOptions {
  return Array.isArray(options) ? ((options as readonly FrameOptions[])[i] ?? DEFAULTS) : (options as FrameOptions);
}

export function wireLengthOf(frame: Uint8Array, { wireLength }: FrameOptions): number {
  return wireLength ?? frame.length;
}

/** What the parser begins with; refuses a link type that has no parser. */
export function linkFor(call: string, i: number, { linkType }: FrameOptions): number {
  return linkType === undefined ? Link.ethernet : linkOf(call, `frames[${i}].linkType`, linkType);
}

/** How a frame goes on that came in so as `was`, and is `now`; `link` is the type that it has become one of, if it has. */
export function onwardOptions(
  own: FrameOptions,
  was: Uint8Array,
  now: Uint8Array,
  link: number | undefined,
): FrameOptions {
  if (now === was) return own;
  const options: FrameOptions = { wireLength: wireLengthOf(was, own) - was.length + now.length };
  const linkType = link ?? own.linkType;
  if (linkType !== undefined) options.linkType = linkType;
  if (own.time !== undefined) options.time = own.time;
  return options;
}

/** Refuses the first frame that cannot be taken. */
export function checkFrames(call: string, frames: readonly Uint8Array[], options: BatchOptions): void {
  for (let i = 0; i < frames.length; i++) {
    const frame = frames[i];
    if (!(frame instanceof Uint8Array)) {
      throw new TypeError(`${call}: frames[${i}] must be a Uint8Array, not ${describe(frame)}`);
    }
    if (frame.length > MAX_FRAME) {
      const hint = `at most ${MAX_FRAME} bytes`;
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: `frames[${i}].length`, value: frame.length, hint });
    }
    const own = optionsOf(options, i);
    if (own.wireLength !== undefined) checkWireLength(call, i, frame, own.wireLength);
    if (own.linkType !== undefined) linkFor(call, i, own);
    if (own.time !== undefined) checkTime(call, `frames[${i}].time`, own.time);
  }
}

/** Destination and source MAC and the type: less cannot be sent. */
const ETHERNET_LENGTH = 14;

/** Refuses what is too short or too long for a frame that is sent. */
export function checkFrameLength(call: string, path: string, length: number): void {
  if (length >= ETHERNET_LENGTH && length <= MAX_FRAME) return;
  const hint = `${ETHERNET_LENGTH} to ${MAX_FRAME} bytes, from the destination MAC on`;
  refuse({ code: "EINVAL", call, reason: "bad_frame", path, value: `${length} bytes`, hint });
}

function checkWireLength(call: string, i: number, frame: Uint8Array, wireLength: number): void {
  const path = `frames[${i}].wireLength`;
  if (unsigned(call, path, wireLength, 32) >= frame.length) return;
  const hint = `the frame has ${frame.length} bytes`;
  refuse({ code: "EINVAL", call, reason: "out_of_range", path, value: wireLength, hint });
}
