// Bridges of Open vSwitch in userspace with dummy ports, for whole flow tables: one with the ports 1 to 4 and
// LOCAL, or three that patch ports connect. Many frames go in at once; each has a number of its own in its last four bytes, by which those that come out are told apart.

import { writeFileSync } from "node:fs";
import { Daemons, newBridge, run, until } from "../golden-ovs/daemons.mjs";

/** Dummy ports by what cases call them: bridge, name, number. */
const ONE = {
  1: ["br0", "p1", 1],
  2: ["br0", "p2", 2],
  3: ["br0", "p3", 3],
  4: ["br0", "p4", 4],
  LOCAL: ["br0", "br0"],
};
export const SEVERAL = {
  1: ["br0", "p1", 1],
  2: ["br0", "p2", 2],
  LOCAL: ["br0", "br0"],
  3: ["br1", "p3", 3],
  4: ["br1", "p4", 4],
  7: ["br1", "br1"],
  9: ["br1", "p7", 2],
  5: ["br2", "p5", 3],
  6: ["br2", "p6", 4],
  8: ["br2", "br2"],
  10: ["br2", "p8", 2],
};
/** Patch ports: bridge, name, number, peer. */
export const PATCHES = [
  ["br0", "to1", 3, "from1"],
  ["br1", "from1", 1, "to1"],
  ["br0", "to2", 4, "from2"],
  ["br2", "from2", 1, "to2"],
];
/** The port that the last frame of each port leaves by, whatever the flows are. */
const DONE = "p9";
/** EtherType of the last frame of each port: local experiments (IEEE 802). */
const SENTINEL = "88b5";
/** Frames that a dummy port takes at once. */
const QUEUE = 90;

export class Bridge {
  #daemons = new Daemons();
  #sentinels = 0;

  #devices;
  #patches;

  constructor(devices = ONE, patches = []) {
    this.#devices = devices;
    this.#patches = patches;
  }

  get version() {
    return this.#daemons.version;
  }

  get #bridges() {
    return new Set(Object.values(this.#devices).map(([bridge]) => bridge));
  }

  async start() {
    await this.#daemons.start();
    for (const bridge of this.#bridges) run("ovs-vsctl", ...newBridge(bridge));
    for (const [bridge, name, number] of [...Object.values(this.#devices), ["br0", DONE, 9]]) {
      const pcap = this.#daemons.capture(name);
      if (name === bridge) run("ovs-vsctl", "set", "interface", name, pcap);
      else add(bridge, name, number, "type=dummy", pcap);
    }
    for (const [bridge, name, number, peer] of this.#patches)
      add(bridge, name, number, "type=patch", `options:peer=${peer}`);
    for (const bridge of this.#bridges) await until(() => answers("ovs-ofctl", "show", bridge), "the bridge");
  }

  /**
   * What comes out of each frame, as pairs of port and hexadecimal text in the order of the ports. `drawn` has flows and groups of br0,
   * and under `others` those of each other bridge. `frames` are pairs of the port that
   * the frame comes to and its bytes as hexadecimal text.
   */
  async steer({ others = {}, ...drawn }, frames) {
    for (const [bridge, { version, flows, groups = [] }] of Object.entries({ br0: drawn, ...others }))
      this.#install(bridge, version, flows, groups);
    for (const port of Object.keys(this.#devices)) {
      const list = frames.filter(([to]) => to === port).map(([, bytes]) => bytes);
      for (let from = 0; from < list.length; from += QUEUE) await this.#receive(port, list.slice(from, from + QUEUE));
    }
    const out = new Map(frames.map(([, bytes]) => [bytes.slice(-8), []]));
    for (const [port, [, name]] of Object.entries(this.#devices)) {
      for (const bytes of this.#daemons.sent(name)) {
        const found = out.get(bytes.slice(-8));
        if (found === undefined) throw new Error(`a frame came out of ${port} that did not come in: ${bytes}`);
        found.push([port, bytes]);
      }
    }
    return frames.map(([, bytes]) => out.get(bytes.slice(-8)));
  }

  /**
   * The ports that frames leave by, as pairs of port and the frame's own bytes, where each connection that is looked up is
   * established. Nothing is sent.
   */
  trace({ version, flows, groups = [] }, frames) {
    this.#install("br0", version, flows, groups);
    const names = new Map(Object.entries(this.#devices).map(([port, [, name]]) => [this.#datapathPort(name), port]));
    return frames.map(([port, bytes]) => {
      const states = Array(4).fill(["--ct-next", "trk,est"]).flat();
      const text = this.#daemons.tell("ofproto/trace", "br0", `in_port=${this.#devices[port][1]}`, ...states, bytes);
      const lists = [...text.matchAll(/^Datapath actions: (.*)$/gm)].flatMap(([, list]) => list.split(","));
      return lists.filter((one) => names.has(one)).map((one) => [names.get(one), bytes]);
    });
  }

  /** `NAME NUMBER/DATAPATH NUMBER: (type)` of `dpif/show`. */
  #datapathPort(name) {
    const [, number] = new RegExp(`^ *${name} \\d+/(\\d+):`, "m").exec(this.#daemons.tell("dpif/show")) ?? [];
    return number;
  }

  #install(bridge, version, flows, groups) {
    const file = this.#daemons.at("flows");
    // The last frame of a port comes to port 9 of br0, from other bridges through their first port.
    const out = bridge === "br0" ? 9 : this.#patches.find(([of]) => of === bridge)[2];
    const sentinel = `priority=65535,dl_type=0x${SENTINEL},actions=output:${out}`;
    run("ovs-ofctl", "-O", "OpenFlow13", "del-flows", bridge);
    run("ovs-ofctl", "-O", "OpenFlow13", "del-groups", bridge);
    if (groups.length > 0) {
      writeFileSync(file, `${groups.join("\n")}\n`);
      run("ovs-ofctl", "-O", "OpenFlow13", "add-groups", bridge, file);
    }
    writeFileSync(file, `${[...flows, sentinel].join("\n")}\n`);
    run("ovs-ofctl", "-O", version, "add-flows", bridge, file);
    this.#daemons.tell("revalidator/purge");
  }

  async #receive(port, frames) {
    const number = (++this.#sentinels).toString(16).padStart(8, "0");
    const last = `020000000001020000000002${SENTINEL}${"00".repeat(42)}${number}`;
    this.#daemons.tell("netdev-dummy/receive", this.#devices[port][1], ...frames, last);
    await until(() => this.#daemons.sent(DONE).some((bytes) => bytes.endsWith(number)), "the last frame");
  }

  stop() {
    this.#daemons.stop();
  }
}

function add(bridge, name, number, ...settings) {
  const set = ["set", "interface", name, `ofport_request=${number}`, ...settings];
  run("ovs-vsctl", "add-port", bridge, name, "--", ...set);
}

function answers(...command) {
  try {
    run(...command);
    return true;
  } catch {
    return false;
  }
}
