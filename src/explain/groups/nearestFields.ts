/** The fields in which a frame fails the nearest rule of the tables that it missed. */
import type { StoredRule, TracedCore } from "../../engine/tracedCore.js";
import type { Device } from "../../model/device/device.js";
import type { MissedTable } from "../../model/traffic/outcome.js";
import { tableRef } from "../trace/names.js";
import {
  compileMatch,
  distanceOf,
  scoreOf,
  type CompiledMatch,
  type CompiledTerm,
  type KeyView,
} from "../why/compare.js";

/** Rules that are compared with keys; later keys are not. */
const COMPARED = 4_000_000;

/** The nearest rule of a key, and which of its terms fail; null for tables without rules. */
export interface Nearest {
  readonly match: CompiledMatch;
  readonly failing: readonly boolean[];
  /** The names of the fields that fail. */
  readonly fields: string;
}

/** Whether a key fails a rule in the same terms. */
export function failsAlike({ match, failing }: Nearest, key: KeyView): boolean {
  for (let i = 0; i < match.length; i++) {
    if ((distanceOf(match[i] as CompiledTerm, key) !== 0) !== failing[i]) return false;
  }
  return true;
}

export class NearestFields {
  readonly #device: Device;
  readonly #traced: TracedCore;
  readonly #tables = new Map<string, readonly number[]>();
  readonly #compiled = new Map<number, CompiledMatch>();
  #left = COMPARED;

  constructor(device: Device, traced: TracedCore) {
    this.#device = device;
    this.#traced = traced;
  }

  /** @returns null after too many comparisons */
  of(missed: readonly MissedTable[], key: KeyView): Nearest | null {
    if (this.#left < 0) return null;
    let best: CompiledMatch | null = null;
    let least = Infinity;
    for (const table of missed.flatMap((one) => this.#addressesOf(one))) {
      this.#left -= this.#traced.ruleCount(table);
      if (this.#left < 0) return null;
      const [nearest] = this.#traced.nearestOf(table, key.bytes, 1);
      const match = nearest === undefined ? null : this.#matchOf(nearest);
      const score = match === null ? Infinity : scoreOf(match, key, least);
      if (score < least) [best, least] = [match, score];
    }
    const match = best ?? [];
    const failing = match.map((term) => distanceOf(term, key) !== 0);
    const fields = match.flatMap(({ term }, i) => (failing[i] === true ? [term.field.name] : [])).join();
    return { match, failing, fields };
  }

  /** The tables that an outcome names: the root of a domain stands for all stages. */
  #addressesOf(missed: MissedTable): readonly number[] {
    const name = `${missed.domain} ${missed.vport} ${missed.table}`;
    let addresses = this.#tables.get(name);
    if (addresses === undefined) {
      addresses = [...this.#device.tables].flatMap(([address, { stage }]) => {
        const { domain, vport, table } = tableRef(this.#device, address, missed.vport);
        const named = missed.table === "root" ? stage !== null || table === "root" : table === missed.table;
        return named && domain === missed.domain && vport === missed.vport ? [address] : [];
      });
      this.#tables.set(name, addresses);
    }
    return addresses;
  }

  #matchOf(rule: StoredRule): CompiledMatch {
    let match = this.#compiled.get(rule.address);
    if (match === undefined) {
      match = compileMatch(this.#traced.contentOf(rule));
      this.#compiled.set(rule.address, match);
    }
    return match;
  }
}
