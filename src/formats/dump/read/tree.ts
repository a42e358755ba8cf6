/** The records of a dump as a tree: a domain, its tables, their matchers, their rules. */
import { VPORT_UPLINK } from "../../../abi/engine.js";
import { DEVICE_KEY_SIZE } from "../../../abi/key.js";
import { PACKAGE } from "../../../model/dump/objects.js";
import { readGroupTexts } from "../../../model/dump/parameters.js";
import { isEndpoint, NO_ENDPOINT } from "../../reading/draft.js";
import { HardwareTree } from "./hardware/tree.js";
import {
  isWhole,
  levelMisfit,
  numberIn,
  readRecords,
  type DumpRecord,
  type Misplaced,
  type NoRecord,
} from "./records.js";

export interface DumpDomain {
  readonly record: DumpRecord;
  readonly id: string;
  readonly type: "nic_rx" | "nic_tx" | "fdb";
  readonly gvmi: number;
  /** Whether flowsteer wrote it: then it has the rules of root tables too. */
  readonly isOwn: boolean;
  /** Of steering entries: 0 of ConnectX-5, 1 and more of later devices; null where the dump does not say. */
  readonly format: number | null;
  readonly tables: DumpTable[];
  /** The gvmi of each vport of the eSwitch that has been asked for. */
  readonly vports: Map<number, number>;
  /** Parser features, as bits. */
  flexProtocols: number;
  /** The parsers that hold the words of ICMP headers, by the name of the word. */
  readonly flexParsers: Map<string, number>;
}

export interface DumpTable {
  readonly record: DumpRecord;
  readonly domain: DumpDomain;
  readonly id: string;
  readonly level: number;
  /** Indices in ICM at which it begins, of the receive and of the transmit side. */
  readonly starts: number[];
  readonly matchers: DumpMatcher[];
}

export interface DumpMatcher {
  readonly record: DumpRecord;
  readonly table: DumpTable;
  readonly id: string;
  readonly priority: number;
  /** In device bytes. */
  readonly mask: Uint8Array;
  readonly builders: DumpBuilder[];
  readonly rules: DumpRule[];
}

/** What an entry of each rule looks at, in the order of the entries. */
export interface DumpBuilder {
  readonly side: Side;
  readonly lookupType: number;
  /** -1: none. */
  readonly definer: number;
}

export type Side = "rx" | "tx";

export interface DumpRule {
  readonly record: DumpRecord;
  readonly matcher: DumpMatcher;
  readonly id: string;
  readonly entries: DumpEntry[];
  /** Each with the columns after the rule. */
  readonly actions: { readonly record: DumpRecord; readonly id: string; readonly columns: readonly string[] }[];
  /** The value in device bytes, which dumps of flowsteer have instead of entries. */
  value: Uint8Array | null;
}

export interface DumpEntry {
  readonly side: Side;
  /** Of format 1 and later. */
  readonly later: boolean;
  /** Control and tag as hexadecimal digits. */
  readonly hex: string;
}

export interface DumpTree {
  readonly domains: readonly DumpDomain[];
  readonly misplaced: readonly Misplaced[];
  readonly others: readonly NoRecord[];
  /** Columns of records that hold numbers, and are none. */
  readonly noNumbers: readonly NoRecord[];
  /** Of hardware steering. */
  readonly hardware: HardwareTree;
}

/** In dumps of flowsteer the value of a rule; hardware steering has this number too. */
const OWN_VALUE = 4300;
const MAX_PRIORITY = 0xffff;
const DOMAIN_TYPES = ["nic_rx", "nic_tx", "fdb"] as const;
/** Types 3400 to 3499. */
const isAction = (type: number): boolean => Math.floor(type / 100) === 34;

/** The first and the last column of a record that hold names, versions, kinds and other texts. */
const TEXTS: Readonly<Record<number, readonly [first: number, last: number]>> = {
  3000: [4, 5],
  3001: [1, 1],
  3002: [2, 2],
  4000: [2, 3],
  4001: [4, 4],
  4002: [1, 1],
  4004: [0, Infinity],
  4203: [4, 5],
  4204: [5, 5],
  4910: [1, 1],
  4911: [0, Infinity],
  4912: [0, Infinity],
};

