/** Imported dumps, held to what was asked of the driver that made them (dumps/README.md). */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { planOf } from "../../../src/formats/dump/read/plan.js";
import { readTree, type DumpMatcher } from "../../../src/formats/dump/read/tree.js";
import { valueOf } from "../../../src/formats/dump/read/value.js";
import { modifyFieldAt } from "../../../src/model/action/modifyFields.js";
import {
  checkScenario,
  modifyFields,
  type ScenarioHeaderChangeObject,
  type ScenarioRuleAction,
} from "../../../src/scenario/index.js";

interface TrueAction {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface Truth {
  readonly matchers: Readonly<Record<string, string>>;
  readonly actions: Readonly<Record<string, TrueAction>>;
  readonly rules: Readonly<Record<string, readonly [value: string, actions: readonly string[]]>>;
}

const read = (name: string): string => readFileSync(new URL(`dumps/${name}`, import.meta.url), "utf8");
const TRUTH = JSON.parse(read("truth.json")) as Readonly<Record<string, Truth>>;
/** The driver's own, for samplers. */
const OF_DRIVER = 1;

const hexOf = (bytes: Uint8Array): string =>
  [...bytes]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .replace(/(00)+$/, "");

function masked(value: string, mask: Uint8Array): string {
  return hexOf(mask.map((byte, n) => byte & Number.parseInt(value.slice(2 * n, 2 * n + 2) || "0", 16)));
}

function matchersOf(name: string): DumpMatcher[] {
  const { domains, misplaced, others } = readTree(read(`${name}.csv`));
  expect(misplaced).toEqual([]);
  expect(others).toEqual([]);
  return domains.flatMap(({ tables }) => tables.flatMap(({ matchers }) => matchers));
}

describe.each(Object.entries(TRUTH))("%s", (name, truth) => {
  test("masks and values are those that were asked", () => {
    const all = matchersOf(name);
    const known = all.filter(({ id }) => id in truth.matchers);
    expect(all.length - known.length).toBeLessThanOrEqual(OF_DRIVER);
    expect(known.map(({ id }) => id).sort()).toEqual(Object.keys(truth.matchers).sort());
    let rules = 0;
    for (const matcher of known) {
      expect(hexOf(matcher.mask), `mask of ${matcher.id}`).toBe(truth.matchers[matcher.id]);
      const plan = planOf(matcher);
      expect(plan.left).toEqual([]);
      for (const rule of matcher.rules) {
        const { value, unknown } = valueOf(plan, rule);
        const [asked = ""] = truth.rules[rule.id] ?? [];
        expect(unknown).toEqual([]);
        const got = value.map((byte, n) => byte & (matcher.mask[n] as number));
        expect(hexOf(got), `value of ${rule.id}`).toBe(masked(asked, matcher.mask));
        rules++;
      }
    }
    expect(rules).toBe(Object.keys(truth.rules).length);
  });

  test("actions are those that were asked, or refused with their place", async () => {
    const source = { file: `${name}.csv`, text: read(`${name}.csv`) };
    const { scenario, findings } = importRules([source], { lenient: true });
    const lines = source.text.split("\n");
    for (const { line, column, text } of findings) {
      expect(lines[line - 1]?.slice(column - 1, column - 1 + text.length)).toBe(text);
    }
    for (const { name: rule, actions = [], notImported = [] } of scenario?.rules ?? []) {
      const asked = truth.rules[rule]?.[1];
      if (asked === undefined) continue;
      expect(actions.length + notImported.length, rule).toBe(asked.length);
      const types = asked.map((id) => truth.actions[id] as TrueAction);
      const wanted = types.map(trueAction).filter((one) => isImported(one, actions));
      expect(actions.map(plainAction).map(withoutChanges), rule).toEqual(wanted.map(withoutChanges));
      const asks = wanted.find(([type]) => type === "modify")?.[1] ?? [];
      const gets = actions.map(plainAction).find(([type]) => type === "modify")?.[1] ?? [];
      expect(gets, rule).toEqual(expect.arrayContaining(asks as string[]));
      // TTL and hop limit, TCP and UDP ports are one to the device.
      const bare = (changes: unknown): string[] => [
        ...new Set((changes as string[]).map((one) => one.replace(FIELD, ""))),
      ];
      expect(bare(gets), rule).toEqual(bare(asks));
    }
    const { refusals } = await checkScenario(JSON.stringify(scenario));
    expect(refusals.map(({ message }) => message)).toEqual([]);
    const refused = findings.filter(({ severity }) => severity === "refused");
    expect(importRules([source]).scenario === null).toBe(refused.length > 0);
  });
});

type Plain = readonly [type: string, operand: unknown];

const FIELD = /(OUT|METADATA)_\w+/g;

function withoutChanges([type, operand]: Plain): Plain {
  return type === "modify" ? [type, null] : [type, operand];
}

const widthOf = (name: string): number => modifyFields().find((field) => field.name === name)?.bits ?? 0;

/** `set FIELD from bit 8, 8 bits: 63`. */
function plainChange(change: ScenarioHeaderChangeObject): string {
  if (change.copy !== undefined) {
    const { copy, into, fromBit = 0, intoBit = 0, bits } = change;
    return `copy ${copy} ${fromBit} into ${String(into)} ${intoBit}, ${String(bits)} bits`;
  }
  if (change.add !== undefined)
    return `add ${change.add} ${((change.by ?? 0) + 2 ** widthOf(change.add)) % 2 ** widthOf(change.add)}`;
  const { set = "", to = 0 } = change;
  if (typeof to === "number") return `set ${set} 0, ${widthOf(set)} bits: ${to}`;
  const [value, mask] = to.split("/").map(BigInt) as [bigint, bigint];
  const low = mask.toString(2).length - mask.toString(2).lastIndexOf("1") - 1;
  return `set ${set} ${low}, ${mask.toString(2).replaceAll("0", "").length} bits: ${value >> BigInt(low)}`;
}

/** struct mlx5_ifc_set_action_in_bits and its siblings: | action 4 | field 12 | - 3 | offset 5 | - 3 | length 5 | data 32 |. */
function askedChanges(hex: string): string[] {
  const words = hex.match(/.{16}/g) ?? [];
  return words.map((word) => {
    const [high, low] = [Number.parseInt(word.slice(0, 8), 16), Number.parseInt(word.slice(8), 16)];
    const name = (id: number): string => modifyFieldAt(id & 0xfff)?.name ?? "";
    const [field, offset, length] = [name(high >>> 16), (high >>> 8) & 0x1f, high & 0x1f || 32];
    if (high >>> 28 === 1) return `set ${field} ${offset}, ${length} bits: ${length === 32 ? low : low % 2 ** length}`;
    if (high >>> 28 === 2) return `add ${field} ${low % 2 ** widthOf(field)}`;
    return `copy ${field} ${offset} into ${name(low >>> 16)} ${(low >>> 8) & 0x1f}, ${length} bits`;
  });
}

/** An action, so that it can be compared. */
function plainAction(action: ScenarioRuleAction): Plain {
  if (typeof action === "string") return [action, null];
  const [[key, operand] = ["", null]] = Object.entries(action);
  if (key === "modify") return [key, (operand as readonly ScenarioHeaderChangeObject[]).map(plainChange)];
  if (key === "table") return [key, null];
  return [key, typeof operand === "string" ? operand.replace(/^\w+ (?=0x)/, "") : operand];
}

function trueAction({ type, ...action }: TrueAction): Plain {
  const hex = (number: unknown): string => `0x${(number as number).toString(16)}`;
  switch (type) {
    case "tag":
      return ["tag", action["value"]];
    case "counter":
      return ["count", hex(action["counter"])];
    case "qp":
      return ["queue", hex(action["qpn"])];
    case "tir":
      return ["tir", action["icm"]];
    case "vport":
      return ["vport", action["vport"] === 0xffff ? "uplink" : action["vport"]];
    case "push_vlan": {
      const header = action["vlan_header"] as number;
      const tag = { pcp: (header >>> 13) & 7, dei: (header & 0x1000) !== 0, vid: header & 0xfff };
      return ["push_vlan", header >>> 16 === 0x88a8 ? { tpid: "0x88a8", ...tag } : tag];
    }
    case "decap_l2":
      return ["reformat", { type: "l2_tunnel_to_l2" }];
    case "modify_header":
      return ["modify", askedChanges(action["asked"] as string)];
    default:
      return [type, null];
  }
}

const REFUSED = new Set(["dest_array", "root_table", "encap_l2", "encap_l3", "decap_l3"]);

function isImported([type]: Plain, imported: readonly ScenarioRuleAction[]): boolean {
  if (REFUSED.has(type) || type.startsWith("aso_") || type.includes("meter") || type.includes("sampler")) return false;
  // Without patterns a dump does not contain the changes.
  if (type === "modify") return imported.some((action) => typeof action === "object" && "modify" in action);
  return true;
}
