// Where Open vSwitch's userspace datapath sends random frames by random flow tables, and with which bytes:
// test/golden/ovs-flows.json. Run from the project root, with Open vSwitch (Debian: openvswitch-switch); no kernel module, no root:
//
//     node --import tsx scripts/golden-ovs-flows.mjs [TABLES] [FILE] [SEED]
//
// A case has flows and groups as ovs-ofctl takes them, and frames with the ports that they come to and what comes out of them.

import { fileURLToPath } from "node:url";
import { Random } from "../test/oracle/generate/random.ts";
import { Bridge } from "./golden-ovs-flows/bridge.mjs";
import { drawFrame, drawTables } from "./golden-ovs-flows/draw.mjs";
import { writeCases } from "./golden-ovs-flows/write.mjs";

const [tables = "40", file = fileURLToPath(new URL("../test/golden/ovs-flows.json", import.meta.url)), seed = "1"] =
  process.argv.slice(2);
const FRAMES = 24;

const bridge = new Bridge();
try {
  await bridge.start();
  const random = new Random(Number(seed));
  const rows = [];
  let number = 0x80000000;
  while (rows.length < Number(tables)) {
    const { tags, ...drawn } = drawTables(random);
    const frames = Array.from({ length: FRAMES }, () => drawFrame(random, ++number, tags));
    let out;
    try {
      out = await bridge.steer(drawn, frames);
    } catch (error) {
      console.error(`${error.message}\n${drawn.flows.join("\n")}`);
      process.exitCode = 1;
      break;
    }
    rows.push(JSON.stringify({ ...drawn, frames: frames.map(([port, bytes], n) => ({ port, bytes, out: out[n] })) }));
    if (rows.length % 100 === 0) console.log(rows.length);
  }
  writeCases(file, "golden-ovs-flows.mjs", bridge, seed, rows);
  console.log(`${rows.length} tables, ${rows.length * FRAMES} frames`);
} finally {
  bridge.stop();
}
