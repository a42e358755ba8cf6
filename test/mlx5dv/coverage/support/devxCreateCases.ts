/** Cases for mlx5dv_devx_obj_create, object by object: effects of the created objects on frames. */
import * as dv from "../../../../src/mlx5dv/index.js";
import * as v from "../../../../src/verbs/index.js";
import { DROPS, FDB, inTable, NIC_RX, NIC_TX } from "../../support/createFlow.js";
import { created } from "../../support/devx.js";
import { ASO, creates, runs } from "./devx.js";
import { deviceFlow, DROP_ENTRY, entryOf, flowEntry, flowTable, INTO, leads, tirOf } from "./flows.js";
import {
  changed,
  encapsulated,
  FRAME,
  GRE_DATA,
  GRE_L3,
  GRE_L3_DATA,
  INNER,
  joined,
  OTHER,
  tagged,
  VXLAN,
} from "./frames.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

const ALLOW = dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW;
const FORWARD = dv.MLX5_FLOW_CONTEXT_ACTION_FWD_DEST;
const COUNT = dv.MLX5_FLOW_CONTEXT_ACTION_COUNT;
const { FS_FT_NIC_RX: RX, FS_FT_NIC_TX: TX, FS_FT_FDB: ESW } = dv;
const TO_TABLE = dv.MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE;
const TO_TIR = dv.MLX5_FLOW_DESTINATION_TYPE_TIR;
const TO_VPORT = dv.MLX5_FLOW_DESTINATION_TYPE_VPORT;
const UPLINK = dv.MLX5_FLOW_DESTINATION_TYPE_UPLINK;
const TO_FRAME = dv.matchParameters({ "outer.dmac": "02:00:00:00:00:01" }, { root: true });

/** A flow table that all frames of a direction enter. */
function entered(p: Probe, type: number, fields: dv.FlowTableFields = {}): ReturnType<typeof flowTable> {
  const table = flowTable(p, type, fields);
  deviceFlow(p, {}, [INTO(table)], inTable(type === RX ? NIC_RX : type === TX ? NIC_TX : FDB));
  return table;
}

const setDmac = (p: Probe, type: number): number =>
  created(
    p.context(),
    dv.allocModifyHeaderCommand(type, dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 0xabcd }])),
  ).id;
const reformatOf = (p: Probe, type: number, data: Uint8Array): number =>
  created(p.context(), dv.allocPacketReformatCommand(type, data)).id;

const COUNTERS: Readonly<Record<string, Run>> = {
  "flow counter, bulks of counters": (p) => {
    const bulks = [p.counters(), p.counters(2), created(p.context(), dv.allocFlowCounterCommand(0, 1))];
    same(bulks.map(({ size }) => size).join(), "1,4,128", "sizes");
    const table = entered(p, RX);
    const ids = bulks.map(({ id, size }) => id + size - 1);
    flowEntry(p, table, { action: ALLOW | COUNT, flow_counter_ids: ids });
    p.gets(p.received(FRAME), "drop no_destination");
    bulks.forEach((bulk) => p.counts(bulk, 1, 64, bulk.size - 1));
    p.fails("bad_value", creates(p, dv.allocFlowCounterCommand(2, 1)));
    p.fails("bad_value", creates(p, dv.allocFlowCounterCommand(25)));
  },
};

