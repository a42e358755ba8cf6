/** The part of the schema that says what verbs flows hold, and what stands beside them. */
import { HOST_APPLICATIONS } from "../../model/flow/hostRules.js";
import type {
  FlowFlag,
  FlowSpecObject,
  FlowType,
  ScenarioCounterPoint,
  ScenarioFlow,
  ScenarioFlowCounter,
  ScenarioHostRule,
} from "../document.js";
import { SPEC_TYPES } from "./specs.js";
import { objectOf, type JsonSchema } from "../schema/validator.js";
import { about, FUNCTION, integer, list, mapOf, MAX_TAG, MAX_U32, name, port, TERM, text } from "../schema/parts.js";

/** Points of an object have indices of 32 bits; nobody reads arrays that long. */
const LAST_POINT = 65535;

const BITS: JsonSchema["anyOf"] = [
  text(
    'A value ("tcp", "0x800"), a prefix ("10.0.0.0/8"), or a value and a mask ("0x2/0x3f"); without a mask every bit of the field is asked.',
    { minLength: 1, examples: ["10.0.0.0/8", "0x2/0x3f", "tcp"] },
  ),
  integer("A value, every bit of it.", 0, MAX_U32),
];

/** Fields by their C names; those of two types that have one name mean the same. */
const FIELDS: Readonly<Record<string, string>> = {
  dst_mac: "Destination MAC.",
  src_mac: "Source MAC.",
  ether_type: "Ethernet type behind the last VLAN tag.",
  vlan_tag: 'First VLAN tag, 16 bits: PCP 3, DEI 1, VID 12 ("5/0xfff" asks for the VID alone).',
  src_ip: "Source address.",
  dst_ip: "Destination address.",
  proto: "IP protocol.",
  tos: "DSCP 6 bits, ECN 2.",
  ttl: "Time to live.",
  flags: "0x2 is don't fragment, 0x4 more fragments.",
  flow_label: "Flow label, 20 bits.",
  next_hdr: "IP protocol, behind the extension headers.",
  traffic_class: "DSCP 6 bits, ECN 2.",
  hop_limit: "Hop limit.",
  spi: "Security parameters index.",
  seq: "Sequence number.",
  dst_port: "Destination port.",
  src_port: "Source port.",
  tunnel_id: "VXLAN network identifier, 24 bits.",
  c_ks_res0_ver: "The first two bytes of the header: flags and version.",
  protocol: "Type of what is inside.",
  key: "The key.",
  label: 'The first entry, 32 bits: label 20, TC 3, S 1, TTL 8 ("0x64000/0xfffff000" asks for label 100).',
};

const HEADERS: Readonly<Record<keyof typeof SPEC_TYPES, string>> = {
  eth: "Ethernet.",
  ipv4: "IPv4 addresses.",
  ipv4_ext: "IPv4.",
  ipv6: "IPv6.",
  esp: "ESP.",
  tcp: "TCP.",
  udp: "UDP.",
  vxlan_tunnel: "VXLAN; the tunnel is always the outer one.",
  gre: "GRE; the tunnel is always the outer one.",
  mpls: "MPLS: over UDP or GRE right behind such a spec, else between Ethernet and IP.",
};

const filters = Object.fromEntries(
  Object.entries(SPEC_TYPES).map(([type, layout]): [string, JsonSchema] => {
    const fields = layout.fields.map(({ name: field }): [string, JsonSchema] => [
      field,
      { description: FIELDS[field] as string, anyOf: BITS },
    ]);
    const description = `${HEADERS[type as keyof typeof SPEC_TYPES]} Without fields: the header is there.`;
    return [type, { description, type: "object", properties: Object.fromEntries(fields), additionalProperties: false }];
  }),
) as Record<keyof typeof SPEC_TYPES, JsonSchema>;

const ACTIONS = {
  tag: integer("Marks the frame: what the completion carries as its flow tag (24 bits).", 0, MAX_TAG),
  drop: { description: "Drops the frame.", type: "boolean", const: true },
  count: name("Counts frame and bytes on the flow counter of this name.", "web"),
  action: name("Does what the flow action of this name says.", "to-gateway"),
} satisfies Record<string, JsonSchema>;

const SPEC: JsonSchema = {
  description: "A spec.",
  anyOf: [
    text("drop drops the frame.", { enum: ["drop"] }),
    objectOf<FlowSpecObject>(
      "A spec: exactly one key that names its type, and inner where it asks the packet inside the tunnel.",
      {},
      {
        ...filters,
        inner: {
          description: "Whether it asks the packet inside the tunnel.",
          type: "boolean",
          default: false,
        },
        ...ACTIONS,
      },
      { oneOf: [...Object.keys(filters), ...Object.keys(ACTIONS)].map((key) => ({ required: [key] })) },
    ),
  ],
};

export const FLOW = objectOf<ScenarioFlow>(
  "A flow of ibv_create_flow.",
  { queue: true },
  {
    name: name('Its name: what outcomes list. Left out, it is "flow" and its number in this list, from 1.', "web"),
    description: about,
    queue: name(
      "The queue that it is made on, on the function of the queue: it delivers there, or to nobody with drop or egress.",
      "web",
    ),
    type: text("Its type.", {
      enum: ["normal", "all_default", "mc_default", "sniffer"] satisfies FlowType[],
      default: "normal",
    }),
    port: port("The port whose frames it asks."),
    priority: integer("Lower is first; that of flows that are not normal is not looked at.", 0, 65535, { default: 0 }),
    flags: list(
      "What it does besides.",
      text(
        "allow_loop_back: it answers for what its own queue sends; dont_trap: its queue gets a copy, and the frame goes on; egress: it is for what the port sends.",
        { enum: ["allow_loop_back", "dont_trap", "egress"] satisfies FlowFlag[] },
      ),
    ),
    specs: list("What it asks of a frame, and does with it. Left out or empty: every frame of the port.", SPEC),
  },
);

const POINT = objectOf<ScenarioCounterPoint>(
  "A counter point.",
  { index: true, counts: true },
  {
    index: integer("Its place in what is read.", 0, LAST_POINT),
    counts: text("What is read there; points of one index add up.", { enum: ["packets", "bytes"] }),
  },
);

export const FLOW_COUNTER = objectOf<ScenarioFlowCounter>(
  "A counters object of ibv_create_counters.",
  { name: true },
  {
    name: name("Its name.", "web"),
    description: about,
    points: list("Its points, in the order in which they are attached.", POINT),
  },
);

export const HOST_RULE = objectOf<ScenarioHostRule>(
  "A rule of another application of the host: it takes received frames that no flow took, before default flows do.",
  { application: true, action: true },
  {
    name: name('Its name: what outcomes list. Left out, it is "host rule" and its number in this list, from 1.'),
    description: about,
    application: text("Whose it is; the rules of ethtool come first, those of nic last.", {
      enum: HOST_APPLICATIONS,
    }),
    function: FUNCTION,
    port: integer("The port whose frames it asks; left out, those of every port.", 1, 255),
    priority: integer("Lower is first, among those of its application.", 0, 65535, { default: 0 }),
    match: mapOf(
      'Field name to what it must hold, as in rules: "outer.tcp_dport": 80. Left out or empty, the rule takes every frame.',
      TERM,
    ),
    action: {
      description: "Drops the frame, or delivers it to a queue of the host.",
      anyOf: [
        text("drop ends the frame.", { enum: ["drop"] }),
        objectOf<{ queue: number }>(
          "A queue of the host. Outcomes call it host: and its number.",
          { queue: true },
          { queue: integer("Its number.", 0, 65535) },
        ),
      ],
    },
  },
);
