/** What the kernel does not offload of filters that the device takes. */
import { ALL_ESTABLISHED } from "../../text/connection.js";
import type { Findings } from "../../reading/findings.js";
import type { Step } from "./actions/steps.js";
import { CT_REGISTER, FOUND, UNKNOWN } from "./connection.js";
import type { Filter } from "./filter.js";

type Filters = ReadonlyMap<string, readonly Filter[]>;

const NO_SOFTWARE =
  "with skip_sw the kernel does not execute ct, and the device has its connections from there (act_ct.c): none is established";

/** The filters without connections in zones that only filters with skip_sw track. */
export function asOffloaded(all: Filters, findings: Findings): Filters {
  const filters = [...all.values()].flat();
  const zonesOf = ({ zones = [] }: Filter): number[] => zones.map(({ number }) => number);
  const inSoftware = new Set(filters.filter((one) => one.inSoftware === true).flatMap(zonesOf));
  const isBare = (one: Filter): boolean => zonesOf(one).some((number) => !inSoftware.has(number));
  for (const { zones = [], origin } of filters.filter(isBare)) {
    findings.file = origin.file;
    for (const { word } of zones) {
      const { line, column } = word.place;
      const known = findings.list.findIndex(
        (one) =>
          one.file === origin.file && one.line === line && one.column === column && one.reason === ALL_ESTABLISHED,
      );
      const before = findings.list[known];
      if (before === undefined) findings.assume(word.place, word.text, NO_SOFTWARE);
      else findings.list[known] = { ...before, reason: NO_SOFTWARE };
    }
  }
  const known = ([owner, list]: readonly [string, readonly Filter[]]): [string, readonly Filter[]] => [
    owner,
    list.map((one) => (isBare(one) ? { ...one, steps: one.steps.map(withoutConnection) } : one)),
  ];
  return new Map([...all].map(known));
}

function withoutConnection(step: Step): Step {
  if (step.kind !== "change") return step;
  const changes = step.changes.map((one) =>
    one.field === CT_REGISTER && "set" in one && (one.set & 0xffffn) === BigInt(FOUND)
      ? { ...one, set: one.set - BigInt(FOUND) + BigInt(UNKNOWN) }
      : one,
  );
  return { ...step, changes };
}
