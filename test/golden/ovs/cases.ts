/** Reads the results of Open vSwitch: test/golden/ovs/*.json, made by scripts/golden-ovs.mjs. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ALLOWED } from "./differences.js";

/** A header change in the types of the reference and of the facade. */
export type HeaderChange =
  | { type: "set"; field: string; data: number; length: number; offset: number }
  | { type: "add"; field: string; data: number }
  | { type: "copy"; field: string; src_offset: number; length: number; to: string; dst_offset: number };

export type OvsAction =
  | { action: "modify"; actions: HeaderChange[] }
  | { action: "push_vlan"; vlan_hdr: number }
  | { action: "pop_vlan" }
  | { action: "reformat"; reformat_type: number; data?: string };

export interface OvsCase {
  name: string;
  /** "built", or a frame of test/captures. */
  from: string;
  frame: string;
  /** Flows of each bridge, in the syntax of ovs-ofctl. */
  openflow: Record<string, string[]>;
  actions: OvsAction[];
  /** Bytes that may differ. */
  differences: { offset: number; length: number; what: keyof typeof ALLOWED }[];
  out: string;
}

interface OvsFile {
  made: { command: string; openvswitch: string };
  cases: OvsCase[];
}

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** The cases of each file by its name. */
export function ovsFiles(): [name: string, cases: OvsCase[]][] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => [name.slice(0, -5), (JSON.parse(readFileSync(FOLDER + name, "utf8")) as OvsFile).cases]);
}

/** A frame as hexadecimal text without the bytes that may differ: the rest must be equal. */
export function withoutDifferences(hex: string, { differences }: OvsCase): string {
  let text = hex;
  for (const { offset, length } of differences) {
    text = text.slice(0, 2 * offset) + "..".repeat(length) + text.slice(2 * (offset + length));
  }
  return text;
}
