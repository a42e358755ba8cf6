// Changes of a frame in both languages: OpenFlow actions as ovs-ofctl takes them, and ours as mlx5dv_dr_* takes them.

/** `length` bits of a field, from bit `offset` on. */
const set = (field, data, length, offset = 0) => ({ type: "set", field, data, length, offset });
const header = (openflow, actions) => ({ openflow, ours: [{ action: "modify", actions }] });

const hexOf = (address) => address.replaceAll(":", "");
const word = (hex, at, digits) => parseInt(hex.slice(at, at + digits), 16);
const quad = (address) => address.split(".").reduce((sum, one) => 256 * sum + Number(one), 0);

/** Sixteen bytes as hexadecimal digits. */
function digits(address) {
  const [head, tail] = address.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const groups = tail === undefined ? head : [...head, ...Array(8 - head.length - tail.length).fill("0"), ...tail];
  return groups.map((group) => group.padStart(4, "0")).join("");
}

const mac = (name, prefix) => (address) =>
  header(`set_field:${address}->${name}`, [
    set(`${prefix}_47_16`, word(hexOf(address), 0, 8), 32),
    set(`${prefix}_15_0`, word(hexOf(address), 8, 4), 16),
  ]);
const ipv4 = (name, field) => (address) => header(`set_field:${address}->${name}`, [set(field, quad(address), 32)]);
const ipv6 = (name, prefix) => (address) =>
  header(
    `set_field:${address}->${name}`,
    ["127_96", "95_64", "63_32", "31_0"].map((bits, i) =>
      set(`${prefix}_${bits}`, word(digits(address), 8 * i, 8), 32),
    ),
  );
const number = (name, field, width) => (value) => header(`set_field:${value}->${name}`, [set(field, value, width)]);

export const ethSource = mac("eth_src", "OUT_SMAC");
export const ethDestination = mac("eth_dst", "OUT_DMAC");
export const ipv4Source = ipv4("ip_src", "OUT_SIPV4");
export const ipv4Destination = ipv4("ip_dst", "OUT_DIPV4");
export const ipv6Source = ipv6("ipv6_src", "OUT_SIPV6");
export const ipv6Destination = ipv6("ipv6_dst", "OUT_DIPV6");
export const ttl = number("nw_ttl", "OUT_IP_TTL", 8);
export const hopLimit = number("nw_ttl", "OUT_IPV6_HOPLIMIT", 8);
export const decrementTtl = header("dec_ttl", [{ type: "add", field: "OUT_IP_TTL", data: 0xff }]);
export const decrementHopLimit = header("dec_ttl", [{ type: "add", field: "OUT_IPV6_HOPLIMIT", data: 0xff }]);
export const dscp = number("ip_dscp", "OUT_IP_DSCP", 6);
export const ecn = number("nw_ecn", "OUT_IP_ECN", 2);
export const tcpSource = number("tcp_src", "OUT_TCP_SPORT", 16);
export const tcpDestination = number("tcp_dst", "OUT_TCP_DPORT", 16);
export const udpSource = number("udp_src", "OUT_UDP_SPORT", 16);
export const udpDestination = number("udp_dst", "OUT_UDP_DPORT", 16);

/** Of the outermost tag. OpenFlow's vlan_vid has a bit (0x1000) that says that there is a tag. */
export const vlanId = (vid) => header(`set_field:${0x1000 | vid}->vlan_vid`, [set("OUT_FIRST_VID", vid, 12)]);
export const vlanPriority = (pcp) => header(`set_field:${pcp}->vlan_pcp`, [set("OUT_FIRST_VID", pcp, 3, 13)]);

/** A field in both languages: bit `base` of OpenFlow's is bit 0 of ours, which is `length` bits from `offset` on. */
const part = (openflow, base, ours, length, offset = 0) => ({ openflow, base, ours, length, offset });
export const bits = (of, offset, length) => ({ ...of, offset, length });

const words = (openflow, prefix) =>
  ["127_96", "95_64", "63_32", "31_0"].map((name, i) => part(openflow, 96 - 32 * i, `${prefix}_${name}`, 32));
const macs = (openflow, prefix) => [part(openflow, 16, `${prefix}_47_16`, 32), part(openflow, 0, `${prefix}_15_0`, 16)];

export const PARTS = {
  ethSource: macs("NXM_OF_ETH_SRC", "OUT_SMAC"),
  ethDestination: macs("NXM_OF_ETH_DST", "OUT_DMAC"),
  ipv4Source: [part("NXM_OF_IP_SRC", 0, "OUT_SIPV4", 32)],
  ipv4Destination: [part("NXM_OF_IP_DST", 0, "OUT_DIPV4", 32)],
  ipv6Source: words("NXM_NX_IPV6_SRC", "OUT_SIPV6"),
  ipv6Destination: words("NXM_NX_IPV6_DST", "OUT_DIPV6"),
  tcpSource: [part("NXM_OF_TCP_SRC", 0, "OUT_TCP_SPORT", 16)],
  tcpDestination: [part("NXM_OF_TCP_DST", 0, "OUT_TCP_DPORT", 16)],
  udpSource: [part("NXM_OF_UDP_SRC", 0, "OUT_UDP_SPORT", 16)],
  udpDestination: [part("NXM_OF_UDP_DST", 0, "OUT_UDP_DPORT", 16)],
  vlan: [part("NXM_OF_VLAN_TCI", 0, "OUT_FIRST_VID", 16)],
};
const REGISTER = part("NXM_NX_REG1", 0, "METADATA_REG_C_1", 32);

const range = ({ openflow, base, offset, length }) => `${openflow}[${base + offset}..${base + offset + length - 1}]`;

/** A number into the bits of a field. */
export const load = (to, value) => header(`load:${value}->${range(to)}`, [set(to.ours, value, to.length, to.offset)]);

/** Bits of one field into those of another. */
export const copy = (from, to) =>
  header(`move:${range(from)}->${range(to)}`, [
    {
      type: "copy",
      field: from.ours,
      src_offset: from.offset,
      length: from.length,
      to: to.ours,
      dst_offset: to.offset,
    },
  ]);

/** Two fields change places, by way of a register. */
export const exchange = (these, those) =>
  these.flatMap((one, i) => {
    const register = bits(REGISTER, 0, one.length);
    return [copy(one, register), copy(those[i], one), copy(register, those[i])];
  });

export const pushVlan = (tpid, vid, pcp = 0) => ({
  openflow: `push_vlan:0x${tpid.toString(16)},set_field:${0x1000 | vid}->vlan_vid,set_field:${pcp}->vlan_pcp`,
  ours: [{ action: "push_vlan", vlan_hdr: tpid * 0x10000 + pcp * 0x2000 + vid }],
});
export const popVlan = { openflow: "pop_vlan", ours: [{ action: "pop_vlan" }] };

/** Several, one after the other. Lists of header changes that stand beside each other become one list. */
export function sequence(...changes) {
  const ours = [];
  for (const action of changes.flatMap((one) => one.ours)) {
    const last = ours.at(-1);
    if (action.action === "modify" && last?.action === "modify") last.actions.push(...action.actions);
    else ours.push(action.action === "modify" ? { ...action, actions: [...action.actions] } : action);
  }
  return { openflow: changes.map((one) => one.openflow).join(","), ours };
}
