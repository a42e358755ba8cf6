/** The fields in which a frame fails the nearest rule of the tables that it missed, or whose last rule took it. */
import { isMade, isUnclaimed } from "../../drivers/madeRules.js";
import type { StoredRule, TracedCore } from "../../engine/tracedCore.js";
import type { Device } from "../../model/device/device.js";
import { Rule } from "../../model/rule/rule.js";
import type { MissedTable, Outcome } from "../../model/traffic/outcome.js";
import { tableRef } from "../trace/names.js";
import {
  compileMatch,
  distanceOf,
  scoreOf,
  type CompiledMatch,
  type CompiledTerm,
  type KeyView,
} from "../why/compare.js";
import { drops, isCatchAll } from "../why/reasons/catchAll.js";

/** Rules that are compared with keys; later keys are not. */
const COMPARED = 4_000_000;

/** Rules that are looked at in a table for one that does not drop. */
const LISTED = 16;

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
  readonly #catching = new WeakMap<object, readonly number[]>();
  #left = COMPARED;

  constructor(device: Device, traced: TracedCore) {
    this.#device = device;
    this.#traced = traced;
  }

  /** @returns null after too many comparisons */
  of(outcome: Outcome, key: KeyView): Nearest | null {
    if (this.#left < 0) return null;
    let best: CompiledMatch | null = null;
    let least = Infinity;
    const catching = this.#catchingOf(outcome);
    for (const table of [...outcome.missed.flatMap((one) => this.#addressesOf(one)), ...catching]) {
      this.#left -= this.#traced.ruleCount(table);
      if (this.#left < 0) return null;
      const nearest = catching.includes(table)
        ? this.#traced.nearestOf(table, key.bytes, LISTED).find((one) => this.#takes(one))
        : this.#traced.nearestOf(table, key.bytes, 1)[0];
      const match = nearest === undefined ? null : this.#matchOf(nearest);
      const score = match === null ? Infinity : scoreOf(match, key, least);
      if (score < least) [best, least] = [match, score];
    }
    const match = best ?? [];
    const failing = match.map((term) => distanceOf(term, key) !== 0);
    const fields = match.flatMap(({ term }, i) => (failing[i] === true ? [term.field.name] : [])).join();
    return { match, failing, fields };
  }

  /** Whether a frame may have been meant for a rule: it does not drop, and is no driver's. */
  #takes(one: StoredRule): boolean {
    const rule = this.#device.installed.at(one.id);
    return !drops(this.#traced.contentOf(one)) && !(rule instanceof Rule && isMade(rule.name));
  }

  /** The tables whose last rule dropped a frame, or received it for a driver, because no other took it. */
  #catchingOf({ reason, rules }: Outcome): readonly number[] {
    if (isUnclaimed(rules.map(({ name }) => name)))
      return rules.flatMap((rule) => (rule instanceof Rule ? rule.classifier.table : []));
    const last = rules.at(-1);
    if (reason !== "drop_action" || !(last instanceof Rule)) return [];
    let tables = this.#catching.get(last);
    if (tables === undefined) {
      const { table } = last.classifier;
      const handles = [last.handle, last.secondHandle].filter((handle) => handle !== 0);
      tables = handles.some((handle) => isCatchAll(this.#traced, table, handle)) ? [table] : [];
      this.#catching.set(last, tables);
    }
    return tables;
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
