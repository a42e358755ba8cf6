/** Fields of a header change that a device has twice, for IPv4 and for IPv6: the match of the rule tells which one is meant. */
import type { Table } from "../../model/table/domain.js";
import { changeFieldNamed } from "./changeFields.js";
import type { ScenarioHeaderChange } from "./changes.js";
import type { ScenarioRule } from "../rule/definition.js";

export type RuleMatch = NonNullable<ScenarioRule["match"]>;

const ETHERTYPES: ReadonlyMap<number, 4 | 6> = new Map([
  [0x0800, 4],
  [0x86dd, 6],
]);

/** The IP version of the outer or inner packet of all frames that a match lets through; undefined for both. */
function versionOf(match: RuleMatch, level: string): 4 | 6 | undefined {
  const version = Number(match[`${level}.ip_version`]);
  if (version === 4 || version === 6) return version;
  return ETHERTYPES.get(Number(match[`${level}.ethertype`]));
}

/** The device's name for a field that it has for IPv4 and for IPv6; other names stay. */
function named(name: string, match: RuleMatch): string {
  const [v4, v6] = changeFieldNamed(name)?.ways ?? [];
  const version = versionOf(match, name.split(".")[0] ?? "");
  if (v4 === undefined || v6 === undefined || version === undefined) return name;
  return (version === 4 ? v4 : v6)[0]?.field ?? name;
}

/**
 * The header changes of a rule, with the field of its IP version where the device refuses those of two in one list.
 * mlx5dv_dr: "Modify header": a device locates the headers of a list once.
 */
export function changesIn(
  list: ScenarioHeaderChange[],
  match: RuleMatch,
  { domain, isRoot }: Table,
): ScenarioHeaderChange[] {
  const { root, other } = domain.device.profile.rules;
  if ((isRoot ? root : other).headers.mixedVersions === undefined) return list;
  return list.map((change) => {
    if (typeof change === "string") return change;
    const parts = (["set", "add", "copy", "into"] as const).flatMap((key) => {
      const name = change[key];
      return name === undefined ? [] : [[key, named(name, match)] as const];
    });
    return { ...change, ...Object.fromEntries(parts) };
  });
}
