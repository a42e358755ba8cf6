/**
 * ASO objects of living rules, and what the rules do with them, as a scenario writes them. Buckets of meters are left
 * out: they are full.
 */
import { inCall } from "../../errors.js";
import { COLOUR_UNDEFINED, Op } from "../../abi/engine.js";
import type { AsoKind, AsoObject } from "../../model/action/asoObject.js";
import type { AsoAction } from "../../model/action/asoActions.js";
import type { Domain } from "../../model/table/domain.js";
import { connectionAt, flagsAt, metersAt } from "../../scenario/state/asoObjects.js";
import type {
  ScenarioAsoAction,
  ScenarioAsoData,
  ScenarioAsoObject,
  ScenarioConnection,
} from "../../scenario/state/definition.js";
import type { ExportFindings } from "../../formats/writing/finding.js";
import { DeviceNames } from "./names.js";

/** Flags of an ASO action, by the word that the core has for them. */
const FLAGS: Readonly<Record<AsoKind, Readonly<Record<number, NonNullable<ScenarioAsoAction["flags"]>>>>> = {
  first_hit: { 1: "first_hit_set" },
  flow_meter: {
    0: "flow_meter_red",
    1: "flow_meter_yellow",
    2: "flow_meter_green",
    [COLOUR_UNDEFINED]: "flow_meter_undefined",
  },
  connection: { 1: "ct_direction_initiator", 2: "ct_direction_responder" },
};

/** The ASO objects that rules use. */
export class DeviceAso {
  readonly #names = new DeviceNames<AsoObject>();

  constructor(private readonly findings: ExportFindings) {}

  /**
   * @param domain that of the rule
   * @param operations the actions of the rule in the core, as pairs of operation and operand: an action can have been
   * modified since
   */
  action({ object, home }: AsoAction, domain: Domain, operations: readonly number[]): ScenarioAsoAction {
    const { offset, flags, register } = useOf(object, operations);
    const written = FLAGS[object.kind][flags];
    return {
      object: this.#names.of(object),
      return_reg_c: register,
      ...(offset === 0 ? {} : { offset }),
      ...(written === undefined ? {} : { flags: written }),
      ...(home === domain ? {} : { peer_dmn: { domain: home.type, function: home.context.function.vport } }),
    };
  }

  /** All objects that have been named. */
  objects(): ScenarioAsoObject[] {
    return [...this.#names.objects].map(([object, name]) => {
      const other = firstOther(object);
      if (other >= 0) {
        const why = `its contents differ, first in object ${other}: all of them get what the first one has`;
        this.findings.refuse("asoObjects", why, name);
      }
      const range = object.objects === 1 ? {} : { log_obj_range: Math.log2(object.objects) };
      return { name, function: object.context.function.vport, ...range, ...dataOf(object, 0) };
    });
  }
}

/** What the core does with an object, from its record: | Op.state | register, flags, bit | operation | address |. */
function useOf(object: AsoObject, operations: readonly number[]): { offset: number; flags: number; register: number } {
  for (let at = 0; at + 3 < operations.length; at += 2) {
    const [operation, operand, , address] = operations.slice(at, at + 4) as [number, number, number, number];
    if (operation !== (Op.state as number)) continue;
    const offset = object.unitOf({ address, bit: operand >>> 16 });
    if (offset !== undefined) return { offset, flags: (operand >>> 8) & 0xff, register: operand & 0xff };
  }
  throw new Error(`no operation of the rule uses ${object.name}`);
}

/** The contents of an object of a bulk. */
function dataOf(object: AsoObject, index: number): ScenarioAsoData {
  switch (object.kind) {
    case "first_hit":
      return { first_hit: flagsAt(object, index) };
    case "flow_meter":
      return { flow_meter: metersAt(object, index)[0] };
    case "connection":
      return { conn_track: used(inCall("scenarioOf", () => connectionAt(object, index))) };
  }
}

/** The first object whose contents are not those of the first meter, flags or connection; -1 for none. */
function firstOther(object: AsoObject): number {
  const text = (n: number): string => JSON.stringify(dataOf(object, n));
  const first = text(0);
  return Array.from({ length: object.objects }, (_, n) => n).findIndex((n) => {
    if (object.kind !== "flow_meter") return text(n) !== first;
    return metersAt(object, n).some((meter) => JSON.stringify({ flow_meter: meter }) !== first);
  });
}

/** A connection without what is 0. */
function used({ original, reply, ...rest }: ScenarioConnection): ScenarioConnection {
  const nonZero = <T extends object>(all: T): T =>
    Object.fromEntries(Object.entries(all).filter(([, value]) => value !== 0 && value !== "none")) as T;
  const sides = { original: nonZero(original ?? {}), reply: nonZero(reply ?? {}) };
  const named = Object.fromEntries(Object.entries(sides).filter(([, side]) => Object.keys(side).length > 0));
  return { ...nonZero(rest), ...named };
}
