// The file of golden cases.

import { writeFileSync } from "node:fs";

/** Writes cases, a line each, with what made them. */
export function writeCases(file, script, bridge, seed, rows) {
  const made = { command: `node --import tsx scripts/${script}`, openvswitch: bridge.version, seed: Number(seed) };
  writeFileSync(file, `{"made":${JSON.stringify(made)},"cases":[\n${rows.join(",\n")}\n]}\n`);
}
