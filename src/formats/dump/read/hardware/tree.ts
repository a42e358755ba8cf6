/**
 * The records of hardware steering as a tree. The driver writes contexts, tables and matchers; the
 * public steering dump tool adds what the device holds: entries and where addresses lead (4900 to 4999).
 */
import { isWhole, levelMisfit, numberIn, type DumpRecord, type Misplaced } from "../records.js";
import { ENTRY_DIGITS, MASK_DIGITS, maskAsEntry, type HardwareEntry } from "./entry.js";

export interface HardwareContext {
  readonly record: DumpRecord;
  readonly tables: HardwareTable[];
  readonly definers: Map<number, Definer>;
  /** Of the device that the program runs on. */
  gvmi: number;
  /** The first number of its firmware's version: 22 is a ConnectX-6 Dx, 28 a ConnectX-7. */
  firmware: number;
  /** The words of the header layout that hold those of GTP-U. */
  gtpu: readonly number[];
  /** Whether the dump has what the device holds. */
  hasEntries: boolean;
  /** Entries by the table of entries that has them, in the order of their addresses. */
  readonly entries: Map<string, HardwareEntry[]>;
  readonly byAddress: Map<number, HardwareEntry>;
  /** Where addresses lead that are no entries. */
  readonly destinations: Map<number, Destination>;
  readonly patterns: Map<number, readonly string[]>;
  readonly arguments: Map<number, string>;
}

export interface Destination {
  /** FT, TIR, VPORT, UPLINK, DROP, ALLOW and others. */
  readonly type: string;
  readonly id: string;
}

export interface HardwareTable {
  readonly record: DumpRecord;
  readonly context: HardwareContext;
  readonly id: string;
  readonly type: number;
  readonly level: number;
  /** The number that the firmware has for it. */
  readonly number: number;
  /** The table of frames that match nothing, by its id. */
  readonly miss: string | null;
  readonly matchers: HardwareMatcher[];
}

export interface HardwareMatcher {
  readonly record: DumpRecord;
  readonly table: HardwareTable;
  readonly id: string;
  priority: number;
  /** The tables of entries of the receive side (or of the only one) and of the transmit side. */
  readonly owners: readonly [string, string];
}

/** Which words and bytes of the header layout an entry holds. */
export interface Definer {
  readonly words: readonly number[];
  readonly bytes: readonly number[];
  /** In the layout of an entry. */
  readonly mask: string;
}

const NO_CONTEXT = "no context (4000) precedes it";
const NONE = "0x0";
const MAX_PRIORITY = 0xffffffff;

export class HardwareTree {
  readonly contexts: HardwareContext[] = [];
  readonly misplaced: Misplaced[] = [];
  readonly #tables = new Map<string, HardwareTable>();
  readonly #matchers = new Map<string, HardwareMatcher>();

  add(record: DumpRecord): void {
    const reason = record.type === 4000 ? this.#context(record) : this.#part(record);
    if (reason !== null) this.misplaced.push({ record, reason });
  }

