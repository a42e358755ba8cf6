// Where Open vSwitch sends random frames by tables with conjunctive flows, and by tables with connection tracking where every
// connection is established: test/golden/ovs-conjunctions.json. Run from the project root, with Open vSwitch (Debian:
// openvswitch-switch); no kernel module, no root:
//
//     node --import tsx scripts/golden-ovs-conjunctions.mjs [TABLES] [FILE] [SEED]
//
// Frames go through conjunctions; for connections `ofproto/trace --ct-next trk,est` says which ports a frame leaves by.

import { fileURLToPath } from "node:url";
import { Random } from "../test/oracle/generate/random.ts";
import { Bridge } from "./golden-ovs-flows/bridge.mjs";
import { drawFrame } from "./golden-ovs-flows/draw.mjs";
import { drawConjunctions, drawConnections } from "./golden-ovs-flows/drawMore.mjs";
import { writeCases } from "./golden-ovs-flows/write.mjs";

const [
  tables = "20",
  file = fileURLToPath(new URL("../test/golden/ovs-conjunctions.json", import.meta.url)),
  seed = "1",
] = process.argv.slice(2);
const FRAMES = 24;

const bridge = new Bridge();
try {
  await bridge.start();
  const random = new Random(Number(seed));
  const rows = [];
  let number = 0x80000000;
  const framesFor = () => Array.from({ length: FRAMES }, () => drawFrame(random, ++number, false));
  const add = (drawn, frames, outs) =>
    rows.push(JSON.stringify({ ...drawn, frames: frames.map(([port, bytes], n) => ({ port, bytes, out: outs[n] })) }));
  for (let n = 0; n < Number(tables); n++) {
    const drawn = drawConjunctions(random);
    const frames = framesFor();
    add(drawn, frames, await bridge.steer(drawn, frames));
  }
  for (let n = 0; n < Number(tables); n++) {
    const drawn = drawConnections(random);
    const frames = framesFor();
    add(drawn, frames, bridge.trace(drawn, frames));
  }
  writeCases(file, "golden-ovs-conjunctions.mjs", bridge, seed, rows);
  console.log(`${rows.length} tables, ${rows.length * FRAMES} frames`);
} finally {
  bridge.stop();
}
