/** `region`: the frames that hit a rule, as disjoint masks and values over the fields of the key with which they come in. */
import { inAsyncCall } from "../../errors.js";
import type { TracerOptions } from "../../explain/trace/tracer.js";
import type { TraceSource } from "../../explain/trace/trace.js";
import type { WhyTarget } from "../../explain/why/targets.js";
import { termsOf } from "../../explain/match/terms.js";
import { hexOf } from "../../base/hex.js";
import type { Device } from "../../model/device/device.js";
import { nodesOf, openRun } from "./cover.js";
import { cubesOf } from "./cubes.js";

export interface RegionOptions extends TracerOptions {
  /** Cubes that are looked for. @default 1000 */
  most?: number | undefined;
}

/** Frames whose fields have these values: a cube of the space of keys. */
export interface RegionPart {
  readonly from: TraceSource;
  /** Field names with values in the notation of scenario files: "10.0.0.0/8". Fields that are not named may have any value. */
  readonly fields: Readonly<Record<string, string>>;
  /** The key's bits as hexadecimal digits, 512 bytes each. */
  readonly mask: string;
  readonly value: string;
}

export interface Region {
  /** Disjoint for each source. */
  readonly parts: readonly RegionPart[];
  /** Its part of all keys of a source, each bit of a key taken as free: the sum of 2^-bits over the parts; on average over the sources that have parts. */
  readonly share: number;
  /** False if there are more parts than were asked for, or if a way could not be followed: the parts are then some of them. */
  readonly complete: boolean;
}

/**
 * The set of frames that hit a rule. Frames that a port loops back to its receive rules are left out.
 * @throws as `witness`
 * @example
 *     const { parts, share } = await region(device, { kind: "rule", name: "web" });
 *     for (const { fields } of parts) console.log(fields); // { "outer.ipv4_dst": "10.0.0.0/9", ... }
 */
export async function region(
  device: Device,
  rule: WhyTarget,
  { core, most = 1000 }: RegionOptions = {},
): Promise<Region> {
  return inAsyncCall("region", async () => {
    const run = await openRun(device, { core });
    const parts: RegionPart[] = [];
    let complete = true;
    let share = 0;
    for (const node of nodesOf(run, device, rule)) {
      const cubes = cubesOf(run.world, { table: node.table, rule: node }, most - parts.length);
      complete &&= cubes.complete;
      for (const { source, mask, value, bits } of cubes.list) {
        parts.push({ from: source, ...named(mask, value) });
        share += 2 ** -bits;
      }
    }
    return { parts, share: share / Math.max(1, new Set(parts.map(({ from }) => from)).size), complete };
  });
}

/** Bits that say only whether a header is present are in mask and value alone. */
function named(mask: Uint8Array, value: Uint8Array): Omit<RegionPart, "from"> {
  const terms = termsOf({ mask, value, ranges: [] }).filter((term) => term.mask !== 0n);
  const fields = Object.fromEntries(terms.map(({ field, wanted }) => [field.name, wanted]));
  return { fields, mask: hexOf(mask), value: hexOf(value) };
}
