/** The state at the start of a rule: the bridge, the frames that reach the rule, the actions that remain. */
import type { Meter } from "../meters.js";
import type { Node } from "../nodes.js";
import type { Tunnel } from "../bridge/ports.js";
import type { Act, Flow, TunnelValues } from "../steps.js";
import type { Ask } from "../../fields.js";
import type { NamedOptions, Neighbors } from "../tunnels.js";
import type { Place } from "../../../text/refusal.js";

export interface Group {
  readonly type: string;
  readonly buckets: readonly (readonly Act[])[];
  readonly place: Place;
}

export interface Source {
  readonly tables: ReadonlyMap<string, readonly Flow[]>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly meters: ReadonlyMap<string, Meter>;
  readonly neighbors: Neighbors;
  readonly options: NamedOptions;
  /** The table of each bridge that frames reach first; undefined is the first bridge. */
  readonly firsts: ReadonlyMap<string | undefined, string>;
}

/** What is the same for all frames that reach a table. */
export interface Context {
  /** The port that the flows see, if that is not the one that the device sees. */
  readonly inPort: string | undefined;
  /** The tunnel's headers that are still in front of the frame. */
  readonly wrapped: Tunnel | undefined;
  readonly values: TunnelValues;
  /** The action set. */
  readonly set: Node | null;
  /** Where the frame really came from, if something that is left to do depends on it. */
  readonly from: string | undefined;
  /** Physical ports that it did not come from, for frames that have crossed to another bridge. */
  readonly notFrom: readonly string[];
}

/** What is known of the frames of a rule. */
export interface Known {
  readonly from: string | undefined;
  readonly notFrom: readonly string[];
  readonly tagged: boolean | undefined;
}

export interface Branch {
  readonly asks: readonly Ask[];
  readonly node: Node | null;
  readonly ctx: Context;
  readonly known: Known;
  readonly label: string;
}

export const START: Context = {
  inPort: undefined,
  wrapped: undefined,
  values: {},
  set: null,
  from: undefined,
  notFrom: [],
};
/** What the context says of the frames of a rule. */
export const knownIn = ({ from, notFrom }: Context): Known => ({ from, notFrom, tagged: undefined });
export const START_OF_TEXT: Place = { line: 1, column: 1 };

export function contextKey({ inPort = "", wrapped, values, set, from = "", notFrom }: Context): string {
  const tunnel = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return `${inPort}|${from}|${notFrom.join()}|${wrapped?.name ?? ""}|${tunnel.sort().join()}|${set?.id ?? 0}`;
}

/** The same text for branches that go on alike. */
export function branchKey({ asks, node, ctx, known }: Branch): string {
  const asked = asks.map(({ field, value, mask }) => `${field} ${value} ${mask}`).join();
  return `${asked}|${node?.id ?? 0}|${contextKey(ctx)}|${known.from ?? ""}|${known.notFrom.join()}|${String(known.tagged)}`;
}

export function tableKey(table: string, as: string | undefined, ctx: Context, rest: Node | null): string {
  return `table ${table}|${as ?? ""}|${contextKey(ctx)}|${rest?.id ?? 0}`;
}
