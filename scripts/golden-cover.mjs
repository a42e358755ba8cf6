#!/usr/bin/env node
// Writes test/golden/cover.json: which lines of ClassBench rule sets some packet hits, as Z3 says.
//
//     node scripts/golden-cover.mjs [--python /usr/bin/python3] FOLDER...
//
// The folders have acl1_1k.rules.gz, fw1_1k.rules.gz, ipc1_1k.rules.gz, acl3_1k.rules.gz, fw3_1k.rules.gz, made by the ClassBench
// generator (D. E. Taylor, Washington University). The first 500 lines of each are used, without the column of flags.
// Made with Z3 4.8.12 (Debian 12: python3-z3).
//
// A line is live if an IPv4 packet exists that it takes and no line before it does:
// - "tuples": over all (source, destination, source port, destination port, protocol), every protocol with ports;
// - "frames": over what frames have: ports belong to TCP and UDP only, and later fragments have none. A line that names
//   ports, other than 0-65535, takes only frames with ports.
// The same is asked of the lines in reverse: the last line wins.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

const SETS = ["acl1_1k", "fw1_1k", "ipc1_1k", "acl3_1k", "fw3_1k"];
const LINES = 500;

const { values, positionals: folders } = parseArgs({
  options: { python: { type: "string", default: "/usr/bin/python3" } },
  allowPositionals: true,
});
const root = fileURLToPath(new URL("..", import.meta.url));

function readLines(set) {
  const path = folders.map((folder) => join(folder, `${set}.rules.gz`)).find(existsSync);
  if (path === undefined) throw new Error(`golden-cover: no ${set}.rules.gz in ${folders.join(", ") || "no folder"}`);
  return gunzipSync(readFileSync(path))
    .toString()
    .split("\n")
    .slice(0, LINES)
    .map((line) => line.slice(1).split("\t").slice(0, 5).join(" ").replaceAll(" : ", ":"));
}

/** The numbers of a line: each address and the protocol with a mask, each port with its limits. */
function numbersOf(line) {
  const [src, dst, sport, dport, protocol] = line.split(" ");
  const [value, mask] = protocol.split("/").map(Number);
  return [
    ...network(src),
    ...network(dst),
    ...sport.split(":").map(Number),
    ...dport.split(":").map(Number),
    value & mask,
    mask,
  ];
}

function network(text) {
  const [address, length] = text.split("/");
  const mask = Number(length) === 0 ? 0 : (-1 << (32 - Number(length))) >>> 0;
  const whole = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return [(whole & mask) >>> 0, mask];
}

function ask(lines) {
  const input = JSON.stringify(lines.map(numbersOf));
  return JSON.parse(execFileSync(values.python, [join(root, "scripts/golden-cover.py")], { input }));
}

let z3;
const sets = SETS.map((set) => {
  const lines = readLines(set);
  const first = ask(lines);
  const last = ask(lines.toReversed());
  z3 = first.version;
  last.tuples.reverse();
  last.frames.reverse();
  const columns = [first.tuples, first.frames, last.tuples, last.frames];
  console.log(set, "dead:", columns.map((live) => live.filter((one) => !one).length).join(", "));
  const rows = lines.map((line, n) => JSON.stringify([line, ...columns.map((live) => Number(live[n]))]));
  return `{"set":"${set}","lines":[\n${rows.join(",\n")}\n]}`;
});
const made = {
  command: "node scripts/golden-cover.mjs FOLDER...",
  z3,
  origin: "ClassBench, the first 500 lines of each set",
  columns: [
    "source, destination, source ports, destination ports, protocol/mask",
    "1 if live among all 5-tuples, every protocol with ports; the first line that matches wins",
    "1 if live among frames: ports belong to TCP and UDP, later fragments have none; the first line wins",
    "as the second column, but the last line wins",
    "as the third column, but the last line wins",
  ],
};
writeFileSync(
  join(root, "test/golden/cover.json"),
  `{"made":${JSON.stringify(made)},"sets":[\n${sets.join(",\n")}\n]}\n`,
);
