/** Sections `indirectionTables`, `rqts` and `tirs`: RSS, which distributes frames over queues by a hash. */
import { flag, list, name, object, oneKeyOf, text, word, type Schema, type Static } from "../schema/define.js";
import { about } from "../schema/parts.js";

/** In the order of the device's numbers. */
export const RX_HASH_FUNCTIONS = ["none", "inverted_xor8", "toeplitz"] as const;

/** Bits of IBV_RX_HASH_, which is left out. */
export const RX_HASH_FIELDS = {
  src_ipv4: 0x1,
  dst_ipv4: 0x2,
  src_ipv6: 0x4,
  dst_ipv6: 0x8,
  src_port_tcp: 0x10,
  dst_port_tcp: 0x20,
  src_port_udp: 0x40,
  dst_port_udp: 0x80,
  ipsec_spi: 0x100,
  inner: 0x8000_0000,
} as const;

/** Bits of MLX5_RX_HASH_FIELD_SELECT_, which is left out. */
export const SELECTED_FIELDS = { src_ip: 1, dst_ip: 2, l4_sport: 4, l4_dport: 8, ipsec_spi: 16 } as const;

const keysOf = <K extends string>(numbers: Readonly<Record<K, number>>): K[] => Object.keys(numbers) as K[];

const key = (description: string): Schema<string> =>
  text(description, { examples: ["6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"] });

export const INDIRECTION_TABLE = object(
  "An indirection table of ibv_create_rwq_ind_table, for queues with rwq_ind_tbl.",
  ["name", "ind_tbl"],
  {
    name: name("Its name.", "four-queues"),
    description: about,
    ind_tbl: list(
      "Queues of type wq. Their number is a power of two; a queue can be listed several times.",
      name("A queue."),
    ),
  },
);
export type ScenarioIndirectionTable = Static<typeof INDIRECTION_TABLE>;

export const RX_HASH_CONF = object(
  "The hash that distributes frames over rwq_ind_tbl (struct ibv_rx_hash_conf).",
  ["rx_hash_key", "rx_hash_fields_mask"],
  {
    rx_hash_function: word("The hash.", ["toeplitz"], { default: "toeplitz" }),
    rx_hash_key: key("The key: 40 bytes as hexadecimal digits."),
    rx_hash_fields_mask: list(
      "The fields that are hashed; with inner, those of the packet inside a tunnel. Use either IPv4 or IPv6, either TCP or UDP.",
      word("A field, or inner.", keysOf(RX_HASH_FIELDS)),
    ),
  },
);

export const RQT = object(
  "A receive queue table (CREATE_RQT), over which TIRs distribute frames.",
  ["name", "queues"],
  {
    name: name("Its name.", "four-queues"),
    description: about,
    queues: list(
      "Queues of one function. Their number is a power of two; a queue can be listed several times.",
      name("A queue."),
    ),
  },
);
export type ScenarioRqt = Static<typeof RQT>;

const selector = (which: string) =>
  object(
    `The fields of the ${which} packet that are hashed; a field that a frame does not have is left out.`,
    ["selected_fields"],
    {
      l3_prot_type: word("The IP version of the addresses.", ["ipv4", "ipv6"], { default: "ipv4" }),
      l4_prot_type: word("The protocol of the ports.", ["tcp", "udp"], { default: "tcp" }),
      selected_fields: list("The fields.", word("A field.", keysOf(SELECTED_FIELDS))),
    },
  );

const HASH_KEYS = {
  rx_hash_fn: word("The hash; none gives every frame to the first queue.", RX_HASH_FUNCTIONS, { default: "none" }),
  rx_hash_symmetric: flag("Whether both directions of a connection have one hash.", { default: false }),
  rx_hash_toeplitz_key: key("The key: 40 bytes as hexadecimal digits; left out, all bytes are 0."),
  rx_hash_field_selector_outer: selector("outer"),
  rx_hash_field_selector_inner: selector("inner"),
};

export const TIR = object(
  "A TIR (CREATE_TIR), which rules name as a destination: it delivers to one queue, or distributes frames over an RQT.",
  ["name"],
  {
    name: name("Its name.", "rss"),
    description: about,
    queue: name("The queue that it delivers to.", "web"),
    rqt: name("The RQT that it distributes frames over.", "four-queues"),
    ...HASH_KEYS,
  },
  {
    ...oneKeyOf("queue", "rqt"),
    dependentRequired: Object.fromEntries(Object.keys(HASH_KEYS).map((one) => [one, ["rqt"]])),
  },
);
export type ScenarioTir = Static<typeof TIR>;
export type ScenarioFieldSelector = NonNullable<ScenarioTir["rx_hash_field_selector_outer"]>;
