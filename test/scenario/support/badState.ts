/** Documents with bad meters, ASO objects, samplers, spreading queues, changes and times, and what is said of each. */
import { bad, type BadDocument } from "./badDocument.js";

/** An inline action of the second rule, in place of its tag. */
const PLACE = ["rules", 1, "actions", 0] as const;
const BEFORE = ["frames", 2, "before", 0] as const;
const SAMPLER = { sample_ratio: 2, default_next_table: "far" };

/** JSON Schema refuses these too. */
export const BAD_STATE_SHAPES: readonly BadDocument[] = [
  bad(
    "objects of two kinds",
    'asoObjects[0] § it takes only one of "first_hit", "flow_meter" or "conn_track" (found { name, description, function, log_obj_range, first_hit, flow_meter })',
    [["asoObjects", 0, "flow_meter"], {}],
  ),
  bad(
    "objects of no kind",
    'asoObjects[0] § it needs "first_hit", "flow_meter" or "conn_track" (found { name, description, function, log_obj_range })',
    [["asoObjects", 0, "first_hit"]],
  ),
  bad("flag beyond", "asoObjects[0].first_hit[0] = 512 § a whole number, 0 to 511", [
    ["asoObjects", 0, "first_hit", 0],
    512,
  ]),
  bad("rate below nothing", "asoObjects[1].flow_meter.cir = -1 § a whole number, 0 to 9007199254740991", [
    ["asoObjects", 1, "flow_meter", "cir"],
    -1,
  ]),
  bad(
    "rate as text",
    'asoObjects[1].flow_meter.cir = "1M" § a whole number, 0 to 9007199254740991; or an object with mantissa, exponent',
    [["asoObjects", 1, "flow_meter", "cir"], "1M"],
  ),
  bad(
    "mantissa alone",
    'asoObjects[1].flow_meter.cir § the key "exponent" is missing: Five bits. (found { mantissa })',
    [["asoObjects", 1, "flow_meter", "cir"], { mantissa: 1 }],
  ),
  bad("mantissa of nine bits", "asoObjects[1].flow_meter.cir.mantissa = 256 § a whole number, 0 to 255", [
    ["asoObjects", 1, "flow_meter", "cir", "mantissa"],
    256,
  ]),
  bad(
    "colour misspelt",
    'asoObjects[1].flow_meter.start_color = "gren" § did you mean "green"? one of "red", "yellow", "green", "undefined"',
    [["asoObjects", 1, "flow_meter", "start_color"], "gren"],
  ),
  bad(
    "mode as C spells it",
    'asoObjects[1].flow_meter.meter_mode = "PKT" § did you mean "pkt"? one of "ip_len", "l2_len", "l2_ipg_len", "pkt"',
    [["asoObjects", 1, "flow_meter", "meter_mode"], "PKT"],
  ),
  bad(
    "state of a connection",
    'asoObjects[2].conn_track.state = "closed" § one of "syn_received", "established", "fin_wait", "close_wait", "last_ack", "time_wait"',
    [["asoObjects", 2, "conn_track", "state"], "closed"],
  ),
  bad(
    "side of a connection",
    'asoObjects[2].conn_track.originl § no such key here; did you mean "original"? keys: last_end, last_ack, last_seq, last_win, last_dir, valid, freeze_track, connection_assured, sack_permitted, challenged_acked, heartbeat, max_ack_window, retransmission_counter, limit_exceeded, retransmission_limit, state, last_index, original, reply',
    [["asoObjects", 2, "conn_track", "originl"], {}],
  ),
  bad("scale of five bits", "asoObjects[2].conn_track.reply.scale = 16 § a whole number, 0 to 15", [
    ["asoObjects", 2, "conn_track", "reply", "scale"],
    16,
  ]),
  bad(
    "ASO action without a register",
    'rules[1].actions[0].aso § the key "return_reg_c" is missing: The register C that receives the flag (0, 1), the colour (red 0, yellow 1, green 2) or the syndrome: 1, 3 or 5. (found { object })',
    [PLACE, { aso: { object: "flags" } }],
  ),
  bad(
    "ASO flags as C spells them",
    'rules[1].actions[0].aso.flags = "FIRST_HIT_SET" § did you mean "first_hit_set"? one of "first_hit_set", "flow_meter_red", "flow_meter_yellow", "flow_meter_green", "flow_meter_undefined", "ct_direction_initiator", "ct_direction_responder"',
    [PLACE, { aso: { object: "flags", flags: "FIRST_HIT_SET", return_reg_c: 1 } }],
  ),
  bad(
    "flow meter without a table",
    'rules[1].actions[0].flow_meter § the key "next_table" is missing: The next table: not a root table, and of a higher level than the rule\'s. (found { reg_c_index })',
    [PLACE, { flow_meter: { reg_c_index: 0 } }],
  ),
  bad("sampler of none", "rules[1].actions[0].flow_sampler.sample_ratio = 0 § a whole number, 1 to 4294967295", [
    PLACE,
    { flow_sampler: { ...SAMPLER, sample_ratio: 0, sample_actions: [] } },
  ]),
  bad("sample that drops", 'rules[1].actions[0].flow_sampler.sample_actions[0] = "drop" § one of "default_miss"', [
    PLACE,
    { flow_sampler: { ...SAMPLER, sample_actions: ["drop"] } },
  ]),
  bad(
    "sample to a table",
    "rules[1].actions[0].flow_sampler.sample_actions[0].table § no such key here; keys: default_miss, tag, count, queue, tir, vport, port, offset, action",
    [PLACE, { flow_sampler: { ...SAMPLER, sample_actions: [{ table: "far" }] } }],
  ),
  bad(
    "sample of two actions",
    'rules[1].actions[0].flow_sampler.sample_actions[0] § it takes only one of "default_miss", "tag", "count", "queue", "tir", "vport", "port" or "action" (found { tag, queue })',
    [PLACE, { flow_sampler: { ...SAMPLER, sample_actions: [{ tag: 1, queue: "web" }] } }],
  ),
  bad(
    "offset without a counter",
    'rules[1].actions[0] § "offset" goes with "count", which is missing (found { queue, offset })',
    [PLACE, { queue: "web", offset: 1 }],
  ),
  bad(
    "modification of nothing",
    'rules[1].actions[0] § "modify_aso" goes with "action", which is missing (found { tag, modify_aso })',
    [PLACE, { tag: 1, modify_aso: { return_reg_c: 1 } }],
  ),
  bad(
    "change of nothing",
    'frames[2].before[0] § it needs "modify_flow_meter", "modify_aso_object" and "first_hit", "modify_aso_object" and "flow_meter" or "modify_aso_object" and "conn_track" (found {})',
    [BEFORE, {}],
  ),
  bad(
    "change of two things",
    'frames[2].before[0] § it takes only one of "modify_flow_meter", "modify_aso_object" and "first_hit", "modify_aso_object" and "flow_meter" or "modify_aso_object" and "conn_track" (found { modify_flow_meter, modify_aso_object, first_hit })',
    [BEFORE, { modify_flow_meter: "police", modify_aso_object: "flags", first_hit: [] }],
  ),
  bad(
    "change of an object to nothing",
    'frames[2].before[0] § it needs "modify_flow_meter", "modify_aso_object" and "first_hit", "modify_aso_object" and "flow_meter" or "modify_aso_object" and "conn_track" (found { modify_aso_object })',
    [BEFORE, { modify_aso_object: "flags" }],
  ),
  bad(
    "change of a meter to flags",
    'frames[2].before[0] § "first_hit" goes with "modify_aso_object", which is missing (found { modify_flow_meter, first_hit })',
    [BEFORE, { modify_flow_meter: "police", first_hit: [] }],
  ),
  bad("time as text", 'frames[2].time = "1 s" § a whole number, 0 to 9007199254740991', [["frames", 2, "time"], "1 s"]),
  bad("time before the first", "frames[2].time = -1 § a whole number, 0 to 9007199254740991", [
    ["frames", 2, "time"],
    -1,
  ]),
  bad(
    "table of queues without a hash",
    'queues[5] § "rwq_ind_tbl" goes with "rx_hash_conf", which is missing (found { name, rwq_ind_tbl })',
    [["queues", 5, "rx_hash_conf"]],
  ),
  bad(
    "hash field misspelt",
    'queues[5].rx_hash_conf.rx_hash_fields_mask[0] = "src_ip4" § did you mean "src_ipv4"? one of "src_ipv4", "dst_ipv4", "src_ipv6", "dst_ipv6", "src_port_tcp", "dst_port_tcp", "src_port_udp", "dst_port_udp", "ipsec_spi", "inner"',
    [["queues", 5, "rx_hash_conf", "rx_hash_fields_mask", 0], "src_ip4"],
  ),
  bad(
    "TIR of two targets",
    'tirs[0] § it takes only one of "queue" or "rqt" (found { name, description, queue, rqt })',
    [["tirs", 0, "rqt"], "pair"],
  ),
  bad("TIR of nothing", 'tirs[0] § it needs "queue" or "rqt" (found { name, description })', [["tirs", 0, "queue"]]),
  bad(
    "hash of one queue",
    'tirs[0] § "rx_hash_fn" goes with "rqt", which is missing (found { name, description, queue, rx_hash_fn })',
    [["tirs", 0, "rx_hash_fn"], "toeplitz"],
  ),
  bad(
    "field of a TIR",
    'tirs[1].rx_hash_field_selector_outer.selected_fields[0] = "l4_src" § one of "src_ip", "dst_ip", "l4_sport", "l4_dport", "ipsec_spi"',
    [["tirs", 1, "rx_hash_field_selector_outer", "selected_fields", 0], "l4_src"],
  ),
  bad("bulk too large", "counters[1].flow_counter_bulk_log_size = 25 § a whole number, 0 to 24", [
    ["counters", 1, "flow_counter_bulk_log_size"],
    25,
  ]),
  bad(
    "expected objects of two kinds",
    'expect.asoObjects.flags § it takes only one of "first_hit", "flow_meter" or "conn_track" (found { first_hit, conn_track })',
    [["expect", "asoObjects", "flags", "conn_track"], []],
  ),
  bad("counter expected as a number", "expect.counters.hits = 1 § an object with packets, bytes; or a list: [ ... ]", [
    ["expect", "counters", "hits"],
    1,
  ]),
];

