/** Connected queues and messages that are wrong. Queue 6 of the good document is "asker", queue 7 its peer "server". */
import { bad, type BadDocument } from "./badDocument.js";

export const BAD_MESSAGE_SHAPES: readonly BadDocument[] = [
  bad(
    "message of nobody",
    'messages[0] § the key "queue" is missing: The queue that sends it. (found { name, description, hex, imm_data })',
    [["messages", 0, "queue"]],
  ),
  bad(
    "message without bytes",
    'messages[0] § it needs "hex" or "base64" (found { name, description, queue, imm_data })',
    [["messages", 0, "hex"]],
  ),
  bad(
    "message with bytes twice",
    'messages[1] § it takes only one of "hex" or "base64" (found { queue, base64, hex })',
    [["messages", 1, "hex"], "00"],
  ),
  bad("immediate data of 33 bits", "messages[0].imm_data = 4294967296 § a whole number, 0 to 4294967295", [
    ["messages", 0, "imm_data"],
    2 ** 32,
  ]),
  bad("packets too short", "queues[6].path_mtu = 128 § a whole number, 256 to 4096", [["queues", 6, "path_mtu"], 128]),
  bad(
    "path without a peer",
    'queues[6] § "path_mtu" goes with "peer", which is missing (found { name, type, path_mtu, buffers, bufferSize })',
    [["queues", 6, "peer"]],
  ),
  bad(
    "peer of a queue without a type",
    'queues[1] § "peer" goes with "type", which is missing (found { name, description, peer })',
    [["queues", 1, "peer"], "web"],
  ),
  bad(
    "status as C spells it",
    'expect.messages[0].status = "IBV_WC_SUCCESS" § one of "success", "loc_len_err", "wr_flush_err", "rem_inv_req_err", "rem_access_err", "rem_op_err", "retry_exc_err", "rnr_retry_exc_err"',
    [["expect", "messages", 0, "status"], "IBV_WC_SUCCESS"],
  ),
];

export const BAD_MESSAGE_NAMES: readonly BadDocument[] = [
  bad(
    "connected queue without a peer",
    'queues[6] = "rc" § a queue of type rc names the queue it is connected to as peer',
    [["queues", 6, "peer"]],
    [["queues", 6, "path_mtu"]],
  ),
  bad("peer of a raw packet queue", 'queues[0].peer = "rest" § queues of type rc and uc have a peer', [
    ["queues", 0, "peer"],
    "rest",
  ]),
  bad(
    "peer unknown",
    'queues[6].peer = "serve": nothing has this name (EINVAL); did you mean "server"? queues: web, rest, guest, wq-1, wq-2, spreading, asker, server',
    [["queues", 6, "peer"], "serve"],
  ),
  bad(
    "peer of another type",
    'queues[6].peer = "server": the object is not of the kind that the call takes (EINVAL); a queue of type rc, like this one',
    [["queues", 7, "type"], "uc"],
  ),
  bad(
    "peer that names another",
    'queues[6].peer = "server": the object is not of the kind that the call takes (EINVAL); peers name each other: write "peer": "asker" there',
    [["queues", 7, "peer"], "server"],
  ),
  bad(
    "packets of another length",
    "queues[6].path_mtu = 1500: outside the range that the field can hold (EINVAL); one of 256, 512, 1024, 2048, 4096 bytes",
    [["queues", 6, "path_mtu"], 1500],
  ),
  bad(
    "connected queue in the state of a work queue",
    'queues[6].state = "rdy": the queue pair is not in a state that allows this (EINVAL); a queue of type rc has reset, init, rtr, rts, err',
    [["queues", 6, "state"], "rdy"],
  ),
  bad(
    "frame sent by a connected queue",
    'frames[2].send = "asker": the object is not of the kind that the call takes (EINVAL); a queue of type raw_packet sends frames',
    [["frames", 2, "send"], "asker"],
  ),
  bad(
    "message twice",
    'messages[1].name = "question": two objects have the same name (EINVAL); names of messages are unique; rename one of the two',
    [["messages", 1, "name"], "question"],
  ),
  bad(
    "sender unknown",
    'messages[0].queue = "aske": nothing has this name (EINVAL); did you mean "asker"? queues: web, rest, guest, wq-1, wq-2, spreading, asker, server',
    [["messages", 0, "queue"], "aske"],
  ),
  bad(
    "sender of frames",
    'messages[0].queue = "web": the object is not of the kind that the call takes (EINVAL); a queue of type rc or uc sends messages',
    [["messages", 0, "queue"], "web"],
  ),
  bad(
    "sender not ready",
    'messages[0].queue = "asker": the queue pair is not in a state that allows this (EINVAL); its state is rtr',
    [["queues", 6, "state"], "rtr"],
  ),
  bad("message of half a byte", 'messages[0].hex = "0" § two digits a byte; there are 1', [
    ["messages", 0, "hex"],
    "0",
  ]),
  bad(
    "message too long",
    'messages[0].hex = "262145 bytes": outside the range that the field can hold (EINVAL); a message has at most 262144',
    [["messages", 0, "hex"], "00".repeat(262145)],
  ),
  bad(
    "message expected unknown",
    'expect.messages[0].message = "questoin": nothing has this name (EINVAL); did you mean "question"? messages: question',
    [["expect", "messages", 0, "message"], "questoin"],
  ),
  bad(
    "message number beyond",
    "expect.messages[1].message = 3: nothing has this name (EINVAL); the document has 2 messages",
    [["expect", "messages", 1, "message"], 3],
  ),
  bad("bytes expected that are none", 'expect.messages[0].received.hex = "0x01" § "x" is no hexadecimal digit', [
    ["expect", "messages", 0, "received", "hex"],
    "0x01",
  ]),
];
