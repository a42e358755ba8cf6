/** Planted mistakes as data: the shapes that their scenarios share. */
import type { Repair, Target } from "../../../../src/explain/index.js";
import type { Change } from "../support/patch.js";

/** A planted mistake, what its explanation must say, and what corrects it. */
export interface Planted {
  readonly name: string;
  /** A scenario; or texts of another tool that are imported, with their frames. Its last frame is explained. */
  readonly scenario: object | ImportedText;
  readonly target: Target;
  /** The name of the mistake, where it must be recognized. */
  readonly mistake?: string;
  /** Parts of the first line: the cause, with its values. */
  readonly first: readonly string[];
  /** Parts that no sentence has. */
  readonly never: readonly string[];
  /** The repair that comes first, with a part of its sentence; null where none is right. */
  readonly repair: (Pick<Repair, "of" | "standing"> & { readonly says: string }) | null;
  /** With these changes of the scenario the frame comes to the target. */
  readonly correction: readonly Change[];
}

export interface ImportedText {
  readonly text: string;
  readonly corrected: string;
  readonly file: string;
  readonly frames: readonly FrameText[];
}

/** A frame: its headers after Ethernet, or with more than headers. */
type Headers = readonly object[];
export type FrameText = Headers | { readonly headers: Headers; readonly [key: string]: unknown };

/** The name, match, actions and priority of a rule. */
type RuleText = readonly [name: string, match: object, actions: readonly unknown[], priority?: number];

export interface Parts {
  /** Tables of a domain, root first, with their rules; levels count up from 0. */
  readonly tables?: Readonly<Record<string, readonly RuleText[]>>;
  readonly domain?: "nic_rx" | "nic_tx" | "fdb";
  readonly frames: readonly FrameText[];
  /** Queues besides those that actions and flows name. */
  readonly queues?: readonly { readonly name: string; readonly [key: string]: unknown }[];
  readonly flows?: readonly { readonly queue: string; readonly [key: string]: unknown }[];
  readonly [key: string]: unknown;
}

/** A scenario of tables, flows and frames. */
export function scenario({ tables = {}, domain = "nic_rx", frames, queues = [], flows = [], ...more }: Parts): object {
  const rules = Object.entries(tables).flatMap(([table, list]) =>
    list.map(([name, match, actions, priority = 0]) => ({ name, table, priority, match, actions })),
  );
  const known = new Set(queues.map(({ name }) => name));
  const text = JSON.stringify([rules, flows, more]);
  const named = new Set(
    [...text.matchAll(/"queue":"([^"]+)"/g)].flatMap(([, name = ""]) => (known.has(name) ? [] : name)),
  );
  return {
    flowsteer: 1,
    ...more,
    queues: [...queues, ...[...named].map((name) => ({ name }))],
    tables: Object.keys(tables).map((name, level) => ({ name, level, domain })),
    rules,
    flows,
    frames: frames.map(frameOf),
  };
}

export function frameOf(frame: FrameText, number: number): object {
  const { headers, ...more } = "headers" in frame ? frame : { headers: frame };
  const first = JSON.stringify(headers[0]);
  const link = first.includes('"ethernet"') ? [] : [ETHERNET];
  return { name: `frame ${number + 1}`, headers: [...link, ...headers], ...more };
}

export const ETHERNET = { header: "ethernet" };

export const ip = (source: string, destination: string, more: object = {}): object => ({
  header: source.includes(":") ? "ipv6" : "ipv4",
  source,
  destination,
  ...more,
});
export const tcp = (destination_port: number, more: object = {}): object => ({
  header: "tcp",
  source_port: 40000,
  destination_port,
  flags: "syn",
  ...more,
});
export const udp = (destination_port: number, source_port = 40000): object => ({
  header: "udp",
  source_port,
  destination_port,
});
export const tunnel = (header: string, more: object): object => ({ header, ...more });
export const payload = (bytes: number): object => ({ header: "payload", bytes: "00".repeat(bytes) });
export const vlan = (vid: number, more: object = {}): object => ({ header: "vlan", vid, ...more });

export const HOSTS = ip("198.51.100.9", "192.0.2.80");
/** A TCP SYN to port 80, or to another one. */
export const request = (port = 80): object[] => [HOSTS, tcp(port)];
/** A packet inside a tunnel of virtual machines. */
export const GUESTS = [ETHERNET, ip("10.0.0.1", "10.0.0.7"), tcp(80)];
/** Tunnel endpoints. */
export const ENDS = ip("192.0.2.1", "192.0.2.2");
export const vxlan = (vni = 5001, port = 4789): object[] => [
  ENDS,
  udp(port, 49153),
  tunnel("vxlan", { vni }),
  ...GUESTS,
];

export const to = (queue: string): object[] => [{ queue }];
export const jump = (table: string): object[] => [{ table }];
export const rule = (name: string): Target => ({ kind: "rule", name });
export const flow = (name: string): Target => ({ kind: "flow", name });
export const queue = (name: string): Target => ({ kind: "queue", name });

export const replace = (path: string, value: unknown): Change => ({ op: "replace", path, value });
export const add = (path: string, value: unknown): Change => ({ op: "add", path, value });
export const remove = (path: string): Change => ({ op: "remove", path });

export const of = (kind: Repair["of"], standing: Repair["standing"], says: string): NonNullable<Planted["repair"]> => ({
  of: kind,
  standing,
  says,
});