/** JSON Schema cannot tell that these are wrong. */
export const BAD_STATE_NAMES: readonly BadDocument[] = [
  bad(
    "ASO object unknown",
    'rules[1].actions[0].aso.object = "flag": nothing has this name (EINVAL); did you mean "flags"? asoObjects: flags, meters, connections',
    [PLACE, { aso: { object: "flag", return_reg_c: 1 } }],
  ),
  bad(
    "next table unknown",
    'rules[1].actions[0].flow_meter.next_table = "fr": nothing has this name (EINVAL); did you mean "far"? tables: root, l4, rewriting, beyond, remembering, far, fdb-far',
    [PLACE, { flow_meter: { next_table: "fr", reg_c_index: 0 } }],
  ),
  bad(
    "default table unknown",
    'rules[1].actions[0].flow_sampler.default_next_table = "fr": nothing has this name (EINVAL); did you mean "far"? tables: root, l4, rewriting, beyond, remembering, far, fdb-far',
    [PLACE, { flow_sampler: { ...SAMPLER, default_next_table: "fr", sample_actions: [] } }],
  ),
  bad(
    "counter of a sample unknown",
    'rules[1].actions[0].flow_sampler.sample_actions[0].count = "bulc": nothing has this name (EINVAL); did you mean "bulk"? counters: hits, bulk',
    [PLACE, { flow_sampler: { ...SAMPLER, sample_actions: [{ count: "bulc" }] } }],
  ),
  bad(
    "TIR unknown",
    'rules[1].actions[0].tir = "rs": nothing has this name (EINVAL); did you mean "rss"? tirs: to-rest, rss',
    [PLACE, { tir: "rs" }],
  ),
  bad(
    "rule that leads to a work queue",
    'rules[1].actions[0].queue = "wq-1": the object is not of the kind that the call takes (EINVAL); frames reach a work queue by a TIR or an indirection table',
    [PLACE, { queue: "wq-1" }],
  ),
  bad(
    "flow on a work queue",
    'flows[0].queue = "wq-1": the object is not of the kind that the call takes (EINVAL); frames reach a work queue by a TIR or an indirection table',
    [["flows", 0, "queue"], "wq-1"],
  ),
  bad(
    "frame sent by a work queue",
    'frames[2].send = "wq-1": the object is not of the kind that the call takes (EINVAL); frames reach a work queue by a TIR or an indirection table',
    [["frames", 2, "send"], "wq-1"],
  ),
  bad(
    "frame sent by a table",
    'frames[2].send = "spreading": the object is not of the kind that the call takes (EINVAL); a queue with rwq_ind_tbl only receives',
    [["frames", 2, "send"], "spreading"],
  ),
  bad(
    "queue pair in a table of work queues",
    'indirectionTables[0].ind_tbl[0] = "web": the object is not of the kind that the call takes (EINVAL); a queue of type wq',
    [["indirectionTables", 0, "ind_tbl", 0], "web"],
  ),
  bad(
    "queue of an RQT unknown",
    'rqts[0].queues[0] = "rst": nothing has this name (EINVAL); did you mean "rest"? queues: web, rest, guest, wq-1, wq-2, spreading, asker, server',
    [["rqts", 0, "queues", 0], "rst"],
  ),
  bad("RQT unknown", 'tirs[1].rqt = "pear": nothing has this name (EINVAL); did you mean "pair"? rqts: pair', [
    ["tirs", 1, "rqt"],
    "pear",
  ]),
  bad(
    "queue of a TIR unknown",
    'tirs[0].queue = "rst": nothing has this name (EINVAL); did you mean "rest"? queues: web, rest, guest, wq-1, wq-2, spreading, asker, server',
    [["tirs", 0, "queue"], "rst"],
  ),
  bad(
    "indirection table unknown",
    'queues[5].rwq_ind_tbl = "tow": nothing has this name (EINVAL); did you mean "two"? indirectionTables: two',
    [["queues", 5, "rwq_ind_tbl"], "tow"],
  ),
  bad(
    "work queue in a state of queue pairs",
    'queues[3].state = "rts": the queue pair is not in a state that allows this (EINVAL); a queue of type wq has reset, rdy, err',
    [["queues", 3, "state"], "rts"],
  ),
  bad(
    "queue pair in a state of work queues",
    'queues[0].state = "rdy": the queue pair is not in a state that allows this (EINVAL); a queue of type raw_packet has reset, init, rtr, rts, err',
    [["queues", 0, "state"], "rdy"],
  ),
  bad(
    "buffers of a table",
    "queues[5].buffers = 1 § a queue with rwq_ind_tbl has no buffers: those of its table have",
    [["queues", 5, "buffers"], 1],
  ),
  bad(
    "modification of what is no ASO action",
    'rules[1].actions[0].action = "mark": the object is not of the kind that the call takes (EINVAL); an action with aso',
    [PLACE, { action: "mark", modify_aso: { return_reg_c: 1 } }],
  ),
  bad(
    "domain of a function beyond that is linked",
    "rules[1].actions[0].aso.peer_dmn.function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [PLACE, { aso: { object: "connections", return_reg_c: 1, peer_dmn: { domain: "nic_rx", function: 2 } } }],
  ),
  bad(
    "objects of a function beyond",
    "asoObjects[0].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["asoObjects", 0, "function"], 2],
  ),
  bad(
    "counter of a function beyond",
    "counters[1].function = 2: outside the range that the field can hold (EINVAL); device.vports is 1",
    [["counters", 1, "function"], 2],
  ),
  bad(
    "change of a meter unknown",
    'frames[2].before[0].modify_flow_meter = "polis": nothing has this name (EINVAL); did you mean "police"? actions: discard, leave, mark, number, to-web, to-l4, into-tunnel, out-of-tunnel, change, replicate, untag, service, ... (28)',
    [BEFORE, { modify_flow_meter: "polis", active: true }],
  ),
  bad(
    "change of what is no meter",
    'frames[2].before[0].modify_flow_meter = "mark": the object is not of the kind that the call takes (EINVAL); an action with flow_meter',
    [BEFORE, { modify_flow_meter: "mark", active: true }],
  ),
  bad(
    "change of objects unknown",
    'frames[2].before[0].modify_aso_object = "flag": nothing has this name (EINVAL); did you mean "flags"? asoObjects: flags, meters, connections',
    [BEFORE, { modify_aso_object: "flag", first_hit: [] }],
  ),
  bad(
    "change of objects of another kind",
    'frames[2].before[0].conn_track = "flags": the object is not of the kind that the call takes (EINVAL); it has first_hit',
    [BEFORE, { modify_aso_object: "flags", conn_track: {} }],
  ),
  bad(
    "change of an object beyond",
    "frames[2].before[0].index = 2: outside the range that the field can hold (EINVAL); log_obj_range is 1",
    [BEFORE, { modify_aso_object: "flags", index: 2, first_hit: [] }],
  ),
  bad(
    "expected objects of another kind",
    'expect.asoObjects.flags.conn_track = "flags": the object is not of the kind that the call takes (EINVAL); it has first_hit',
    [["expect", "asoObjects", "flags"], { conn_track: [] }],
  ),
  bad(
    "expected objects unknown",
    'expect.asoObjects.flag = "flag": nothing has this name (EINVAL); did you mean "flags"? asoObjects: flags, meters, connections',
    [["expect", "asoObjects", "flag"], { first_hit: [] }],
  ),
  bad(
    "objects twice",
    'asoObjects[1].name = "flags": two objects have the same name (EINVAL); names of asoObjects are unique; rename one of the two',
    [["asoObjects", 1, "name"], "flags"],
  ),
  bad(
    "queue that is expected as another kind",
    'expect.frames[0].to[0] = "qp:wq-1": nothing has this name (EINVAL); did you mean "wq:wq-1"? destinations: qp:web, qp:rest, qp:guest, wq:wq-1, wq:wq-2, qp:spreading, qp:asker, qp:server, host:3, port:1, port:2',
    [["expect", "frames", 0, "to", 0], "qp:wq-1"],
  ),
];
