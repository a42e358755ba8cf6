/** Ports of bridges, by name and number, and what they are on the device. */
import { noAction } from "../actions.js";
import { type Draft, type Endpoint, isEndpoint, NO_ENDPOINT } from "../../../reading/draft.js";
import type { Place } from "../../../text/refusal.js";
import { numberKey, type Interface, type Interfaces } from "./interfaces.js";

/** A port that adds headers, or takes them off. */
export interface Tunnel {
  readonly name: string;
  readonly type: string;
  readonly options: ReadonlyMap<string, string>;
  readonly bridge: string | undefined;
  /** Where the text names it first. */
  readonly place: Place;
}

/** A port that leads to a port of another bridge. */
export interface Patch {
  readonly name: string;
  /** The other bridge, and the name of its port. */
  readonly bridge: string;
  readonly peer: string;
}

export type Target =
  | { readonly tunnel: Tunnel }
  | { readonly patch: Patch }
  /** `isOpen`: the text does not say whether it is a tunnel. */
  | { readonly endpoint: Endpoint; readonly isOpen?: boolean }
  | { readonly refused: string };

export const TUNNEL_TYPES = ["vxlan", "geneve", "gre"];
const OTHER_TYPES: Readonly<Record<string, string>> = Object.fromEntries(
  ["stt", "lisp", "erspan", "ip6erspan", "ip6gre", "gtpu", "bareudp", "srv6"].map((type) => [
    type,
    `a tunnel of type ${type}`,
  ]),
);

type Assume = (place: Place, text: string, reason: string) => void;

/** A port that flows name, or that a text adds to a bridge. */
interface Port {
  readonly words: string[];
  readonly place: Place;
  readonly bridge: string | undefined;
  readonly one: Interface | undefined;
}

/** Bridges that the texts have flows of. */
export interface Bridges {
  /** The first of them; undefined if the texts name none. */
  readonly home: string | undefined;
  readonly all: ReadonlySet<string>;
}

export class Ports {
  readonly #byNumber: ReadonlyMap<string, Interface>;
  readonly #used = new Map<string, Place>();
  /** Words that stand where only a port can. */
  readonly #named = new Set<string>();
  readonly #popped = new Set<string>();
  readonly #bridgeOf = new Map<string, { readonly bridge: string; readonly text: string }>();
  readonly #targets = new Map<string, Target>();
  /** Whether ports do not change any more. */
  #isChosen = false;
  #tunnels: readonly Tunnel[] | undefined;
  #hasPatches: boolean | undefined;
  readonly #entries: { bridge: string; endpoint: Endpoint }[] = [];

  constructor(
    private readonly draft: Draft,
    private readonly interfaces: Interfaces,
    private readonly bridges: Bridges,
  ) {
    this.#byNumber = interfaces.byNumber(bridges.home);
  }

  /** The word for a port of a bridge: `br1:2` for those of other bridges than the first. */
  word(bridge: string | undefined, text: string): string {
    if (bridge === undefined || bridge === this.bridges.home || text === "NONE" || text === "ANY") return text;
    const word = `${bridge}:${text}`;
    this.#bridgeOf.set(word, { bridge, text });
    return word;
  }

