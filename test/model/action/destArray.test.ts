/** Destination arrays: the members that each profile accepts, and the records for the core. */
import { describe, expect, test } from "vitest";
import { Op } from "../../../src/abi/engine.js";
import { arrayMembers, arrayRecord, type ArrayAction, type DestAttr } from "../../../src/model/action/destArray.js";
import type { ActionSetting } from "../../../src/model/action/modifyHeader.js";
import { refuse } from "../../../src/errors.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { settingUnder } from "../support/settings.js";

const action = (op: Op, operand: number, encapsulates = false): ArrayAction => ({ op, operand, encapsulates });
const QUEUE = action(Op.queue, 0x100);
const COUNT = action(Op.count, 0x200);
const TABLE = action(Op.table, 0x300);
const MISS = action(Op.default_miss, 0);
const VPORT = action(Op.vport, 2);
const PORT = action(Op.port, 1);
const ENCAP = action(Op.reformat, 0x400, true);
const DECAP = action(Op.reformat, 0x500);
const OTHERS = [Op.drop, Op.tag, Op.modify, Op.push_vlan, Op.pop_vlan, Op.reformat, Op.array, Op.root];

const to = (dest: ArrayAction): DestAttr<ArrayAction> => ({ type: 0, dest });
const through = (reformat: ArrayAction, dest: ArrayAction): DestAttr<ArrayAction> => ({
  type: 1,
  dest_reformat: { reformat, dest },
});
const setting = (domainType: ActionSetting["domainType"], manual = true): ActionSetting =>
  settingUnder(manual ? "manual" : "connectx7", domainType);

function take(path: string, value: unknown): ArrayAction {
  if (typeof value !== "object" || value === null) throw new TypeError(`${path} is no action`);
  return value as ArrayAction;
}

const fits = (): void => undefined;

const members = (dests: DestAttr<ArrayAction>[], own = setting("fdb"), count?: number) =>
  arrayMembers(own, count, dests, { take, fits });
const refusal = (dests: DestAttr<ArrayAction>[], own = setting("fdb"), count?: number): string | undefined => {
  const error = refused(() => members(dests, own, count));
  return error && `${error.code} ${error.path}`;
};

describe("members", () => {
  test("two to 64 of them", () => {
    const many = Array.from({ length: 65 }, () => to(COUNT));
    for (const own of [setting("fdb"), setting("fdb", false), setting("nic_tx", false)]) {
      expect(refusal([], own)).toBe("EINVAL num_dest");
      expect(refusal([to(QUEUE)], own)).toBe("EINVAL num_dest");
      expect(refusal(many, own, 1)).toBe("EINVAL num_dest");
      expect(refusal(many, own)).toBe("EINVAL num_dest");
      expect(refusal(many.slice(0, 2), own, 3)).toBe("EINVAL num_dest");
    }
    expect(members(many, setting("fdb"), 64)).toHaveLength(64);
    expect(members(many, setting("fdb"), 2)).toHaveLength(2);
  });

  test("in the order of the array, with what is done to each copy", () => {
    expect(members([to(VPORT), through(ENCAP, PORT), to(COUNT)])).toEqual([
      { dest: VPORT, reformat: null },
      { dest: PORT, reformat: ENCAP },
      { dest: COUNT, reformat: null },
    ]);
  });

  test("which kinds", () => {
    const kinds = [QUEUE, COUNT, TABLE, MISS, VPORT, PORT, ...OTHERS.map((op) => action(op, 1))];
    const taken = (own: ActionSetting): ArrayAction[] =>
      kinds.filter((one) => {
        const found = refusal([to(COUNT), to(one)], own);
        if (found !== undefined) expect(found).toBe("EOPNOTSUPP dests[1].dest");
        expect(refusal([to(COUNT), through(ENCAP, one)], own)?.replace("_reformat.dest", "")).toBe(found);
        return found === undefined;
      });
    const six = [QUEUE, COUNT, TABLE, MISS, VPORT, PORT];
    for (const domain of ["nic_rx", "nic_tx", "fdb"] as const) expect(taken(setting(domain))).toEqual(six);
    expect(taken(setting("fdb", false))).toEqual(six);
    expect(taken(setting("nic_rx", false))).toEqual([QUEUE, COUNT, TABLE]);
  });

  test("a reformat that is no encapsulation", () => {
    for (const bad of [DECAP, COUNT]) {
      expect(refusal([to(COUNT), through(bad, VPORT)])).toBe("EOPNOTSUPP dests[1].dest_reformat.reformat");
    }
  });

  test("devices have none in NIC_TX", () => {
    expect(refusal([to(COUNT), to(action(Op.drop, 0))], setting("nic_tx", false))).toBe("EOPNOTSUPP domain");
    expect(refusal([to(COUNT), to(TABLE)], setting("nic_tx"))).toBeUndefined();
  });

  test("what is no entry", () => {
    expect(refusal([to(COUNT), { type: 2, dest: COUNT }])).toBe("EINVAL dests[1].type");
    expect(() => members({} as DestAttr<ArrayAction>[])).toThrow(TypeError);
    for (const bad of [null, 5, { type: 0 }, { type: 1 }, { type: 1, dest_reformat: { dest: COUNT } }]) {
      expect(() => members([to(COUNT), bad as DestAttr<ArrayAction>])).toThrow(TypeError);
    }
    // An absent type is MLX5DV_DR_ACTION_DEST.
    expect(members([to(COUNT), { dest: COUNT } as DestAttr<ArrayAction>])).toHaveLength(2);
  });

  test("actions that are refused, by their path", () => {
    const paths: string[] = [];
    const dead = (path: string): never => {
      paths.push(path);
      return refuse({ code: "EINVAL", call: "test", reason: "object_destroyed", path });
    };
    const take2 = (path: string, value: unknown): ArrayAction =>
      value === DECAP ? dead(path) : (value as ArrayAction);
    for (const bad of [to(DECAP), through(DECAP, COUNT), through(ENCAP, DECAP)]) {
      expect(refused(() => arrayMembers(setting("fdb"), 2, [to(COUNT), bad], { take: take2, fits }))?.reason).toBe(
        "object_destroyed",
      );
    }
    expect(paths).toEqual(["dests[1].dest", "dests[1].dest_reformat.reformat", "dests[1].dest_reformat.dest"]);
  });
});

test("records", () => {
  const record = arrayRecord(members([to(VPORT), through(ENCAP, QUEUE)]));
  const words = Array.from({ length: record.length / 4 }, (_, i) => new DataView(record.buffer).getUint32(4 * i, true));
  expect(words).toEqual([2, 0, Op.vport, 2, 0, 0, Op.queue, 0x100, 0x400, 0]);
});
