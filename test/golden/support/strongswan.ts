// The capture of two strongSwan peers: the packets on the wire, and their plaintext
// (test/captures/README.md).

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type EspSettings } from "../../oracle/esp/esp.js";
import { hex } from "../../oracle/wire/handmade.js";
import { framesOf } from "./frames.js";

export interface Exchange {
  direction: "A>B" | "B>A";
  settings: EspSettings;
  /** Ethernet, IPv4, UDP, ESP. */
  wire: Uint8Array;
  /** IPv4. */
  clear: Uint8Array;
}

interface Peer {
  spi: number;
  key: string;
  salt: string;
  src: string;
  dst: string;
}

const file = (name: string): string =>
  fileURLToPath(new URL(`../../captures/esp-strongswan-aes128gcm16.${name}`, import.meta.url));

export async function exchanges(): Promise<Exchange[]> {
  const keys = JSON.parse(readFileSync(file("json"), "utf8")) as Record<"A>B" | "B>A", Peer>;
  const clear = await framesOf(file("clear.pcap"));
  const wire = (await framesOf(file("wire.pcap"))).map(({ bytes }) => bytes).filter(isEsp);
  return wire.map((bytes, i) => {
    const direction = bytes[AT_SOURCE + 3] === 1 ? "A>B" : "B>A";
    return {
      direction,
      settings: settingsOf(keys[direction]),
      wire: bytes,
      clear: clear[i]?.bytes ?? new Uint8Array(0),
    };
  });
}

const AT_SOURCE = 26;
const AT_PORT = 36;

/** In UDP port 4500, but not IKE after four zero bytes. */
function isEsp(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return view.getUint16(AT_PORT) === 4500 && view.getUint32(AT_PORT + 6) !== 0;
}

function settingsOf({ spi, key, salt, src, dst }: Peer): EspSettings {
  const address = (dotted: string): Uint8Array => Uint8Array.from(dotted.split("."), Number);
  return {
    offload: "full",
    encrypt: true,
    transport: false,
    spi,
    seq: 1,
    esn: null,
    newWindow: false,
    tfcPad: 0,
    hardLimit: 0n,
    keymat: { key: hex(key), salt: hex(salt), iv: 0n, icvLength: 16 },
    replay: null,
    encap: [{ type: "ipv4", src_ip: address(src), dst_ip: address(dst) }, { type: "udp" }],
    metadata: false,
  };
}