  /** Notes that flows name a port. @param isBare whether an action could stand there too */
  use(word: string, place: Place, isBare = false): void {
    if (!this.#used.has(word)) this.#used.set(word, place);
    if (!isBare) this.#named.add(word);
  }

  /** Notes that flows take the headers of a tunnel port off: no frame reaches its flows by itself. */
  pops(word: string, place: Place): void {
    this.use(word, place);
    this.#popped.add(word);
  }

  /** Tunnel ports that frames come by to flows of their own. */
  entered(): readonly Tunnel[] {
    const popped = new Set([...this.#popped].map((word) => this.canonical(word)));
    return this.tunnels().filter(({ name }) => !popped.has(name));
  }

  /** Says what each port is. Called once, when all texts are read. */
  choose(assume: Assume): void {
    const ports = this.#ports();
    for (const { one, bridge } of ports.values()) if (one !== undefined && bridge !== undefined) one.bridge ??= bridge;
    // The PF is LOCAL of the first bridge, or of another one if flows do not name that.
    const local = [localOf(undefined), ...[...this.bridges.all].map(localOf)].find((name) => ports.has(name));
    const open: (Port & { name: string; number: number })[] = [];
    for (const [name, port] of ports) {
      const { words, one, bridge } = port;
      const target = this.#known(name, port, name === local, assume);
      const number = Number(one?.number ?? this.#bridgeOf.get(name)?.text ?? name);
      if (target === undefined) open.push({ ...port, name, number: Number.isNaN(number) ? Infinity : number });
      else {
        for (const word of words) this.#targets.set(word, target);
        if ("endpoint" in target) this.#enters(bridge, target.endpoint);
      }
    }
    for (const one of this.interfaces.all) if (one.type === "patch") this.#targets.set(one.name, this.#patchOf(one));
    for (let n = open.length - 1; n >= 0; n--) {
      const { words, one, name } = open[n] as (typeof open)[number];
      const isPort = one !== undefined || /\d/.test(name) || words.some((word) => this.#named.has(word));
      if (isPort) continue;
      for (const word of words) this.#targets.set(word, { refused: noAction(this.#title(name)) });
      open.splice(n, 1);
    }
    open.sort((a, b) => (a.number === b.number ? 0 : a.number - b.number));
    const physical = open.find(({ name }) => isPhysical(name));
    // Tunnels lead over an uplink that their bridge need not have.
    const lowest = this.tunnels().length > 0 ? undefined : open.find(({ name }) => /^(?:[^:]+:)?\d+$/.test(name));
    const uplink = this.#hasUplink() ? undefined : (physical ?? lowest);
    const taken = new Set(this.vports());
    let vf = 0;
    const nextVf = (): number => {
      do vf++;
      while (taken.has(vf));
      return vf;
    };
    for (const one of open) {
      const endpoint: Endpoint = one === uplink ? { port: 1 } : { vport: nextVf() };
      const target = isEndpoint(endpoint)
        ? { endpoint: this.draft.endpoint(endpoint), isOpen: one !== physical && one.one?.isTyped !== true }
        : { refused: NO_ENDPOINT };
      for (const word of one.words) this.#targets.set(word, target);
      if ("refused" in target) continue;
      this.#enters(one.bridge, endpoint);
      const what = "port" in endpoint ? "the uplink" : `VF ${endpoint.vport}`;
      const name = this.#title(one.name);
      const patch = /patch/.test(name) ? "; if it is a patch port, add what ovs-vsctl show prints" : "";
      assume(one.place, name, `port ${name} is taken for ${what}; --map ${name}=uplink or =vf1 overrides this${patch}`);
    }
    this.#isChosen = true;
  }

  target(word: string): Target {
    return this.#targets.get(word) ?? { refused: `port ${word} is not known` };
  }

  /** Whether two words are one port. */
  same(word: string, other: string): boolean {
    if (word === other) return true;
    const [one, two] = [this.target(word), this.target(other)];
    if ("endpoint" in one && "endpoint" in two) return endpointName(one.endpoint) === endpointName(two.endpoint);
    const name = nameIn(one);
    return name !== undefined && (name === other || name === nameIn(two));
  }

  /** One word for all words of a port that is no endpoint; others as they are. */
  canonical(word: string): string {
    return nameIn(this.target(word)) ?? word;
  }

  /** The functions of the device that ports are. */
  vports(): number[] {
    const found = [...this.#targets.values()].flatMap((one) =>
      "endpoint" in one && "vport" in one.endpoint ? [one.endpoint.vport] : [],
    );
    return [...new Set(found)];
  }

  /** Tunnel ports, also those that no flow names. */
  tunnels(): readonly Tunnel[] {
    if (!this.#isChosen) return this.#tunnelPorts();
    return (this.#tunnels ??= this.#tunnelPorts());
  }

  #tunnelPorts(): Tunnel[] {
    return this.interfaces.all.flatMap((one) => {
      const { type = "", name, options, place } = one;
      if (!TUNNEL_TYPES.includes(type)) return [];
      const bridge = one.bridge === this.bridges.home ? undefined : one.bridge;
      if (bridge !== undefined && !this.bridges.all.has(bridge)) return [];
      return [{ name, type, options, bridge, place }];
    });
  }

  get hasPatches(): boolean {
    return (this.#hasPatches ??= [...this.#targets.values()].some((target) => "patch" in target));
  }

  /** The table reached by frames that enter a bridge by a patch port. */
  firstTable(bridge: string): string {
    return bridge === this.bridges.home ? "0" : `${bridge}:0`;
  }

  /** Endpoints whose frames reach a bridge other than the first. */
  get entries(): readonly { readonly bridge: string; readonly endpoint: Endpoint }[] {
    return this.#entries;
  }

  /** The physical ports of the device, as `endpointName` says them. */
  get wires(): string[] {
    return Array.from({ length: this.draft.ports }, (_, n) => endpointName({ port: n + 1 }));
  }

  /** Ports that flows name; with several bridges also those that the text adds to them. */
  #ports(): Map<string, Port> {
    const ports = new Map<string, Port>();
    const add = (word: string, place: Place): void => {
      const { bridge, text } = this.#bridgeOf.get(word) ?? { bridge: undefined, text: word };
      const from = bridge ?? this.bridges.home;
      const one = this.#byNumber.get(numberKey(from, text)) ?? this.interfaces.get(text);
      const name = text === "LOCAL" || text === from || isLocal(one) ? localOf(bridge) : (one?.name ?? word);
      const port = ports.get(name) ?? { words: [], place, bridge, one };
      if (!port.words.includes(word)) port.words.push(word);
      ports.set(name, port);
    };
    for (const [word, place] of this.#used) if (word !== "NONE" && word !== "ANY") add(word, place);
    if (this.bridges.all.size < 2) return ports;
    for (const bridge of this.bridges.all) {
      // A bridge has this port even if nothing names it.
      const isMapped = [bridge, localOf(bridge)].some((name) => this.draft.mapped(name) !== undefined);
      if (isMapped) add(this.word(bridge, "LOCAL"), { line: 1, column: 1 });
    }
    for (const { name, bridge, place, type = "" } of this.interfaces.all) {
      if (bridge === undefined || !this.bridges.all.has(bridge) || bridge === name) continue;
      if (type === "patch" || TUNNEL_TYPES.includes(type) || OTHER_TYPES[type] !== undefined) continue;
      add(this.word(bridge, name), place);
    }
    return ports;
  }

  /** What `--map` says of a port. */
  #mapped(name: string, { one, words, bridge }: Port): Endpoint | undefined {
    const names = [name, ...words];
    if (bridge === undefined && one?.number !== undefined) names.push(one.number);
    if (bridge !== undefined) names.push(name === localOf(bridge) ? bridge : this.#title(name));
    if (one !== undefined) names.push(one.name);
    return names.map((word) => this.draft.mapped(word)).find((found) => found !== undefined);
  }

  #known(name: string, port: Port, isPf: boolean, assume: Assume): Target | undefined {
    const mapped = this.#mapped(name, port);
    if (mapped !== undefined) return { endpoint: this.draft.endpoint(mapped) };
    const { one, bridge } = port;
    const of = bridge ?? this.bridges.home;
    if (one?.bridge !== undefined && of !== undefined && one.bridge !== of)
      return { refused: `port ${one.name} is in the bridge ${one.bridge}` };
    if (isPf) {
      if (bridge !== undefined)
        assume(port.place, name, `port ${name} is taken for the PF; --map ${name}=uplink or =vf1 overrides this`);
      return { endpoint: { vport: 0 } };
    }
    const { type = "" } = one ?? {};
    if (one !== undefined && TUNNEL_TYPES.includes(type))
      return { tunnel: { name: one.name, type, options: one.options, bridge, place: one.place } };
    if (one !== undefined && type === "patch") return this.#patchOf(one);
    const refused = OTHER_TYPES[type];
    return refused === undefined ? undefined : { refused };
  }

  #patchOf({ name, options }: Interface): Target {
    const to = options.get("peer");
    if (to === undefined)
      return { refused: `the text does not say the peer of ${name}: add what ovs-vsctl show prints` };
    const peer = this.interfaces.get(to);
    if (peer?.type !== "patch" || peer.options.get("peer") !== name)
      return { refused: `its peer ${to} is no patch port whose peer is ${name}` };
    if (peer.bridge === undefined) return { refused: `the text does not say which bridge its peer ${to} is in` };
    if (!this.bridges.all.has(peer.bridge))
      return { refused: `it leads to ${peer.bridge}, and the text has no flows of that bridge` };
    return { patch: { name, bridge: peer.bridge, peer: to } };
  }

  /** A name without its bridge: names of interfaces are not shared, numbers are. */
  #title(name: string): string {
    const { text = name } = this.#bridgeOf.get(name) ?? {};
    return /^(?:\d+|LOCAL)$/.test(text) ? name : text;
  }

  #enters(bridge: string | undefined, endpoint: Endpoint): void {
    if (bridge !== undefined) this.#entries.push({ bridge, endpoint });
  }

  #hasUplink(): boolean {
    return [...this.#targets.values()].some((one) => "endpoint" in one && "port" in one.endpoint);
  }
}

/** Whether an interface is a bridge's own port. */
function isLocal(one: Interface | undefined): boolean {
  return one?.number === "LOCAL" || one?.number === "65534";
}

const localOf = (bridge: string | undefined): string => (bridge === undefined ? "LOCAL" : `${bridge}:LOCAL`);

/** The name of a tunnel port or a patch port. */
function nameIn(target: Target): string | undefined {
  if ("tunnel" in target) return target.tunnel.name;
  return "patch" in target ? target.patch.name : undefined;
}

/** Names that Linux and DPDK give network adapters; representors of functions have other ones. */
function isPhysical(name: string): boolean {
  if (/vf|rep|_\d+$|f\d+_/i.test(name)) return false;
  return /^(eth\d|en[opsx]|em\d|p\d+(p\d+)?$|pf\d+$|bond|dpdk|uplink|phy|wan|ib\d)/i.test(name);
}

export function endpointName(endpoint: Endpoint): string {
  return "port" in endpoint ? `port ${endpoint.port}` : `vport ${endpoint.vport}`;
}
