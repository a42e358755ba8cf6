/** Destinations of rules, of arrays and of samples. */
import { headers } from "../frame/headers.js";
import { either, integer, name, object, oneKeyOf, shared, text, word, yes, type Static } from "../schema/define.js";
import { MAX_U32, TAG } from "../schema/parts.js";

/** Types of `enum mlx5dv_flow_action_packet_reformat_type`, in its order. */
export const REFORMAT_TYPES = ["l2_tunnel_to_l2", "l2_to_l2_tunnel", "l3_tunnel_to_l2", "l2_to_l3_tunnel"] as const;

export const REFORMAT = shared(
  "reformat",
  object(
    "Encapsulation or decapsulation: its type, and data or headers where the type has data.",
    ["type"],
    {
      type: word(
        "l2_to_l2_tunnel puts data in front of the frame, l2_to_l3_tunnel in place of its Ethernet header and tags; l2_tunnel_to_l2 leaves what is inside the tunnel, l3_tunnel_to_l2 puts data, an Ethernet header, in front of the packet that is inside.",
        REFORMAT_TYPES,
      ),
      data: text("Its data as hexadecimal digits."),
      headers: headers(
        "Its data as headers, the first one outermost. The device fills in lengths, the IPv4 checksum and the UDP source port of tunnels; a UDP checksum that is left out is 0.",
      ),
    },
    { maxProperties: 2 },
  ),
);
export type ScenarioReformat = Static<typeof REFORMAT>;

export const VPORT = shared(
  "vport",
  either(
    "In the FDB: delivers the frame to a function, 0 is the PF, or sends it out of the port it came from.",
    word("The port that it came from or was sent on.", ["uplink"]),
    integer("A function.", 0, MAX_U32),
  ),
);
export type ScenarioVport = Static<typeof VPORT>;

export const DESTINATION_KEYS = {
  count: name("Counts the frame and its bytes on the counter of this name.", "web-frames"),
  queue: name("Delivers to the queue of this name and ends the walk.", "web"),
  tir: name("Delivers to the TIR of this name: to its queue, or to one queue of its RQT, by RSS.", "rss"),
  table: name("Continues in the table of this name, which is not a root table.", "l4"),
  vport: VPORT,
  port: integer("In the FDB: sends it out of this port.", 0, MAX_U32),
};

export const COUNTER_OFFSET = integer("With count: which counter of a bulk.", 0, MAX_U32, { default: 0 });

const MISS = "the frame is treated as one that no rule of the domain matches.";
export const DEFAULT_MISS = yes(`Default miss: ${MISS}`);
const SHARED_ACTION = name("The shared action of this name (see actions).");

const MEMBER_OBJECT = object(
  "A destination: exactly one key besides reformat.",
  [],
  {
    default_miss: DEFAULT_MISS,
    ...DESTINATION_KEYS,
    offset: COUNTER_OFFSET,
    action: SHARED_ACTION,
    reformat: either(
      "Encapsulates the copy of this member: a reformat written here, or a shared action by its name.",
      text("The name of a shared action.", { minLength: 1 }),
      REFORMAT,
    ),
  },
  { ...oneKeyOf("default_miss", ...Object.keys(DESTINATION_KEYS), "action"), dependentRequired: { offset: ["count"] } },
);
export type ScenarioArrayMemberObject = Static<typeof MEMBER_OBJECT>;

export const ARRAY_MEMBER = either(
  "A destination of the array.",
  word(`default_miss: ${MISS}`, ["default_miss"]),
  MEMBER_OBJECT,
);
export type ScenarioArrayMember = Static<typeof ARRAY_MEMBER>;

const { table: _table, ...SAMPLE_KEYS } = DESTINATION_KEYS;

const SAMPLE_OBJECT = object(
  "An action of a sample: exactly one key.",
  [],
  { default_miss: DEFAULT_MISS, tag: TAG, ...SAMPLE_KEYS, offset: COUNTER_OFFSET, action: SHARED_ACTION },
  {
    ...oneKeyOf("default_miss", "tag", ...Object.keys(SAMPLE_KEYS), "action"),
    dependentRequired: { offset: ["count"] },
  },
);
export type ScenarioSampleActionObject = Static<typeof SAMPLE_OBJECT>;

export const SAMPLE_ACTION = either(
  "An action of a sample.",
  word(`default_miss: ${MISS}`, ["default_miss"]),
  SAMPLE_OBJECT,
);
export type ScenarioSampleAction = Static<typeof SAMPLE_ACTION>;
