// The three shapes of a case. A case has `openflow`, the flows of each bridge; `from` and `to`, the switch's ports that the frame comes
// to and leaves by; and `ours`, our actions. `outer` is the length of the headers in front of what is put into a tunnel: they are
// taken from what Open vSwitch sends (template.mjs).

import { sequence } from "../pairs.mjs";
import { LOCAL, REMOTE, TUNNELS } from "../switch.mjs";

/** One bridge: `match` is what OpenFlow wants of a frame before its fields may be set. */
export function changed(name, frame, match, ...changes) {
  const { openflow, ours } = sequence(...changes);
  const flow = `in_port=1${match === "" ? "" : `,${match}`},actions=${openflow},output:2`;
  return { name, frame, from: "in", to: "out", openflow: { br0: [flow] }, ours };
}

/** Bytes of a tunnel's headers behind IP, and whether it carries IP packets and not Ethernet frames. */
const SHAPES = {
  vxlan: [16],
  vxlan_csum: [16],
  gre: [4],
  gre_key: [8],
  geneve: [16],
  gtpu: [16, "ip"],
  gre_ip: [4, "ip"],
  vxlan_gpe_ip: [16, "ip"],
};

const key = (fields, tunnel) => [...(/^gre(_ip)?$/.test(tunnel) ? [] : ["set_field:0x123456->tun_id"]), ...fields];

/**
 * Into a tunnel over IP version `over`, after `changes`. `fields` are set_field actions for it; `more` bytes of options; `under` are
 * flows of the lower bridge, with `tags` bytes of VLAN tags of theirs; `fill` is what computed fields of our data hold.
 */
export function encapsulated(name, frame, tunnel, over, details = {}) {
  const {
    match = "",
    changes = [],
    fields = [],
    more = 0,
    under = ["in_port=LOCAL,actions=output:1"],
    tags = 0,
    fill = 0,
  } = details;
  const [size, ip] = SHAPES[tunnel];
  const { openflow, ours } = sequence(...changes);
  const peer = over === 4 ? `set_field:${REMOTE.ipv4}->tun_dst` : `set_field:${REMOTE.ipv6}->tun_ipv6_dst`;
  const actions = [openflow, peer, ...key(fields, tunnel), `output:${TUNNELS[tunnel][0]}`].filter((one) => one !== "");
  return {
    name,
    frame,
    from: "in",
    to: "wire",
    openflow: { br0: [`in_port=1${match === "" ? "" : `,${match}`},actions=${actions.join(",")}`], under },
    ours: [...ours, { action: "reformat", reformat_type: ip === undefined ? 1 : 3 }],
    outer: { length: 14 + tags + (over === 4 ? 20 : 40) + size + more, fill },
  };
}

/** Ethernet that stands before a packet that came without, by the flow's set_field actions and as our data. */
const ETHERNET = { source: "02:00:00:00:0c:01", destination: "02:00:00:00:0c:02" };
const MACS = [`set_field:${ETHERNET.source}->eth_src`, `set_field:${ETHERNET.destination}->eth_dst`];
const bytesOf = (mac) => mac.replaceAll(":", "");

/** Leads a frame of a capture to this switch's own address. */
export const toLocal = [`set_field:${LOCAL.mac}->eth_dst`, `set_field:${LOCAL.ipv4}->ip_dst`];

/**
 * Out of a tunnel, then `changes`. What does not come to this switch's own address, such as a frame of a capture, is led there by `to`: a
 * list of actions of the lower bridge.
 */
export function decapsulated(name, frame, tunnel, details = {}) {
  const { match = "", changes = [], lead = [], ethertype = "0800", tag } = details;
  const ip = SHAPES[tunnel][1] !== undefined;
  const { openflow, ours } = sequence(...changes);
  const pushed = tag === undefined ? [] : [`push_vlan:0x8100,set_field:${0x1000 | tag}->vlan_vid`];
  const actions = [...(ip ? [...MACS, ...pushed] : []), openflow, "output:2"].filter((one) => one !== "");
  const tagged = tag === undefined ? "" : `8100${tag.toString(16).padStart(4, "0")}`;
  const l2 = `${bytesOf(ETHERNET.destination)}${bytesOf(ETHERNET.source)}${tagged}${ethertype}`;
  const reformat = ip ? { reformat_type: 2, data: l2 } : { reformat_type: 0 };
  return {
    name,
    frame,
    from: "wire",
    to: "out",
    openflow: {
      under: [`in_port=1${lead === toLocal ? ",ip" : ""},actions=${[...lead, "LOCAL"].join(",")}`],
      br0: [`in_port=${TUNNELS[tunnel][0]}${match === "" ? "" : `,${match}`},actions=${actions.join(",")}`],
    },
    ours: [{ action: "reformat", ...reformat }, ...ours],
  };
}

/** The outer headers of a frame that comes to this switch. */
export const outer4 = [
  { header: "ethernet", destination: LOCAL.mac, source: REMOTE.mac },
  { header: "ipv4", source: REMOTE.ipv4, destination: LOCAL.ipv4 },
];
export const outer6 = [
  { header: "ethernet", destination: LOCAL.mac, source: REMOTE.mac },
  { header: "ipv6", source: REMOTE.ipv6, destination: LOCAL.ipv6 },
];
