/** `HeaderPlan`: the fields of a header with their defaults, in the form in which `buildFrame` uses them. */
import { layoutOf, LAYOUTS, type FieldLayout, type LaidOutHeader, type Look } from "../layout.js";
import { DEFAULTS } from "./defaults.js";
import type { DefaultOf, Defaults, LayerName } from "./headerDraft.js";

export interface PlannedField {
  readonly name: string;
  /** Its place among the fields of the plan. */
  readonly index: number;
  readonly layout: FieldLayout;
  /** Width in bits; null if its value says how long it is. */
  readonly bits: number | null;
  /** The number that its value is less than; null for bytes. */
  readonly limit: number | null;
  /** The condition under which the header has it. */
  readonly when: ((look: Look) => boolean) | undefined;
  readonly default: DefaultOf | undefined;
}

export interface HeaderPlan {
  readonly fields: readonly PlannedField[];
  readonly byName: ReadonlyMap<string, PlannedField>;
  readonly hasConditions: boolean;
  /** Defaults of all fields, of those too that the plan has not: the plan of bare bytes has none of the header's. */
  readonly defaults: Defaults;
}

const NUMBERS: readonly string[] = ["number", "hex", "flag", "flags"];

/** What is not made of fields. */
const RAW: readonly FieldLayout[] = [["bytes", "rest", "bytes"]];

const PLANS = new Map<LayerName, HeaderPlan>();
const RAW_PLANS = new Map<LayerName, HeaderPlan>();

/** Whether a layer can have this name. */
export function isLayerName(name: string): name is LayerName {
  return Object.hasOwn(LAYOUTS, name) || name === "payload" || name === "trailer";
}

/** The plan of a header that is made of its fields, or of one that is bytes. */
export function planOf(header: LayerName, raw: boolean): HeaderPlan {
  const plans = raw ? RAW_PLANS : PLANS;
  let plan = plans.get(header);
  if (plan === undefined) plans.set(header, (plan = makePlan(header, raw)));
  return plan;
}

function makePlan(header: LayerName, raw: boolean): HeaderPlan {
  const defaults: Defaults = header === "payload" || header === "trailer" ? {} : DEFAULTS[header];
  const fields = (raw ? RAW : layoutOf(header as LaidOutHeader)).map((layout, index): PlannedField => {
    const [name, bits, kind, detail] = layout;
    return {
      name,
      index,
      layout,
      bits: typeof bits === "number" ? bits : null,
      limit: NUMBERS.includes(kind) ? 2 ** (bits as number) : null,
      when: detail?.when,
      default: defaults[name],
    };
  });
  const byName = new Map(fields.map((field) => [field.name, field]));
  return { fields, byName, hasConditions: fields.some(({ when }) => when !== undefined), defaults };
}
