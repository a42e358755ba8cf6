/** mlx5dv_query_device(3): the members that comp_mask asks for, and what the profiles report. */
import { describe, expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";

const FULL =
  v.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD |
  v.IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT |
  v.IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT;

const open = async (profile: string) => v.ibv_open_device(await createDevice({ profile }));

describe("mlx5dv_query_device", () => {
  test("fills what comp_mask asks for, and says what it filled", async () => {
    const context = await open("manual");
    const none: dv.QueriedContext = { version: 9 };
    expect(dv.mlx5dv_query_device(context, none)).toBe(0);
    const flags = BigInt(dv.MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP | dv.MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD);
    expect(none).toEqual({ version: 0, flags, comp_mask: 0n });
    const some: dv.QueriedContext = {
      comp_mask:
        dv.MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS | dv.MLX5DV_CONTEXT_MASK_REG_C0 | dv.MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM,
    };
    dv.mlx5dv_query_device(context, some);
    expect(some).toEqual({
      version: 0,
      flags,
      comp_mask: BigInt(dv.MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS | dv.MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM),
      tunnel_offloads_caps: 0x1f,
      max_dc_rd_atom: 0n,
      max_dc_init_rd_atom: 0n,
    });
    const all = { comp_mask: 2n ** 64n - 1n };
    dv.mlx5dv_query_device(context, all);
    expect(all).toEqual(dv.mlx5dv_query_device(context));
    // No clock page, no core clock, no LAG ports, no register C0 of the vport, no out-of-order receives.
    expect(all.comp_mask).toBe(0x7cdfn);
  });

  test("reports ESP as the profile has it", async () => {
    const flags = async (profile: string): Promise<number> =>
      dv.mlx5dv_query_device(await open(profile)).flow_action_flags;
    expect(await flags("manual")).toBe(0x1f);
    for (const name of ["connectx5", "connectx6dx", "connectx7", "connectx8"]) {
      expect(await flags(name)).toBe(0x1f & ~dv.MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_FULL_OFFLOAD);
    }
  });

  test("full offload is reported where it can be made", async () => {
    const esp: v.FlowActionEsp = {
      esp_attr: { spi: 1, flags: FULL },
      keymat_ptr: { salt: new Uint8Array(4), icv_len: 16, aes_key: new Uint8Array(16) },
    };
    for (const profile of ["manual", "connectx6dx"]) {
      const context = await open(profile);
      const attrs: dv.QueriedContext = { comp_mask: dv.MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS };
      dv.mlx5dv_query_device(context, attrs);
      const has = ((attrs.flow_action_flags ?? 0) & dv.MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_FULL_OFFLOAD) !== 0;
      const make = (): unknown => v.ibv_create_flow_action_esp(context, esp);
      if (has) expect(make()).toBeDefined();
      else expect(make).toThrow("EOPNOTSUPP");
    }
  });

  test("compression formats are those that mlx5dv_create_cq takes", async () => {
    const context = await open("manual");
    const { cqe_comp_caps, flags } = dv.mlx5dv_query_device(context);
    const pads = (Number(flags) & dv.MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD) !== 0;
    const formats = [1, 2, 4, 8].filter((bit) => (cqe_comp_caps.supported_format & bit) !== 0);
    expect(formats).toHaveLength(3);
    for (const cqe_comp_res_format of formats) {
      const more = {
        comp_mask: 7,
        cqe_comp_res_format,
        flags: pads ? dv.MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD : 0,
        cqe_size: 128,
      };
      expect(dv.mlx5dv_create_cq(context, { cqe: 16 }, more).cqe).toBe(16);
    }
  });

  test("refuses what is no struct", async () => {
    const context = await open("manual");
    for (const wrong of [1, "x", { comp_mask: "1" }]) {
      expect(() => dv.mlx5dv_query_device(context, wrong as never)).toThrow(TypeError);
    }
    expect(() => dv.mlx5dv_query_device({} as never)).toThrow(TypeError);
  });
});
