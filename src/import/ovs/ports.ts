/** Ports of a bridge, by name and number, and what they are on the device. */
import { type Draft, type Endpoint, isEndpoint, NO_ENDPOINT } from "../draft.js";
import type { Place } from "../text/refusal.js";

/** What a text says of an interface: `ovs-vsctl add-port`, `ovs-ofctl show`, `ovs-dpctl show`. */
export interface Interface {
  readonly name: string;
  number?: string;
  type?: string;
  readonly options: Map<string, string>;
}

/** A port that adds headers, or takes them off. */
export interface Tunnel {
  readonly name: string;
  readonly type: string;
  readonly options: ReadonlyMap<string, string>;
}

export type Target = { readonly tunnel: Tunnel } | { readonly endpoint: Endpoint } | { readonly refused: string };

export const TUNNEL_TYPES = ["vxlan", "geneve", "gre"];
const OTHER_TYPES: Readonly<Record<string, string>> = {
  patch: "a patch port leads to another bridge",
  ...Object.fromEntries(
    ["stt", "lisp", "erspan", "ip6erspan", "ip6gre", "gtpu", "bareudp", "srv6"].map((type) => [
      type,
      `a tunnel of type ${type}`,
    ]),
  ),
};

type Assume = (place: Place, text: string, reason: string) => void;

export class Ports {
  readonly #draft: Draft;
  readonly #interfaces = new Map<string, Interface>();
  readonly #byNumber = new Map<string, Interface>();
  readonly #used = new Map<string, Place>();
  readonly #targets = new Map<string, Target>();

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  interface(name: string): Interface {
    const found = this.#interfaces.get(name);
    if (found !== undefined) return found;
    const made: Interface = { name, options: new Map() };
    this.#interfaces.set(name, made);
    return made;
  }

  numbered(one: Interface, number: string): void {
    one.number = number;
    this.#byNumber.set(number, one);
  }

  /** Notes that flows name a port. */
  use(word: string, place: Place): void {
    if (!this.#used.has(word)) this.#used.set(word, place);
  }

  /** Says what each port is. Called once, when all texts are read. */
  choose(assume: Assume): void {
    const words = [...this.#used].filter(([word]) => !["NONE", "ANY"].includes(word));
    const ports = new Map<string, { words: string[]; place: Place; one: Interface | undefined }>();
    for (const [word, place] of words) {
      const one = this.#byNumber.get(word) ?? this.#interfaces.get(word);
      const name = one?.name ?? word;
      const port = ports.get(name) ?? { words: [], place, one };
      port.words.push(word);
      ports.set(name, port);
    }
    const open: { name: string; words: string[]; place: Place; number: number }[] = [];
    for (const [name, { words: all, place, one }] of ports) {
      const target = this.#known(name, one);
      const number = Number(one?.number ?? name);
      if (target === undefined)
        open.push({ name, words: all, place, number: Number.isNaN(number) ? Infinity : number });
      else for (const word of all) this.#targets.set(word, target);
    }
    open.sort((a, b) => (a.number === b.number ? 0 : a.number - b.number));
    const uplink = this.#hasUplink()
      ? undefined
      : (open.find(({ name }) => isPhysical(name)) ?? open.find(({ name }) => /^\d+$/.test(name)));
    let vf = 0;
    for (const one of open) {
      const endpoint: Endpoint = one === uplink ? { port: 1 } : { vport: (vf = this.#nextVf(vf)) };
      const target = isEndpoint(endpoint) ? { endpoint: this.#draft.endpoint(endpoint) } : { refused: NO_ENDPOINT };
      for (const word of one.words) this.#targets.set(word, target);
      if ("refused" in target) continue;
      const what = "port" in endpoint ? "the uplink" : `VF ${endpoint.vport}`;
      assume(one.place, one.name, `port ${one.name} is ${what}; --map ${one.name}=uplink or =vf1 says another`);
    }
  }

  target(word: string): Target {
    return this.#targets.get(word) ?? { refused: `port ${word} is not known` };
  }

  /** Whether two words are one port. */
  same(word: string, other: string): boolean {
    if (word === other) return true;
    const [one, two] = [this.target(word), this.target(other)];
    if ("tunnel" in one && "tunnel" in two) return one.tunnel.name === two.tunnel.name;
    if ("endpoint" in one && "endpoint" in two) return endpointName(one.endpoint) === endpointName(two.endpoint);
    return "tunnel" in one && one.tunnel.name === other;
  }

  /** One word for all words of a tunnel port; others as they are. */
  canonical(word: string): string {
    const target = this.target(word);
    if ("tunnel" in target) return target.tunnel.name;
    return word;
  }

  /** The functions of the device that ports are. */
  vports(): number[] {
    const found = [...this.#targets.values()].flatMap((one) =>
      "endpoint" in one && "vport" in one.endpoint ? [one.endpoint.vport] : [],
    );
    return [...new Set(found)];
  }

  /** Tunnel ports, also those that no flow names. */
  tunnels(): Tunnel[] {
    return [...this.#interfaces.values()].flatMap((one) => {
      const { type = "", name, options } = one;
      return TUNNEL_TYPES.includes(type) ? [{ name, type, options }] : [];
    });
  }

  #known(name: string, one: Interface | undefined): Target | undefined {
    const mapped = this.#draft.mapped(name) ?? (one?.number === undefined ? undefined : this.#draft.mapped(one.number));
    if (mapped !== undefined) return { endpoint: this.#draft.endpoint(mapped) };
    if (name === "LOCAL" || one?.number === "LOCAL" || one?.number === "65534") return { endpoint: { vport: 0 } };
    const { type = "" } = one ?? {};
    if (TUNNEL_TYPES.includes(type) && one !== undefined) return { tunnel: { name, type, options: one.options } };
    const refused = OTHER_TYPES[type];
    return refused === undefined ? undefined : { refused };
  }

  #hasUplink(): boolean {
    return [...this.#targets.values()].some((one) => "endpoint" in one && "port" in one.endpoint);
  }

  #nextVf(last: number): number {
    const taken = new Set(
      [...this.#targets.values()].map((one) => ("endpoint" in one && "vport" in one.endpoint ? one.endpoint.vport : 0)),
    );
    let next = last + 1;
    while (taken.has(next)) next++;
    return next;
  }
}

/** Names that Linux and DPDK give network adapters; representors of functions have other ones. */
function isPhysical(name: string): boolean {
  if (/vf|rep|_\d+$|f\d+_/i.test(name)) return false;
  return /^(eth\d|en[opsx]|em\d|p\d+(p\d+)?$|pf\d+$|bond|dpdk|uplink|phy|wan|ib\d)/i.test(name);
}

export function endpointName(endpoint: Endpoint): string {
  return "port" in endpoint ? `port ${endpoint.port}` : `vport ${endpoint.vport}`;
}
