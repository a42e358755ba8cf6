/** ESP actions of mlx5 devices, and ESP in flows of device bytes (docs/esp.md, "Inline crypto", "Flows"). */
import { beforeEach, describe, expect, test } from "vitest";
import type { MatchFields } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { create, ENCRYPT, ESP_SPEC, handle, inline, sealed, sealing, told, tunnel } from "../../verbs/support/esp.js";
import { IPV4, outcomeText } from "../../verbs/support/flows.js";
import { changed, DeviceFlowBench, FDB, inTable, NIC_RX, NIC_TX, RDMA_RX } from "../support/createFlow.js";
import { ipv4Frame } from "../support/directRules.js";

const FRAME = ipv4Frame();
let bench: DeviceFlowBench;

beforeEach(async () => {
  bench = await DeviceFlowBench.open();
});

type Mlx5Attr = Parameters<typeof dv.mlx5dv_create_flow_action_esp>[2];
const make = (esp: v.FlowActionEsp, mlx5: Mlx5Attr): v.EspAction =>
  dv.mlx5dv_create_flow_action_esp(bench.context, esp, mlx5);
const FLAGS = dv.MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS;
const METADATA = dv.MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA;

function sealedFrame(): Uint8Array {
  const flow = sealing(bench.flows, create(bench.flows, tunnel(ENCRYPT)));
  const frame = sealed(bench.flows, FRAME);
  v.ibv_destroy_flow(flow);
  return frame;
}

describe("mlx5dv_create_flow_action_esp", () => {
  test("what its own attributes may say", () => {
    const good: Mlx5Attr[] = [
      { comp_mask: 0 },
      { comp_mask: 0, action_flags: 77 },
      { comp_mask: FLAGS, action_flags: METADATA },
      { comp_mask: FLAGS },
      Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 9, 9, 9),
    ];
    for (const mlx5 of good) expect(told(() => make(inline(0), mlx5))).toBeUndefined();
    const bad = (mlx5: Mlx5Attr, esp = inline(0)): string | undefined => told(() => make(esp, mlx5));
    expect(bad({ comp_mask: 2 })).toBe("EOPNOTSUPP unsupported mlx5_attr.comp_mask");
    expect(bad({ comp_mask: FLAGS, action_flags: 2 })).toBe("EOPNOTSUPP unsupported mlx5_attr.action_flags");
    expect(bad(Uint8Array.of(1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0))).toBe("EOPNOTSUPP unsupported mlx5_attr.comp_mask");
    expect(bad(new Uint8Array(11))).toBe("EINVAL too_short mlx5_attr");
    expect(bad({ comp_mask: 3 }, inline(16))).toBe("EOPNOTSUPP unsupported mlx5_attr.comp_mask");
    const required = { comp_mask: FLAGS, action_flags: METADATA };
    expect(bad(required, tunnel(0))).toBe("EINVAL bad_attribute mlx5_attr.action_flags");
    expect(bad(required, inline(16))).toBe("EOPNOTSUPP unsupported esp.esp_attr.flags");
    expect(() => make(inline(0), null as never)).toThrow(TypeError);
  });

  test.each([
    [0, [0x08, 0x00]],
    [METADATA, [0x8c, 0xe4, 0x11, 4, 0x12, 0x34, 0x56, 0x78, 0x08, 0x00]],
  ])("metadata %i", (action_flags, link) => {
    const frame = sealedFrame();
    const action = make(inline(0), { comp_mask: FLAGS, action_flags });
    bench.flows.flow("a", [IPV4, ESP_SPEC, handle(action)]);
    const opened = bench.device.receive(1, frame).to[0]?.frame;
    expect([...(opened?.slice(12, 12 + link.length) ?? [])]).toEqual(link);
    // The attributes of its creation stay.
    v.ibv_modify_flow_action_esp(action, {});
    const again = bench.device.receive(1, frame).to[0]?.frame;
    expect(again?.length).toBe(opened?.length);
  });
});

describe("mlx5dv_create_flow", () => {
  const SPI: MatchFields = { "misc.outer_esp_spi": "0x12345678" };
  const flow = (
    action: v.EspAction,
    fields: MatchFields,
    table: dv.FlowMatcherAttr,
    more: dv.FlowActionAttr[],
  ): string | undefined => told(() => bench.flow(fields, [changed(action), ...more], table));

  test("opens what its matcher asks for", () => {
    const frame = sealedFrame();
    const action = create(bench.flows, tunnel(0));
    expect(flow(action, SPI, inTable(NIC_RX), [bench.to("a")])).toBeUndefined();
    const outcome = bench.device.receive(1, frame);
    expect(outcomeText(outcome)).toBe("a deliver");
    expect(outcome.to[0]?.frame.slice()).toEqual(FRAME);
    expect(told(() => v.ibv_destroy_flow_action(action))).toBe("EBUSY in_use action");
  });

  test("seals in NIC_TX", () => {
    expect(flow(create(bench.flows, tunnel(ENCRYPT)), {}, inTable(NIC_TX), [])).toBeUndefined();
    expect(sealed(bench.flows, FRAME)[23]).toBe(50);
  });

  test("in tables of its own direction alone", () => {
    const [opens, seals] = [create(bench.flows, tunnel(0)), create(bench.flows, tunnel(ENCRYPT))];
    const bad = "EINVAL bad_object actions_attr[0].action";
    expect(flow(seals, {}, inTable(NIC_RX), [bench.to("a")])).toBe(bad);
    expect(flow(opens, {}, inTable(NIC_TX), [])).toBe(bad);
    for (const action of [opens, seals]) {
      expect(flow(action, {}, inTable(FDB), [])).toBe(bad);
      expect(flow(action, {}, inTable(RDMA_RX), [bench.to("a")])).toBe(bad);
    }
  });

  test("once", () => {
    const action = create(bench.flows, tunnel(0));
    const second = changed(create(bench.flows, tunnel(0)));
    expect(flow(action, {}, inTable(NIC_RX), [second, bench.to("a")])).toBe(
      "EINVAL action_repeated actions_attr[1].action",
    );
    expect(action.users).toBe(0);
  });

  test("inline: the matcher asks for ESP, and is known to be behind IP", () => {
    const action = create(bench.flows, inline(0));
    const bad = "EINVAL bad_action_list actions_attr[0].action";
    const version: MatchFields = { "outer.ip_version": "4" };
    const cases: readonly (readonly [MatchFields, string | undefined])[] = [
      [{}, bad],
      [SPI, bad],
      [version, bad],
      [{ ...version, "misc.inner_esp_spi": "1" }, bad],
      [{ ...SPI, "outer.cvlan_tag": "1" }, bad],
      [{ ...SPI, ...version }, undefined],
      [{ ...SPI, "outer.ethertype": "0x0800" }, undefined],
      [{ ...SPI, "outer.ip_protocol": "50" }, undefined],
    ];
    for (const [fields, expected] of cases) {
      expect([fields, flow(action, fields, inTable(NIC_RX), [bench.to("a")])]).toEqual([fields, expected]);
    }
  });
});
