// Open vSwitch with its userspace datapath and dummy ports (ovs-vswitchd --enable-dummy), run in a directory of its own. It needs
// no kernel module, no network device and no root: frames go in as hexadecimal text and come out in capture files.
//
//     bridge br0     in (1), out (2), a port for each tunnel (10 ..)
//     bridge under   wire (1); tunnels end at, and begin from, its own address, OVS_LOCAL

import { execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where tunnels begin and end, and their peer: documentation addresses (RFC 5737, RFC 3849). */
export const LOCAL = { mac: "02:00:00:00:0a:01", ipv4: "203.0.113.1", ipv6: "2001:db8:64::1" };
export const REMOTE = { mac: "02:00:00:00:0b:02", ipv4: "203.0.113.2", ipv6: "2001:db8:64::2" };

/** Ports of br0 that are tunnels: number, interface type and options beside those that all have. */
export const TUNNELS = {
  vxlan: [10, "vxlan", "options:key=flow"],
  vxlan_csum: [11, "vxlan", "options:key=flow", "options:csum=true", "options:dst_port=4788"],
  gre: [12, "gre"],
  gre_key: [13, "gre", "options:key=flow"],
  geneve: [14, "geneve", "options:key=flow"],
  gtpu: [15, "gtpu", "options:key=flow"],
  gre_ip: [16, "gre", "options:packet_type=legacy_l3"],
  vxlan_gpe_ip: [
    17,
    "vxlan",
    "options:key=flow",
    "options:exts=gpe",
    "options:dst_port=4790",
    "options:packet_type=legacy_l3",
  ],
};

/** Milliseconds that a frame may take; and that nothing else may come out for behind it. */
const PATIENCE = 5000;
const QUIET = 3;

const SCHEMAS = ["/usr/share/openvswitch/vswitch.ovsschema", "/usr/local/share/openvswitch/vswitch.ovsschema"];

export class Switch {
  #directory = mkdtempSync(join(tmpdir(), "golden-ovs-"));
  #daemons = [];
  #read = { out: 0, wire: 0 };

  /** What `ovs-vswitchd --version` says. */
  get version() {
    return run("ovs-vswitchd", "--version").split("\n")[0].replace(/.* /, "");
  }

  async start() {
    const at = (name) => join(this.#directory, name);
    for (const name of ["RUN", "DB", "LOG", "SYSCONF", "PKGDATA"]) process.env[`OVS_${name}DIR`] = this.#directory;
    const schema = SCHEMAS.find((path) => existsSync(path));
    if (schema === undefined)
      throw new Error("no vswitch.ovsschema: install Open vSwitch (Debian: openvswitch-switch)");
    run("ovsdb-tool", "create", at("conf.db"), schema);
    this.#daemon("ovsdb-server", `--remote=punix:${at("db.sock")}`, at("conf.db"));
    await until(() => existsSync(at("db.sock")), "ovsdb-server");
    run("ovs-vsctl", "--no-wait", "init");
    // Every VLAN tag is seen (0: no limit).
    run("ovs-vsctl", "--no-wait", "set", "Open_vSwitch", ".", "other_config:vlan-limit=0");
    this.#daemon("ovs-vswitchd", "--enable-dummy", "--disable-system", "--unixctl", at("switch.ctl"));
    await until(() => existsSync(at("switch.ctl")), "ovs-vswitchd");
    const bridge = (name) => ["add-br", name, "--", "set", "bridge", name, "datapath-type=dummy", "fail-mode=secure"];
    const port = (of, name, number, ...settings) => [
      "--",
      "add-port",
      of,
      name,
      "--",
      "set",
      "interface",
      name,
      `ofport_request=${number}`,
      "mtu_request=60000",
      ...settings,
    ];
    run(
      "ovs-vsctl",
      ...bridge("br0"),
      ...port("br0", "in", 1, "type=dummy"),
      ...port("br0", "out", 2, "type=dummy", `options:tx_pcap=${at("out")}`),
    );
    run(
      "ovs-vsctl",
      ...bridge("under"),
      `other-config:hwaddr="${LOCAL.mac}"`,
      ...port("under", "wire", 1, "type=dummy", `options:tx_pcap=${at("wire")}`),
    );
    this.#tell("netdev-dummy/ip4addr", "under", `${LOCAL.ipv4}/24`);
    this.#tell("netdev-dummy/ip6addr", "under", `${LOCAL.ipv6}/64`);
    this.#tell("ovs/route/add", "203.0.113.0/24", "under");
    this.#tell("ovs/route/add", "2001:db8:64::/64", "under");
    for (const address of [REMOTE.ipv4, REMOTE.ipv6]) this.#tell("tnl/neigh/set", "under", address, REMOTE.mac);
    for (const [name, [number, type, ...options]] of Object.entries(TUNNELS)) {
      run("ovs-vsctl", ...port("br0", name, number, `type=${type}`, "options:remote_ip=flow", ...options).slice(1));
    }
  }

  /** Maps of Geneve options to the fields tun_metadata0 and on. */
  mapOptions(...maps) {
    run("ovs-ofctl", "add-tlv-map", "br0", maps.join(","));
  }

  /**
   * The frame that leaves, as hexadecimal text. `flows` has the flows of a bridge by its name, `from` is the port that the frame comes
   * to, "in" or "wire", `to` the one that it leaves by, "out" or "wire".
   */
  async send(flows, from, to, frame) {
    for (const bridge of ["br0", "under"]) {
      run("ovs-ofctl", "del-flows", bridge);
      for (const flow of flows[bridge] ?? []) run("ovs-ofctl", "-O", versionOf(flow), "add-flow", bridge, flow);
    }
    this.#tell("revalidator/purge");
    this.#tell("netdev-dummy/receive", from, frame);
    const sent = [];
    await until(
      () => sent.push(...this.#sent(to)) > 0,
      () => `no frame; ${this.#tell("dpctl/dump-flows")}`,
    );
    await new Promise((done) => setTimeout(done, QUIET));
    sent.push(...this.#sent("out"), ...this.#sent("wire"));
    if (sent.length !== 1) throw new Error(`${sent.length} frames came out of one`);
    return sent[0];
  }

  stop() {
    for (const daemon of this.#daemons) daemon.kill();
    rmSync(this.#directory, { recursive: true });
  }

  #daemon(command, ...args) {
    const log = openSync(join(this.#directory, `${command}.log`), "a");
    this.#daemons.push(spawn(command, args, { stdio: ["ignore", log, log] }));
    closeSync(log);
  }

  #tell(...args) {
    return run("ovs-appctl", "-t", join(this.#directory, "switch.ctl"), ...args);
  }

  /** Frames that a port has sent since it was asked last, from its capture file: little-endian, as OVS writes it on such a machine. */
  #sent(port) {
    const file = readFileSync(join(this.#directory, port));
    const frames = [];
    let at = Math.max(24, this.#read[port]);
    while (at + 16 <= file.length && at + 16 + file.readUInt32LE(at + 8) <= file.length) {
      const length = file.readUInt32LE(at + 8);
      frames.push(file.toString("hex", at + 16, at + 16 + length));
      at += 16 + length;
    }
    this.#read[port] = at;
    return frames;
  }
}

/** Tags that OpenFlow 1.3 would want to know of beforehand are removed in 1.0, which cannot choose the TPID of one that is pushed. */
const versionOf = (flow) => (/strip_vlan|pop_vlan,pop_vlan/.test(flow) ? "OpenFlow10" : "OpenFlow13");

function run(command, ...args) {
  return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

async function until(done, what) {
  const end = Date.now() + PATIENCE;
  while (!done()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${typeof what === "function" ? what() : what}`);
    await new Promise((next) => setTimeout(next, 1));
  }
}
