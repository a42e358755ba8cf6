// Bridges of Open vSwitch for tunnels:
//
//     bridge br0     in (1), out (2), a port for each tunnel (10 ..)
//     bridge under   wire (1); tunnels end at, and begin from, its own address, OVS_LOCAL

import { Daemons, newBridge, run, until } from "./daemons.mjs";

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

/** Milliseconds that nothing else may come out for behind a frame. */
const QUIET = 3;

export class Switch {
  #daemons = new Daemons();

  get version() {
    return this.#daemons.version;
  }

  async start() {
    await this.#daemons.start();
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
      ...newBridge("br0"),
      ...port("br0", "in", 1, "type=dummy"),
      ...port("br0", "out", 2, "type=dummy", this.#daemons.capture("out")),
    );
    run(
      "ovs-vsctl",
      ...newBridge("under"),
      `other-config:hwaddr="${LOCAL.mac}"`,
      ...port("under", "wire", 1, "type=dummy", this.#daemons.capture("wire")),
    );
    this.#daemons.tell("netdev-dummy/ip4addr", "under", `${LOCAL.ipv4}/24`);
    this.#daemons.tell("netdev-dummy/ip6addr", "under", `${LOCAL.ipv6}/64`);
    this.#daemons.tell("ovs/route/add", "203.0.113.0/24", "under");
    this.#daemons.tell("ovs/route/add", "2001:db8:64::/64", "under");
    for (const address of [REMOTE.ipv4, REMOTE.ipv6]) this.#daemons.tell("tnl/neigh/set", "under", address, REMOTE.mac);
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
    this.#daemons.tell("revalidator/purge");
    this.#daemons.tell("netdev-dummy/receive", from, frame);
    const sent = [];
    await until(
      () => sent.push(...this.#daemons.sent(to)) > 0,
      () => `no frame; ${this.#daemons.tell("dpctl/dump-flows")}`,
    );
    await new Promise((done) => setTimeout(done, QUIET));
    sent.push(...this.#daemons.sent("out"), ...this.#daemons.sent("wire"));
    if (sent.length !== 1) throw new Error(`${sent.length} frames came out of one`);
    return sent[0];
  }

  stop() {
    this.#daemons.stop();
  }
}

/** Tags that OpenFlow 1.3 would want to know of beforehand are removed in 1.0, which cannot choose the TPID of one that is pushed. */
const versionOf = (flow) => (/strip_vlan|pop_vlan,pop_vlan/.test(flow) ? "OpenFlow10" : "OpenFlow13");
