// Frames that Open vSwitch's userspace datapath has changed: test/golden/ovs/*.json. Run from the project root, with Open vSwitch
// (Debian: openvswitch-switch); no kernel module, no root:
//
//     node --import tsx scripts/golden-ovs.mjs
//
// A case has the frame that came in, the flows of each bridge as ovs-ofctl takes them, our actions, and the frame that came out.
// scripts/golden-ovs/switch.mjs says which ports there are.

import { mkdirSync, writeFileSync } from "node:fs";
import { addresses } from "./golden-ovs/cases/addresses.mjs";
import { drawn } from "./golden-ovs/cases/drawn.mjs";
import { ports } from "./golden-ovs/cases/ports.mjs";
import { into, OPTION_MAPS, outOf } from "./golden-ovs/cases/tunnels.mjs";
import { vlans } from "./golden-ovs/cases/vlans.mjs";
import { Switch } from "./golden-ovs/switch.mjs";
import { template } from "./golden-ovs/template.mjs";

const FILES = { addresses, ports, vlans, into, outOf, drawn };
const FOLDER = new URL("../test/golden/ovs/", import.meta.url);

const ovs = new Switch();
try {
  await ovs.start();
  ovs.mapOptions(...OPTION_MAPS);
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, cases] of Object.entries(FILES)) {
    const rows = [];
    for (const one of await cases()) {
      try {
        rows.push(JSON.stringify(await asked(one)));
      } catch (error) {
        console.error(`${name}: ${one.name}: ${error.message}`);
        process.exitCode = 1;
      }
    }
    const made = { command: "node --import tsx scripts/golden-ovs.mjs", openvswitch: ovs.version };
    writeFileSync(
      new URL(`${name}.json`, FOLDER),
      `{"made":${JSON.stringify(made)},"cases":[\n${rows.join(",\n")}\n]}\n`,
    );
    console.log(`${name}: ${rows.length}`);
  }
} finally {
  ovs.stop();
}

async function asked({ name, frame, from, to, openflow, ours, outer, differences = [] }) {
  const bytes = Buffer.from(frame.bytes).toString("hex");
  const out = await ovs.send(openflow, from, to, bytes);
  const about = { name, from: frame.from, frame: bytes, openflow };
  if (outer === undefined) return { ...about, actions: ours, differences, out };
  const { data, others } = template(out, outer);
  return { ...about, actions: [...ours.slice(0, -1), { ...ours.at(-1), data }], differences: others, out };
}
