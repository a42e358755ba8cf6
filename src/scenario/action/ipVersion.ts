/** Fields of a header change that a device has twice, for IPv4 and for IPv6: the match of the rule tells which one is meant. */
import type { Table } from "../../model/table/domain.js";
import type { ScenarioHeaderChange } from "./changes.js";
import type { ScenarioRule } from "../rule/definition.js";

export type RuleMatch = NonNullable<ScenarioRule["match"]>;

/** The names of a field that is one of two, by the version. */
const TTL: Readonly<Record<string, Readonly<Record<4 | 6, string>>>> = {
  "outer.ip_ttl_hoplimit": { 4: "OUT_IP_TTL", 6: "OUT_IPV6_HOPLIMIT" },
};

const ETHERTYPES: ReadonlyMap<number, 4 | 6> = new Map([
  [0x0800, 4],
  [0x86dd, 6],
]);

/** The IP version of all frames that a match lets through; undefined for both. */
function versionOf(match: RuleMatch): 4 | 6 | undefined {
  const version = Number(match["outer.ip_version"]);
  if (version === 4 || version === 6) return version;
  return ETHERTYPES.get(Number(match["outer.ethertype"]));
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
  const version = versionOf(match);
  if ((isRoot ? root : other).headers.mixedVersions === undefined || version === undefined) return list;
  const named = (field: string | undefined): string | undefined =>
    field === undefined ? undefined : (TTL[field]?.[version] ?? field);
  return list.map((change) => {
    if (typeof change === "string") return change;
    const entries = Object.entries(change).map(([key, value]: [string, unknown]) => [
      key,
      ["set", "add", "copy", "into"].includes(key) ? named(value as string) : value,
    ]);
    return Object.fromEntries(entries) as ScenarioHeaderChange;
  });
}
