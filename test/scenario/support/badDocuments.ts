/** Documents that break the schema, and what is said of each. Each is the good document with one change. */
import { bad, type BadDocument } from "./badDocument.js";
import { BAD_ACTION_NAMES, BAD_ACTION_SHAPES } from "./badActions.js";
import { BAD_FLOW_NAMES, BAD_FLOW_SHAPES } from "./badFlows.js";
import { BAD_DEVICE_FLOW_NAMES, BAD_DEVICE_FLOW_SHAPES } from "./badDeviceFlows.js";
import { BAD_MESSAGE_NAMES, BAD_MESSAGE_SHAPES } from "./badMessages.js";
import { BAD_STATE_NAMES, BAD_STATE_SHAPES } from "./badState.js";

const OPERANDS =
  '"tag", "count", "queue", "tir", "table", "vport", "port", "array", "reformat", "modify", "push_vlan", "aso", "flow_meter", "flow_sampler"';

/** JSON Schema refuses these too. */
export const BAD_SHAPES: readonly BadDocument[] = [
  ...BAD_FLOW_SHAPES,
  ...BAD_ACTION_SHAPES,
  ...BAD_STATE_SHAPES,
  ...BAD_DEVICE_FLOW_SHAPES,
  ...BAD_MESSAGE_SHAPES,
  bad(
    "no version",
    'document § the key "flowsteer" is missing: The version of this format. (found { $schema, title, description, device, connect, queues, ... })',
    [["flowsteer"]],
  ),
  bad("version as text", 'flowsteer = "1" § it is 1', [["flowsteer"], "1"]),
  bad(
    "unknown key",
    'rulez § no such key here; did you mean "rules"? keys: $schema, flowsteer, title, description, device, connect, queues, indirectionTables, rqts, tirs, asoObjects, counters, flowCounters, flowActions, domains, tables, matchers, actions, rules, flows, flowTables, steeringAnchors, flowEntries, deviceFlows, hostRules, messages, frames, expect, notImported',
    [["rulez"], []],
  ),
  bad(
    "unknown key below",
    'queues[1].bufers § no such key here; did you mean "buffers"? keys: name, description, function, port, type, state, buffers, bufferSize, peer, path_mtu, rwq_ind_tbl, rx_hash_conf',
    [["queues", 1, "bufers"], 2],
  ),
  bad(
    "unknown key like nothing",
    "device.x § no such key here; keys: name, ports, vports, profile, seed, limits, managedFlowSteering, asyncRules, cache, parser",
    [["device", "x"], 1],
  ),
  bad("list as object", "rules § a list: [ ... ] (found {})", [["rules"], {}]),
  bad(
    "object as list",
    "device § an object with name, ports, vports, profile, seed, limits, managedFlowSteering, asyncRules, cache, parser (found [])",
    [["device"], []],
  ),
  bad("name as number", 'tables[0].name = 5 § text in double quotes, not empty, such as "root"', [
    ["tables", 0, "name"],
    5,
  ]),
  bad("empty name", 'tables[0].name = "" § text in double quotes, not empty, such as "root"', [
    ["tables", 0, "name"],
    "",
  ]),
  bad(
    "a spec and a mask, as rte_flow has them",
    'rules[0].match.outer.ipv4_dst § text in double quotes, not empty, such as "10.0.0.0/8"; or a whole number, 0 to 9007199254740991 (found { spec, mask }); a value and a mask are one text: "10.0.0.0/255.0.0.0"',
    [["rules", 0, "match"], { "outer.ipv4_dst": { spec: "10.0.0.0", mask: "255.0.0.0" } }],
  ),
  bad(
    "a value and a mask that are no text",
    'rules[0].match.outer.tcp_dport § text in double quotes, not empty, such as "10.0.0.0/8"; or a whole number, 0 to 9007199254740991 (found { value, mask }); a value and a mask are one text: "80/0xff"',
    [["rules", 0, "match"], { "outer.tcp_dport": { value: 80, mask: "0xff" } }],
  ),
  bad("name missing", 'counters[0] § the key "name" is missing: Its name. (found {})', [["counters", 0], {}]),
  bad(
    "level missing",
    'tables[1] § the key "level" is missing: 0 is the root table, where every frame of the domain starts; rules lead to the others by { "table": name }. (found { name })',
    [["tables", 1, "level"]],
  ),
  bad("priority too large", "rules[0].priority = 65536 § a whole number, 0 to 65535", [
    ["rules", 0, "priority"],
    65536,
  ]),
  bad("priority below 0", "rules[0].priority = -1 § a whole number, 0 to 65535", [["rules", 0, "priority"], -1]),
  bad("priority not whole", "rules[0].priority = 1.5 § a whole number, 0 to 65535", [["rules", 0, "priority"], 1.5]),
  bad("ports 0", "device.ports = 0 § a whole number, 1 to 4095", [["device", "ports"], 0]),
  bad("tag of 25 bits", "rules[1].actions[0].tag = 16777216 § a whole number, 0 to 16777215", [
    ["rules", 1, "actions", 0, "tag"],
    2 ** 24,
  ]),
  bad("domain unknown", 'tables[0].domain = "nic" § one of "nic_rx", "nic_tx", "fdb"', [
    ["tables", 0, "domain"],
    "nic",
  ]),
  bad(
    "action misspelt",
    'rules[2].actions[0] = "dorp" § did you mean "drop"? one of "drop", "default_miss", "pop_vlan"',
    [["rules", 2, "actions", 0], "dorp"],
  ),
  bad(
    "action of another type",
    'rules[2].actions[0] = 5 § one of "drop", "default_miss", "pop_vlan"; or an object with tag, count, queue, tir, table, vport, port, array, reformat, modify, push_vlan, aso, flow_meter, flow_sampler, priority, offset, action, modify_aso',
    [["rules", 2, "actions", 0], 5],
  ),
  bad(
    "two actions in one",
    `rules[2].actions[0] § it takes only one of ${OPERANDS} or "action" (found { tag, queue })`,
    [["rules", 2, "actions", 0], { tag: 1, queue: "web" }],
  ),
  bad("no action in one", `rules[2].actions[0] § it needs ${OPERANDS} or "action" (found {})`, [
    ["rules", 2, "actions", 0],
    {},
  ]),
  bad(
    "shared action that does nothing",
    'actions[0] § it needs "drop", "default_miss", "pop_vlan", "tag", "count", "queue", "tir", "table", "vport", "port", "array", "reformat", "modify", "push_vlan", "aso", "flow_meter" or "flow_sampler" (found { name })',
    [["actions", 0, "drop"]],
  ),
  bad("shared action with false", "actions[0].drop = false § it is true", [["actions", 0, "drop"], false]),
  bad(
    "rule nowhere",
    'rules[0] § it needs "matcher" or "table" (found { name, description, match, actions })',
    [["rules", 0, "table"]],
    [["rules", 0, "priority"]],
  ),
  bad(
    "rule in two places",
    'rules[1] § it takes only one of "matcher" or "table" (found { name, matcher, match, actions, table })',
    [["rules", 1, "table"], "l4"],
  ),
  bad(
    "priority beside a matcher",
    'rules[1] § "priority" goes with "table", which is missing (found { name, matcher, match, actions, priority })',
    [["rules", 1, "priority"], 1],
  ),
  bad(
    "match of true",
    'rules[1].match.outer.tcp_dport = true § text in double quotes, not empty, such as "10.0.0.0/8"; or a whole number, 0 to 9007199254740991',
    [["rules", 1, "match", "outer.tcp_dport"], true],
  ),
  bad(
    "buffer size without buffers",
    'queues[1] § "bufferSize" goes with "buffers", which is missing (found { name, description, bufferSize })',
    [["queues", 1, "bufferSize"], 64],
  ),
  bad(
    "queue type without buffers",
    'queues[1] § "type" goes with "buffers", which is missing (found { name, description, type })',
    [["queues", 1, "type"], "ud"],
  ),
  bad(
    "queue state as C spells it",
    'queues[0].state = "RTS" § did you mean "rts"? one of "reset", "init", "rtr", "rts", "rdy", "err"',
    [["queues", 0, "state"], "RTS"],
  ),
  bad(
    "cable to nowhere",
    'connect[0] § the key "to" is missing: The port it is connected to: another one, or itself. (found { port })',
    [["connect", 0, "to"]],
  ),
  bad("frame without bytes", 'frames[1] § it needs "hex", "base64" or "headers" (found {})', [["frames", 1], {}]),
  bad(
    "frame with bytes twice",
    'frames[1] § it takes only one of "hex", "base64" or "headers" (found { base64, hex })',
    [["frames", 1, "hex"], "00"],
  ),
  bad(
    "verdict unknown",
    'expect.frames[0].verdict = "delivered" § did you mean "deliver"? one of "deliver", "forward", "transmit", "drop", "miss"',
    [["expect", "frames", 0, "verdict"], "delivered"],
  ),
  bad("total as text", 'expect.totals.to["qp:web"] = "1" § a whole number, 0 to 9007199254740991', [
    ["expect", "totals", "to", "qp:web"],
    "1",
  ]),
];