  #context(record: DumpRecord): null {
    this.contexts.push({
      record,
      tables: [],
      definers: new Map(),
      gvmi: -1,
      firmware: 0,
      gtpu: [],
      hasEntries: false,
      entries: new Map(),
      byAddress: new Map(),
      destinations: new Map(),
      patterns: new Map(),
      arguments: new Map(),
    });
    return null;
  }

  /** @returns why the record has no place; null if it has */
  #part(record: DumpRecord): string | null {
    const context = this.contexts.at(-1);
    if (context === undefined) return NO_CONTEXT;
    switch (record.type) {
      case 4001:
        context.gvmi = numberIn(record.columns[5]) ?? -1;
        return null;
      case 4002:
        context.firmware = Number.parseInt(record.columns[1] ?? "", 10) || 0;
        context.gtpu = record.columns.slice(13, 17).map(Number);
        return null;
      case 4100:
        return this.#table(record, context);
      case 4200:
        return this.#matcher(record);
      case 4201:
        return this.#attributes(record);
      case 4203:
        return definer(record, context);
      case 4206:
        return "definers of ranges: entries that compare ranges of fields are not imported";
      case 4207:
        return "definers of comparisons: entries that compare two fields are not imported";
      case 4900:
        context.hasEntries = true;
        return null;
      case 4910:
        return address(record, context);
      case 4911:
        context.patterns.set(numberIn(record.columns[0]) ?? 0, record.columns.slice(1));
        return null;
      case 4912:
        context.arguments.set(numberIn(record.columns[1]) ?? 0, record.columns[2] ?? "");
        return null;
      case 4930:
        return entry(record, context);
      case 4940:
        anchors(record.columns, context);
        return null;
      default:
        return KNOWN.has(record.type) ? null : "unknown record type of hardware steering";
    }
  }

  #table(record: DumpRecord, context: HardwareContext): string | null {
    const [id = "", , number, type, , depth] = record.columns;
    const miss = record.columns[11] ?? NONE;
    const level = numberIn(depth) ?? 0;
    const misfit = levelMisfit(level);
    if (misfit !== null) return misfit;
    const table: HardwareTable = {
      record,
      context,
      id,
      type: numberIn(type) ?? -1,
      level,
      number: numberIn(number) ?? 0,
      miss: miss === NONE ? null : miss,
      matchers: [],
    };
    context.tables.push(table);
    this.#tables.set(id, table);
    for (const start of record.columns.slice(7, 9)) lead(context, start, { type: "FT", id: number ?? "" });
    return null;
  }

  #matcher(record: DumpRecord): string | null {
    const [id = "", parent = "", , , , , first = "", , second = ""] = record.columns;
    const table = this.#tables.get(parent);
    if (table === undefined) return `its table ${parent} is not in the dump`;
    const matcher = { record, table, id, priority: 0, owners: [first, second] as const };
    table.matchers.push(matcher);
    this.#matchers.set(id, matcher);
    return null;
  }

  #attributes({ columns: [id = "", priority] }: DumpRecord): string | null {
    const matcher = this.#matchers.get(id);
    if (matcher === undefined) return `its matcher ${id} is not in the dump`;
    const number = numberIn(priority) ?? 0;
    if (!isWhole(number, MAX_PRIORITY)) return `the priority of a matcher is 0 to ${MAX_PRIORITY}`;
    matcher.priority = number;
    return null;
  }
}

/** Records that say nothing of rules, or that others say too. */
const KNOWN: ReadonlySet<number> = new Set([
  ...[4003, 4004, 4005, 4006, 4202, 4204, 4205, 4208, 4209, 4300],
  ...[4901, 4913, 4920, 4921],
]);

function definer({ columns }: DumpRecord, context: HardwareContext): string | null {
  const [, , number, , words = "", bytes = "", mask = ""] = columns;
  if (mask.length !== MASK_DIGITS) return `the mask of a definer has ${MASK_DIGITS / 2} bytes in hexadecimal`;
  const selectors = (text: string): number[] => text.split("-").map(Number);
  context.definers.set(numberIn(number) ?? -1, {
    words: selectors(words),
    bytes: selectors(bytes),
    mask: maskAsEntry(mask),
  });
  return null;
}

function entry(
  { line, column, columns: [at, owner = "", text = ""] }: DumpRecord,
  context: HardwareContext,
): string | null {
  const hex = text.trim().replace(/^0x/, "");
  const number = numberIn(at);
  if (number === undefined || hex.length !== ENTRY_DIGITS || !/^[\da-f]+$/i.test(hex)) {
    return "an entry has an address and 64 bytes in hexadecimal";
  }
  context.hasEntries = true;
  const made = { record: { line, column }, owner, address: number, hex };
  const list = context.entries.get(owner) ?? [];
  list.push(made);
  context.entries.set(owner, list);
  context.byAddress.set(number, made);
  return null;
}

function address({ columns: [at, type = "", id = ""] }: DumpRecord, context: HardwareContext): string | null {
  // A table of entries is no destination: its entries are.
  if (type !== "FW_STE_TABLE") lead(context, at, { type, id });
  return null;
}

/** A table's beginnings in the memory of the device, of the receive and of the transmit side. */
function anchors([number = "", ...starts]: readonly string[], context: HardwareContext): void {
  for (const start of starts) lead(context, start, { type: "FT", id: number });
}

function lead({ destinations }: HardwareContext, at: string | undefined, to: Destination): void {
  const address = numberIn(at);
  if (address !== undefined && address !== 0 && !destinations.has(address)) destinations.set(address, to);
}
