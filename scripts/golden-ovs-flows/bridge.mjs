// A bridge of Open vSwitch in userspace with dummy ports, for whole flow tables: ports 1 to 4 and
// LOCAL. Many frames go in at once; each has a number of its own in its last four bytes, by which those that come out are told apart.

import { writeFileSync } from "node:fs";
import { Daemons, newBridge, run, until } from "../golden-ovs/daemons.mjs";

const DEVICES = { 1: "p1", 2: "p2", 3: "p3", 4: "p4", LOCAL: "br0" };
/** The port that the last frame of each port leaves by, whatever the flows are. */
const DONE = "p9";
/** EtherType of the last frame of each port: local experiments (IEEE 802). */
const SENTINEL = "88b5";
/** Frames that a dummy port takes at once. */
const QUEUE = 90;

export class Bridge {
  #daemons = new Daemons();
  #sentinels = 0;

  get version() {
    return this.#daemons.version;
  }

  async start() {
    await this.#daemons.start();
    run("ovs-vsctl", ...newBridge("br0"));
    for (const name of [...Object.values(DEVICES), DONE]) {
      const pcap = this.#daemons.capture(name);
      if (name === "br0") run("ovs-vsctl", "set", "interface", name, pcap);
      else {
        const number = `ofport_request=${name.slice(1)}`;
        run("ovs-vsctl", "add-port", "br0", name, "--", "set", "interface", name, "type=dummy", number, pcap);
      }
    }
    await until(() => answers("ovs-ofctl", "show", "br0"), "the bridge");
  }

  /**
   * What comes out of each frame, as pairs of port and hexadecimal text in the order of the ports. `frames` are pairs of the port that
   * the frame comes to and its bytes as hexadecimal text.
   */
  async steer({ version, flows, groups = [] }, frames) {
    this.#install(version, flows, groups);
    for (const port of Object.keys(DEVICES)) {
      const list = frames.filter(([to]) => to === port).map(([, bytes]) => bytes);
      for (let from = 0; from < list.length; from += QUEUE) await this.#receive(port, list.slice(from, from + QUEUE));
    }
    const out = new Map(frames.map(([, bytes]) => [bytes.slice(-8), []]));
    for (const [port, name] of Object.entries(DEVICES)) {
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
    this.#install(version, flows, groups);
    const names = new Map(Object.entries(DEVICES).map(([port, name]) => [this.#datapathPort(name), port]));
    return frames.map(([port, bytes]) => {
      const states = Array(4).fill(["--ct-next", "trk,est"]).flat();
      const text = this.#daemons.tell("ofproto/trace", "br0", `in_port=${DEVICES[port]}`, ...states, bytes);
      const lists = [...text.matchAll(/^Datapath actions: (.*)$/gm)].flatMap(([, list]) => list.split(","));
      return lists.filter((one) => names.has(one)).map((one) => [names.get(one), bytes]);
    });
  }

  /** `NAME NUMBER/DATAPATH NUMBER: (type)` of `dpif/show`. */
  #datapathPort(name) {
    const [, number] = new RegExp(`^ *${name} \\d+/(\\d+):`, "m").exec(this.#daemons.tell("dpif/show")) ?? [];
    return number;
  }

  #install(version, flows, groups) {
    const file = this.#daemons.at("flows");
    const sentinel = `priority=65535,dl_type=0x${SENTINEL},actions=output:9`;
    run("ovs-ofctl", "-O", "OpenFlow13", "del-flows", "br0");
    run("ovs-ofctl", "-O", "OpenFlow13", "del-groups", "br0");
    if (groups.length > 0) {
      writeFileSync(file, `${groups.join("\n")}\n`);
      run("ovs-ofctl", "-O", "OpenFlow13", "add-groups", "br0", file);
    }
    writeFileSync(file, `${[...flows, sentinel].join("\n")}\n`);
    run("ovs-ofctl", "-O", version, "add-flows", "br0", file);
    this.#daemons.tell("revalidator/purge");
  }

  async #receive(port, frames) {
    const number = (++this.#sentinels).toString(16).padStart(8, "0");
    const last = `020000000001020000000002${SENTINEL}${"00".repeat(42)}${number}`;
    this.#daemons.tell("netdev-dummy/receive", DEVICES[port], ...frames, last);
    await until(() => this.#daemons.sent(DONE).some((bytes) => bytes.endsWith(number)), "the last frame");
  }

  stop() {
    this.#daemons.stop();
  }
}

function answers(...command) {
  try {
    run(...command);
    return true;
  } catch {
    return false;
  }
}
