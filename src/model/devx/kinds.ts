/**
 * Which object is which, without the classes: a program whose device has no flow tables does not
 * load the code for them.
 */
import type { DevxFlowEntry } from "./flowEntry.js";
import type { DevxFlowTable } from "./flowTable.js";
import { DevxObject } from "../base/devxObject.js";

export function isDevxFlowTable(one: unknown): one is DevxFlowTable {
  return one instanceof DevxObject && one.numberedAs === "flow_table";
}

/** Entries are the objects that table and index name, not a number. */
export function isDevxFlowEntry(one: unknown): one is DevxFlowEntry {
  return one instanceof DevxObject && one.numberedAs === null;
}
