/**
 * A device with the rules of a set, loaded as a scenario, since port ranges are part of scenarios.
 * Rule i counts in counter i, tags with i and delivers to one of a few queues. All rules are in the
 * root table.
 */
import type { Device, DeviceOptions } from "../../src/index.js";
import { loadScenario, type LoadedScenario } from "../../src/scenario/index.js";
import { any, exact } from "../classify/coreRules.js";
import type { SetRule } from "../classify/ruleSets.js";

/** Options of a device without flow cache. */
export const WITHOUT_CACHE: DeviceOptions = { cache: false };

const QUEUES = 16;
const COUNTERS = "lines";
const ICMP = 1;
const TCP = 6;
const UDP = 17;

export class AclDevice {
  readonly loaded: LoadedScenario;
  readonly #rules: number;

  private constructor(loaded: LoadedScenario, rules: number) {
    this.loaded = loaded;
    this.#rules = rules;
  }

  static async open(
    rules: readonly SetRule[],
    options: DeviceOptions = {},
    make?: (options: DeviceOptions) => Promise<Device>,
  ): Promise<AclDevice> {
    return new AclDevice(await loadScenario(scenarioOf(rules), options, make), rules.length);
  }

  get device(): LoadedScenario["device"] {
    return this.loaded.device;
  }

  /** The root table in the core. */
  get table(): number {
    return this.loaded.tables.get("root")!.classifier.table;
  }

  /** The line of each rule of the core; -1 if there is none. */
  linesByHandle(): Map<number, number> {
    const lines = new Map([[0, -1]]);
    for (let line = 0; line < this.#rules; line++) lines.set(this.loaded.rules.get(nameOf(line))!.handle, line);
    return lines;
  }

  /** Frames and bytes that each line has counted. */
  counts(): Count[] {
    const counter = this.loaded.counters.get(COUNTERS)!;
    return Array.from({ length: this.#rules }, (_, line) => {
      const { packets, bytes } = counter.read(line);
      return [Number(packets), Number(bytes)];
    });
  }
}

export type Count = [frames: number, bytes: number];

export function countedSince(before: readonly Count[], now: readonly Count[]): Count[] {
  return now.map(([frames, bytes], line) => [frames - before[line]![0], bytes - before[line]![1]]);
}

/** The queue of a line. */
export function queueOf(line: number): number {
  return line % QUEUES;
}

export function queueName(queue: number): string {
  return `q${queue}`;
}

function scenarioOf(rules: readonly SetRule[]): object {
  return {
    flowsteer: 1,
    queues: Array.from({ length: QUEUES }, (_, queue) => ({ name: queueName(queue) })),
    counters: [{ name: COUNTERS, flow_counter_bulk_log_size: Math.ceil(Math.log2(rules.length)) }],
    tables: [{ name: "root", level: 0 }],
    // Rules of one matcher without a mask match in order of creation.
    rules: rules.map((rule, line) => ({
      name: nameOf(line),
      table: "root",
      match: matchOf(rule),
      actions: [{ tag: line }, { count: COUNTERS, offset: line }, { queue: queueName(queueOf(line)) }],
    })),
  };
}

function nameOf(line: number): string {
  return `line ${line}`;
}

/**
 * A device has separate ports of TCP and of UDP: rules with ports of any protocol cannot be
 * expressed here.
 */
function matchOf(rule: SetRule): Record<string, string | number> {
  const { src, srcMask, dst, dstMask, sport, dport, protocol, protocolMask } = rule;
  const match: Record<string, string | number> = { "outer.ip_version": 4 };
  if (srcMask !== 0) match["outer.ipv4_src"] = prefix(src, srcMask);
  if (dstMask !== 0) match["outer.ipv4_dst"] = prefix(dst, dstMask);
  if (protocolMask !== 0) match["outer.ip_protocol"] = protocol;
  const ports = { sport, dport };
  for (const [side, [low, high]] of Object.entries(ports)) {
    if (any([low, high])) continue;
    const name = protocolMask === 0 ? undefined : { [TCP]: "tcp", [UDP]: "udp", [ICMP]: undefined }[protocol];
    if (name === undefined) throw new Error(`bench: a rule asks for ports of protocol ${protocol}/${protocolMask}`);
    match[`outer.${name}_${side}`] = exact([low, high]) ? low : `${low}-${high}`;
  }
  return match;
}

function prefix(address: number, mask: number): string {
  const bytes = [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff);
  return `${bytes.join(".")}/${Math.clz32(~mask)}`;
}
