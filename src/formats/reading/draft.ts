/** The scenario that importers write into: each object is made when it is first named. */
import { PORT_VXLAN } from "../../abi/protocols.js";
import { vxlanPortError } from "../../model/base/parser.js";
import type { Scenario } from "../../scenario/document.js";
import type { ScenarioMatcher, ScenarioRule, ScenarioTable } from "../../scenario/rule/definition.js";
import type { SourceElement, SourcePlace } from "./finding.js";

type Domain = NonNullable<ScenarioTable["domain"]>;

/** A place where frames come from or go to: a physical port, or a function of the device (0 is the PF). */
export type Endpoint = { readonly port: number } | { readonly vport: number };

/** VFs and ports have numbers up to this. */
const MAX_ENDPOINTS = 255;
/** Why an endpoint is refused that no device has. */
export const NO_ENDPOINT = `a device has ${MAX_ENDPOINTS} VFs and ${MAX_ENDPOINTS} ports at most`;

/** Whether a device can have an endpoint. */
export function isEndpoint(endpoint: Endpoint): boolean {
  const [number, least] = "port" in endpoint ? [endpoint.port, 1] : [endpoint.vport, 0];
  return Number.isInteger(number) && number >= least && number <= MAX_ENDPOINTS;
}

/** Class and type of a Geneve option. */
export interface GeneveOption {
  readonly class: number;
  readonly type: number;
}

/** The key `function` of an object; left out for the PF. */
export function ofFunction(vport: number): { readonly function?: number } {
  return vport === 0 ? {} : { function: vport };
}

/** The name of an object that each function has for itself. */
export function nameIn(vport: number, name: string): string {
  return vport === 0 ? name : `${name} of vport ${vport}`;
}

const LISTS = [
  "queues",
  "indirectionTables",
  "rqts",
  "tirs",
  "asoObjects",
  "counters",
  "flowCounters",
  "flowActions",
  "tables",
  "matchers",
  "actions",
  "rules",
  "flows",
  "deviceFlows",
  "hostRules",
  "frames",
] as const satisfies readonly (keyof Scenario)[];

type Place = Omit<SourcePlace, "file"> & Partial<Pick<SourcePlace, "file">>;

/** The lists of a scenario that importers add to. */
export type ListKey = (typeof LISTS)[number];
type Item<Key extends ListKey> = NonNullable<Scenario[Key]>[number];
type Lists = { readonly [Key in ListKey]: Item<Key>[] };

type Device = NonNullable<Scenario["device"]>;
type Sample = NonNullable<NonNullable<Device["parser"]>["samples"]>[number];

const SAMPLE_IDS = [0, 1, 2, 3, 4, 5, 6, 7];

export class Draft {
  readonly #lists: Lists;
  readonly #names = new Map<ListKey, Set<string>>();
  /** The first number that may be free after a name. */
  readonly #numbers = new Map<string, number>();
  readonly #samples: Sample[];
  readonly #origins = new Map<object, SourceElement>();
  /** The element that is read: objects come from it. */
  #origin: SourceElement = { file: "", line: 1, column: 1, text: "" };
  #isOwn = true;
  /** Objects that no element says. */
  readonly #needed = new Set<object>();
  /** The name of the source that is read. */
  file = "";
  #ports = 1;
  #vports = 0;
  #geneveOption: GeneveOption | undefined;
  #vxlanPorts: readonly number[];

  /** Devices and ports that the map gives for something that is none. */
  readonly wrongMaps = new Map<string, string>();

  /** Values of variables that texts do not set. */
  readonly variables: ReadonlyMap<string, string>;

  /**
   * @param into a scenario that is added to
   * @param map names of sources, and what they are on the device
   * @param set variables that texts use, and their values
   */
  constructor(
    private readonly into: Scenario = { flowsteer: 1 },
    private readonly map: Readonly<Record<string, string>> = {},
    set: Readonly<Record<string, string>> = {},
  ) {
    this.variables = new Map(Object.entries(set));
    this.#lists = Object.fromEntries(LISTS.map((key) => [key, [...(into[key] ?? [])]])) as unknown as Lists;
    for (const key of LISTS) {
      const named: readonly { name?: string }[] = this.#lists[key];
      this.#names.set(key, new Set(named.flatMap(({ name }) => name ?? [])));
    }
    this.#samples = [...(into.device?.parser?.samples ?? [])];
    this.#ports = into.device?.ports ?? 1;
    this.#vports = into.device?.vports ?? 0;
    this.#geneveOption = into.device?.parser?.geneveOption0;
    this.#vxlanPorts = into.device?.parser?.vxlanPorts ?? [PORT_VXLAN];
  }

  /** The items of a list, those of the scenario that is added to first. */
  list<Key extends ListKey>(key: Key): readonly Item<Key>[] {
    return this.#lists[key];
  }

