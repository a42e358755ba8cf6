/** Device commands of random bytes and lengths: answered or refused, without leaking memory. */
import { expect, test } from "vitest";
import { SteeringError } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { COMMANDS } from "../../../src/model/devx/commands.js";
import { created, openCommands, TableBench } from "../support/devx.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const ROUNDS = rounds(6000);

test("random bytes and cut lengths are refused in order, and nothing is lost", async () => {
  const random = new Random(seedFor("device commands"));
  const { context, device } = await openCommands({ vports: 2, limits: { memory: 4_000_000 } });
  const table = new TableBench(context, dv.FS_FT_NIC_RX, { reformat_en: true, decap_en: true });
  const transport = new TableBench(context, dv.FS_FT_RDMA_TRANSPORT_RX);
  const counter = created(context, dv.allocFlowCounterCommand(2));
  // Objects in use stay, whatever a command contains.
  for (const one of [counter, ...table.table.groups, ...transport.table.groups]) one.users++;
  const actions = dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 1 }]);
  const group = { table_type: 0, table_id: table.table.id, start_flow_index: 0, end_flow_index: 3 };
  // Valid commands, as input of mutations.
  const good = [
    dv.allocFlowCounterCommand(3),
    dv.queryFlowCounterCommand(counter.id, 4),
    ...[0, 1, 4, 7, 8, 0xd, 0xe].map((type) => dv.createFlowTableCommand(type, { log_size: 2 })),
    dv.queryFlowTableCommand(0, table.table.id),
    dv.createFlowGroupCommand(group),
    table.command({ flow_index: 3, action: 9, flow_counter_ids: [counter.id] }),
    transport.command({ flow_index: 3, action: 9, flow_counter_ids: [counter.id] }),
    ...[0, 7, 0xe].map((type) => dv.allocModifyHeaderCommand(type, actions)),
    dv.allocPacketReformatCommand(3, new Uint8Array(14)),
    ...[0x24, 0x25, 0x31].map((type) => dv.createAsoCommand(type, { log_obj_range: 1 })),
    dv.createFlowMeterCommand({ active: true }),
    dv.deallocFlowCounterCommand(counter.id),
    dv.destroyFlowTableCommand(0, table.table.id),
    dv.destroyFlowGroupCommand(0, table.table.id, table.groupId),
    dv.queryHcaCapCommand(0),
    dv.queryEswVportContextCommand(1),
    dv.syncSteeringCommand(),
  ];
  const used = device.memoryUsed;
  const counts = { answered: 0, refused: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const input = (good[random.below(good.length)] as Uint8Array).slice();
    const changes = random.below(4);
    for (let n = 0; n < changes; n++) input[random.below(Math.min(input.length, 100))] = random.below(256);
    if (random.below(8) === 0) for (let i = 2; i < input.length; i++) input[i] = random.below(256);
    if (random.below(20) === 0) {
      const opcodes = [...COMMANDS.keys()];
      new DataView(input.buffer).setUint16(0, opcodes[random.below(opcodes.length)] as number);
    }
    const inlen = random.below(6) === 0 ? random.below(input.length + 2) : input.length;
    const output = new Uint8Array(random.below(5) === 0 ? random.below(40) : 300);
    const made: dv.DevxObject[] = [];
    try {
      switch (random.below(4)) {
        case 0:
          dv.mlx5dv_devx_general_cmd(context, input, inlen, output, undefined);
          break;
        case 1:
          dv.mlx5dv_devx_obj_query(random.below(2) === 0 ? counter : table.table, input, inlen, output, undefined);
          break;
        default:
          made.push(dv.mlx5dv_devx_obj_create(context, input, inlen, output, undefined));
      }
      expect(output[0]).toBe(0);
      counts.answered++;
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
      expect(["EREMOTEIO", "EINVAL"]).toContain(error.code);
      const answered = output.length >= 8 && error.code === "EREMOTEIO";
      if (answered) expect([output[0], output[6]]).toEqual([output[6], output[0]]);
      counts.refused++;
    }
    for (const one of made) dv.mlx5dv_devx_obj_destroy(one);
    if (device.memoryUsed !== used) throw new Error(`round ${round}: ${device.memoryUsed - used} bytes are lost`);
  }
  console.log(`device commands: ${counts.answered} answered, ${counts.refused} refused`);
  expect(Math.min(counts.answered, counts.refused)).toBeGreaterThan(ROUNDS / 20);
});
