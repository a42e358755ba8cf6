/** Sections `flows`, `flowCounters` and `hostRules`. */
import { HOST_APPLICATIONS } from "../../model/flow/hostRules.js";
import {
  either,
  flag,
  integer,
  keyed,
  list,
  name,
  object,
  oneKeyOf,
  shared,
  text,
  word,
  yes,
  type Schema,
  type Static,
} from "../schema/define.js";
import { about, FUNCTION, match, MAX_U32, PRIORITY, TAG } from "../schema/parts.js";
import { SPEC_TYPE_NAMES, SPEC_TYPES, type ScenarioFlowFilter, type ScenarioFlowSpecType } from "./specTypes.js";

/** Points of a counters object have indices of 32 bits; longer arrays are of no use. */
const LAST_POINT = 65535;

const BITS = shared(
  "filterField",
  either(
    null,
    text(
      'A value ("tcp", "0x800"), a prefix ("10.0.0.0/8"), or a value and a mask ("0x2/0x3f"); without a mask every bit of the field is compared.',
      { minLength: 1, examples: ["10.0.0.0/8", "0x2/0x3f", "tcp"] },
    ),
    integer("A value; every bit is compared.", 0, MAX_U32),
  ),
);

/** Fields by their C names. A name means the same in every type of spec that has it. */
const FIELDS: Readonly<Record<string, string>> = {
  dst_mac: "Destination MAC.",
  src_mac: "Source MAC.",
  ether_type: "Ethernet type after the last VLAN tag.",
  vlan_tag: 'First VLAN tag, 16 bits: PCP 3, DEI 1, VID 12 ("5/0xfff" compares the VID alone).',
  src_ip: "Source address.",
  dst_ip: "Destination address.",
  proto: "IP protocol.",
  tos: "DSCP 6 bits, ECN 2.",
  ttl: "Time to live.",
  flags: "0x2 is don't fragment, 0x4 more fragments.",
  flow_label: "Flow label, 20 bits.",
  next_hdr: "IP protocol, after the extension headers.",
  traffic_class: "DSCP 6 bits, ECN 2.",
  hop_limit: "Hop limit.",
  spi: "Security parameters index.",
  seq: "Sequence number.",
  dst_port: "Destination port.",
  src_port: "Source port.",
  tunnel_id: "VXLAN network identifier, 24 bits.",
  c_ks_res0_ver: "The first two bytes of the header: flags and version.",
  protocol: "Type of the packet inside.",
  key: "The key.",
  label: 'The first entry, 32 bits: label 20, TC 3, S 1, TTL 8 ("0x64000/0xfffff000" compares the label with 100).',
};

const HEADERS: Readonly<Record<ScenarioFlowSpecType, string>> = {
  eth: "Ethernet.",
  ipv4: "IPv4 addresses.",
  ipv4_ext: "IPv4.",
  ipv6: "IPv6.",
  esp: "ESP.",
  tcp: "TCP.",
  udp: "UDP.",
  vxlan_tunnel: "VXLAN; the tunnel is always the outer one.",
  gre: "GRE; the tunnel is always the outer one.",
  mpls: "MPLS: over UDP or GRE directly after such a spec, otherwise between Ethernet and IP.",
};

const FILTERS = keyed(SPEC_TYPE_NAMES, (type): Schema<ScenarioFlowFilter> => {
  const fields = SPEC_TYPES[type].fields.map(({ name: field }) => field);
  const properties = keyed(fields, (field) => ({ ...BITS, description: FIELDS[field] ?? field }));
  const description = `${HEADERS[type]} Without fields: the header is present.`;
  return { description, type: "object", properties, additionalProperties: false };
});

const ACTIONS = {
  tag: TAG,
  drop: yes("Drops the frame."),
  count: name("Counts the frame and its bytes on the flow counter of this name.", "web"),
  action: name("Executes the flow action of this name.", "to-gateway"),
};

const SPEC_OBJECT = object(
  "A spec: exactly one key that names its type, and inner where it matches the packet inside the tunnel.",
  [],
  {
    ...FILTERS,
    inner: flag("Whether it matches the packet inside the tunnel.", { default: false }),
    ...ACTIONS,
  },
  oneKeyOf(...SPEC_TYPE_NAMES, ...Object.keys(ACTIONS)),
);
export type ScenarioFlowSpecObject = Static<typeof SPEC_OBJECT>;

const SPEC = either("A spec.", word("drop drops the frame.", ["drop"]), SPEC_OBJECT);
export type ScenarioFlowSpec = Static<typeof SPEC>;

export const FLOW = object("A flow of ibv_create_flow.", ["queue"], {
  name: name('Its name, which outcomes list. Left out, it is "flow" and its number in this list, from 1.', "web"),
  description: about,
  queue: name(
    "The queue that it is made on, on the function of the queue: it delivers there, or nowhere with drop or egress.",
    "web",
  ),
  type: word("Its type.", ["normal", "all_default", "mc_default", "sniffer"], { default: "normal" }),
  port: integer("The port whose frames it matches.", 1, 255, { default: 1 }),
  priority: integer("Lower is first; flows that are not normal ignore it.", 0, 65535, { default: 0 }),
  flags: list(
    "Its flags.",
    word(
      "allow_loop_back: it also matches what its own queue sends; dont_trap: its queue gets a copy, and the frame continues; egress: it matches what the port sends.",
      ["allow_loop_back", "dont_trap", "egress"],
    ),
  ),
  specs: list("What it matches, and what it does with the frame. Left out or empty: every frame of the port.", SPEC),
});
export type ScenarioFlow = Static<typeof FLOW>;
export type ScenarioFlowType = NonNullable<ScenarioFlow["type"]>;
export type ScenarioFlowFlag = NonNullable<ScenarioFlow["flags"]>[number];

const POINT = object("A counter point.", ["index", "counts"], {
  index: integer("Its place in what ibv_read_counters gives.", 0, LAST_POINT),
  counts: word("What is counted there; points of one index add up.", ["packets", "bytes"]),
});
export type ScenarioCounterPoint = Static<typeof POINT>;

export const FLOW_COUNTER = object("A counters object of ibv_create_counters.", ["name"], {
  name: name("Its name.", "web"),
  description: about,
  points: list("Its points, in the order in which they are attached.", POINT),
});
export type ScenarioFlowCounter = Static<typeof FLOW_COUNTER>;

export const HOST_RULE = object(
  "A rule of another application of the host: it matches received frames that no flow has matched, before default flows do.",
  ["application", "action"],
  {
    name: name('Its name, which outcomes list. Left out, it is "host rule" and its number in this list, from 1.'),
    description: about,
    application: word("Its application; the rules of ethtool come first, those of nic last.", HOST_APPLICATIONS),
    function: FUNCTION,
    port: integer("The port whose frames it matches; left out, every port.", 1, 255),
    priority: { ...PRIORITY, description: "Lower is first, among the rules of its application." },
    match: match(
      'Field name to what it must hold, as in rules: "outer.tcp_dport": 80. Left out or empty, the rule matches every frame.',
    ),
    action: either(
      "Drops the frame, or delivers it to a queue of the host.",
      word("drop ends the frame.", ["drop"]),
      object("A queue of the host. Outcomes name it host: and its number.", ["queue"], {
        queue: integer("Its number.", 0, 65535),
      }),
    ),
  },
);
export type ScenarioHostRule = Static<typeof HOST_RULE>;