  /** What is added from now on comes from an element: of the source that is read, unless its place names another. */
  comesFrom({ file = this.file, line, column }: Place, text: string): void {
    this.origin = { file, line, column, text };
  }

  /** The element that is read. */
  get origin(): SourceElement {
    return this.#origin;
  }

  /** What is added from now on comes from an element that was read before. */
  set origin(origin: SourceElement) {
    this.#origin = origin;
    this.#isOwn = true;
  }

  /** What is added from now on, such as a rule that leads to a table, is needed for an element and says what no element says. */
  neededFor(origin: SourceElement): void {
    this.#origin = origin;
    this.#isOwn = false;
  }

  /** What is added meanwhile is needed for the element that is read, and says what no element says. */
  whileNeeded(add: () => void): void {
    const isOwn = this.#isOwn;
    this.#isOwn = false;
    add();
    this.#isOwn = isOwn;
  }

  /** The element that an object comes from, or is needed for; undefined for one of the scenario that is added to. */
  originOf(item: object): SourceElement | undefined {
    return this.#origins.get(item);
  }

  /** The element that says what an object is; undefined where none does. */
  elementOf(item: object): SourceElement | undefined {
    const origin = this.#origins.get(item);
    return origin === undefined || origin.text === "" || this.#needed.has(item) ? undefined : origin;
  }

  /**
   * Calls rules by the places of their elements: `rules.sh:3`, and further ones of an element `rules.sh:3 part 2`. The first
   * part is the rule with the shortest name, which others of its element continue. Rules without an element keep their names.
   * @returns the new names by the old ones
   */
  nameByPlace(): ReadonlyMap<string, string> {
    const renamed = new Map<string, string>();
    for (const key of ["rules", "hostRules", "flows", "deviceFlows"] as const) {
      const list: { readonly name?: string }[] = this.#lists[key];
      const parts = list.flatMap((rule, n) => {
        const origin = this.elementOf(rule);
        return origin === undefined ? [] : [{ rule, n, origin }];
      });
      const heads = new Map<SourceElement, { readonly name?: string }>();
      for (const { rule, origin } of parts) {
        const head = heads.get(origin);
        if (head === undefined || lengthOf(rule) < lengthOf(head)) heads.set(origin, rule);
      }
      const isHead = ({ rule, origin }: (typeof parts)[number]): boolean => heads.get(origin) === rule;
      for (const { rule, n, origin } of [...parts.filter(isHead), ...parts.filter((one) => !isHead(one))]) {
        const name = this.freeName(key, `${origin.file}:${origin.line}`, " part");
        const called = { ...rule, name };
        list[n] = called;
        this.#origins.set(called, origin);
        this.#names.get(key)?.add(name);
        if (rule.name !== undefined) renamed.set(rule.name, name);
      }
    }
    return renamed;
  }

  /** Takes objects out of a list. */
  remove(key: ListKey, gone: ReadonlySet<object>): void {
    const list = this.#lists[key] as unknown[];
    list.splice(0, list.length, ...list.filter((item) => !gone.has(item as object)));
  }

  has(key: ListKey, name: string): boolean {
    return this.#names.get(key)?.has(name) === true;
  }

  /** The name, or with a number after it, and before that what the number is of, if the list has it already. */
  freeName(key: ListKey, name: string, of = ""): string {
    if (!this.has(key, name)) return name;
    const place = `${key} ${name}`;
    let n = this.#numbers.get(place) ?? 2;
    while (this.has(key, `${name}${of} ${n}`)) n++;
    this.#numbers.set(place, n);
    return `${name}${of} ${n}`;
  }

