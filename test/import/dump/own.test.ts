/** Dumps that flowsteer writes, imported: the device treats frames as the one that was dumped. */
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { behaviourOf } from "../../export/support/behaviour.js";
import { nearFrame } from "../../export/support/randomRules.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const FRAMES = 80;
/** Bytes of the outer group: EtherType, IP protocol, IP version, DSCP, TCP port, IPv4 destination; and what they can be. */
const PARTS: readonly (readonly [at: number, mask: readonly number[], values: readonly (readonly number[])[]])[] = [
  [
    6,
    [0xff, 0xff],
    [
      [0x08, 0x00],
      [0x86, 0xdd],
    ],
  ],
  [16, [0xff], [[6], [17]]],
  [
    22,
    [0xff, 0xff],
    [
      [0, 80],
      [1, 0xbb],
    ],
  ],
  [
    48 + 12,
    [0xff, 0xff, 0xff, 0xff],
    [
      [10, 0, 0, 1],
      [10, 0, 0, 2],
    ],
  ],
  [
    48 + 12,
    [0xff, 0xff, 0xff, 0],
    [
      [10, 0, 0, 0],
      [10, 0, 1, 0],
    ],
  ],
];
const VERSION = 18;

interface Dumped {
  readonly device: Device;
  readonly text: string;
  /** Queue names of the import, and those of the device. */
  readonly names: Readonly<Record<string, string>>;
}

async function randomDevice(random: Random): Promise<Dumped> {
  const device = await createDevice();
  const context = ibv_open_device(device);
  const queues = ["a", "b", "c"].map((name) => createSink(context, name));
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const tables = [0, 1, 2].map((level) => dv.mlx5dv_dr_table_create(domain, level));
  for (const [level, table] of tables.entries()) {
    for (let count = random.between(1, 4); count > 0; count--) {
      const [at, bits, values] = random.pick(PARTS);
      const mask = new Uint8Array(64);
      mask.set(bits, at);
      if (at === 60) mask[VERSION] = 0x1e;
      const isAll = random.chance(0.3);
      const criteria = isAll ? 0 : 1;
      const matcher = dv.mlx5dv_dr_matcher_create(table, random.between(0, 2), criteria, isAll ? null : mask);
      for (const bytes of isAll ? [[]] : values) {
        const value = new Uint8Array(64);
        value.set(bytes, at);
        if (at === 60) value[VERSION] = 4 << 1;
        const tag = dv.mlx5dv_dr_action_create_tag(random.between(1, 99));
        const end =
          level < 2 && random.chance(0.6)
            ? dv.mlx5dv_dr_action_create_dest_table(tables[random.between(level + 1, 2)]!)
            : random.chance(0.2)
              ? dv.mlx5dv_dr_action_create_drop()
              : dv.mlx5dv_dr_action_create_dest_ibv_qp(random.pick(queues));
        dv.mlx5dv_dr_rule_create(matcher, isAll ? null : value, 2, [tag, end]);
      }
    }
  }
  let text = "";
  dv.mlx5dv_dump_dr_domain({ write: (part: string) => void (text += part) }, domain);
  const names = Object.fromEntries(queues.map(({ qp_num, label }) => [`qp:qp 0x${qp_num.toString(16)}`, label]));
  return { device, text, names };
}

test("random rules in device bytes, root tables included", { timeout: 600_000 }, async () => {
  const random = new Random(seedFor("own dumps"));
  for (let round = 0; round < rounds(60); round++) {
    const { device, text, names } = await randomDevice(random);
    const { scenario, findings } = importRules(text);
    expect(findings).toEqual([]);
    const { device: again } = await loadScenario(scenario ?? "");
    for (let n = 0; n < FRAMES; n++) {
      const frame = nearFrame(random);
      const expected = behaviourOf(device, frame);
      expect(
        behaviourOf(again, frame, (name) => names[name] ?? name),
        text,
      ).toBe(expected);
    }
  }
});
