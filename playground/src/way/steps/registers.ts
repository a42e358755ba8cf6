/** Registers and metadata of a branch at a step. */
import type { Trace, TraceStep } from "flowsteer/explain";

/** `C1`, `A`, `B`, `tag`, with its value and whether the step set it. */
export interface Register {
  readonly name: string;
  readonly value: string;
  readonly set: boolean;
}

const REGISTER = /^(?:misc2|ext)\.metadata_reg_(a|b|c_\d)$/;

/** Those that have a value, in the order in which they got it. */
export function registersAt(trace: Trace, step: number): Register[] {
  const values = new Map<string, string>();
  const branches = lineOf(trace, trace.steps[step]?.branch ?? 0);
  let set = new Set<string>();
  trace.steps.slice(0, step + 1).forEach((one, index) => {
    if (index > (branches.get(one.branch) ?? -1)) return;
    set = new Set();
    for (const [name, value] of one.kind === "end" ? ofOutcome(trace) : writes(one)) {
      if (values.get(name) === value) continue;
      values.set(name, value);
      set.add(name);
    }
  });
  return [...values].map(([name, value]) => ({ name, value: hexText(value), set: set.has(name) }));
}

/** The branches that a branch comes from, with the last step of each that it shares. */
function lineOf(trace: Trace, branch: number): Map<number, number> {
  const line = new Map([[branch, Infinity]]);
  for (let at = branch, until = Infinity; at !== 0;) {
    const fork = trace.steps.findIndex((one) => one.kind === "fork" && one.into === at);
    if (fork < 0) break;
    until = Math.min(until, fork);
    at = (trace.steps[fork] as { readonly branch: number }).branch;
    line.set(at, until);
  }
  return line;
}

function* writes(step: TraceStep): Generator<readonly [string, string]> {
  if (step.kind === "lookup") {
    for (const { field, found } of step.matched) {
      const name = registerName(field);
      if (name !== null) yield [name, found];
    }
  }
  if (step.kind !== "action") return;
  if (step.action === "tag") yield ["tag", step.text];
  if (step.action === "untag") yield ["tag", "none"];
  for (const { field, after } of step.fields) {
    const name = registerName(field);
    if (name !== null) yield [name, after ?? "0"];
  }
}

/** At the end: with register B, which no rule can match. */
function ofOutcome({ outcome: { tag, registers } }: Trace): (readonly [string, string])[] {
  const values = Object.entries(registers).map(([name, value]) => [name, `0x${value.toString(16)}`] as const);
  return [...(tag === null ? [] : [["tag", String(tag)] as const]), ...values.filter(([name]) => name === "B")];
}

/** Registers are written in hexadecimal digits, as outcomes have them. */
function hexText(value: string): string {
  return /^\d+$/.test(value) ? `0x${Number(value).toString(16)}` : value;
}

function registerName(field: string): string | null {
  const name = REGISTER.exec(field)?.[1];
  return name === undefined ? null : name.toUpperCase().replace("_", "");
}
