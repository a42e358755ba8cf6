/** The part of the schema that says what spreads frames over queues. */
import { objectOf, type JsonSchema } from "../schema/validator.js";
import { about, list, name, text } from "../schema/parts.js";
import {
  RX_HASH_FIELDS,
  RX_HASH_FUNCTIONS,
  SELECTED_FIELDS,
  type ScenarioFieldSelector,
  type ScenarioHash,
  type ScenarioIndirectionTable,
  type ScenarioRqt,
  type ScenarioTir,
} from "./types.js";

const key = (description: string): JsonSchema =>
  text(description, { examples: ["6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"] });

export const INDIRECTION_TABLE = objectOf<ScenarioIndirectionTable>(
  "An indirection table of ibv_create_rwq_ind_table, for queues with rwq_ind_tbl.",
  { name: true, ind_tbl: true },
  {
    name: name("Its name.", "spread"),
    description: about,
    ind_tbl: list(
      "Queues of type wq, as many as a power of two; one can stand there more than once.",
      name("A queue."),
    ),
  },
);

export const RX_HASH_CONF = objectOf<ScenarioHash>(
  "How frames are spread over rwq_ind_tbl (struct ibv_rx_hash_conf).",
  { rx_hash_key: true, rx_hash_fields_mask: true },
  {
    rx_hash_function: text("The hash.", { enum: ["toeplitz"], default: "toeplitz" }),
    rx_hash_key: key("The key: 40 bytes as hexadecimal digits."),
    rx_hash_fields_mask: list(
      "The fields that are hashed, of the packet inside a tunnel with inner; IPv4 or IPv6, TCP or UDP.",
      text("A field, or inner.", { enum: Object.keys(RX_HASH_FIELDS) }),
    ),
  },
);

export const RQT = objectOf<ScenarioRqt>(
  "A table of receive queues (CREATE_RQT), which TIRs spread frames over.",
  { name: true, queues: true },
  {
    name: name("Its name.", "spread"),
    description: about,
    queues: list(
      "Queues of one function, as many as a power of two; one can stand there more than once.",
      name("A queue."),
    ),
  },
);

const selector = (which: string): JsonSchema =>
  objectOf<ScenarioFieldSelector>(
    `What is hashed of the ${which} packet; a field that a frame has not is left out.`,
    { selected_fields: true },
    {
      l3_prot_type: text("Whose addresses.", { enum: ["ipv4", "ipv6"], default: "ipv4" }),
      l4_prot_type: text("Whose ports.", { enum: ["tcp", "udp"], default: "tcp" }),
      selected_fields: list("The fields.", text("A field.", { enum: Object.keys(SELECTED_FIELDS) })),
    },
  );

export const TIR = objectOf<ScenarioTir>(
  "A TIR (CREATE_TIR), to which rules lead by its name: of a queue, or of an RQT over which it spreads frames.",
  { name: true },
  {
    name: name("Its name.", "rss"),
    description: about,
    queue: name("The queue that it leads to.", "web"),
    rqt: name("The RQT that it spreads frames over.", "spread"),
    rx_hash_fn: text("The hash; none gives every frame to the first queue.", {
      enum: RX_HASH_FUNCTIONS,
      default: "none",
    }),
    rx_hash_symmetric: {
      description: "Whether both directions of a connection have one hash.",
      type: "boolean",
      default: false,
    },
    rx_hash_toeplitz_key: key("The key: 40 bytes as hexadecimal digits; left out, all are 0."),
    rx_hash_field_selector_outer: selector("outer"),
    rx_hash_field_selector_inner: selector("inner"),
  },
  {
    oneOf: [{ required: ["queue"] }, { required: ["rqt"] }],
    dependentRequired: Object.fromEntries(
      [
        "rx_hash_fn",
        "rx_hash_symmetric",
        "rx_hash_toeplitz_key",
        "rx_hash_field_selector_outer",
        "rx_hash_field_selector_inner",
      ].map((one) => [one, ["rqt"]]),
    ),
  },
);