const TABLES: Readonly<Record<string, Run>> = {
  "flow table, which leads on where nothing matches": (p) => {
    const last = flowTable(p, RX, { level: 2 });
    const miss = { table_miss_action: 1, table_miss_id: last.id };
    const first = entered(p, RX, miss);
    p.gets(p.received(FRAME), "drop table_miss");
    flowEntry(p, last, leads(TO_TIR, tirOf(p, "a").id));
    p.gets(p.received(FRAME), "a deliver");
    flowEntry(p, first, DROP_ENTRY);
    p.gets(p.received(FRAME), "drop drop_action");
  },
  "flow table: types, sizes, what is not there": (p) => {
    for (const [cause, type, fields] of [
      ["unsupported", 3, {}],
      ["bad_value", RX, { log_size: 25 }],
      ["unsupported", RX, { table_miss_action: 2 }],
      ["unknown_object", RX, { table_miss_action: 1, table_miss_id: 99 }],
    ] as const) {
      p.fails(cause, creates(p, dv.createFlowTableCommand(type, fields)));
    }
  },
  "flow group: its mask, its range of indexes": (p) => {
    const table = created(p.context(), dv.createFlowTableCommand(RX, { log_size: 2 }));
    const { match_criteria_enable, mask, value } = TO_FRAME;
    const range = { table_type: RX, table_id: table.id, start_flow_index: 0, end_flow_index: 1 };
    const match = { match_criteria_enable, match_criteria: mask.match_buf };
    const group = dv.createFlowGroupCommand({ ...range, ...match });
    created(p.context(), group);
    deviceFlow(p, {}, [INTO(table)]);
    flowEntry(p, table, { ...leads(TO_TIR, tirOf(p, "a").id), match_value: value.match_buf });
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "drop table_miss");
    p.fails("overlap", creates(p, group));
    p.fails(
      "outside_table",
      creates(p, dv.createFlowGroupCommand({ ...range, start_flow_index: 2, end_flow_index: 4 })),
    );
    p.fails("outside_group", creates(p, dv.setFlowTableEntryCommand(entryOf(table, { ...DROP_ENTRY, flow_index: 2 }))));
    const outside = { ...DROP_ENTRY, flow_index: 1, match_value: new Uint8Array(512).fill(1) };
    p.fails("value_outside_mask", creates(p, dv.setFlowTableEntryCommand(entryOf(table, outside))));
  },
};

const ENTRIES: Readonly<Record<string, Run>> = {
  "entry: in the order of indexes": (p) => {
    const table = entered(p, RX);
    flowEntry(p, table, { ...DROP_ENTRY, flow_index: 2 });
    p.gets(p.received(FRAME), "drop drop_action");
    flowEntry(p, table, { ...leads(TO_TIR, tirOf(p, "a").id), flow_index: 1 });
    p.gets(p.received(FRAME), "a deliver");
    p.fails("overlap", creates(p, dv.setFlowTableEntryCommand(entryOf(table, { ...DROP_ENTRY, flow_index: 1 }))));
  },
  "entry: ALLOW in NIC_RX, NIC_TX and FDB": (p) => {
    p.listen("b", 0);
    flowEntry(p, entered(p, TX), { action: ALLOW });
    p.gets(p.sent(FRAME), "b deliver");
    flowEntry(p, entered(p, ESW), { action: ALLOW });
    p.gets(p.received(FRAME), "b deliver");
    flowEntry(p, entered(p, RX), { action: ALLOW });
    p.gets(p.received(FRAME), "drop no_destination");
  },
  "entry: FWD_DEST to a flow table": (p) => {
    const [table, next] = [entered(p, RX), flowTable(p, RX, { level: 2 })];
    flowEntry(p, table, { ...leads(TO_TABLE, next.id), ignore_flow_level: false, flow_tag: 9 });
    flowEntry(p, next, leads(TO_TIR, tirOf(p, "a").id));
    p.gets(p.received(FRAME), "a9 deliver");
    const lower = entryOf(next, { ...leads(TO_TABLE, table.id), ignore_flow_level: false, flow_index: 1 });
    p.fails("bad_actions", creates(p, dv.setFlowTableEntryCommand(lower)));
  },
  "entry: FWD_DEST to vports and the uplink": (p) => {
    p.listen("b", 2);
    const table = entered(p, ESW);
    const vport = flowEntry(p, table, leads(TO_VPORT, 2));
    p.gets(p.received(FRAME), "b deliver");
    dv.mlx5dv_devx_obj_destroy(vport);
    flowEntry(p, table, leads(UPLINK, 0));
    p.gets(p.sent(FRAME, 1), "port:1 transmit");
  },
  "entry: FWD_DEST to several, one encapsulated": (p) => {
    p.listen("b", 1);
    p.listen("c", 2);
    const packet_reformat_id = reformatOf(p, dv.MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL, GRE_DATA);
    const destinations = [
      { destination_type: TO_VPORT, destination_id: 1 },
      { destination_type: TO_VPORT, destination_id: 2, packet_reformat_id },
    ];
    flowEntry(p, entered(p, ESW, { reformat_en: true }), { action: FORWARD, destinations });
    const outcome = p.received(FRAME);
    p.gets(outcome, "b c deliver");
    p.bytes(outcome, FRAME, encapsulated(GRE_DATA, FRAME));
  },
  "entry: VLAN_POP, VLAN_PUSH": (p) => {
    const [pop, push] = [dv.MLX5_FLOW_CONTEXT_ACTION_VLAN_POP, dv.MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH];
    const table = entered(p, RX);
    const to = leads(TO_TIR, tirOf(p, "a").id);
    const entry = flowEntry(p, table, { ...to, action: FORWARD | pop });
    p.bytes(p.received(tagged(FRAME, 0x8100, 5)), FRAME);
    dv.mlx5dv_devx_obj_destroy(entry);
    flowEntry(p, table, { ...to, action: FORWARD | push, push_vlan: 0x88a8_0007 });
    p.bytes(p.received(FRAME), tagged(FRAME, 0x88a8, 7));
  },
  "entry: DECAP": (p) => {
    const to = leads(TO_TIR, tirOf(p, "a").id);
    const action = FORWARD | dv.MLX5_FLOW_CONTEXT_ACTION_DECAP;
    flowEntry(p, entered(p, RX, { decap_en: true }), { ...to, action });
    p.bytes(p.received(VXLAN), INNER);
    const without = dv.setFlowTableEntryCommand(entryOf(flowTable(p), { ...to, action }));
    p.fails("bad_actions", creates(p, without));
  },
};

