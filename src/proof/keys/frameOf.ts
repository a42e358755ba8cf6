/** `frameOf`: the way back from a solved key to a frame. */
import { MISC4, MISC4_SAMPLE_SIZE, PRESENT_ETH, PRESENT_SAMPLE } from "../../abi/key.js";
import { TUNNELS } from "../../headers/headers.js";
import { SteeringError } from "../../errors.js";
import { buildFrame } from "../../packet/builder/build.js";
import type { Layer } from "../../packet/builder/layers.js";
import { writeBits } from "../../packet/bytes.js";
import type { Solver } from "../solver/solver.js";
import { present } from "./cells.js";
import { addFrame, addPacket } from "./packetLayers.js";
import type { ParsedKey } from "./parsedKey.js";
import { Solution } from "./solution.js";
import type { Draft } from "./tunnelLayers.js";

/** An Ethernet header without its last byte. */
const RUNT = 13;

/**
 * A frame whose key agrees with the solver's solution in all bits that were asked, as small and as ordinary as the bits
 * allow; null if there is none that the builder knows. Samples that lie across headers can be wrong: parse the frame to be sure.
 *
 * @param payload more bytes, after those that samples read
 * @example
 * const key = new ParsedKey(solver, { parser: device.parser });
 * const port = fieldNamed("outer.tcp_dport")!;
 * solver.solve(Array.from({ length: 16 }, (_, i) => (443 >> (15 - i)) & 1 ? key.bit(port.bit + i) : -key.bit(port.bit + i)));
 * frameOf(solver, key); // Ethernet, IPv4 and TCP to port 443
 */
export function frameOf(solver: Solver, key: ParsedKey, payload?: Uint8Array): Uint8Array | null {
  const solution = new Solution(solver, key);
  if (!solution.has(present("outer", PRESENT_ETH), true)) return new Uint8Array(RUNT);
  const draft: Draft = {
    layers: [],
    wrongSums: new Set(),
    addInner(at, level, begins) {
      if (begins === "frame") addFrame(draft, at, level);
      else addPacket(draft, at, level);
    },
  };
  addFrame(draft, solution, "outer");
  try {
    return withWrongSums(draft, [...withSamples(solution, draft.layers), ...(payload === undefined ? [] : [payload])]);
  } catch (error) {
    if (error instanceof SteeringError) return null;
    throw error;
  }
}

/** Gives checksums that are to be wrong a value that is not the right one. */
function withWrongSums({ wrongSums }: Draft, layers: readonly Layer[]): Uint8Array {
  let all = layers;
  for (const wrong of wrongSums) {
    const right = buildFrame(all);
    const changed = (checksum: number): Layer[] =>
      all.map((layer) =>
        layer === wrong && !(layer instanceof Uint8Array) ? ({ ...layer, checksum } as Layer) : layer,
      );
    const frame = buildFrame(changed(1));
    const same = frame.every((byte, i) => byte === right[i]);
    all = changed(same ? 2 : 1);
  }
  return buildFrame(all);
}

/** Adds the payload that samples behind the last header read. */
function withSamples(solution: Solution, layers: readonly Layer[]): Layer[] {
  const end = buildFrame(layers).length;
  const payload: { at: number; id: number }[] = [];
  for (const { id, header, offset, level = "outer" } of solution.key.settings.parser.samples) {
    if (!solution.has(present("tunnel", PRESENT_SAMPLE << id))) continue;
    const from = header === "payload" ? end : startOf(layers, header, level);
    if (from !== undefined && from + offset + 4 > end) payload.push({ at: from + offset - end, id });
  }
  if (payload.length === 0) return [...layers];
  const bytes = new Uint8Array(Math.max(...payload.map(({ at }) => at + 4)));
  for (const { at, id } of payload) {
    for (let i = Math.max(0, -8 * at); i < 32; i++) {
      const bit = solution.value((MISC4 + id * MISC4_SAMPLE_SIZE) * 8 + i + 1);
      if (bit !== undefined) writeBits(bytes, 8 * at + i, 1, BigInt(bit));
    }
  }
  return [...layers, bytes];
}

/** Where the first header of a kind begins at a level. */
function startOf(layers: readonly Layer[], header: string, level: "outer" | "inner"): number | undefined {
  const names = layers.map((layer) => (layer instanceof Uint8Array ? "payload" : layer.header));
  const tunnel = names.findIndex((name) => TUNNELS.some((one) => one === name));
  const from = level === "outer" ? 0 : tunnel + 1;
  if (level === "inner" && tunnel < 0) return undefined;
  const at = names.findIndex((name, i) => i >= from && name === header);
  return at < 0 ? undefined : buildFrame(layers.slice(0, at)).length;
}
