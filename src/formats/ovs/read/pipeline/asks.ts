/** What flows ask of frames, as the masks and values of a rule. */
import { VPORT_UPLINK } from "../../../../abi/engine.js";
import type { Draft, Endpoint } from "../../../reading/draft.js";
import type { MatchDraft } from "../../../rules/matchDraft.js";
import { notImported, type Place } from "../../../text/refusal.js";
import { UNTAGGED } from "../openMatch.js";
import type { Places } from "../places.js";
import { endpointName, type Ports } from "../bridge/ports.js";
import type { Flow } from "../steps.js";
import type { Ask } from "../../fields.js";
import { askTunnelFields, type NamedOptions } from "../tunnels.js";
import type { Context } from "./state.js";

export class Asks {
  constructor(
    private readonly draft: Draft,
    private readonly ports: Ports,
    private readonly places: Places,
    private readonly options: NamedOptions,
  ) {}

  /** The endpoint that a flow asks for; undefined if the frame has it anyway, null if it has another. */
  inPort(word: string, seen: string | undefined, ctx: Context, flow: Flow): Endpoint | undefined | null {
    const wanted = this.ports.target(word);
    if (seen !== undefined) return this.ports.same(word, seen) ? undefined : null;
    if ("refused" in wanted) return notImported({ text: flow.text, place: flow.place }, wanted.refused);
    if (!("endpoint" in wanted)) return null;
    const name = endpointName(wanted.endpoint);
    if (ctx.notFrom.includes(name)) return null;
    if (ctx.from !== undefined) return name === ctx.from ? undefined : null;
    return wanted.endpoint;
  }

  port(match: MatchDraft, endpoint: Endpoint): void {
    match.ask("misc.source_port", "port" in endpoint ? VPORT_UPLINK : endpoint.vport);
    if ("port" in endpoint && this.draft.ports > 1) match.ask("misc.source_vhca_port", endpoint.port);
  }

  /** @returns whether frames of the context can have the fields of a tunnel that a flow asks for */
  tunnel(match: MatchDraft, { match: { tunnel }, text, place }: Flow, ctx: Context): boolean {
    const asked = Object.entries(tunnel).some(([key, { mask }]) => mask !== 0n || key.startsWith("option "));
    if (!asked) return true;
    if (ctx.wrapped !== undefined) {
      const refused = askTunnelFields(match, ctx.wrapped, tunnel, this.options, ({ class: kind, type }) =>
        this.draft.geneveOption({ class: kind, type }),
      );
      return refused === undefined ? true : notImported({ text, place }, refused);
    }
    if (ctx.inPort !== undefined && this.ports.tunnels().some(({ name }) => name === ctx.inPort)) {
      return notImported({ text, place }, "its tunnel fields are matched after the tunnel headers are removed");
    }
    return Object.entries(tunnel).every(([key, { value }]) => value === 0n && !key.startsWith("option "));
  }

  field(match: MatchDraft, { field, value, mask }: Ask, level: "outer" | "inner", place: Place): void {
    if (level === "inner" && !this.places.hasInner(field)) {
      notImported({ text: field, place }, `the device does not match ${field} inside a tunnel`);
    }
    match.ask(this.places.field(field, level, place), value, mask);
  }
}

export function isOpen({ inPort, asks, either, tunnel }: Flow["match"]): boolean {
  return inPort === undefined && asks.length === 0 && either.length === 0 && Object.keys(tunnel).length === 0;
}

/** Rules that one flow may make by what its fields leave open; a field that is there many times makes more. */
const MAX_WAYS = 1024;

/** One of each list, in every way. @throws NotImported there are too many */
export function productOf({ match: { either: lists }, text, place }: Flow): readonly (readonly Ask[])[] {
  const ways = lists.reduce((product, list) => product * list.length, 1);
  if (ways > MAX_WAYS) notImported({ text, place }, `its fields make more than ${MAX_WAYS} rules`);
  return lists.reduce<readonly (readonly Ask[])[]>(
    (made, list) => made.flatMap((before) => list.map((asks) => [...before, ...asks])),
    [[]],
  );
}

export function taggedBy(asks: readonly Ask[]): boolean | undefined {
  if (asks.some(({ field }) => field.startsWith("outer.first_"))) return true;
  const isUntagged = UNTAGGED.every(({ field }) =>
    asks.some((one) => one.field === field && one.value === 0n && one.mask === 1n),
  );
  return isUntagged ? false : undefined;
}
