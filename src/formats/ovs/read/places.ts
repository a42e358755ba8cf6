/** Fields of flows in a scenario: registers C for registers, samples for bytes that have no field. */
import type { Draft } from "../../reading/draft.js";
import { notImported, type Place } from "../../text/refusal.js";
import { type Flow } from "./steps.js";
import { COLOUR, register, type Ask } from "../fields.js";

const REGISTERS_C = 8;
/** Registers C that objects with state can write. */
const COLOUR_REGISTERS = [1, 2, 3, 4, 5];

type SampleHeader = Parameters<Draft["sample"]>[0];

export class Places {
  readonly #registers = new Map<number, number>();
  /** Registers that flows write, by their names in flows. */
  readonly written: readonly string[];

  /** @param buckets of groups, which flows name */
  constructor(
    private readonly draft: Draft,
    flows: readonly Flow[],
    buckets: readonly Flow["acts"][] = [],
  ) {
    const used = new Set<number>();
    for (const { match, acts } of flows) {
      for (const { field } of [...match.asks, ...match.either.flat(2)]) noteRegister(field, used);
      noteActs(acts, used);
    }
    for (const list of buckets) noteActs(list, used);
    const written = new Set<string>();
    for (const { acts } of flows) noteWritten(acts, written);
    for (const list of buckets) noteWritten(list, written);
    this.written = [...written].sort();
    const free = [0, 1, 2, 3, 4, 5, 6, 7].filter((number) => !used.has(number));
    const ofColour = used.delete(COLOUR) ? free.find((number) => COLOUR_REGISTERS.includes(number)) : undefined;
    if (ofColour !== undefined) {
      this.#registers.set(COLOUR, ofColour);
      free.splice(free.indexOf(ofColour), 1);
    }
    for (const number of [...used].sort((a, b) => a - b)) {
      const to = number < REGISTERS_C ? number : free.shift();
      if (to !== undefined) this.#registers.set(number, to);
    }
  }

  /** The match field. @throws NotImported there is none left */
  field(name: string, level: "outer" | "inner", place: Place): string {
    const [kind, first = "", second] = name.split(" ");
    if (kind === "@reg") {
      const to = this.#registers.get(Number(first));
      return to === undefined ? notImported({ text: name, place }, noRegister(name)) : `misc2.metadata_reg_c_${to}`;
    }
    if (kind === "@sample") {
      const found = this.draft.sample(first as SampleHeader, level, Number(second));
      return found ?? notImported({ text: name, place }, "the device reads eight samples, and the flows need more");
    }
    if (level === "outer") return name;
    return INNER[name] ?? name.replace(/^outer\./, "inner.");
  }

  /** Whether a field can be asked of a frame inside a tunnel. */
  hasInner(name: string): boolean {
    return /^(outer\.|@)/.test(name) || INNER[name] !== undefined || name.startsWith("misc.source");
  }
}

function noRegister(name: string): string {
  return name === register(COLOUR)
    ? "a meter writes one of the registers C1 to C5, and the flows use all of them"
    : "a scenario has eight registers C, and the flows use more";
}

const INNER: Readonly<Record<string, string>> = {
  "misc.outer_ipv6_flow_label": "misc.inner_ipv6_flow_label",
  "misc2.outer_first_mpls_label": "misc2.inner_first_mpls_label",
  "misc2.outer_first_mpls_exp": "misc2.inner_first_mpls_exp",
  "misc2.outer_first_mpls_s_bos": "misc2.inner_first_mpls_s_bos",
  "misc2.outer_first_mpls_ttl": "misc2.inner_first_mpls_ttl",
  "ext.outer_sctp_sport": "ext.inner_sctp_sport",
  "ext.outer_sctp_dport": "ext.inner_sctp_dport",
};

function noteActs(acts: Flow["acts"], used: Set<number>): void {
  for (const act of acts) {
    if (act.kind === "change") {
      for (const one of act.changes) {
        noteRegister(one.field, used);
        if (one.kind === "copy") noteRegister(one.from, used);
      }
    } else if (act.kind === "meter") used.add(COLOUR);
    else if (act.kind === "write") noteActs(act.acts, used);
    else if (act.kind === "clones") for (const list of act.lists) noteActs(list, used);
  }
}

function noteWritten(acts: Flow["acts"], written: Set<string>): void {
  for (const act of acts) {
    if (act.kind === "change") {
      for (const { field } of act.changes) if (field.startsWith("@reg ")) written.add(field);
    } else if (act.kind === "write") noteWritten(act.acts, written);
    else if (act.kind === "clones") for (const list of act.lists) noteWritten(list, written);
  }
}

function noteRegister(field: string, used: Set<number>): void {
  if (field.startsWith("@reg ")) used.add(Number(field.slice(5)));
}

export type { Ask };
