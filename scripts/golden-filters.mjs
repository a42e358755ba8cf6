#!/usr/bin/env node
// Which frames of the repository's captures pass display filters in tshark: the golden file that our filters are compared
// with. Run once by hand with tshark 4.0; the result is committed.
//
//   node scripts/golden-filters.mjs > test/golden/filters.json
//
// The captures (pcapng files have several sections, which mergecap interleaves) are merged into one, in which frames are
// numbered on, so that a filter is one run. Reassembly is off: each frame stands for itself.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OPTIONS = ["ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE"];
const FOLDER = "test/captures";
const FILTERS = readFileSync("test/golden/filters.txt", "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

const scratch = mkdtempSync(join(tmpdir(), "golden-filters-"));
const merged = join(scratch, "all.pcapng");
const quiet = { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] };
const options = OPTIONS.flatMap((option) => ["-o", option]);

/** Frame numbers as ranges: `3-7`. */
function ranges(numbers) {
  const found = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(" ");
}

try {
  const captures = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".pcap"))
    .sort();
  execFileSync("mergecap", ["-a", "-w", merged, ...captures.map((name) => join(FOLDER, name))], quiet);
  const results = FILTERS.map((filter) => {
    const args = ["-r", merged, ...options, "-Y", filter, "-T", "fields", "-e", "frame.number"];
    const numbers = execFileSync("tshark", args, quiet).split("\n").filter(Boolean).map(Number);
    return [filter, ranges(numbers)];
  });
  console.log(JSON.stringify({ captures, filters: Object.fromEntries(results) }, null, 1));
} finally {
  rmSync(scratch, { recursive: true });
}
