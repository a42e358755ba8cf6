// Whether Open vSwitch does the same with flows that were imported and exported again as with the first ones. Run from the project root,
// with Open vSwitch (Debian: openvswitch-switch); no kernel module, no root:
//
//     node --import tsx scripts/golden-ovs-exported.mjs [FILE]
//
// FILE is one of scripts/golden-ovs-flows.mjs. Nothing is written; each difference is printed.

import { readFileSync } from "node:fs";
import { exportRules } from "../src/export/index.ts";
import { importRules } from "../src/import/index.ts";
import { Bridge } from "./golden-ovs-flows/bridge.mjs";

const [file = new URL("../test/golden/ovs-flows.json", import.meta.url)] = process.argv.slice(2);
const { cases } = JSON.parse(readFileSync(file, "utf8"));
const map = { 1: "uplink", 2: "vf1", 3: "vf2", 4: "vf3" };
const sorted = (frames) => JSON.stringify([...frames].sort((a, b) => (a.join() < b.join() ? -1 : 1)));

const counts = { tables: 0, flows: 0, frames: 0, different: 0, refused: 0 };
const bridge = new Bridge();
try {
  await bridge.start();
  for (const { flows, groups, frames } of cases) {
    const text = exported([...groups, ...flows].join("\n"));
    if (text === null) {
      counts.refused++;
      continue;
    }
    const lines = text.split("\n").filter((line) => line.startsWith("table="));
    const out = await bridge.steer(
      { version: "OpenFlow15", flows: lines },
      frames.map(({ port, bytes }) => [port, bytes]),
    );
    counts.tables++;
    counts.flows += lines.length;
    for (const [n, frame] of frames.entries()) {
      counts.frames++;
      if (sorted(out[n]) === sorted(frame.out)) continue;
      counts.different++;
      console.error(`${frame.port} ${frame.bytes}\n${sorted(out[n])}\n${sorted(frame.out)}\n${text}`);
      process.exitCode = 1;
    }
  }
  console.log(JSON.stringify(counts));
} finally {
  bridge.stop();
}

function exported(text) {
  const { scenario } = importRules(text, { format: "ovs", map });
  if (scenario === null) return null;
  return exportRules({ ...scenario, device: { ...scenario.device, vports: 3 } }, { format: "ovs" }).text;
}
