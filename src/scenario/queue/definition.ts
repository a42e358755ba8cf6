/** Section `queues`. */
import { integer, name, object, word, type Static } from "../schema/define.js";
import { about, FUNCTION, port } from "../schema/parts.js";
import { RX_HASH_CONF } from "../rss/definition.js";

export const QUEUE = object(
  "A queue pair. Outcomes name it qp: and its name.",
  ["name"],
  {
    name: name("Its name.", "web"),
    description: about,
    function: FUNCTION,
    port: port("The port that it sends from. It receives from every port."),
    type: word(
      "The type of ibv_create_qp; a queue of type ud sends no frames, only datagrams; one of type rc or uc sends messages to its peer. A work queue (wq) receives frames only through a TIR or an indirection table, and outcomes name it wq: and its name.",
      ["raw_packet", "ud", "wq", "rc", "uc"],
      { default: "raw_packet" },
    ),
    state: word(
      "Its state: it receives in rtr and rts, and sends in rts; a work queue is in reset, rdy (the default) or err.",
      ["reset", "init", "rtr", "rts", "rdy", "err"],
      { default: "rts" },
    ),
    buffers: integer(
      "Receive buffers posted to it; each frame takes one, and a frame that finds none is dropped. Without this key the queue accepts every frame.",
      1,
      32768,
    ),
    bufferSize: integer("Bytes of each receive buffer; a longer frame does not fit.", 1, 65536, { default: 2048 }),
    peer: name("For types rc and uc: the queue that it is connected to, which names this one as its peer.", "server"),
    path_mtu: integer("Bytes of a message in one packet: 256, 512, 1024, 2048 or 4096.", 256, 4096, { default: 1024 }),
    rwq_ind_tbl: name(
      "Its indirection table: RSS distributes its frames over the work queues of the table.",
      "four-queues",
    ),
    rx_hash_conf: RX_HASH_CONF,
  },
  {
    dependentRequired: {
      bufferSize: ["buffers"],
      type: ["buffers"],
      state: ["buffers"],
      peer: ["type"],
      path_mtu: ["peer"],
      rwq_ind_tbl: ["rx_hash_conf"],
      rx_hash_conf: ["rwq_ind_tbl"],
    },
  },
);
export type ScenarioQueue = Static<typeof QUEUE>;
export type ScenarioQueueState = NonNullable<ScenarioQueue["state"]>;
