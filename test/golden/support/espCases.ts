// Reads test/golden/esp/*.json: associations, and frames that other implementations encrypted and
// decrypted (scripts/golden-esp.mjs and .py).

import { readFileSync } from "node:fs";
import { type EspSettings } from "../../oracle/esp/esp.js";
import { type Encapsulation } from "../../oracle/esp/chain.js";
import { hex } from "../../oracle/wire/handmade.js";

/** Bytes are hex; omitted fields are 0 or none. */
interface WrittenSettings {
  offload: "full" | "inline";
  encrypt: boolean;
  transport: boolean;
  spi: number;
  seq: number;
  esn: number | null;
  tfcPad?: number;
  hardLimit?: number;
  keymat: { key: string; salt: string; iv: string; icvLength: number };
  replay: number | null;
  encap: Record<string, string | number>[];
}

interface WrittenCase {
  name: string;
  settings: WrittenSettings;
  frames: { from: string; to?: string; lost?: boolean }[];
}

export interface EspCase {
  name: string;
  settings: EspSettings;
  /** `to`: null if the frame is lost. */
  frames: { from: Uint8Array; to: Uint8Array | null }[];
}

export function espCases(name: string): EspCase[] {
  const text = readFileSync(new URL(`../esp/${name}.json`, import.meta.url), "utf8");
  const { cases } = JSON.parse(text) as { cases: WrittenCase[] };
  return cases.map(({ name: title, settings, frames }) => ({
    name: title,
    settings: settingsOf(settings),
    frames: frames.map(({ from, to }) => ({ from: hex(from), to: to === undefined ? null : hex(to) })),
  }));
}

const BYTES = ["src_ip", "dst_ip", "src_mac", "dst_mac"];

function settingsOf(written: WrittenSettings): EspSettings {
  const { keymat, encap } = written;
  return {
    ...written,
    newWindow: false,
    metadata: false,
    tfcPad: written.tfcPad ?? 0,
    hardLimit: BigInt(written.hardLimit ?? 0),
    keymat: { key: hex(keymat.key), salt: hex(keymat.salt), iv: BigInt(keymat.iv), icvLength: keymat.icvLength },
    encap: encap.map((one) => {
      const fields = Object.entries(one).map(([key, value]) => [key, BYTES.includes(key) ? hex(String(value)) : value]);
      return Object.fromEntries(fields) as Encapsulation;
    }),
  };
}