  /** Adds an item; its name must be free. */
  push<Key extends ListKey>(key: Key, item: Item<Key>): void {
    (this.#lists[key] as unknown[]).push(item);
    this.#origins.set(item, this.#origin);
    if (!this.#isOwn) this.#needed.add(item);
    const { name } = item;
    if (name !== undefined) this.#names.get(key)?.add(name);
  }

  /** Adds an item under its name, unless the list has that already. @returns the name */
  once<Key extends ListKey>(key: Key, item: Item<Key> & { name: string }): string {
    if (!this.has(key, item.name)) this.push(key, item);
    return item.name;
  }

  /** The root table of a domain: that of the scenario which is added to, or a new one. */
  root(domain: Domain, vport = 0): string {
    const found = this.#lists.tables.find(
      (one) => one.level === 0 && (one.domain ?? "nic_rx") === domain && (one.function ?? 0) === vport,
    );
    if (found !== undefined) return found.name;
    const name = this.freeName("tables", nameIn(vport, `${domain} root`));
    this.push("tables", { name, domain, ...ofFunction(vport), level: 0 });
    return name;
  }

  /** A queue: the one that the map gives for its name, or one of that name. */
  queue(name: string, vport = 0, more: Omit<Item<"queues">, "name"> = {}): string {
    const mapped = this.map[name] ?? name;
    return this.once("queues", { name: mapped, ...ofFunction(vport), ...more });
  }

  counter(name: string, vport = 0): string {
    return this.once("counters", { name, ...ofFunction(vport) });
  }

  /**
   * What `--map` says of a port or an interface: "uplink" or "port1" are physical ports, "pf" is the
   * PF, "vf1" the first VF. Undefined if it does not name it.
   */
  mapped(name: string): Endpoint | undefined {
    const to = this.map[name];
    const endpoint = to === undefined ? undefined : endpointOf(to);
    if (to !== undefined && endpoint === undefined) this.wrongMaps.set(name, to);
    return endpoint;
  }

  /** The match field of four bytes of a header, which the device then reads; undefined if it reads eight others. */
  sample(header: Sample["header"], level: "outer" | "inner", offset: number): string | undefined {
    const isIt = (one: Sample): boolean =>
      one.header === header && (one.level ?? "outer") === level && one.offset === offset && one.port === undefined;
    const found = this.#samples.find(isIt)?.id;
    const id = found ?? SAMPLE_IDS.find((one) => !this.#samples.some((other) => other.id === one));
    if (id === undefined) return undefined;
    if (found === undefined) this.#samples.push({ id, header, level, offset });
    return `misc4.prog_sample_field_value_${id}`;
  }

  /** How many physical ports the device has as far as they are used. */
  get ports(): number {
    return this.#ports;
  }

  /** How many VFs it has as far as they are used. */
  get vports(): number {
    return this.#vports;
  }

  /** Notes that an endpoint is used, so that the device has it. The caller has asked `isEndpoint`. */
  endpoint(endpoint: Endpoint): Endpoint {
    if ("port" in endpoint) this.#ports = Math.max(this.#ports, endpoint.port);
    else this.#vports = Math.max(this.#vports, endpoint.vport);
    return endpoint;
  }

  /**
   * Declares the Geneve option that the device's parser looks for.
   *
   * @returns whether it can: there is one
   */
  geneveOption(option: GeneveOption): boolean {
    const { class: of = option.class, type = option.type } = this.#geneveOption ?? {};
    if (of !== option.class || type !== option.type) return false;
    this.#geneveOption = option;
    return true;
  }

  /** Whether a Geneve option is declared. */
  get hasGeneveOption(): boolean {
    return this.#geneveOption !== undefined;
  }

  /** The UDP ports that are registered for VXLAN. */
  get vxlanPorts(): readonly number[] {
    return this.#vxlanPorts;
  }

  /**
   * Registers a UDP port for VXLAN.
   *
   * @returns why the device cannot read VXLAN there; null if it can
   */
  registerVxlan(port: number): string | null {
    if (this.#vxlanPorts.includes(port)) return null;
    const error = vxlanPortError(port, this.#vxlanPorts);
    if (error === null) this.#vxlanPorts = [...this.#vxlanPorts, port];
    return error === null ? null : `the device cannot read VXLAN at UDP port ${port}: ${error}`;
  }

  scenario(): Scenario {
    const parser = {
      ...this.into.device?.parser,
      ...(this.#geneveOption === undefined ? {} : { geneveOption0: this.#geneveOption }),
      ...(this.#samples.length === 0 ? {} : { samples: this.#samples }),
      ...(this.#vxlanPorts.join() === String(PORT_VXLAN) ? {} : { vxlanPorts: [...this.#vxlanPorts] }),
    };
    const device = {
      ...this.into.device,
      ...(Object.keys(parser).length === 0 ? {} : { parser }),
      ...(this.#ports === 1 ? {} : { ports: this.#ports }),
      ...(this.#vports === 0 ? {} : { vports: this.#vports }),
    };
    const lists = LISTS.flatMap((key) => {
      const list = this.#lists[key];
      return list.length === 0 ? [] : [[key, list] as const];
    });
    return {
      ...this.into,
      ...(Object.keys(device).length === 0 ? {} : { device }),
      ...Object.fromEntries(lists),
    };
  }
}

function lengthOf({ name = "" }: { readonly name?: string }): number {
  return name.length;
}

/** Reads "uplink", "port2", "pf" and "vf3"; undefined for other texts. */
export function endpointOf(text: string): Endpoint | undefined {
  if (text === "uplink") return { port: 1 };
  if (text === "pf") return { vport: 0 };
  const [, kind, digits] = /^(port|vf)([1-9]\d{0,2})$/.exec(text) ?? [];
  const number = Number(digits);
  if (kind === undefined || number > 255) return undefined;
  return kind === "port" ? { port: number } : { vport: number };
}

export type { Sample, ScenarioMatcher, ScenarioRule };