const HEADERS: Readonly<Record<string, Run>> = {
  "modify header context, for NIC_RX, NIC_TX, FDB": (p) => {
    const action = dv.MLX5_FLOW_CONTEXT_ACTION_MOD_HDR;
    const mended = changed(FRAME, 4, 0xab, 0xcd);
    flowEntry(p, entered(p, TX), { action: ALLOW | action, modify_header_id: setDmac(p, TX) });
    p.bytes(p.sent(FRAME), mended);
    const rx = { ...leads(TO_TIR, tirOf(p, "a").id), action: FORWARD | action, modify_header_id: setDmac(p, RX) };
    flowEntry(p, entered(p, RX), rx);
    p.bytes(p.received(FRAME), mended);
    const esw = { ...leads(UPLINK, 0), action: FORWARD | action, modify_header_id: setDmac(p, ESW) };
    flowEntry(p, entered(p, ESW), esw);
    p.bytes(p.sent(FRAME, 1), mended);
    const other = { ...rx, modify_header_id: setDmac(p, TX), flow_index: 1 };
    p.fails("other_table", creates(p, dv.setFlowTableEntryCommand(entryOf(flowTable(p), other))));
    p.fails("refused", creates(p, dv.allocModifyHeaderCommand(RX, new Uint8Array())));
  },
  "packet reformat context: L2_TO_L2_TUNNEL": (p) => encapsulates(p, 2, GRE_DATA, encapsulated(GRE_DATA, FRAME)),
  "packet reformat context: L2_TO_L3_TUNNEL": (p) =>
    encapsulates(p, 4, GRE_L3_DATA, encapsulated(GRE_L3_DATA, FRAME.subarray(14))),
  "packet reformat context: L3_TUNNEL_TO_L2": (p) => {
    const l2 = FRAME.subarray(0, 14);
    const action = FORWARD | dv.MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT;
    const packet_reformat_id = reformatOf(p, dv.MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2, l2);
    const to = { ...leads(TO_TIR, tirOf(p, "a").id), action, packet_reformat_id };
    flowEntry(p, entered(p, RX, { reformat_en: true }), to);
    p.bytes(p.received(GRE_L3), joined(l2, INNER.subarray(14)));
    p.fails("unsupported", creates(p, dv.allocPacketReformatCommand(5, l2)));
  },
};

function encapsulates(p: Probe, type: number, data: Uint8Array, expected: Uint8Array): void {
  const action = ALLOW | dv.MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT;
  flowEntry(p, entered(p, TX, { reformat_en: true }), { action, packet_reformat_id: reformatOf(p, type, data) });
  p.bytes(p.sent(FRAME), expected);
}

