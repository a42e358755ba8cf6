/** What waits on a clock, compared with a sorted list; the calls that move the clock. */
import { expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import { Deadline, Deadlines } from "../../../src/model/base/time/deadlines.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

class Noted extends Deadline {
  constructor(
    readonly name: number,
    readonly run: (deadline: Noted) => void = () => {},
  ) {
    super();
  }

  override due(): void {
    this.run(this);
  }
}

test("come in the order of their times, and of one time as they were set", () => {
  const random = new Random(seedFor("deadlines"));
  for (let n = 0; n < rounds(300); n++) {
    const deadlines = new Deadlines();
    const all: Deadline[] = Array.from({ length: 30 }, (_, name) => new Noted(name));
    let list: { one: Deadline; at: bigint }[] = [];
    for (let step = 0; step < 200; step++) {
      const one = random.pick(all);
      const was = list.length;
      list = list.filter((other) => other.one !== one);
      expect(one.waits).toBe(list.length < was);
      if (random.chance(0.6)) {
        const at = BigInt(random.between(0, 20));
        deadlines.set(one, at);
        // Behind all of its time: the sort is stable.
        list = [...list, { one, at }].sort((a, b) => Number(a.at - b.at));
      } else deadlines.cancel(one);
      expect(deadlines.first).toBe(list[0]?.one);
    }
    expect(deadlines.all().map((one) => [all.indexOf(one), one.at])).toEqual(
      list.map(({ one, at }) => [all.indexOf(one), at]),
    );
  }
});

test("the virtual clock stops at each deadline on its way, also at those that are set meanwhile", async () => {
  const device = await createDevice();
  const { clock } = device;
  const seen: [number, bigint][] = [];
  const note = (deadline: Noted): void => void seen.push([deadline.name, device.now()]);
  expect(device.nextDeadline()).toBe(null);
  clock.set(new Noted(1, note), 10n);
  clock.set(
    new Noted(2, (one) => {
      note(one);
      clock.set(new Noted(3, note), 12n);
      clock.set(new Noted(4, note), 7n);
    }),
    7n,
  );
  clock.set(new Noted(5, note), 13n);
  expect(device.nextDeadline()).toBe(7n);
  device.advanceTo(6n);
  expect([seen, device.now()]).toEqual([[], 6n]);
  device.advance(6n);
  expect(seen).toEqual([
    [2, 7n],
    [4, 7n],
    [1, 10n],
    [3, 12n],
  ]);
  expect([device.now(), device.nextDeadline()]).toEqual([12n, 13n]);
  device.advanceTo(12n);
  device.advanceTo(13n);
  expect([seen.length, device.now(), device.nextDeadline()]).toEqual([5, 13n, null]);
});

test("what fails keeps the time at which it failed, and the rest waits on", async () => {
  const device = await createDevice();
  const fail = (): never => {
    throw new Error("failed");
  };
  device.clock.set(new Noted(1, fail), 5n);
  device.clock.set(new Noted(2), 5n);
  expect(() => device.advanceTo(9n)).toThrow("failed");
  expect([device.now(), device.nextDeadline()]).toEqual([5n, 5n]);
  device.advanceTo(9n);
  expect([device.now(), device.nextDeadline()]).toEqual([9n, null]);
});

test("a virtual clock refuses to go back, other types, and calls from what is due", async () => {
  const device = await createDevice();
  device.advanceTo(5n);
  expect(refused(() => device.advanceTo(4n))?.message).toBe(
    "device.advanceTo: time = 4: a clock does not go back (EINVAL); it is at 5",
  );
  expect(refused(() => device.advanceTo(-1n))?.reason).toBe("out_of_range");
  expect(refused(() => device.advanceTo(2n ** 64n))?.reason).toBe("out_of_range");
  expect(() => device.advanceTo(6 as unknown as bigint)).toThrow("device.advanceTo: time must be a bigint, not number");
  const errors: unknown[] = [];
  const again = (): void => void errors.push(refused(() => device.advance(1n))?.message);
  device.clock.set(new Noted(1, again), 6n);
  device.advanceTo(6n);
  expect(errors).toEqual([
    "device.advance: time = 7: the object is still in use (EBUSY); what is due now has called it",
  ]);
  device.advanceTo(6n);
  expect(device.now()).toBe(6n);
});

test("an own clock is moved by its program, and advanceTo runs what is due", async () => {
  let now: unknown = 10n;
  const device = await createDevice({ now: () => now as bigint });
  const seen: bigint[] = [];
  for (const at of [12n, 14n, 30n]) device.clock.set(new Noted(1, () => seen.push(device.now())), at);
  expect(refused(() => device.advance(1n))?.message).toBe(
    "device.advance: nanoseconds = 1: the program moves the clock of this device (EINVAL); " +
      "move the clock that now of createDevice reads, then call advanceTo",
  );
  expect(refused(() => device.advanceTo(11n))?.message).toBe(
    "device.advanceTo: time = 11: the program moves the clock of this device (EINVAL); " +
      "now of createDevice gives 10: move it there first",
  );
  expect(device.nextDeadline()).toBe(12n);
  now = 20n;
  // What is due already is due now.
  expect(device.nextDeadline()).toBe(20n);
  device.advanceTo(13n);
  expect(seen).toEqual([20n]);
  device.advanceTo(20n);
  expect([seen, device.nextDeadline()]).toEqual([[20n, 20n], 30n]);
  now = 19n;
  expect(refused(() => device.now())?.message).toBe(
    "createDevice: now() = 19: a clock does not go back (EINVAL); it was at 20",
  );
  now = 21;
  expect(() => device.now()).toThrow("createDevice: now must return nanoseconds as a bigint, not number");
  now = 30n;
  device.advanceTo(30n);
  expect([seen.length, device.nextDeadline()]).toEqual([3, null]);
});
