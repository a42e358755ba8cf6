/** Documents with bad actions, domains and functions, and what is said of each. */
import { bad, type BadDocument } from "./badDocument.js";

/** An inline action of the second rule, in place of its tag. */
const PLACE = ["rules", 1, "actions", 0] as const;

/** JSON Schema refuses these too. */
export const BAD_ACTION_SHAPES: readonly BadDocument[] = [
  bad(
    "change of two kinds",
    'rules[1].actions[0].modify[0] § it takes only one of "set", "add" or "copy" (found { set, add, to, by })',
    [PLACE, { modify: [{ set: "outer.dmac", add: "outer.dmac", to: 1, by: 1 }] }],
  ),
  bad("change of no kind", 'rules[1].actions[0].modify[0] § it needs "set", "add" or "copy" (found {})', [
    PLACE,
    { modify: [{}] },
  ]),
  bad("nothing to set", 'rules[1].actions[0].modify[0] § "set" goes with "to", which is missing (found { set })', [
    PLACE,
    { modify: [{ set: "outer.dmac" }] },
  ]),
  bad(
    "addition of text",
    'rules[1].actions[0].modify[0].by = "-1" § a whole number, -4294967295 to 4294967295, such as -1',
    [PLACE, { modify: [{ add: "outer.ip_ttl_hoplimit", by: "-1" }] }],
  ),
  bad(
    "bits of what is set",
    'rules[1].actions[0].modify[0] § "bits" goes with "copy", which is missing (found { set, to, bits })',
    [PLACE, { modify: [{ set: "outer.dmac", to: 1, bits: 3 }] }],
  ),
  bad(
    "copy to nowhere",
    'rules[1].actions[0].modify[0] § "to" goes with "set", which is missing (found { copy, to })',
    [PLACE, { modify: [{ copy: "outer.dmac", to: "outer.smac" }] }],
  ),
  bad("changes as an object", "rules[1].actions[0].modify § a list: [ ... ] (found { set, to })", [
    PLACE,
    { modify: { set: "outer.dmac", to: 1 } },
  ]),
  bad(
    "reformat as C spells it",
    'rules[1].actions[0].reformat.type = "L2_TO_L2_TUNNEL" § did you mean "l2_to_l2_tunnel"? one of "l2_tunnel_to_l2", "l2_to_l2_tunnel", "l3_tunnel_to_l2", "l2_to_l3_tunnel"',
    [PLACE, { reformat: { type: "L2_TO_L2_TUNNEL" } }],
  ),
  bad(
    "reformat of bytes and headers",
    "rules[1].actions[0].reformat § Encapsulation or decapsulation: its type, and data or headers where the type has data. (found { type, data, headers })",
    [PLACE, { reformat: { type: "l2_to_l2_tunnel", data: "00", headers: [] } }],
  ),
  bad(
    "reformat by name",
    'rules[1].actions[0].reformat = "into-tunnel" § Encapsulation or decapsulation: its type, and data or headers where the type has data.',
    [PLACE, { reformat: "into-tunnel" }],
  ),
  bad(
    "header misspelt",
    'rules[1].actions[0].reformat.headers[0].header = "ethrnet" § did you mean "ethernet"? one of "ethernet", "vlan", "loopback", "linux_cooked", "linux_cooked_v2", "arp", "ipv4", "ipv6", "ipv6_hop_by_hop", "ipv6_routing", "ipv6_destination", "ipv6_fragment", "ah", "tcp", "udp", "icmp", "icmpv6", "vxlan", "sctp", "gre", "vxlan_gpe", "geneve", "gtpu", "gtpu_extension", "mpls", "esp", "bth", "macsec", "nsh", "payload", "trailer"',
    [PLACE, { reformat: { type: "l2_to_l2_tunnel", headers: [{ header: "ethrnet" }] } }],
  ),
  bad(
    "header without a name",
    'frames[2].headers[0] § the key "header" is missing: Which header; payload and trailer have bytes; any header can have bytes in place of its fields. (found { destination })',
    [["frames", 2, "headers"], [{ destination: "02:00:00:00:00:03" }]],
  ),
  bad(
    "header field of nothing",
    'frames[2].headers[0].type = null § text in double quotes, such as "10.0.0.1"; or a whole number, 0 to 9007199254740991; or true or false; or a list: [ ... ]',
    [["frames", 2, "headers", 0, "type"], null],
  ),
  bad(
    "member with two destinations",
    'rules[1].actions[0].array[1] § it takes only one of "default_miss", "count", "queue", "tir", "table", "vport", "port" or "action" (found { vport, port })',
    [PLACE, { array: ["default_miss", { vport: 1, port: 1 }] }],
  ),
  bad("member that drops", 'rules[1].actions[0].array[0] = "drop" § one of "default_miss"', [
    PLACE,
    { array: ["drop"] },
  ]),
  bad("vport by another name", 'rules[1].actions[0].vport = "wire" § one of "uplink"', [PLACE, { vport: "wire" }]),
  bad(
    "tag that no device pushes",
    'rules[1].actions[0].push_vlan.tpid = "0x9100" § did you mean "0x8100"? one of "0x8100", "0x88a8"',
    [PLACE, { push_vlan: { tpid: "0x9100", vid: 5 } }],
  ),
  bad("tag of 13 bits", "rules[1].actions[0].push_vlan.vid = 4096 § a whole number, 0 to 4095", [
    PLACE,
    { push_vlan: { vid: 4096 } },
  ]),
  bad(
    "priority without a table",
    'rules[1].actions[0] § "priority" goes with "table", which is missing (found { port, priority })',
    [PLACE, { port: 1, priority: 5 }],
  ),
  bad(
    "shared action of two kinds",
    'actions[0] § it takes only one of "drop", "default_miss", "pop_vlan", "tag", "count", "queue", "tir", "table", "vport", "port", "array", "reformat", "modify", "push_vlan", "aso", "flow_meter" or "flow_sampler" (found { name, drop, pop_vlan })',
    [["actions", 0, "pop_vlan"], true],
  ),
  bad("flow action of nothing", 'flowActions[1] § it needs "modify", "reformat" or "esp" (found { name })', [
    ["flowActions", 1, "reformat"],
  ]),
  bad(
    "settings of nothing",
    'domains[0] § the key "domain" is missing: The domain: nic_rx is what a function receives, nic_tx what it sends, fdb the eSwitch between functions and ports. (found { function, description, reclaim, duplicates, sync })',
    [["domains", 0, "domain"]],
  ),
  bad("function too large", "queues[2].function = 256 § a whole number, 0 to 255", [["queues", 2, "function"], 256]),
  bad(
    "metadata of what comes in",
    'frames[1] § "metadata" goes with "send", which is missing (found { base64, metadata })',
    [["frames", 1, "metadata"], 5],
  ),
  bad("no sync", "frames[2].sync = false § it is true", [["frames", 2, "sync"], false]),
  bad(
    "register unknown",
    'expect.frames[0].registers.C8 § no such key here; did you mean "C0"? keys: C0, C1, C2, C3, C4, C5, C6, C7, A, B',
    [["expect", "frames", 0, "registers"], { C8: 1 }],
  ),
  bad(
    "register by another name",
    'expect.frames[0].registers.c0 § no such key here; did you mean "C0"? keys: C0, C1, C2, C3, C4, C5, C6, C7, A, B',
    [["expect", "frames", 0, "registers"], { c0: 1 }],
  ),
  bad(
    "frame as a number",
    'expect.frames[0].toFrames[0] = 1 § text in double quotes, such as "020000000001"; or a list: [ ... ]; or an object; or null',
    [["expect", "frames", 0, "toFrames"], [1]],
  ),
];

