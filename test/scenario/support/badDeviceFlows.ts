/** Documents with bad flow tables, anchors, entries and flows in device bytes, and what is said of each. */
import { bad, type BadDocument } from "./badDocument.js";

/** JSON Schema refuses these too. */
export const BAD_DEVICE_FLOW_SHAPES: readonly BadDocument[] = [
  bad(
    "flow in a table unknown",
    'deviceFlows[0].ft_type = "rdma_rxx" § did you mean "rdma_rx"? one of "nic_rx", "nic_tx", "fdb", "rdma_rx", "rdma_tx", "rdma_transport_rx", "rdma_transport_tx"',
    [["deviceFlows", 0, "ft_type"], "rdma_rxx"],
  ),
  bad(
    "device flow of two ends in one",
    'deviceFlows[1].actions[2] § it takes only one of "tag", "count", "ibv_counter", "queue", "tir", "table" or "action" (found { table, tir })',
    [["deviceFlows", 1, "actions", 2], { table: "services", tir: "rss" }],
  ),
  bad(
    "device flow of no action",
    'deviceFlows[1].actions[2] § it needs "tag", "count", "ibv_counter", "queue", "tir", "table" or "action" (found {})',
    [["deviceFlows", 1, "actions", 2], {}],
  ),
  bad(
    "offset without a counter of the device",
    'deviceFlows[2].actions[0] § "offset" goes with "count", which is missing (found { ibv_counter, offset })',
    [["deviceFlows", 2, "actions", 0], { ibv_counter: "addresses", offset: 1 }],
  ),
  bad("device flow that allows", 'deviceFlows[0].actions[0] = "allow" § one of "drop", "default_miss"', [
    ["deviceFlows", 0, "actions", 0],
    "allow",
  ]),
  bad(
    "device flow without a name",
    'deviceFlows[0] § the key "name" is missing: Its name, which outcomes list. (found { description, function, ft_type, ib_port, priority, match, ... })',
    [["deviceFlows", 0, "name"]],
  ),
  bad("priority of an anchor", "steeringAnchors[0].priority = -1 § a whole number, 0 to 65535", [
    ["steeringAnchors", 0, "priority"],
    -1,
  ]),
  bad(
    "flow table of an unknown type",
    'flowTables[1].table_type = "rdma" § one of "nic_rx", "nic_tx", "fdb", "rdma_rx", "rdma_tx", "rdma_transport_rx", "rdma_transport_tx"',
    [["flowTables", 1, "table_type"], "rdma"],
  ),
  bad(
    "flow table without groups",
    'flowTables[1] § the key "groups" is missing: Its groups. (found { name, description, function, table_type, level, log_size, ... })',
    [["flowTables", 1, "groups"]],
  ),
  bad("flow table too large", "flowTables[1].log_size = 25 § a whole number, 0 to 24", [
    ["flowTables", 1, "log_size"],
    25,
  ]),
  bad(
    "group without an end",
    'flowTables[1].groups[0] § the key "end_flow_index" is missing: Its last entry. (found { start_flow_index, mask })',
    [["flowTables", 1, "groups", 0, "end_flow_index"]],
  ),
  bad(
    "entry without an index",
    'flowEntries[0] § the key "flow_index" is missing: Its place, inside one of the groups. (found { name, description, table, match, ignore_flow_level, actions })',
    [["flowEntries", 0, "flow_index"]],
  ),
  bad("entry that misses", 'flowEntries[3].actions[0] = "default_miss" § one of "allow", "drop", "decap", "pop_vlan"', [
    ["flowEntries", 3, "actions", 0],
    "default_miss",
  ]),
  bad(
    "entry to a queue",
    "flowEntries[3].actions[0].queue § no such key here; keys: tag, count, modify, reformat, push_vlan, offset, tir, table, anchor, vport, packet_reformat",
    [["flowEntries", 3, "actions", 0], { queue: "web" }],
  ),
  bad(
    "entry action of two",
    'flowEntries[0].actions[3] § it takes only one of "tag", "count", "modify", "reformat", "push_vlan", "tir", "table", "anchor" or "vport" (found { tag, count })',
    [["flowEntries", 0, "actions", 3], { tag: 5, count: "hits" }],
  ),
];

