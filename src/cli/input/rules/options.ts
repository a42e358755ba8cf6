/** Options of commands that take rules. */
import type { DriverName, ImportOptions } from "../../../import/index.js";
import type { CommandLine } from "../../commandLine.js";
import { badUsage } from "../../refusal.js";

/** Those that only rules of other programs have. */
export const IMPORT_OPTIONS = { map: "joined", set: "joined", driver: "value", lenient: "flag" } as const;
export const RULE_OPTIONS = { ...IMPORT_OPTIONS, profile: "value" } as const;

/** What --profile says of the device, in place of the scenario. An unknown name is refused where the device is made. */
export function profileOption({ values }: CommandLine): Pick<ImportOptions, "profile"> {
  return values.has("profile") ? { profile: values.get("profile") as NonNullable<ImportOptions["profile"]> } : {};
}

/** What the options say of an import. */
export function importOptions(line: CommandLine): ImportOptions {
  const { flags, values } = line;
  return {
    map: pairsOf("--map", values.get("map"), "NAME=WHAT", "port0=uplink,port1=vf1"),
    set: pairsOf("--set", values.get("set"), "NAME=VALUE", "REP=eth2_0,MAC=02:00:00:00:00:02"),
    // An unknown name is refused by the import.
    ...(values.has("driver") ? { driver: values.get("driver") as DriverName } : {}),
    ...profileOption(line),
    lenient: flags.has("lenient"),
  };
}

/** Reads the pairs of an option: `port0=uplink,queue 3=web`. `form` and `example` are for its refusal. */
function pairsOf(option: string, text: string | undefined, form: string, example: string): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const pair of (text ?? "").split(",").filter((one) => one !== "")) {
    const [name = "", to = "", ...more] = pair.split("=").map((one) => one.trim());
    if (name === "" || to === "" || more.length > 0) {
      throw badUsage(`${option} ${pair}`, `${form}, with commas between them: ${option} ${example}`);
    }
    const before = pairs.get(name) ?? to;
    if (before !== to) throw badUsage(null, `${option}: ${name} is given twice, as ${before} and as ${to}`);
    pairs.set(name, to);
  }
  return Object.fromEntries(pairs);
}
