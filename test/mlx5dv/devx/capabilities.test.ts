/** Capabilities, contexts of vports, ports: queries before the use of a feature. */
import { expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { readField, type Field } from "../../../src/model/devx/layouts.js";
import { answer, openCommands, refusal } from "../support/devx.js";
import { refused } from "../support/directRules.js";

type Context = Awaited<ReturnType<typeof openCommands>>["context"];

/** Reads fields of a group of capabilities, after the header of 16 bytes. */
function capabilities(context: Context, group: number): (...field: Field) => number {
  const output = new Uint8Array(16 + 4096);
  dv.mlx5dv_devx_general_cmd(context, dv.queryHcaCapCommand(group), undefined, output, undefined);
  expect(dv.commandOutput(output)).toEqual({ status: 0, syndrome: 0, id: 0 });
  return (...field) => readField(new DataView(output.buffer), field, 16);
}

test("callers find every feature that there is", async () => {
  const { context } = await openCommands({ ports: 2 });
  const general = capabilities(context, dv.MLX5_CAP_GENERAL);
  expect([general(6, 16), general(52, 1), general(52, 1, 6), general(52, 1, 7)]).toEqual([0, 1, 1, 1]);
  expect([general(4, 1), general(55, 8), general(105, 8), general(136, 4, 4)]).toEqual([1, 2, 0xff, 2]);
  // Types 0x31, 0x25, 0x24 in the upper word, 0x0a in the lower one.
  expect([general(128, 32), general(132, 32)]).toEqual([(1 << 17) | (1 << 5) | (1 << 4), 1 << 10]);
  expect(capabilities(context, dv.MLX5_CAP_GENERAL_2)(74, 5, 3)).toBe(24);
  expect(capabilities(context, dv.MLX5_CAP_QOS)(3, 8)).toBe(0xff);
  const ofNic = capabilities(context, dv.MLX5_CAP_NIC_FLOW_TABLE);
  expect([ofNic(4, 1), ofNic(5, 5, 3) > 0]).toEqual([1, true]);
  // BTH opcode and l4_ok of the outer packet, in the second set of fields.
  const second = [640, 656, 672, 688, 736, 752, 768, 784].map((at) => [ofNic(at + 1, 1, 6), ofNic(at + 3, 1, 2)]);
  expect(second).toEqual(second.map(() => [1, 1]));
  const rdma = capabilities(context, dv.MLX5_CAP_ADV_RDMA);
  expect(general(174, 1, 1)).toBe(1);
  // Received and sent frames; those of RDMA types follow.
  for (const [at, tags, nic] of [
    [64, 1, ofNic],
    [128, 1, ofNic],
    [256, 0, ofNic],
    [320, 0, ofNic],
    [64, 1, rdma],
    [128, 0, rdma],
  ] as const) {
    // Support, tag, counter, reformat, decap.
    expect([nic(at, 1), nic(at, 1, 1), nic(at, 1, 2), nic(at, 1, 7), nic(at + 1, 1)]).toEqual([1, tags, 1, 1, 1]);
    // Geneve: VNI, OAM, protocol, length of options; the option itself is not declared.
    expect([nic(at + 32 + 3, 4, 2), nic(at + 32 + 8, 2)]).toEqual([0xf, 0]);
    expect([nic(at + 32 + 3, 1, 6), nic(at + 32 + 15, 8)]).toEqual([0, 0xff]);
  }
  expect(capabilities(context, dv.MLX5_CAP_ESW_FLOW_TABLE)(0, 8)).toBe(3);
});

test("what a device or a function does not have, it does not say", async () => {
  const old = (await openCommands({ profile: "connectx5" })).context;
  const general = capabilities(old, dv.MLX5_CAP_GENERAL);
  expect([general(128, 32), general(132, 32), general(136, 4, 4)]).toEqual([0, 1 << 10, 0]);
  expect(capabilities(old, dv.MLX5_CAP_QOS)(38, 5, 3)).toBe(0);
  const { device } = await openCommands({ vports: 2, parser: { geneveOption0: { class: 1, type: 2 } } });
  const vf = dv.mlx5dv_open_device(device.function(2), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const own = capabilities(vf, dv.MLX5_CAP_GENERAL);
  expect([own(6, 16), own(52, 1), own(52, 1, 7)]).toEqual([2, 0, 0]);
  expect(capabilities(vf, dv.MLX5_CAP_ESW_FLOW_TABLE)(64, 1)).toBe(0);
  expect(capabilities(vf, dv.MLX5_CAP_NIC_FLOW_TABLE)(64 + 32 + 8, 2)).toBe(3);
  const older = capabilities(old, dv.MLX5_CAP_ADV_RDMA);
  expect([older(64, 1), older(193, 1, 6), older(195, 1, 2)]).toEqual([1, 1, 0]);
  for (const empty of [1, 2, 3, 4, 9, 0xf]) expect(capabilities(vf, empty)(0, 32)).toBe(0);
});

test("a caller may want less than all of a group, and no other function", async () => {
  const { context } = await openCommands();
  const ask = (command: Uint8Array, outlen: number): unknown =>
    answer((out) => dv.mlx5dv_devx_general_cmd(context, command, undefined, out, undefined), outlen);
  expect(ask(dv.queryHcaCapCommand(0), 40)).toEqual({ code: undefined, status: 0, syndrome: 0 });
  expect(ask(dv.queryHcaCapCommand(0), 15)).toEqual(refusal("short_output"));
  expect(ask(dv.queryHcaCapCommand(0x77), 4112)).toEqual(refusal("bad_value"));
  const other = dv.queryHcaCapCommand(0);
  other[8] = 0x80;
  expect(ask(other, 4112)).toEqual(refusal("unsupported"));
  const create = (out: Uint8Array): unknown =>
    dv.mlx5dv_devx_obj_create(context, dv.queryHcaCapCommand(0), undefined, out, undefined);
  expect(answer(create)).toEqual(refusal("wrong_call"));
});

test("contexts of vports: C0 and C1 pass to functions, links are up", async () => {
  const { device, context } = await openCommands({ vports: 2 });
  const esw = new Uint8Array(16 + 256);
  dv.mlx5dv_devx_general_cmd(context, dv.queryEswVportContextCommand(2), undefined, esw, undefined);
  expect([esw[16], esw[17]]).toEqual([0x80, 3]);
  const hca = new Uint8Array(16 + 512);
  dv.mlx5dv_devx_general_cmd(context, dv.queryHcaVportContextCommand(), undefined, hca, undefined);
  expect([hca[48], hca[50], hca[51]]).toEqual([0x20, 0x50, 0x41]);
  expect(new DataView(hca.buffer).getBigUint64(72)).not.toBe(0n);
  const vf = dv.mlx5dv_open_device(device.function(1));
  const ask = (of: Context, command: Uint8Array, outlen = 1024): unknown =>
    answer((out) => dv.mlx5dv_devx_general_cmd(of, command, undefined, out, undefined), outlen);
  expect(ask(vf, dv.queryEswVportContextCommand())).toEqual(refusal("not_manager"));
  expect(ask(vf, dv.queryHcaVportContextCommand(0))).toEqual(refusal("not_manager"));
  expect(ask(vf, dv.queryHcaVportContextCommand())).toMatchObject({ code: undefined });
  expect(ask(context, dv.queryHcaVportContextCommand(3))).toEqual(refusal("bad_value"));
  expect(ask(context, dv.queryEswVportContextCommand(), 271)).toEqual(refusal("short_output"));
  expect(ask(context, dv.queryHcaVportContextCommand(), 527)).toEqual(refusal("short_output"));
});

test("mlx5dv_query_port, mlx5dv_is_supported", async () => {
  const { device, context } = await openCommands({ vports: 2, ports: 2 });
  const info: Partial<dv.Mlx5dvPort> = {};
  expect(dv.mlx5dv_query_port(context, 2, info)).toBe(0);
  const rest = { vport_steering_icm_rx: 0n, vport_steering_icm_tx: 0n, reg_c0: { value: 0, mask: 0 } };
  expect(info).toEqual({ flags: 35n, vport: 0xffff, vport_vhca_id: 0, esw_owner_vhca_id: 0, ...rest });
  const vf = dv.mlx5dv_open_device(device.function(2));
  dv.mlx5dv_query_port(vf, 1, info);
  expect(info).toMatchObject({ flags: 35n, vport: 2, vport_vhca_id: 2, esw_owner_vhca_id: 0 });
  for (const port of [0, 3]) expect(refused(() => dv.mlx5dv_query_port(context, port, info))?.code).toBe("EINVAL");
  expect(dv.mlx5dv_query_port(vf, 1)).toEqual(info);
  expect(() => dv.mlx5dv_query_port(context, 1, 5 as never)).toThrow(TypeError);
  expect([device, device.function(1)].map(dv.mlx5dv_is_supported)).toEqual([true, true]);
  expect(() => dv.mlx5dv_is_supported({} as never)).toThrow(TypeError);
});