/** JSON Schema cannot tell that these are wrong. */
export const BAD_DEVICE_FLOW_NAMES: readonly BadDocument[] = [
  bad(
    "flow table of a flow unknown",
    'deviceFlows[1].actions[2].table = "service": nothing has this name (EINVAL); did you mean "services"? flowTables: rest of it, services, crossing, table of rdma_rx, table of rdma_tx, table of rdma_transport_rx, table of rdma_transport_tx',
    [["deviceFlows", 1, "actions", 2, "table"], "service"],
  ),
  bad(
    "TIR of a flow unknown",
    'deviceFlows[2].actions[2].tir = "rs": nothing has this name (EINVAL); did you mean "rss"? tirs: to-rest, rss',
    [["deviceFlows", 2, "actions", 2, "tir"], "rs"],
  ),
  bad(
    "counter of a device flow unknown",
    'deviceFlows[1].actions[1].count = "bulc": nothing has this name (EINVAL); did you mean "bulk"? counters: hits, bulk',
    [["deviceFlows", 1, "actions", 1, "count"], "bulc"],
  ),
  bad(
    "flow counter of a device flow unknown",
    'deviceFlows[2].actions[0].ibv_counter = "adresses": nothing has this name (EINVAL); did you mean "addresses"? flowCounters: addresses',
    [["deviceFlows", 2, "actions", 0, "ibv_counter"], "adresses"],
  ),
  bad(
    "flow action of a device flow unknown",
    'deviceFlows[2].actions[1].action = "leave": nothing has this name (EINVAL); flowActions: rewrite, leave-tunnel, enter, enter-bytes, seal, open, open IPv6, open in place',
    [["deviceFlows", 2, "actions", 1, "action"], "leave"],
  ),
  bad(
    "work queue of a device flow",
    'deviceFlows[3].actions[0].queue = "wq-1": the object is not of the kind that the call takes (EINVAL); frames reach a work queue by a TIR or an indirection table',
    [["deviceFlows", 3, "actions", 0, "queue"], "wq-1"],
  ),
  bad(
    "port of a device flow beyond",
    "deviceFlows[0].ib_port = 3: outside the range that the field can hold (EINVAL); device.ports is 2",
    [["deviceFlows", 0, "ib_port"], 3],
  ),
  bad(
    "device flow of a function beyond",
    "deviceFlows[0].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["deviceFlows", 0, "function"], 2],
  ),
  bad(
    "anchor of a function beyond",
    "steeringAnchors[0].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["steeringAnchors", 0, "function"], 2],
  ),
  bad(
    "flow table of a function beyond",
    "flowTables[0].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["flowTables", 0, "function"], 2],
  ),
  bad(
    "table of an entry unknown",
    'flowEntries[0].table = "service": nothing has this name (EINVAL); did you mean "services"? flowTables: rest of it, services, crossing, table of rdma_rx, table of rdma_tx, table of rdma_transport_rx, table of rdma_transport_tx',
    [["flowEntries", 0, "table"], "service"],
  ),
  bad(
    "next table of an entry unknown",
    'flowEntries[0].actions[10].table = "rest": nothing has this name (EINVAL); flowTables: rest of it, services, crossing, table of rdma_rx, table of rdma_tx, table of rdma_transport_rx, table of rdma_transport_tx',
    [["flowEntries", 0, "actions", 10, "table"], "rest"],
  ),
  bad(
    "anchor of an entry unknown",
    'flowEntries[0].actions[11].anchor = "late": nothing has this name (EINVAL); did you mean "later"? steeringAnchors: later',
    [["flowEntries", 0, "actions", 11, "anchor"], "late"],
  ),
  bad(
    "TIR of an entry unknown",
    'flowEntries[0].actions[9].tir = "to-rst": nothing has this name (EINVAL); did you mean "to-rest"? tirs: to-rest, rss',
    [["flowEntries", 0, "actions", 9, "tir"], "to-rst"],
  ),
  bad(
    "counter of an entry unknown",
    'flowEntries[0].actions[5].count = "hit": nothing has this name (EINVAL); did you mean "hits"? counters: hits, bulk',
    [["flowEntries", 0, "actions", 5, "count"], "hit"],
  ),
  bad(
    "miss table unknown",
    'flowTables[1].table_miss = "rest of": nothing has this name (EINVAL); flowTables: rest of it, services, crossing, table of rdma_rx, table of rdma_tx, table of rdma_transport_rx, table of rdma_transport_tx',
    [["flowTables", 1, "table_miss"], "rest of"],
  ),
  bad(
    "miss table further down",
    'flowTables[0].table_miss = "services": nothing has this name (EINVAL); list the table where frames go on before those that miss to it',
    [["flowTables", 0, "table_miss"], "services"],
  ),
  bad(
    "miss table that is the table itself",
    'flowTables[1].table_miss = "services": nothing has this name (EINVAL); list the table where frames go on before those that miss to it',
    [["flowTables", 1, "table_miss"], "services"],
  ),
  bad(
    "encapsulation of a tag",
    "flowEntries[0].actions[3].packet_reformat § it goes beside a destination; an entry has reformat",
    [["flowEntries", 0, "actions", 3], { tag: 5, packet_reformat: { type: "l2_to_l2_tunnel", data: "00" } }],
  ),
  bad(
    "entry with the name of a rule",
    'flowEntries[0].name = "https": two objects have the same name (EINVAL); names of rules, flows, flowEntries, deviceFlows and hostRules are unique together; rename one of the two',
    [["flowEntries", 0, "name"], "https"],
  ),
  bad(
    "device flow with the name of an entry",
    'deviceFlows[0].name = "entry": two objects have the same name (EINVAL); names of rules, flows, flowEntries, deviceFlows and hostRules are unique together; rename one of the two',
    [["deviceFlows", 0, "name"], "entry"],
  ),
  bad("transport table without a port", 'deviceFlows[0].ft_type = "rdma_transport_rx" § it goes with ib_port', [
    ["deviceFlows", 0, "ib_port"],
  ]),
  bad(
    "port of a table that has none",
    "deviceFlows[3].ib_port = 1 § it goes with rdma_transport_rx and rdma_transport_tx",
    [["deviceFlows", 3, "ib_port"], 1],
  ),
];
