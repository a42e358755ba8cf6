/**
 * A share of the frames of captures. Frames whose state belongs together are in one share, whichever way they go: those between
 * the same two addresses, or those with the same SPI. What the parser reads decides, so a share knows a frame as rules do.
 */
import { inCall } from "../../errors.js";
import { fieldNamed, type Field } from "../../model/match/fields.js";
import { parseTerm } from "../../model/match/term.js";
import type { Device } from "../../model/device/device.js";
import { hasParser } from "../../model/traffic/links.js";
import type { FrameColumns } from "../../packet/capture/read.js";
import { addressesOf, mixed, pairHash } from "./addresses.js";

/** Which share of how many, from 0 on, and what keeps frames together. */
export interface ShareOf {
  readonly index: number;
  readonly of: number;
  readonly by: "connections" | "associations";
}

const SPIS = ["misc.outer_esp_spi", "misc.inner_esp_spi"] as const;
const ENDS = [
  ["outer.ipv4_src", "outer.ipv4_dst"],
  ["outer.ipv6_src", "outer.ipv6_dst"],
] as const;

type Fields = Readonly<Record<string, number | string>>;

/**
 * Leaves out the frames of other shares.
 *
 * @example
 * new FrameShare(device, { index: 0, of: 3, by: "connections" }).keep(columns);
 */
export class FrameShare {
  readonly #device: Device;
  readonly #share: ShareOf;

  /** @param device parses frames whose headers are unusual */
  constructor(device: Device, share: ShareOf) {
    this.#device = device;
    this.#share = share;
  }

  /** Leaves out the rows that are in other shares. */
  keep(frames: FrameColumns): void {
    const { index, of } = this.#share;
    frames.filter((row) => this.#hashOf(frames, row) % of === index);
  }

  /** A number that frames of one share have in common; 0 for frames without what keeps them together. */
  #hashOf(frames: FrameColumns, row: number): number {
    const linkType = frames.linkTypes[row] ?? 0;
    const bytes = frames.frame(row);
    if (this.#share.by === "connections") {
      const hash = addressesOf(bytes, linkType);
      if (hash !== null) return hash;
    }
    return hasParser(linkType) ? this.#hashOfFields(bytes, linkType) : 0;
  }

  #hashOfFields(bytes: Uint8Array, linkType: number): number {
    const fields: Fields = this.#device.parseBatch([bytes], { linkType })[0]?.fields ?? {};
    if (this.#share.by === "associations") {
      const spi = SPIS.map((name) => fields[name]).find((value) => value !== undefined);
      if (spi !== undefined) return mixed(Number(spi));
    }
    for (const [source, destination] of ENDS) {
      const ends = [source, destination].map((name) => numberOf(name, fields[name]));
      const [from, to] = ends;
      if (from === null || from === undefined || to === null || to === undefined) continue;
      return pairHash(wordsOf(source, from), wordsOf(destination, to));
    }
    return 0;
  }
}

function numberOf(name: string, shown: number | string | undefined): bigint | null {
  return inCall("FrameShare", () => {
    if (shown === undefined) return null;
    const term = parseTerm(name, fieldNamed(name) as Field, shown);
    return term.kind === "bits" ? term.value : null;
  });
}

/** The 32-bit words of an address, the first one first. */
function wordsOf(name: string, address: bigint): number[] {
  const words = (fieldNamed(name) as Field).width / 32;
  return Array.from({ length: words }, (_, i) => Number((address >> BigInt(32 * (words - 1 - i))) & 0xffffffffn));
}
