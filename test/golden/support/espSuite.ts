// Compares ESP packets of DPDK, scapy, strongSwan and the IETF with an implementation under test:
// the reference or the engine.

import { afterEach, describe, expect, it } from "vitest";
import vectors from "../../vectors/esp-gcm.json" with { type: "json" };
import { type EspSettings } from "../../oracle/esp/esp.js";
import { hex, over4 } from "../../oracle/wire/handmade.js";
import { espCases } from "./espCases.js";
import { type Exchange, exchanges } from "./strongswan.js";

/** An association in use. */
export interface Worker {
  /** Result of a frame: another frame, or null if it is lost. */
  take: (frame: Uint8Array, linkType?: number) => Uint8Array | null;
  end: () => void;
}

const text = (bytes: Uint8Array | null): string => (bytes ? Buffer.from(bytes).toString("hex") : "lost");

export function espSuite(start: (settings: EspSettings) => Worker): void {
  let working: Worker | null = null;
  const end = (): void => {
    working?.end();
    working = null;
  };
  afterEach(end);
  /** One at a time. */
  const work = (settings: EspSettings): Worker => {
    end();
    return (working = start(settings));
  };

  describe.each(["librte", "scapy"])("%s", (tool) => {
    it.each(espCases(tool))("$name", ({ settings, frames }) => {
      const worker = work(settings);
      for (const { from, to } of frames) expect(text(worker.take(from))).toBe(text(to));
    });
  });

  describe("strongSwan", () => {
    it("is opened: each packet is the one that was sent or received in the clear", async () => {
      const list = await exchanges();
      expect(list).toHaveLength(47);
      for (const peer of ["A>B", "B>A"]) {
        const own = list.filter(({ direction }) => direction === peer);
        const worker = work({ ...(own[0] as Exchange).settings, encrypt: false, replay: 64 });
        for (const { wire, clear } of own) {
          expect(text(worker.take(wire)?.subarray(ETHERNET) ?? null)).toBe(text(clear));
          expect(worker.take(wire)).toBeNull();
        }
      }
    });

    it("is made again: the same numbers and IVs give the same bytes from the ESP header on", async () => {
      for (const { settings, wire, clear } of await exchanges()) {
        const worker = work(numbered(settings, wire));
        const frame = Uint8Array.from([...wire.subarray(0, ETHERNET), ...clear]);
        expect(text(worker.take(frame)?.subarray(TUNNEL) ?? null)).toBe(text(wire.subarray(TUNNEL)));
      }
    });
  });

  describe("draft-mcgrew-gcm-test-01, in transport mode", () => {
    it.each(vectors.cases)("case $n", ({ key, salt, iv, spi, seq, esn, plaintext, esp }) => {
      const number = BigInt(`0x${seq}`);
      const settings: EspSettings = {
        ...PLAIN,
        spi: parseInt(spi, 16),
        seq: Number(number & 0xffffffffn),
        esn: esn ? Number(number >> 32n) : null,
        keymat: { key: hex(key), salt: hex(salt), iv: BigInt(`0x${iv}`), icvLength: 16 },
      };
      const pad = parseInt(plaintext.slice(-4, -2), 16);
      const next = parseInt(plaintext.slice(-2), 16);
      // Their payloads do not match their next header, so they cannot be parsed here.
      const clear = checked(hex(...over4(next, plaintext.slice(0, -4 - 2 * pad))));
      const wire = checked(hex(...over4(50, esp)));
      const seals = work({ ...settings, encrypt: true });
      expect(text(seals.take(clear))).toBe(text(wire));
      const opens = work({ ...settings, encrypt: false });
      expect(text(opens.take(wire))).toBe(text(clear));
    });
  });
}

const ETHERNET = 14;
/** IPv4 and UDP before ESP. */
const TUNNEL = ETHERNET + 28;

export const PLAIN: EspSettings = {
  offload: "full",
  encrypt: true,
  transport: true,
  spi: 0,
  seq: 0,
  esn: null,
  newWindow: false,
  tfcPad: 0,
  hardLimit: 0n,
  keymat: { key: new Uint8Array(16), salt: new Uint8Array(4), iv: 0n, icvLength: 16 },
  replay: null,
  encap: [],
  metadata: false,
};

function numbered(settings: EspSettings, wire: Uint8Array): EspSettings {
  const view = new DataView(wire.buffer, wire.byteOffset, wire.length);
  const keymat = { ...settings.keymat, iv: view.getBigUint64(TUNNEL + 8) };
  return { ...settings, seq: view.getUint32(TUNNEL + 4), keymat };
}

/** With the checksum of its IPv4 header. */
function checked(frame: Uint8Array): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  let sum = 0;
  view.setUint16(ETHERNET + 10, 0);
  for (let at = ETHERNET; at < ETHERNET + 20; at += 2) sum += view.getUint16(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  view.setUint16(ETHERNET + 10, ~sum & 0xffff);
  return frame;
}