const QUEUES: Readonly<Record<string, Run>> = {
  "TIR to a receive queue": (p) => {
    deviceFlow(p, {}, [INTO(tirOf(p, "a"))]);
    p.gets(p.received(FRAME), "a deliver");
    p.fails("refused", creates(p, dv.createTirCommand({ inline_rqn: 0xffff })));
    p.fails("bad_value", creates(p, dv.createTirCommand({ disp_type: 2 })));
  },
  "TIR that spreads over an RQT": (p) => {
    const numbers = ["a", "b"].map((name) => p.queue(name).qp_num);
    const rqt = created(p.context(), dv.createRqtCommand(numbers));
    const tir = dv.createTirCommand({
      disp_type: dv.MLX5_TIRC_DISP_TYPE_INDIRECT,
      indirect_table: rqt.id,
      rx_hash_fn: dv.MLX5_RX_HASH_FN_INVERTED_XOR8,
      outer_fields: dv.MLX5_RX_HASH_FIELD_SELECT_L4_DPORT,
    });
    deviceFlow(p, {}, [INTO(created(p.context(), tir))]);
    // Ports that differ in one bit of their XOR.
    const names = [FRAME, changed(FRAME, 37, (FRAME[37] ?? 0) ^ 1)].map((frame) => p.received(frame).to[0]?.name);
    same(new Set(names).size, 2, "queues");
    p.gets(p.received(FRAME), names[0] === "qp:a" ? "a deliver" : "b deliver");
    p.fails("unknown_object", creates(p, dv.createTirCommand({ disp_type: 1, indirect_table: rqt.id + 1 })));
  },
  "RQT: a power of two of receive queues": (p) => {
    const { qp_num } = p.queue("a");
    for (const numbers of [[], [qp_num, qp_num, qp_num], [qp_num, 0xffff]]) {
      p.fails("refused", creates(p, dv.createRqtCommand(numbers)));
    }
    const rqt = created(p.context(), dv.createRqtCommand([qp_num]));
    const tir = { disp_type: dv.MLX5_TIRC_DISP_TYPE_INDIRECT, indirect_table: rqt.id };
    deviceFlow(p, {}, [INTO(created(p.context(), dv.createTirCommand(tir)))]);
    p.gets(p.received(FRAME), "a deliver");
  },
};

const OBJECTS: Readonly<Record<string, Run>> = {
  ...Object.fromEntries(
    Object.entries(ASO).map(([name, { type, flags, data, finds }]): [string, Run] => [
      name,
      (p) => {
        const command = dv.createAsoCommand(type, { log_obj_range: 1, data });
        if (p.older) {
          p.fails("unsupported", creates(p, command));
          return;
        }
        const object = created(p.context(), command);
        const frame = runs(p, object, flags);
        for (const C1 of finds) p.registers(frame(), { C1 });
      },
    ]),
  ),
  "a type that does not exist": (p) => p.fails("unknown_object_type", creates(p, dv.createAsoCommand(0x99))),
};

const CALL: Readonly<Record<string, Run>> = {
  "context of ibv_open_device": (p) => {
    const counter = created(v.ibv_open_device(p.device), dv.allocFlowCounterCommand());
    p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), p.toQueue("a")]);
    p.gets(p.received(FRAME), "a deliver");
  },
  lengths: (p) => {
    const make =
      (inlen: number, outlen: number, out = 16) =>
      () =>
        dv.mlx5dv_devx_obj_create(p.context(), dv.allocFlowCounterCommand(), inlen, new Uint8Array(out), outlen);
    for (const [inlen, outlen] of [
      [17, 16],
      [16, 17],
      [1, 16],
      [16, 7],
    ] as const) {
      p.refuses("EINVAL", make(inlen, outlen));
    }
    p.fails("short_input", creates(p, dv.allocFlowCounterCommand().subarray(0, 12)));
    p.fails("short_output", (out) => creates(p, dv.allocFlowCounterCommand())(out.subarray(0, 12)));
  },
  "commands that do not exist, or make nothing": (p) => {
    const unknown = dv.allocFlowCounterCommand();
    unknown[1] = 0xff;
    p.fails("unknown_opcode", creates(p, unknown));
    for (const one of [dv.syncSteeringCommand(), dv.queryFlowCounterCommand(1), dv.deallocFlowCounterCommand(1)]) {
      p.fails("wrong_call", creates(p, one));
    }
  },
  "more than the device has memory for": async (first) => {
    const p = await first.another({ limits: { memory: 65_536 } });
    p.fails("no_memory", creates(p, dv.allocFlowCounterCommand(20)));
    deviceFlow(p, {}, [DROPS]);
    p.gets(p.received(FRAME), "drop drop_action");
  },
};

export const DEVX_CREATE_CASES: readonly Case[] = casesOf("mlx5dv_devx_obj_create", {
  ...COUNTERS,
  ...TABLES,
  ...ENTRIES,
  ...HEADERS,
  ...QUEUES,
  ...OBJECTS,
  ...CALL,
});
