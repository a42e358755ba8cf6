/**
 * Reads a command line by a list of options. An unknown option is refused with the nearest known
 * name.
 */
import { parseArgs } from "node:util";
import { rangeText } from "../base/checks.js";
import { nearest } from "../index.js";
import { badUsage } from "./refusal.js";
import { COLOR_MODES, setColorMode, type ColorMode } from "./text.js";

/**
 * Options by name: a flag, one that takes a value, one that takes a value each time that it is given, or one that takes
 * several values, which commas or further uses of the option separate.
 */
export type OptionKinds = Readonly<Record<string, "flag" | "value" | "list" | "joined">>;

/** Options of every command. */
const COMMON = { color: "value", quiet: "flag", help: "flag" } as const satisfies OptionKinds;

export interface CommandLine {
  operands: string[];
  flags: ReadonlySet<string>;
  values: ReadonlyMap<string, string>;
  lists: ReadonlyMap<string, readonly string[]>;
}

/** Reads the arguments of a command, and sets the colour mode. */
export function readCommandLine(args: readonly string[], command: string, kinds: OptionKinds): CommandLine {
  const options = Object.fromEntries(
    Object.entries({ ...kinds, ...COMMON }).map(([name, kind]) => [
      name,
      {
        type: kind === "flag" ? ("boolean" as const) : ("string" as const),
        ...(name === "help" ? { short: "h" } : {}),
      },
    ]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const operands: string[] = [];
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const lists = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const kind = options[name]?.type;
    if (kind === undefined) {
      const near = nearest(name, Object.keys(options));
      const known = Object.keys(options).map((one) => `--${one}`);
      const help = near === undefined ? `flowsteer ${command} takes ${known.join(", ")}` : `did you mean --${near}?`;
      throw badUsage(null, `unknown option ${rawName}; ${help}`);
    }
    if (kind === "boolean") {
      if (value !== undefined) throw badUsage(null, `${rawName} takes no value`);
      flags.add(name);
    } else {
      if (value === undefined || value === "") throw badUsage(null, `${rawName} needs a value`);
      if (kinds[name] === "list") lists.set(name, [...(lists.get(name) ?? []), value]);
      else values.set(name, valueOf(name, kinds[name], values.get(name), value));
    }
  }
  setColorMode(colorMode(values.get("color")));
  return { operands, flags, values, lists };
}

/** Of `--color` the last one counts: aliases of shells set it. */
function valueOf(
  name: string,
  kind: OptionKinds[string] | undefined,
  before: string | undefined,
  value: string,
): string {
  if (before === undefined || before === value || name === "color") return value;
  if (kind === "joined") return `${before},${value}`;
  throw badUsage(null, `--${name} is given twice, as ${before} and as ${value}`);
}

function colorMode(text = "auto"): ColorMode {
  const mode = COLOR_MODES.find((one) => one === text);
  if (mode === undefined) throw badUsage(`--color ${text}`, `expected one of ${COLOR_MODES.join(", ")}`);
  return mode;
}

/** The frames that --limit and --frame ask for. */
export interface FrameRange {
  /** The most frames to read. */
  limit: number;
  /** The number of the only frame that is wanted. */
  only: number | undefined;
}

export function frameRange(line: CommandLine): FrameRange {
  const limit = numberOption(line, "limit", 0, Number.MAX_SAFE_INTEGER);
  const only = numberOption(line, "frame", 1, Number.MAX_SAFE_INTEGER);
  if (limit !== undefined && only !== undefined) throw badUsage(null, "--limit and --frame cannot be used together");
  return { limit: limit ?? Infinity, only };
}

/**
 * The whole number given to an option; undefined without the option. `what` explains the bounds.
 */
export function numberOption(
  line: CommandLine,
  name: string,
  least: number,
  most: number,
  what?: string,
): number | undefined {
  const text = line.values.get(name);
  if (text === undefined) return undefined;
  const number = /^(?:\d+|0x[\da-f]+)$/i.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) {
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : rangeText(least, most);
    throw badUsage(`--${name} ${text}`, `expected a whole number, ${range}${what === undefined ? "" : `: ${what}`}`);
  }
  return number;
}
