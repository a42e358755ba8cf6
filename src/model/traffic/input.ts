/**
 * Input frames of a call and their options. All are checked before the first is steered, so a
 * refused call has steered nothing.
 */
import { MAX_FRAME } from "../../abi/engine.js";
import { Link } from "../../abi/headers.js";
import { refuse } from "../../errors.js";
import { checkTime, unsigned, wrongType } from "../../base/checks.js";
import { linkOf } from "./links.js";

/** Properties of an input frame. */
export interface FrameOptions {
  /** The LINKTYPE_ number of its first header. @default 1, Ethernet */
  linkType?: number;
  /** Its length on the wire in bytes, if the capture cut it. @default its length */
  wireLength?: number;
  /**
   * Its arrival time in nanoseconds, for meters and connections; null as if left out.
   * @default the clock of the device
   */
  time?: bigint | null;
}

/** The same options for all frames of a call, or one object per frame. */
export type BatchOptions = FrameOptions | readonly FrameOptions[];

const DEFAULTS: FrameOptions = {};

/** The options of frame `i`. */
export function optionsOf(options: BatchOptions, i: number): FrameOptions {
  return Array.isArray(options) ? ((options as readonly FrameOptions[])[i] ?? DEFAULTS) : (options as FrameOptions);
}

export function wireLengthOf(frame: Uint8Array, { wireLength }: FrameOptions): number {
  return wireLength ?? frame.length;
}

/** The header that the parser starts with. @throws EOPNOTSUPP for a link type without a parser */
export function linkFor(i: number, { linkType }: FrameOptions): number {
  return linkType === undefined ? Link.ethernet : linkOf(`frames[${i}].linkType`, linkType);
}

/**
 * The options of a frame that continues to another device.
 * @param was the bytes that came in, with the options `own`
 * @param now the bytes that go out
 * @param link the new link type, if rules changed it
 */
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

/** Refuses the first bad frame. @throws EINVAL; EOPNOTSUPP for a link type without a parser */
export function checkFrames(frames: readonly Uint8Array[], options: BatchOptions): void {
  for (let i = 0; i < frames.length; i++) checkFrame(i, frames[i] as Uint8Array, optionsOf(options, i));
}

/** Refuses a bad frame, which is number `i` of its call. */
export function checkFrame(i: number, frame: Uint8Array, { wireLength, linkType, time }: FrameOptions): void {
  if (!(frame instanceof Uint8Array)) wrongType(`frames[${i}]`, "a Uint8Array", frame);
  if (frame.length > MAX_FRAME) {
    const hint = `at most ${MAX_FRAME} bytes`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: `frames[${i}].length`, value: frame.length, hint });
  }
  if (wireLength !== undefined) checkWireLength(i, frame, wireLength);
  if (linkType !== undefined) linkOf(`frames[${i}].linkType`, linkType);
  if (time !== undefined && time !== null) checkTime(`frames[${i}].time`, time);
}

function checkWireLength(i: number, frame: Uint8Array, wireLength: number): void {
  const path = `frames[${i}].wireLength`;
  if (unsigned(path, wireLength, 32) >= frame.length) return;
  const hint = `the frame has ${frame.length} bytes`;
  refuse({ code: "EINVAL", reason: "out_of_range", path, value: wireLength, hint });
}
