/** Steering dumps of mlx5 devices, as a format. */
import type { ElementGroups, Format } from "../../reading/format.js";
import { ACTION_ELEMENTS } from "./actions.js";
import { HARDWARE_ACTION_ELEMENTS } from "./hardware/actions.js";
import { type DumpRecord, readRecords } from "./records.js";
import { DumpImport } from "./scenario.js";

const RECORDS = {
  "3000 domain": {
    becomes:
      "tables of `nic_rx`, `nic_tx` or `fdb`; of the function whose `gvmi` it has, if the dump lists that (3003), else of the PF",
  },
  "3001, 3003, 3004 parsers, vports, capabilities": { becomes: "used to read entries" },
  "3002, 3005 device, send rings": { becomes: "nothing: no rule depends on them" },
  "3100 to 3102 tables": { becomes: "tables, named by domain and level" },
  "3200 to 3205 matchers": { becomes: "matchers with their masks, in the dump's order of lookups" },
  "3300 to 3304 rules, entries": {
    becomes: "rules; their values are put together from the entries. Steering formats 0 (ConnectX-5) to 3",
  },
  "4300 values": { becomes: "the value of a rule in a dump of flowsteer itself" },
} as const;

const HARDWARE_RECORDS = {
  "4000 to 4002 contexts, attributes, capabilities": {
    becomes: "used to read entries: the own gvmi, the firmware, the places of GTP-U",
  },
  "4100 tables": { becomes: "tables, named by domain and level; with a table for frames that match nothing, a rule" },
  "4200, 4201 matchers": { becomes: "the priority of their rules" },
  "4203 definers": { becomes: "used to read entries: the words and bytes of a frame's header layout, and their mask" },
  "4930 entries": {
    becomes:
      "rules, each of an entry that matches and of the entries after it. A rule of one side of the FDB matches `ext.direction`",
  },
  "4910, 4940 addresses, anchors": { becomes: "where the last entry of a rule leads" },
  "4911, 4912 patterns, arguments": { becomes: "header changes, and headers that are added" },
  "4003 to 4006, 4202, 4204, 4205, 4208, 4209, 4300, 4900, 4901, 4913, 4920, 4921": {
    becomes: "nothing: no rule depends on them",
  },
  "matchers of a dump without 4930": {
    refused: "the driver writes no rules; the public steering dump tool reads them from the device",
  },
  "4206, 4207 definers of ranges and of comparisons": { refused: "entries that compare ranges, or two fields" },
  "tables of type 3, 4, 6, 7": { refused: "one side of an FDB, and RDMA transport" },
} as const;

const ELEMENTS: ElementGroups = {
  "Records of software steering": RECORDS,
  "Actions of software steering": ACTION_ELEMENTS,
  "Records of hardware steering": HARDWARE_RECORDS,
  "Actions of hardware steering": HARDWARE_ACTION_ELEMENTS,
};

export const MLX5_DUMP: Format = {
  title: "steering dumps of mlx5 devices",
  hasDeviceFields: true,
  recognizes: (text) => {
    for (const one of readRecords(text.slice(0, RECOGNIZED))) if ("type" in one && isPlain(one)) return true;
    return false;
  },
  importer: (draft, findings) => new DumpImport(draft, findings),
  elements: ELEMENTS,
};

/** Whether all columns are plain words and the first is a number: "packets:3000, bytes:18, used:1s" is no record. */
function isPlain({ columns }: DumpRecord): boolean {
  return /^(?:0x[\da-f]+|\d+)?$/i.test(columns[0] ?? "") && columns.every((one) => /^[\w .+-]*$/.test(one));
}

/** Characters of a text that are looked at. */
const RECOGNIZED = 100_000;
