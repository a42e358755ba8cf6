// Where Open vSwitch's userspace datapath sends random frames by the flow tables of three bridges that patch ports connect, and with which
// bytes: test/golden/ovs-bridges.json. Run from the project root, with Open vSwitch (Debian: openvswitch-switch); no kernel module, no root:
//
//     node --import tsx scripts/golden-ovs-bridges.mjs [TABLES] [FILE] [SEED]
//
// `text` has the ports and the flows as people paste them; frames have the ports that they come to and what comes out of them.

import { fileURLToPath } from "node:url";
import { Random } from "../test/oracle/generate/random.ts";
import { Bridge, PATCHES, SEVERAL } from "./golden-ovs-flows/bridge.mjs";
import { drawFrame, drawTables } from "./golden-ovs-flows/draw.mjs";
import { writeCases } from "./golden-ovs-flows/write.mjs";

const [tables = "40", file = fileURLToPath(new URL("../test/golden/ovs-bridges.json", import.meta.url)), seed = "1"] =
  process.argv.slice(2);
const FRAMES = 24;
/** A device makes at most 64 copies of a frame. */
const MAX_COPIES = 12;
/** Open vSwitch holds two tags: a third that a bridge pushes may be missing (docs/import/ovs.md). */
const TWO_TAGS = /^.{24}(?:8100|88a8)....(?:8100|88a8)/;

const bridge = new Bridge(SEVERAL, PATCHES);
try {
  await bridge.start();
  const random = new Random(Number(seed));
  const rows = [];
  let number = 0x80000000;
  while (rows.length < Number(tables)) {
    const first = drawTables(random);
    const others = { br1: drawTables(random), br2: drawTables(random) };
    const frames = Array.from({ length: FRAMES }, () => {
      const [, bytes] = drawFrame(random, ++number, 0);
      return [random.pick(Object.keys(SEVERAL)), bytes];
    });
    const drawn = { ...first, others };
    const out = await bridge.steer(drawn, frames);
    if (out.some((list) => list.length > MAX_COPIES || list.some(([, bytes]) => TWO_TAGS.test(bytes)))) continue;
    const text = textOf(drawn, random.chance(0.5));
    rows.push(JSON.stringify({ text, frames: frames.map(([port, bytes], n) => ({ port, bytes, out: out[n] })) }));
  }
  writeCases(file, "golden-ovs-bridges.mjs", bridge, seed, rows);
  console.log(`${rows.length} tables, ${rows.length * FRAMES} frames`);
} finally {
  bridge.stop();
}

/** Commands that make the ports, or what shows them; and the flows, below what prints them. */
function textOf({ others, ...first }, isShown) {
  const lines = [];
  const ports = [...Object.values(SEVERAL), ...PATCHES].filter(([of, name]) => of !== name);
  for (const [of, name, port, peer] of ports) {
    const patch = peer === undefined ? "" : ` type=patch options:peer=${peer}`;
    lines.push(
      `ovs-vsctl add-port ${of} ${name} -- set interface ${name} ofport_request=${port}${isShown ? "" : patch}`,
    );
  }
  if (isShown) lines.push("ovs-vsctl show", ...shown());
  for (const [of, { flows, groups = [] }] of Object.entries({ br0: first, ...others })) {
    if (groups.length > 0) lines.push(`ovs-ofctl dump-groups ${of}`, ...groups);
    lines.push(`ovs-ofctl dump-flows ${of}`, ...flows);
  }
  return lines.join("\n");
}

function shown() {
  return ["br0", "br1", "br2"].flatMap((of) => [
    `    Bridge "${of}"`,
    "        fail_mode: secure",
    ...PATCHES.filter(([bridge]) => bridge === of).flatMap(([, name, , peer]) => [
      `        Port ${name}`,
      `            Interface ${name}`,
      "                type: patch",
      `                options: {peer=${peer}}`,
    ]),
  ]);
}
