/** What sentences about a frame are made from: its key with every group filled, and where its parse stopped. */
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_OUTER,
  EXT_PRESENT_TUNNEL,
  INNER,
  LAYER_ETHERTYPE,
  LAYER_PROTOCOL,
  LAYER_STATE,
  LAYER_UDP_PORTS,
  OUTER,
  STATE_FRAG,
} from "../../../abi/key.js";
import type { ParserDeclaration } from "../../../model/base/parser.js";
import type { ParseStop } from "../../../packet/parsedFrame.js";
import { presenceWord } from "../../match/terms.js";

export interface FrameFacts {
  /** Every group is filled. */
  readonly key: Uint8Array;
  readonly stopped: ParseStop | null;
  /** What the device declares: samples, the Geneve option. */
  readonly parser: ParserDeclaration;
}

/** The outer packet, or the packet inside the first tunnel. */
export interface Level {
  readonly name: "outer" | "inner";
  /** What sentences call it. */
  readonly packet: string;
  /** The key byte of its group, and of its presence word. */
  readonly base: number;
  readonly word: number;
}

export const OUTER_LEVEL: Level = { name: "outer", packet: "the frame", base: OUTER, word: EXT_PRESENT_OUTER };
export const INNER_LEVEL: Level = { name: "inner", packet: "the inner packet", base: INNER, word: EXT_PRESENT_INNER };

/** Whether the header of a presence bit of a level is present. */
export function has({ key }: FrameFacts, { word }: Level, bit: number): boolean {
  return (presenceWord(key, word) & bit) !== 0;
}

/** Whether the header of a presence bit of the word for tunnels is present. */
export function hasTunnel({ key }: FrameFacts, bit: number): boolean {
  return (presenceWord(key, EXT_PRESENT_TUNNEL) & bit) !== 0;
}

/** Two bytes of the key, in the order of the wire. */
export function half({ key }: FrameFacts, at: number): number {
  return ((key[at] as number) << 8) | (key[at + 1] as number);
}

export function ethertypeOf(facts: FrameFacts, { base }: Level): number {
  return half(facts, base + LAYER_ETHERTYPE);
}

export function protocolOf({ key }: FrameFacts, { base }: Level): number {
  return key[base + LAYER_PROTOCOL] as number;
}

export function udpPorts(facts: FrameFacts, { base }: Level): { source: number; destination: number } {
  return { source: half(facts, base + LAYER_UDP_PORTS), destination: half(facts, base + LAYER_UDP_PORTS + 2) };
}

export function isFragment({ key }: FrameFacts, { base }: Level): boolean {
  return ((key[base + LAYER_STATE] as number) & STATE_FRAG) !== 0;
}