/** Reads the records of a dump; all that hangs together by ids and by order is joined. */
export function readTree(text: string): DumpTree {
  const tree = new TreeBuilder();
  const hardware = new HardwareTree();
  const others: NoRecord[] = [];
  const noNumbers: NoRecord[] = [];
  for (const record of readRecords(text)) {
    if (!("type" in record)) {
      others.push(record);
      continue;
    }
    const { line, columns } = record;
    const [first, last] = TEXTS[record.type] ?? [Infinity, 0];
    for (const [n, text] of columns.entries())
      if ((n < first || n > last) && !/^(?:-?\d+|(?:0x)?[\da-f]*)$/i.test(text)) noNumbers.push({ line, text });
    if (record.type < 4000 || (record.type === OWN_VALUE && hardware.contexts.length === 0)) tree.add(record);
    else hardware.add(record);
  }
  return { domains: tree.domains, misplaced: tree.misplaced, others, noNumbers, hardware };
}

class TreeBuilder {
  readonly domains: DumpDomain[] = [];
  readonly misplaced: Misplaced[] = [];
  #domain: DumpDomain | undefined;
  readonly #tables = new Map<string, DumpTable>();
  readonly #matchers = new Map<string, DumpMatcher>();
  readonly #rules = new Map<string, DumpRule>();
  #matcher: DumpMatcher | undefined;
  #rule: DumpRule | undefined;
  #side: Side = "rx";

  add(record: DumpRecord): void {
    const reason = isAction(record.type) ? this.#action(record) : this.#object(record);
    if (reason !== null) this.misplaced.push({ record, reason });
  }

