// Open vSwitch with its userspace datapath and dummy ports (ovs-vswitchd --enable-dummy), run in a directory of its own. It needs
// no kernel module, no network device and no root: frames go in as hexadecimal text and come out in capture files.

import { execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SCHEMAS = ["/usr/share/openvswitch/vswitch.ovsschema", "/usr/local/share/openvswitch/vswitch.ovsschema"];
/** Milliseconds that an answer may take. */
const PATIENCE = 10_000;
/** Bytes before the first frame of a capture file, and before each frame. */
const FILE_HEADER = 24;
const FRAME_HEADER = 16;

export class Daemons {
  #directory = mkdtempSync(join(tmpdir(), "golden-ovs-"));
  #running = [];
  #read = new Map();

  /** What `ovs-vswitchd --version` says. */
  get version() {
    return run("ovs-vswitchd", "--version").split("\n")[0].replace(/.* /, "");
  }

  /** The path of a file of the daemons. */
  at(name) {
    return join(this.#directory, name);
  }

  async start() {
    for (const name of ["RUN", "DB", "LOG", "SYSCONF", "PKGDATA"]) process.env[`OVS_${name}DIR`] = this.#directory;
    const schema = SCHEMAS.find((path) => existsSync(path));
    if (schema === undefined)
      throw new Error("no vswitch.ovsschema: install Open vSwitch (Debian: openvswitch-switch)");
    run("ovsdb-tool", "create", this.at("conf.db"), schema);
    this.#daemon("ovsdb-server", `--remote=punix:${this.at("db.sock")}`, this.at("conf.db"));
    await until(() => existsSync(this.at("db.sock")), "ovsdb-server");
    run("ovs-vsctl", "--no-wait", "init");
    // Every VLAN tag is seen (0: no limit).
    run("ovs-vsctl", "--no-wait", "set", "Open_vSwitch", ".", "other_config:vlan-limit=0");
    this.#daemon("ovs-vswitchd", "--enable-dummy", "--disable-system", "--unixctl", this.at("switch.ctl"));
    await until(() => existsSync(this.at("switch.ctl")), "ovs-vswitchd");
  }

  /** `ovs-appctl` to the switch. */
  tell(...args) {
    return run("ovs-appctl", "-t", this.at("switch.ctl"), ...args);
  }

  stop() {
    for (const daemon of this.#running) daemon.kill();
    rmSync(this.#directory, { recursive: true });
  }

  /** The setting that writes what a device sends to its capture file. */
  capture(name) {
    return `options:tx_pcap=${this.at(`${name}.pcap`)}`;
  }

  /** Frames that a device has sent since it was asked last: little-endian, as OVS writes them on such a machine. */
  sent(name) {
    const file = readFileSync(this.at(`${name}.pcap`));
    const frames = [];
    let at = this.#read.get(name) ?? FILE_HEADER;
    while (at + FRAME_HEADER <= file.length && at + FRAME_HEADER + file.readUInt32LE(at + 8) <= file.length) {
      const length = file.readUInt32LE(at + 8);
      frames.push(file.toString("hex", at + FRAME_HEADER, at + FRAME_HEADER + length));
      at += FRAME_HEADER + length;
    }
    this.#read.set(name, at);
    return frames;
  }

  #daemon(command, ...args) {
    const log = openSync(this.at(`${command}.log`), "a");
    this.#running.push(spawn(command, args, { stdio: ["ignore", log, log] }));
    closeSync(log);
  }
}

/** Words of `ovs-vsctl` that add a bridge without flows of its own. */
export const newBridge = (name) => [
  ...["add-br", name, "--", "set", "bridge", name, "datapath-type=dummy", "fail-mode=secure"],
];

export function run(command, ...args) {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw new Error(`${command} ${args.slice(0, 4).join(" ")}: ${error.stderr}`, { cause: error });
  }
}

/** @param what is waited for, as text or as a function that is called when it has not come */
export async function until(done, what) {
  const end = Date.now() + PATIENCE;
  while (!done()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${typeof what === "function" ? what() : what}`);
    await new Promise((next) => setTimeout(next, 1));
  }
}
