/** `set vxlan` and `set nvgre`: the headers that vxlan_encap and nvgre_encap put in front of frames. */
import type { Cursor } from "../../text/words.js";
import { notImported, type Word } from "../../text/refusal.js";
import { addressOf } from "../../text/numbers.js";
import { numberAt, unknownWord, valueOf } from "../values.js";
import type { RawHeader } from "./headers.js";

export type TunnelKind = "vxlan" | "nvgre";

interface Tunnel {
  ipv6: boolean;
  id: bigint;
  udpSource: number;
  udpDestination: number;
  source: bigint;
  destination: bigint;
  tos: number;
  ttl: number;
  tci: number | undefined;
  macSource: bigint;
  macDestination: bigint;
}

/** What testpmd has before the first `set`. */
const DEFAULTS: Tunnel = {
  ...{ ipv6: false, id: 0n, udpSource: 0, udpDestination: 4789, source: 0x7f000001n, destination: 0xffffffffn },
  ...{ tos: 0, ttl: 0, tci: undefined, macSource: 0n, macDestination: 0xffffffffffffn },
};

/** What a driver puts where the text does not say: the mlx5 driver has a TTL of 64 and a hop limit of 255. */
const TTL = 64;
const HOP_LIMIT = 255;

export const TUNNEL_COMMANDS: Readonly<Record<string, TunnelKind>> = {
  vxlan: "vxlan",
  "vxlan-with-vlan": "vxlan",
  "vxlan-tos-ttl": "vxlan",
  nvgre: "nvgre",
  "nvgre-with-vlan": "nvgre",
};

const KEYS: readonly string[] = [
  ...["ip-version", "vni", "tni", "udp-src", "udp-dst", "ip-tos", "ip-ttl", "ip-src", "ip-dst", "vlan-tci"],
  ...["eth-src", "eth-dst"],
];

/** The keys of each command, in their order: testpmd takes no other one. */
export function keysOf(command: string): string[] {
  const isVxlan = command.startsWith("vxlan");
  return KEYS.filter((key) => {
    if (key === "vni" || key.startsWith("udp")) return isVxlan;
    if (key === "tni") return !isVxlan;
    if (key === "ip-tos" || key === "ip-ttl") return command.endsWith("tos-ttl");
    return key !== "vlan-tci" || command.endsWith("with-vlan");
  });
}

export class Tunnels {
  readonly #of = new Map<TunnelKind, Tunnel>();

  /** @throws NotImported */
  set(command: string, words: Cursor): void {
    const tunnel = { ...DEFAULTS };
    for (const key of keysOf(command)) {
      const word = words.next(`"${key}"`);
      if (word.text !== key) {
        if (KEYS.includes(word.text)) notImported(word, `"${key}" comes here in "set ${command}"`);
        unknownWord(word, `key of set ${command}`, [key]);
      }
      assign(tunnel, key, words.next(`the value of ${key}`));
    }
    if (!words.done) notImported(words.next(""), `"set ${command}" ends before this`);
    this.#of.set(TUNNEL_COMMANDS[command] as TunnelKind, tunnel);
  }

  /** The headers as they are now; those of the start are told by undefined. */
  headers(kind: TunnelKind): { readonly headers: RawHeader[]; readonly isSet: boolean } {
    const tunnel = this.#of.get(kind);
    return { headers: headersOf(kind, tunnel ?? DEFAULTS), isSet: tunnel !== undefined };
  }
}

function assign(tunnel: Tunnel, key: string, word: Word): void {
  const number = (bits: number): number => Number(numberAt(word, key, bits));
  const address = (): bigint => addressOf(word, tunnel.ipv6 ? "ipv6" : "ipv4");
  switch (key) {
    case "ip-version":
      if (word.text !== "ipv4" && word.text !== "ipv6") unknownWord(word, "IP version", ["ipv4", "ipv6"]);
      tunnel.ipv6 = word.text === "ipv6";
      break;
    case "vni":
    case "tni":
      tunnel.id = BigInt(number(32)) & 0xffffffn;
      break;
    case "udp-src":
      tunnel.udpSource = number(16);
      break;
    case "udp-dst":
      tunnel.udpDestination = number(16);
      break;
    case "ip-tos":
      tunnel.tos = number(8);
      break;
    case "ip-ttl":
      tunnel.ttl = number(8);
      break;
    case "ip-src":
      tunnel.source = address();
      break;
    case "ip-dst":
      tunnel.destination = address();
      break;
    case "vlan-tci":
      tunnel.tci = number(16);
      break;
    case "eth-src":
      tunnel.macSource = valueOf(word, key, 48, "mac");
      break;
    default:
      tunnel.macDestination = valueOf(word, key, 48, "mac");
  }
}

function headersOf(kind: TunnelKind, tunnel: Tunnel): RawHeader[] {
  const type = tunnel.ipv6 ? 0x86ddn : 0x0800n;
  const { tci } = tunnel;
  const ethernet = bytes([tunnel.macDestination, 6], [tunnel.macSource, 6], [tci === undefined ? type : 0x8100n, 2]);
  const tag = tci === undefined ? [] : [{ name: "vlan", bytes: bytes([BigInt(tci), 2], [type, 2]) }];
  return [
    { name: "eth", bytes: ethernet },
    ...tag,
    ipOf(tunnel, kind === "vxlan" ? 17n : 47n),
    ...tunnelOf(kind, tunnel),
  ];
}

function ipOf({ ipv6, source, destination, tos, ttl }: Tunnel, protocol: bigint): RawHeader {
  if (ipv6) {
    const first = (6n << 28n) | (BigInt(tos) << 20n);
    const limit = BigInt(ttl === 0 ? HOP_LIMIT : ttl);
    return {
      name: "ipv6",
      bytes: bytes([first, 4], [0n, 2], [protocol, 1], [limit, 1], [source, 16], [destination, 16]),
    };
  }
  const first = bytes(
    [0x45n, 1],
    [BigInt(tos), 1],
    [0n, 6],
    [BigInt(ttl === 0 ? TTL : ttl), 1],
    [protocol, 1],
    [0n, 2],
  );
  return { name: "ipv4", bytes: Uint8Array.from([...first, ...bytes([source, 4], [destination, 4])]) };
}

function tunnelOf(kind: TunnelKind, { id, udpSource, udpDestination }: Tunnel): RawHeader[] {
  if (kind === "nvgre") return [{ name: "nvgre", bytes: bytes([0x20006558n, 4], [id << 8n, 4]) }];
  const udp = bytes([BigInt(udpSource), 2], [BigInt(udpDestination), 2], [0n, 4]);
  return [
    { name: "udp", bytes: udp },
    { name: "vxlan", bytes: bytes([0x08000000n, 4], [id << 8n, 4]) },
  ];
}

function bytes(...parts: readonly (readonly [value: bigint, length: number])[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap(([value, length]) =>
      Array.from({ length }, (_, n) => Number((value >> BigInt((length - 1 - n) * 8)) & 0xffn)),
    ),
  );
}