/** JSON Schema cannot tell that these are wrong. */
export const BAD_NAMES: readonly BadDocument[] = [
  ...BAD_FLOW_NAMES,
  ...BAD_ACTION_NAMES,
  ...BAD_STATE_NAMES,
  ...BAD_DEVICE_FLOW_NAMES,
  ...BAD_MESSAGE_NAMES,
  bad(
    "a later version",
    "flowsteer = 2: this release does not read this version of the format (EINVAL); this release reads version 1",
    [["flowsteer"], 2],
  ),
  bad(
    "queue twice",
    'queues[1].name = "web": two objects have the same name (EINVAL); names of queues are unique; rename one of the two',
    [["queues", 1, "name"], "web"],
  ),
  bad(
    "table unknown",
    'rules[0].table = "rot": nothing has this name (EINVAL); did you mean "root"? tables: root, l4, rewriting, beyond, remembering, far, fdb-far',
    [["rules", 0, "table"], "rot"],
  ),
  bad("matcher unknown", 'rules[1].matcher = "x": nothing has this name (EINVAL); matchers: ports, open', [
    ["rules", 1, "matcher"],
    "x",
  ]),
  bad(
    "table of a matcher unknown",
    'matchers[0].table = "l3": nothing has this name (EINVAL); did you mean "l4"? tables: root, l4, rewriting, beyond, remembering, far, fdb-far',
    [["matchers", 0, "table"], "l3"],
  ),
  bad(
    "queue unknown",
    'rules[1].actions[2].queue = "wbe": nothing has this name (EINVAL); did you mean "web"? queues: web, rest, guest, wq-1, wq-2, spreading, asker, server',
    [["rules", 1, "actions", 2, "queue"], "wbe"],
  ),
  bad("no counters at all", 'actions[3].count = "hits": nothing has this name (EINVAL); there are no counters', [
    ["counters"],
  ]),
  bad(
    "shared action unknown",
    'rules[2].actions[0].action = "to-l5": nothing has this name (EINVAL); did you mean "to-l4"? actions: discard, leave, mark, number, to-web, to-l4, into-tunnel, out-of-tunnel, change, replicate, untag, service, ... (28)',
    [["rules", 2, "actions", 0, "action"], "to-l5"],
  ),
  bad(
    "destination unknown",
    'expect.frames[0].to[0] = "web": nothing has this name (EINVAL); destinations: qp:web, qp:rest, qp:guest, wq:wq-1, wq:wq-2, qp:spreading, qp:asker, qp:server, host:3, port:1, port:2',
    [["expect", "frames", 0, "to", 0], "web"],
  ),
  bad(
    "rule expected unknown",
    'expect.totals.rules.http = "http": nothing has this name (EINVAL); did you mean "https"? rules: tcp, https, others, all, rewrite, mirror, to-vf, to-wire, to-port, copies, metered, policed, ... (46)',
    [["expect", "totals", "rules"], { http: 1 }],
  ),
  bad(
    "frame expected unknown",
    'expect.frames[0].frame = "frist": nothing has this name (EINVAL); did you mean "first"? frames: first, sent',
    [["expect", "frames", 0, "frame"], "frist"],
  ),
  bad("frame number beyond", "expect.frames[1].frame = 4: nothing has this name (EINVAL); the document has 3 frames", [
    ["expect", "frames", 1, "frame"],
    4,
  ]),
  bad(
    "frame on a port beyond",
    "frames[0].port = 3: outside the range that the field can hold (EINVAL); device.ports is 2",
    [["frames", 0, "port"], 3],
  ),
  bad(
    "cable from a port beyond",
    "connect[0].port = 3: outside the range that the field can hold (EINVAL); device.ports is 2",
    [["connect", 0, "port"], 3],
  ),
  bad(
    "cable to a port beyond",
    "connect[0].to = 3: outside the range that the field can hold (EINVAL); device.ports is 2",
    [["connect", 0, "to"], 3],
  ),
  bad(
    "queue on a port beyond",
    "queues[0].port = 3: outside the range that the field can hold (EINVAL); device.ports is 2",
    [["queues", 0, "port"], 3],
  ),
  bad(
    "sending queue unknown",
    'frames[2].send = "rst": nothing has this name (EINVAL); did you mean "rest"? queues: web, rest, guest, wq-1, wq-2, spreading, asker, server',
    [["frames", 2, "send"], "rst"],
  ),
  bad(
    "sending queue of datagrams",
    'frames[2].send = "web": the object is not of the kind that the call takes (EINVAL); a queue of type raw_packet sends frames',
    [["frames", 2, "send"], "web"],
    [["queues", 0, "type"], "ud"],
  ),
  bad(
    "sending queue not ready",
    'frames[2].send = "web": the queue pair is not in a state that allows this (EINVAL); its state is rtr',
    [["frames", 2, "send"], "web"],
    [["queues", 0, "state"], "rtr"],
  ),
  bad("frame sent from a port", "frames[2].port = 1 § a frame that is sent has none: leave it out", [
    ["frames", 2, "port"],
    1,
  ]),
  bad(
    "frame sent too short",
    'frames[2] = "13 bytes": not a frame that can be sent (EINVAL); 14 to 262144 bytes, from the destination MAC on',
    [["frames", 2], { send: "rest", hex: "02 00000000 03 02 00000000 01 08" }],
  ),
  bad(
    "port expected unknown",
    'expect.frames[2].beyond["port:3"] = "port:3": nothing has this name (EINVAL); did you mean "port:1"? destinations: port:1, port:2',
    [["expect", "frames", 2, "beyond"], { "port:3": {} }],
  ),
  bad(
    "rule expected beyond unknown",
    'expect.frames[2].beyond["port:1"].rules[0] = "al": nothing has this name (EINVAL); did you mean "all"? rules: tcp, https, others, all, rewrite, mirror, to-vf, to-wire, to-port, copies, metered, policed, ... (46)',
    [["expect", "frames", 2, "beyond"], { "port:1": { rules: ["al"] } }],
  ),
  bad(
    "copies expected elsewhere",
    'expect.totals.copies["qp:wbe"] = "qp:wbe": nothing has this name (EINVAL); did you mean "qp:web"? destinations: qp:web, qp:rest, qp:guest, wq:wq-1, wq:wq-2, qp:spreading, qp:asker, qp:server, host:3, port:1, port:2',
    [["expect", "totals", "copies"], { "qp:wbe": 1 }],
  ),
  bad("hex with a letter", 'frames[0].hex = "0g" § "g" is no hexadecimal digit', [["frames", 0, "hex"], "0g"]),
  bad("hex with half a byte", 'frames[0].hex = "00 1" § two digits a byte; there are 3', [
    ["frames", 0, "hex"],
    "00 1",
  ]),
  bad(
    "base64 of another length",
    'frames[1].base64 = "A" § base64 has A to Z, a to z, 0 to 9, + and /, in groups of four, filled up with =',
    [["frames", 1, "base64"], "A"],
  ),
  bad(
    "wire shorter than the bytes",
    "frames[0].wireLength = 53: outside the range that the field can hold (EINVAL); the frame has 54 bytes; leave the key out unless it was cut",
    [["frames", 0, "wireLength"], 53],
  ),
];
