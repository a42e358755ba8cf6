/** Faults in connections: who gets a packet, how messages become packets and packets messages, what is done about losses. */

const SEEN = [
  "test/verbs/send/connected.test.ts",
  "test/verbs/send/connectedFaults.test.ts",
  "test/mlx5dv/flow/connectedTables.test.ts",
];
const QUEUES = ["test/mlx5dv/queue/createQueues.test.ts"];

const roce = (name, id, search, replace, breaks, sees = SEEN) => {
  return { id: `roce-${id}`, file: `src/model/roce/${name}.ts`, search, replace, breaks, sees };
};
const model = (name, id, search, replace, breaks, sees = SEEN) => {
  return { id, file: `src/model/${name}.ts`, search, replace, breaks, sees };
};

export const ROCE = [
  roce("connectionRule", "rule-source", "[`outer.${name}_src`]: address(dgid),", "", "packets of other peers"),
  roce(
    "connectionRule",
    "rule-destination",
    "[`outer.${name}_dst`]: address(sgid),",
    "",
    "packets for other addresses",
  ),
  roce(
    "connectionRule",
    "rule-kept",
    "device.core.exports.removeRule(this.#handle);",
    "",
    "connections that are closed",
  ),
  roce("opcodes", "psn-distance", "distance - PSN_MASK - 1", "distance", "packets that had come before"),
  roce("packet", "icrc-unread", "!== invariantCrc(packet.subarray(0, end))", "< 0", "packets with a wrong ICRC"),
  roce("packet", "tags", "while (TAGS", "if (TAGS", "packets with two tags"),
  roce("packet", "padding", "end - ((flags >> 4) & 3)", "end", "what fills a packet up"),
  roce("responder", "ack-of-repeated", "psnAfter(expected, -1), ACK", "psn, ACK", "which packet is acknowledged again"),
  roce("responder", "asked-once", "if (!this.#asked) this", "this", "a NAK for each packet that is early"),
  roce(
    "responder",
    "asked-again",
    "    this.#asked = false;\n    owner.expected",
    "    owner.expected",
    "a second gap",
  ),
  roce(
    "responder",
    "order",
    "part === null || part.begins !== (this.#parts === null)",
    "part === null",
    "packets that cannot follow each other",
  ),
  roce("responder", "completions-full", " && !receive.completionsFull", "", "a full completion queue"),
  roce("responder", "too-long", "this.#length <= (receive.room ?? 0)", "true", "messages that are too long"),
  roce(
    "responder",
    "uc-gap",
    "      this.#parts = null;\n    }\n    owner",
    "    }\n    owner",
    "UC messages with a gap",
  ),
  roce("responder", "least-last", "begins ? 0 : 1", "0", "empty last packets"),
  roce("requester", "rounds", "tries++ >= retryCount", "tries++ > retryCount", "one try too many"),
  roce("requester", "rnr-rounds", "rnrTries++ < rnrRetry", "rnrTries++ <= rnrRetry", "one try for a request too many"),
  roce("requester", "progress", "if (acknowledged > before) tries = rnrTries = 0;", "", "tries with progress"),
  roce("requester", "ghost-ack", "|| place >= transfer.sent", "", "acknowledgements of what was not sent"),
  roce("requester", "nak-acknowledges", "positive ? place + 1 : place", "place + 1", "the packet that is missing"),
  roce("requester", "again-from", "let i = transfer.acknowledged", "let i = 0", "packets that were acknowledged"),
  roce("requester", "nested", "if (this.#running) return;", "", "messages that wait for the one under way"),
  roce(
    "requester",
    "flushed-alive",
    "if (this.#transfer !== transfer) return;",
    "",
    "a message that was flushed on the way",
  ),
  roce(
    "transport",
    "service",
    "if ((packet.opcode & SERVICE) !== this.#service) return;",
    "",
    "packets of other services",
  ),
  model("send", "connection-elsewhere", "!(own || qp.transport === null)", "false", "what connections send elsewhere"),
  model("send", "rdma-elsewhere", "rdma: own,", "rdma: true,", "RDMA tables of frames for other MACs"),
  model("send", "own-flows", "isMulticast(frame) ? multicast : unicast", "unicast", "self loopback of groups", QUEUES),
  model("traffic", "own-flows-reader", "ownFlows ? null : sender", "sender", "rules that own frames hit", QUEUES),
  model("queues", "error-open", "if (!ready) transport?.close();", "", "packets for a queue pair in error"),
  model("queueStates", "path-port", "port.number !== changed.port_num", "false", "a path from another port"),
];
