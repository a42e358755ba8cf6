/**
 * Ranks: when the order numbers are used up, matchers and rules are renumbered and keep their
 * order.
 */
import { expect, test } from "vitest";
import { TABLE_FDB } from "../../../src/abi/engine.js";
import { createDevice, createSink, Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { Action } from "../../../src/model/action/action.js";
import { Classifier, trappingSlot, type Place } from "../../../src/model/table/classifier.js";
import { FlowCounter } from "../../../src/model/action/counter.js";
import { Table, type Domain } from "../../../src/model/table/domain.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import type { HitRule } from "../../../src/model/traffic/outcome.js";
import { Rule } from "../../../src/model/rule/rule.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";

async function tableWith(newerFirst: boolean): Promise<{ table: Table; domain: Domain }> {
  const device = await createDevice();
  const domain = dv.mlx5dv_dr_domain_create(ibv_open_device(device), 0);
  const handle = device.core.exports.createTable(0) >>> 0;
  const classifier = new Classifier(device, handle, newerFirst, { orders: 6, sequence: 10 });
  const table = new Table(domain, 1, classifier, "small");
  const to = dv.mlx5dv_dr_action_create_dest_table(table);
  const root = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, 0, null);
  dv.mlx5dv_dr_rule_create(root, null, 1, [to]);
  return { table, domain };
}

function winner({ device }: Table): HitRule | undefined {
  if (!(device instanceof Device)) throw new Error("no device");
  return device.receive(1, ipv4Frame()).rules[1];
}

test.each([true, false])("newer matchers first: %s", async (newerFirst) => {
  const { table } = await tableWith(newerFirst);
  const alive: { matcher: Matcher; rules: Rule[] }[] = [];
  for (let n = 0; n < 40; n++) {
    const matcher = Matcher.named(table, 0, {}, `m${n}`);
    alive.push({ matcher, rules: [0, 1].map(() => Rule.named(matcher, {}, [])) });
    if (alive.length > 4) {
      // One from the middle is removed with its rules; all others keep their position.
      const [gone] = alive.splice(n % 3, 1);
      for (const rule of gone?.rules ?? []) rule.destroy();
      gone?.matcher.destroy();
    }
    const first = newerFirst ? alive.at(-1) : alive[0];
    expect(winner(table)).toBe(first?.rules[0]);
  }
  // The complete order, read by removing the winner each time.
  const order = (newerFirst ? [...alive].reverse() : alive).flatMap(({ rules }) => rules);
  for (const rule of order) {
    expect(winner(table)).toBe(rule);
    rule.destroy();
  }
  expect(winner(table)).toBeUndefined();
});

test.each(["wire", "function"])(
  "rules that are two in the core, and rules that wait: frames from the %s",
  async (side) => {
    const device = await createDevice({ asyncRules: true });
    const context = ibv_open_device(device);
    const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
    const handle = device.core.exports.createTable(TABLE_FDB) >>> 0;
    const table = new Table(domain, 1, new Classifier(device, handle, true, { orders: 6, sequence: 10 }), "small");
    const root = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, 0, null);
    dv.mlx5dv_dr_rule_create(root, null, 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
    const matcher = Matcher.named(table, 0, {}, "all");
    const counter = new FlowCounter(context, 1);
    const list = [Action.pushVlan(device, 0x81000001), Action.count(counter, 0)];
    const sink = createSink(context, "q");
    const first = (): HitRule | undefined => {
      const outcome = side === "wire" ? device.receive(1, ipv4Frame()) : device.send(sink, ipv4Frame());
      return outcome.rules[1];
    };
    const alive: Rule[] = [];
    for (let n = 0; n < 40; n++) {
      // Those of the last rounds are not in the core yet when orders are renumbered.
      alive.push(Rule.named(matcher, {}, list));
      if (alive.length > 4) alive.splice(n % 2, 1)[0]?.destroy();
      if (n % 3 !== 0) continue;
      domain.sync(1);
      expect(alive[0]?.secondHandle).not.toBe(0);
      expect(first()).toBe(alive[0]);
    }
    domain.sync(1);
    for (const rule of alive) {
      expect(first()?.name).toBe(rule.name);
      rule.destroy();
      domain.sync(1);
    }
  },
);

test("more matchers alive than there are places is ENOMEM", async () => {
  const { table } = await tableWith(true);
  const matchers = Array.from({ length: 6 }, (_, n) => Matcher.named(table, 0, {}, `m${n}`));
  expect(refused(() => Matcher.named(table, 0, {}, "seventh"))?.code).toBe("ENOMEM");
  expect(table.users).toBe(7);
  matchers[3]?.destroy();
  Matcher.named(table, 0, {}, "another");
});

test("a rank is slot, order and sequence, each at its full width", async () => {
  const device = await createDevice();
  for (const newerFirst of [false, true]) {
    const classifier = new Classifier(device, 0, newerFirst);
    const rank = (slot: number, order: number, sequence: number): bigint => {
      const place: Place = { slot, order };
      return (BigInt(classifier.rankHigh(place)) << 32n) | BigInt(classifier.rankLow(place, sequence));
    };
    const lastSlot = trappingSlot(65_535);
    for (const slot of [0, 1, 2, lastSlot]) {
      for (const order of [0, 1, 2, 32_767, 32_768, 65_535]) {
        for (const sequence of [0, 1, 2 ** 31 - 2]) {
          const ordered = newerFirst ? 65_535 - order : order;
          const expected = (BigInt(slot) << 47n) | (BigInt(ordered) << 31n) | BigInt(sequence);
          expect(rank(slot, order, sequence)).toBe(expected);
          expect(expected).toBeLessThan(2n ** 64n - 1n);
        }
      }
    }
    const rule = (slot: number, order: number, sequence: number) => {
      return { classifier, place: { slot, order }, sequence, handle: 0 };
    };
    const inOrder = [rule(0, 9, 9), rule(1, newerFirst ? 5 : 4, 7), rule(1, newerFirst ? 4 : 5, 1), rule(2, 0, 0)];
    expect([...inOrder].reverse().sort((a, b) => classifier.compare(a, b))).toEqual(inOrder);
  }
});
