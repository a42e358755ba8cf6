/** The commands that set the headers of tunnels: `set vxlan`, `set nvgre`, `set mplsogre_encap`, `set l2_decap` ... */
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { addressOf } from "../../../text/numbers.js";
import { numberAt, unknownWord, valueOf } from "../values.js";
import type { RawHeader } from "./headers.js";
import { readKeyed } from "./keyed.js";
import { headersOf, type Tunnel, type TunnelKind } from "./tunnelHeaders.js";

/** What testpmd has before the first `set`. */
const DEFAULTS: Tunnel = {
  ipv6: false,
  id: 0n,
  udpSource: 0,
  udpDestination: 4789,
  source: 0x7f000001n,
  destination: 0xffffffffn,
  tos: 0,
  ttl: 0,
  tci: undefined,
  macSource: 0n,
  macDestination: 0xffffffffffffn,
};

/** Actions that have headers of such a command, by its name. */
export type TunnelName = keyof typeof COMMANDS;

interface TunnelCommand {
  readonly kind: TunnelKind;
  /** The keys in their order: testpmd takes no other one. `-with-vlan` has `vlan-tci` before the MAC addresses. */
  readonly keys: readonly string[];
}

const IP = ["ip-src", "ip-dst"];
const UDP = ["udp-src", "udp-dst"];
const MAC = ["eth-src", "eth-dst"];

const COMMANDS = {
  vxlan: { kind: "vxlan", keys: ["ip-version", "vni", ...UDP, ...IP, ...MAC] },
  nvgre: { kind: "nvgre", keys: ["ip-version", "tni", ...IP, ...MAC] },
  l2_encap: { kind: "l2", keys: ["ip-version", ...MAC] },
  l2_decap: { kind: "l2", keys: [] },
  mplsogre_encap: { kind: "mplsogre", keys: ["ip-version", "label", ...IP, ...MAC] },
  mplsogre_decap: { kind: "mplsogre", keys: ["ip-version"] },
  mplsoudp_encap: { kind: "mplsoudp", keys: ["ip-version", "label", ...UDP, ...IP, ...MAC] },
  mplsoudp_decap: { kind: "mplsoudp", keys: ["ip-version"] },
} as const satisfies Readonly<Record<string, TunnelCommand>>;

const WITH_VLAN = "-with-vlan";
const WITH_TOS = "-tos-ttl";

/** The words after `set` of all these commands. */
export const TUNNEL_COMMANDS: readonly string[] = [
  ...Object.keys(COMMANDS).flatMap((name) => [name, `${name}${WITH_VLAN}`]),
  `vxlan${WITH_TOS}`,
];

/** The keys of a command, in their order. */
export function tunnelKeys(command: string): readonly string[] {
  const keys: readonly string[] = COMMANDS[nameOf(command)].keys;
  const added = command.endsWith(WITH_VLAN) ? ["vlan-tci"] : command.endsWith(WITH_TOS) ? ["ip-tos", "ip-ttl"] : [];
  // The tag stands before the MAC addresses, TOS and TTL before the addresses; a decapsulation has no value for it.
  const at = keys.indexOf(command.endsWith(WITH_TOS) ? "ip-src" : "eth-src");
  return at < 0 ? keys : [...keys.slice(0, at), ...added, ...keys.slice(at)];
}

function nameOf(command: string): TunnelName {
  return command.replace(WITH_VLAN, "").replace(WITH_TOS, "") as TunnelName;
}

export class Tunnels {
  /** Null where the last command was refused. */
  readonly #of = new Map<TunnelName, Tunnel | null>();

  /** `set COMMAND KEY VALUE...`. @throws NotImported */
  set(command: string, words: Cursor): void {
    const tunnel = { ...DEFAULTS };
    this.#of.set(nameOf(command), null);
    readKeyed(`set ${command}`, tunnelKeys(command), words, (key, value) => assign(tunnel, key, value));
    this.#of.set(nameOf(command), tunnel);
  }

  /**
   * The headers as they are now; those of the start are told by `isSet`.
   *
   * @throws NotImported the command that sets them was refused
   */
  headers(name: TunnelName, word: Word): { readonly headers: RawHeader[]; readonly isSet: boolean } {
    const tunnel = this.#of.get(name);
    if (tunnel === null) notImported(word, `the "set ${name}" before it is not imported`);
    return { headers: headersOf(COMMANDS[name].kind, tunnel ?? DEFAULTS), isSet: tunnel !== undefined };
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
    case "label":
      tunnel.id = BigInt(number(20));
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
