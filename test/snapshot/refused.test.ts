/** Snapshots that are refused: damaged ones, those of other versions, and what no snapshot holds. */
import { expect, test } from "vitest";
import { createDevice, createDevicePool, type Device, type SteeringError } from "../../src/index.js";
import { numbers } from "../../bench/random.js";
import { type Attached, attachmentsOf, cloneDevice, restoreDevice, snapshotOf } from "../../src/snapshot/index.js";
import { ipv4Frame, openBench, refused } from "../mlx5dv/support/directRules.js";
import { ruleFor } from "../mlx5dv/support/switchBench.js";
import * as dv from "../../src/mlx5dv/index.js";
import * as v from "../../src/verbs/index.js";
import { rounds, setting } from "../support/tier.js";

const SEED = Number(setting("FLOWSTEER_SEED") ?? Date.now() % 2 ** 31);
/** As many bytes are changed; `all` for each. */
const BYTES = setting("FLOWSTEER_SNAPSHOT_BYTES") === "all" ? Infinity : rounds(2000, "FLOWSTEER_SNAPSHOT_BYTES");

async function errorOf(run: Promise<unknown>): Promise<SteeringError> {
  return run.then(
    () => expect.fail("it was not refused"),
    (error: unknown) => error as SteeringError,
  );
}

test(`each byte of a snapshot matters (FLOWSTEER_SEED=${SEED})`, { timeout: 1e7 }, async () => {
  const { device, root, queue } = await openBench();
  ruleFor(root, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  device.receive(1, ipv4Frame());
  const bytes = snapshotOf(device);
  const random = numbers(SEED);
  for (let i = 0; i < Math.min(BYTES, bytes.length); i++) {
    const at = BYTES >= bytes.length ? i : i < 80 ? i : random() % bytes.length;
    const was = bytes[at] as number;
    bytes[at] = was ^ (1 + (random() % 255));
    // Reading the names of attachments checks all parts.
    expect(refused(() => attachmentsOf(bytes))?.reason, `byte ${at} of ${bytes.length}`).toBe("bad_snapshot");
    bytes[at] = was;
  }
  expect(attachmentsOf(bytes)).toEqual([]);
});

test("another version, a cut snapshot, and no snapshot", async () => {
  const bytes = snapshotOf(await createDevice());
  const next = bytes.slice();
  next[8] = 3;
  expect(await errorOf(restoreDevice(next))).toMatchObject({ reason: "bad_snapshot", path: "bytes.version" });
  expect(await errorOf(restoreDevice(bytes.slice(0, -4)))).toMatchObject({ path: "bytes.memory" });
  expect(await errorOf(restoreDevice(new Uint8Array(100)))).toMatchObject({ path: "bytes.head" });
});

test("an own clock and cables are attached by their names", async () => {
  let time = 5n;
  const device = await createDevice({ ports: 2, now: () => time });
  const other = await createDevice({ name: "other" });
  const seen: Uint8Array[] = [];
  device.connect(1, () => {});
  device.connect(2, other, 1);
  const bytes = snapshotOf(device);
  expect(attachmentsOf(bytes)).toEqual(["now", "port:1", "port:2"]);
  expect(await errorOf(restoreDevice(bytes, { attach: { now: () => time } }))).toMatchObject({
    reason: "not_saved",
    path: "attach.port:1",
  });
  const attach = { now: () => time, "port:1": (frame: Uint8Array) => seen.push(frame), "port:2": null };
  const { device: copy } = await restoreDevice(bytes, { attach });
  time = 9n;
  expect(copy.now()).toBe(9n);
  expect(copy.hardware.ports.map(({ cable }) => cable !== null)).toEqual([true, false]);
  const refusal = await errorOf(restoreDevice(bytes, { attach: { ...attach, later: null } }));
  expect(refusal).toMatchObject({ reason: "unknown_option", path: "attach.later" });
});

test("a wrong attachment is named before anything is made", async () => {
  const device = await createDevice({ now: () => 0n });
  device.connect(1, () => {});
  const bytes = snapshotOf(device);
  const other = await createDevice();
  const now = (): bigint => 0n;
  for (const [attach, path] of [
    [{ now: 5, "port:1": null }, "attach.now"],
    [{ now: null, "port:1": null }, "attach.now"],
    [{ now, "port:1": "port" }, "attach.port:1"],
    [{ now, "port:1": { device: {}, port: 1 } }, "attach.port:1.device"],
    [{ now, "port:1": { device: other, port: 2 } }, "attach.port:1.port"],
    [{ now, "port:1": { device: other } }, "attach.port:1.port"],
  ] as const) {
    const given = attach as unknown as Attached;
    expect(String(await errorOf(restoreDevice(bytes, { attach: given })))).toContain(path);
  }
});

test("a listener that carries frames on in its own time does so for the restored device", async () => {
  for (const delays of [true, false]) {
    const device = await createDevice();
    device.connect(1, () => {}, { delays });
    const { device: copy } = await restoreDevice(snapshotOf(device), { attach: { "port:1": () => {} } });
    expect(copy.hardware.ports.map(({ cable }) => cable)).toMatchObject([{ delays }]);
  }
});

test("a function of the program is named by its place", async () => {
  const device = await createDevice();
  const context = v.ibv_open_device(device);
  const cq = v.ibv_create_cq(context, 4, { call: () => 1 });
  expect(refused(() => snapshotOf(device, { keep: { cq } }))).toMatchObject({
    reason: "not_saved",
    path: "keep.cq.cq_context.call",
  });
});

test("a pool, a closed device and a call under way", async () => {
  const pool: Device = await createDevicePool({ workers: 1 });
  expect(refused(() => snapshotOf(pool))?.reason).toBe("not_saved");
  pool.close();
  expect(refused(() => snapshotOf(pool))?.reason).toBe("object_destroyed");
});

test("a copy goes its own way", async () => {
  const { device, root, queue } = await openBench({ countHits: true });
  const rule = ruleFor(root, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  const { device: copy, kept } = await cloneDevice(device, { keep: { rule } });
  dv.mlx5dv_dr_rule_destroy(kept.rule);
  expect(copy.receive(1, ipv4Frame()).verdict).toBe("miss");
  expect(device.receive(1, ipv4Frame()).to[0]?.name).toBe("qp:web");
  expect(rule.hits().packets).toBe(1n);
});