  /** @returns why the record has no place; null if it has */
  #object(record: DumpRecord): string | null {
    switch (record.type) {
      case 3000:
        return this.#addDomain(record);
      case 3001:
      case 3003:
      case 3004:
        return this.#capability(record);
      case 3002:
      case 3005:
        return null;
      case 3100:
        return this.#table(record);
      case 3101:
      case 3102:
        return this.#tableSide(record);
      case 3200:
        return this.#addMatcher(record);
      case 3201:
      case 3205:
        return this.#mask(record);
      case 3202:
      case 3203:
        this.#side = record.type === 3202 ? "rx" : "tx";
        return null;
      case 3204:
        return this.#builder(record);
      case 3300:
        return this.#addRule(record);
      case 3301:
      case 3302:
      case 3303:
      case 3304:
        return this.#entry(record);
      case OWN_VALUE:
        return this.#value(record);
      default:
        return "unknown record type of software steering";
    }
  }

  #addDomain(record: DumpRecord): string | null {
    const [id = "", type, gvmi = "", , version, , , , , , format] = record.columns;
    const name = DOMAIN_TYPES[Number(type)];
    if (name === undefined) return "the type of a domain is 0 (NIC RX), 1 (NIC TX) or 2 (FDB)";
    this.#domain = {
      record,
      id,
      type: name,
      gvmi: Number.parseInt(gvmi, 16) || 0,
      format: numberIn(format) ?? null,
      isOwn: version === PACKAGE,
      tables: [],
      vports: new Map(),
      flexProtocols: 0,
      flexParsers: new Map(),
    };
    this.domains.push(this.#domain);
    return null;
  }

  #capability({ type, columns }: DumpRecord): string | null {
    const domain = this.#domain;
    if (domain === undefined) return NO_DOMAIN;
    const [, name = "", third, , , protocols] = columns;
    if (type === 3001) domain.flexParsers.set(name, numberIn(third) ?? 0);
    else if (type === 3003) {
      const vport = numberIn(name) ?? 0;
      if (vport !== VPORT_UPLINK && !isEndpoint({ vport })) return NO_ENDPOINT;
      domain.vports.set(vport, numberIn(third) ?? 0);
    } else domain.flexProtocols = numberIn(columns[4] ?? protocols) ?? 0;
    return null;
  }

  #table(record: DumpRecord): string | null {
    const [id = "", , , level] = record.columns;
    const domain = this.#domain;
    if (domain === undefined) return NO_DOMAIN;
    const number = numberIn(level) ?? 0;
    const misfit = levelMisfit(number);
    if (misfit !== null) return misfit;
    const table = { record, domain, id, level: number, starts: [], matchers: [] };
    domain.tables.push(table);
    this.#tables.set(id, table);
    return null;
  }

  #tableSide({ columns: [id = "", start] }: DumpRecord): string | null {
    const index = numberIn(start);
    if (index !== undefined) this.#tables.get(id)?.starts.push(index);
    return null;
  }

  #addMatcher(record: DumpRecord): string | null {
    const [id = "", parent = "", priority] = record.columns;
    this.#matcher = this.#rule = undefined;
    const table = this.#tables.get(parent);
    if (table === undefined) return `its table ${parent} is not in the dump`;
    const number = numberIn(priority) ?? 0;
    if (!isWhole(number, MAX_PRIORITY)) return `the priority of a matcher is 0 to ${MAX_PRIORITY}`;
    const mask = new Uint8Array(DEVICE_KEY_SIZE);
    this.#matcher = { record, table, id, priority: number, mask, builders: [], rules: [] };
    table.matchers.push(this.#matcher);
    this.#matchers.set(id, this.#matcher);
    return null;
  }

  #mask({ type, columns: [id = "", ...groups] }: DumpRecord): string | null {
    const matcher = this.#matchers.get(id);
    if (matcher === undefined) return NO_MATCHER;
    const order = type === 3201 ? "first_high" : "first_low";
    return readGroupTexts(groups, order, matcher.mask) ? null : "a group of a mask is not hexadecimal";
  }

  /** Driver 28.0 has no comma between the matcher and the position. */
  #builder({ columns }: DumpRecord): string | null {
    const matcher = this.#matcher;
    if (matcher === undefined) return NO_MATCHER;
    const stuck = columns.length === 3;
    const [side, type, definer] = stuck ? columns.slice(1) : columns.slice(2);
    const lookupType = numberIn(type);
    if (lookupType === undefined) return "the lookup type is no number";
    const isRx = side === "1" || (side !== "0" && this.#side === "rx");
    matcher.builders.push({ side: isRx ? "rx" : "tx", lookupType, definer: numberIn(definer) ?? -1 });
    return null;
  }

  #addRule(record: DumpRecord): string | null {
    const [id = "", parent = ""] = record.columns;
    this.#rule = undefined;
    const matcher = this.#matchers.get(parent);
    if (matcher === undefined) return `its matcher ${parent} is not in the dump`;
    this.#rule = { record, matcher, id, entries: [], actions: [], value: null };
    matcher.rules.push(this.#rule);
    this.#rules.set(id, this.#rule);
    return null;
  }

  #entry({ type, columns: [, id = "", hex = ""] }: DumpRecord): string | null {
    const rule = this.#rules.get(id);
    if (rule === undefined) return `its rule ${id} is not in the dump`;
    if (!/^([0-9a-f]{96}|[0-9a-f]{128})$/i.test(hex)) return "an entry has 48 or 64 bytes in hexadecimal";
    rule.entries.push({ side: type % 2 === 1 ? "rx" : "tx", later: type >= 3303, hex });
    return null;
  }

  #value({ columns: [id = "", ...groups] }: DumpRecord): string | null {
    const rule = this.#rules.get(id);
    if (rule === undefined) return `its rule ${id} is not in the dump`;
    rule.value = new Uint8Array(DEVICE_KEY_SIZE);
    return readGroupTexts(groups, "first_low", rule.value) ? null : "a group of a value is not hexadecimal";
  }

  /** Driver 28.0 writes `3402,,ACTION,RULE0xe`: an empty column, and no comma after the rule. */
  #action(record: DumpRecord): string | null {
    const [first = "", second = "", third = ""] = record.columns;
    const current = this.#rule;
    if (first === "" && current !== undefined && third.startsWith(current.id)) {
      const columns = [third.slice(current.id.length)].filter((one) => one !== "");
      current.actions.push({ record, id: second, columns });
      return null;
    }
    const rule = this.#rules.get(second);
    if (rule === undefined) return `its rule ${second} is not in the dump`;
    rule.actions.push({ record, id: first, columns: record.columns.slice(2) });
    return null;
  }
}

const NO_DOMAIN = "no domain (3000) precedes it";
const NO_MATCHER = "no matcher (3200) precedes it";
