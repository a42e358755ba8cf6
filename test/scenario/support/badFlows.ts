/** Documents with bad flows, and what is said of each. */
import { bad, type BadDocument } from "./badDocument.js";

const SPEC_KEYS =
  '"eth", "ipv4", "ipv4_ext", "ipv6", "esp", "tcp", "udp", "gre", "mpls", "vxlan_tunnel", "tag", "drop", "count" or "action"';

/** JSON Schema refuses these too. */
export const BAD_FLOW_SHAPES: readonly BadDocument[] = [
  bad(
    "flow on no queue",
    'flows[0] § the key "queue" is missing: The queue that it is made on, on the function of the queue: it delivers there, or nowhere with drop or egress. (found { name, description, type, port, specs })',
    [["flows", 0, "queue"]],
  ),
  bad(
    "flow type unknown",
    'flows[0].type = "snifer" § did you mean "sniffer"? one of "normal", "all_default", "mc_default", "sniffer"',
    [["flows", 0, "type"], "snifer"],
  ),
  bad(
    "flow flag unknown",
    'flows[1].flags[0] = "dont-trap" § did you mean "dont_trap"? one of "allow_loop_back", "dont_trap", "egress"',
    [["flows", 1, "flags", 0], "dont-trap"],
  ),
  bad("flow flag as a number", "flows[1].flags = 2 § a list: [ ... ]", [["flows", 1, "flags"], 2]),
  bad("flow priority too large", "flows[1].priority = 65536 § a whole number, 0 to 65535", [
    ["flows", 1, "priority"],
    65536,
  ]),
  bad("spec of two types", `flows[1].specs[2] § it takes only one of ${SPEC_KEYS} (found { tcp, udp })`, [
    ["flows", 1, "specs", 2],
    { tcp: {}, udp: {} },
  ]),
  bad("spec of a type and an action", `flows[1].specs[2] § it takes only one of ${SPEC_KEYS} (found { tcp, drop })`, [
    ["flows", 1, "specs", 2],
    { tcp: {}, drop: true },
  ]),
  bad("spec of no type", `flows[1].specs[2] § it needs ${SPEC_KEYS} (found { inner })`, [
    ["flows", 1, "specs", 2],
    { inner: true },
  ]),
  bad(
    "spec type unknown",
    'flows[1].specs[2].tpc § no such key here; did you mean "tcp"? keys: eth, ipv4, ipv4_ext, ipv6, esp, tcp, udp, gre, mpls, vxlan_tunnel, inner, tag, drop, count, action',
    [["flows", 1, "specs", 2], { tpc: {} }],
  ),
  bad("spec misspelt", 'flows[3].specs[2] = "dorp" § did you mean "drop"? one of "drop"', [
    ["flows", 3, "specs", 2],
    "dorp",
  ]),
  bad("spec that does not drop", "flows[2].specs[4].drop = false § it is true", [
    ["flows", 2, "specs", 4, "drop"],
    false,
  ]),
  bad("inner as a number", "flows[2].specs[3].inner = 1 § true or false", [["flows", 2, "specs", 3, "inner"], 1]),
  bad("field of another header", "flows[1].specs[1].ipv4.dst_port § no such key here; keys: src_ip, dst_ip", [
    ["flows", 1, "specs", 1, "ipv4", "dst_port"],
    80,
  ]),
  bad(
    "field of true",
    'flows[1].specs[2].tcp.dst_port = true § text in double quotes, not empty, such as "10.0.0.0/8"; or a whole number, 0 to 4294967295',
    [["flows", 1, "specs", 2, "tcp", "dst_port"], true],
  ),
  bad("tag of a flow of 25 bits", "flows[0].specs[0].tag = 16777216 § a whole number, 0 to 16777215", [
    ["flows", 0, "specs", 0, "tag"],
    2 ** 24,
  ]),
  bad(
    "counter point of nothing",
    'flowCounters[0].points[0] § the key "counts" is missing: What is counted there; points of one index add up. (found { index })',
    [["flowCounters", 0, "points", 0, "counts"]],
  ),
  bad(
    "counter point of frames",
    'flowCounters[0].points[0].counts = "packet" § did you mean "packets"? one of "packets", "bytes"',
    [["flowCounters", 0, "points", 0, "counts"], "packet"],
  ),
  bad("application unknown", 'hostRules[0].application = "tcp" § did you mean "tc"? one of "ethtool", "tc", "nic"', [
    ["hostRules", 0, "application"],
    "tcp",
  ]),
  bad(
    "host rule without an action",
    'hostRules[1] § the key "action" is missing: Drops the frame, or delivers it to a queue of the host. (found { application, function, match })',
    [["hostRules", 1, "action"]],
  ),
  bad("host queue by name", 'hostRules[0].action.queue = "web" § a whole number, 0 to 65535', [
    ["hostRules", 0, "action", "queue"],
    "web",
  ]),
  bad("flow counter as an object", "expect.flowCounters.addresses § a list: [ ... ] (found { packets })", [
    ["expect", "flowCounters", "addresses"],
    { packets: 1 },
  ]),
];

/** JSON Schema cannot tell that these are wrong. */
export const BAD_FLOW_NAMES: readonly BadDocument[] = [
  bad(
    "queue of a flow unknown",
    'flows[0].queue = "rst": nothing has this name (EINVAL); did you mean "rest"? queues: web, rest, guest, wq-1, wq-2, spreading, asker, server',
    [["flows", 0, "queue"], "rst"],
  ),
  bad(
    "flow counter unknown",
    'flows[1].specs[4].count = "hits": nothing has this name (EINVAL); flowCounters: addresses',
    [["flows", 1, "specs", 4, "count"], "hits"],
  ),
  bad(
    "flow with the name of a rule",
    'flows[0].name = "tcp": two objects have the same name (EINVAL); names of rules, flows, flowEntries, deviceFlows and hostRules are unique together; rename one of the two',
    [["flows", 0, "name"], "tcp"],
  ),
  bad(
    "flow with the name of one without",
    'flows[2].name = "flow 3": two objects have the same name (EINVAL); names of rules, flows, flowEntries, deviceFlows and hostRules are unique together; rename one of the two',
    [["flows", 0, "name"], "flow 3"],
  ),
  bad(
    "host rule with the name of a flow",
    'hostRules[0].name = "tap": two objects have the same name (EINVAL); names of rules, flows, flowEntries, deviceFlows and hostRules are unique together; rename one of the two',
    [["hostRules", 0, "name"], "tap"],
  ),
  bad(
    "flow counter twice",
    'flowCounters[1].name = "addresses": two objects have the same name (EINVAL); names of flowCounters are unique; rename one of the two',
    [["flowCounters", 1], { name: "addresses" }],
  ),
  bad(
    "flow on a port beyond",
    "flows[0].port = 3: outside the range that the field can hold (EINVAL); device.ports is 2",
    [["flows", 0, "port"], 3],
  ),
  bad(
    "host rule on a port beyond",
    "hostRules[0].port = 3: outside the range that the field can hold (EINVAL); device.ports is 2",
    [["hostRules", 0, "port"], 3],
  ),
  bad(
    "flow counter expected unknown",
    'expect.flowCounters.adresses = "adresses": nothing has this name (EINVAL); did you mean "addresses"? flowCounters: addresses',
    [["expect", "flowCounters"], { adresses: [] }],
  ),
];