/** JSON Schema cannot tell that these are wrong. */
export const BAD_ACTION_NAMES: readonly BadDocument[] = [
  bad(
    "queue of a function beyond",
    "queues[2].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["queues", 2, "function"], 2],
  ),
  bad(
    "table of a function beyond",
    "tables[3].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["tables", 3, "function"], 2],
  ),
  bad(
    "host rule of a function beyond",
    "hostRules[1].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["hostRules", 1, "function"], 2],
  ),
  bad(
    "domain of a function beyond",
    "domains[1].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["domains", 1, "function"], 2],
  ),
  bad(
    "domain twice",
    'domains[1] = "nic_rx": two objects have the same name (EINVAL); say all settings of a domain in one place',
    [["domains", 1, "function"], 0],
  ),
  bad(
    "counter of a member unknown",
    'rules[1].actions[0].array[1].count = "hit": nothing has this name (EINVAL); did you mean "hits"? counters: hits, bulk',
    [PLACE, { array: ["default_miss", { count: "hit" }] }],
  ),
  bad(
    "reformat of a member unknown",
    'rules[1].actions[0].array[0].reformat = "in-tunnel": nothing has this name (EINVAL); did you mean "into-tunnel"? actions: discard, leave, mark, number, to-web, to-l4, into-tunnel, out-of-tunnel, change, replicate, untag, service, ... (28)',
    [PLACE, { array: [{ port: 1, reformat: "in-tunnel" }, { port: 2 }] }],
  ),
  bad(
    "member of a shared array unknown",
    'actions[9].array[0].action = "to-vff": nothing has this name (EINVAL); did you mean "to-vf"? actions: discard, leave, mark, number, to-web, to-l4, into-tunnel, out-of-tunnel, change, replicate, untag, service, ... (28)',
    [["actions", 9, "array", 0], { action: "to-vff" }],
  ),
  bad(
    "flow action unknown",
    'flows[5].specs[1].action = "leave-tunel": nothing has this name (EINVAL); did you mean "leave-tunnel"? flowActions: rewrite, leave-tunnel, enter, enter-bytes, seal, open, open IPv6, open in place',
    [["flows", 5, "specs", 1, "action"], "leave-tunel"],
  ),
  bad(
    "flow action twice",
    'flowActions[1].name = "rewrite": two objects have the same name (EINVAL); names of flowActions are unique; rename one of the two',
    [["flowActions", 1, "name"], "rewrite"],
  ),
  bad(
    "queue of the host of a function",
    'expect.frames[0].to[0] = "host:4": nothing has this name (EINVAL); did you mean "host:3"? destinations: qp:web, qp:rest, qp:guest, wq:wq-1, wq:wq-2, qp:spreading, qp:asker, qp:server, host:3, vf1/host:4, port:1, port:2',
    [["hostRules", 1, "action"], { queue: 4 }],
    [["expect", "frames", 0, "to", 0], "host:4"],
  ),
  bad(
    "field of a header unknown",
    'frames[2].headers[0].dest = "02:00:00:00:00:03": no field has this name (EINVAL); fields of ethernet: destination, source, type, syndrome, content, carried',
    [["frames", 2, "headers", 0, "dest"], "02:00:00:00:00:03"],
  ),
  bad("number of a header as text", "frames[2].headers[1].ttl § it must be a number, not string", [
    ["frames", 2, "headers"],
    [{ header: "ethernet" }, { header: "ipv4", ttl: "64" }],
  ]),
  bad(
    "address of a header",
    'frames[2].headers[1].source = "10.0.0": not an address of this kind (EINVAL); an IPv4 address',
    [
      ["frames", 2, "headers"],
      [{ header: "ethernet" }, { header: "ipv4", source: "10.0.0" }],
    ],
  ),
  bad(
    "header behind another one",
    "frames[2].headers[0].protocol: a value that was left out cannot be derived from the other headers (EINVAL); no number says that arp follows ipv4: give frames[2].headers[0].protocol, or give what follows as a payload",
    [
      ["frames", 2, "headers"],
      [{ header: "ipv4" }, { header: "arp" }],
    ],
  ),
];
