/** Where traced frames come from and go to: ports, queues, functions, loopback; what is refused, and committed frames. */
import { describe, expect, it } from "vitest";
import { openTracer, printTrace, trace, traceSend, type Trace } from "../../../src/explain/index.js";
import { createDevice, createSink, SteeringError, type Device } from "../../../src/index.js";
import { portAction, vportAction } from "../../../src/model/action/domainActions.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { ibv_close_device, ibv_open_device } from "../../../src/verbs/index.js";
import { Switch } from "../../model/support/eswitch.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { connectWatched, join, openEnd, openPair, pattern, post } from "../../verbs/support/connected.js";

async function refusalOf(run: () => Promise<unknown>): Promise<Partial<SteeringError>> {
  try {
    await run();
  } catch (error) {
    if (error instanceof SteeringError) return { code: error.code, reason: error.reason, call: error.call };
    throw error;
  }
  throw new Error("not refused");
}

function refusedBy(run: () => unknown): Partial<SteeringError> {
  try {
    run();
  } catch (error) {
    if (error instanceof SteeringError) return { code: error.code, reason: error.reason };
  }
  throw new Error("not refused");
}

/** The steps in one word each. */
const wayOf = ({ steps }: Trace): string[] =>
  steps.map((step) => {
    switch (step.kind) {
      case "lookup":
        return `${step.table.domain} ${step.table.vport} ${step.table.table}: ${step.rule?.name ?? "no match"}`;
      case "action":
        return step.action;
      case "move":
        return `${step.cause} to ${step.to.domain} ${step.to.vport} ${step.to.table}`;
      case "destination":
        return `to ${step.to}`;
      case "end":
        return `end: ${step.verdict}`;
      case "parse":
        return step.again ? "parsed again" : "parsed";
      case "fork":
        return `branch ${step.into}`;
    }
  });

describe("the way of a frame", () => {
  it("goes from the wire through the eSwitch to a function", async () => {
    const bench = await Switch.open();
    bench.fdb(80, (domain) => vportAction(domain, 1));
    const found = await trace(bench.device, 1, ipv4Frame());
    expect(wayOf(found)).toEqual([
      "parsed",
      "fdb 0 root: rule3",
      "vport",
      "vport to nic_rx 1 host rules",
      "nic_rx 1 host rules: nic1",
      "untag",
      "queue",
      "to vf1/host:0",
      "end: deliver",
    ]);
    expect(found.from).toEqual({ kind: "wire", port: 1 });
  });

  it("goes from a queue through NIC_TX and the eSwitch to a port", async () => {
    const bench = await Switch.open();
    bench.fdb(80, (domain) => portAction(domain, 2));
    const found = await traceSend(bench.device, bench.queues[1], ipv4Frame());
    expect(wayOf(found)).toEqual([
      "parsed",
      "nic_tx 1 root: no match",
      "egress to fdb 0 root",
      "fdb 0 root: rule3",
      "port",
      "to port:2",
      "end: transmit",
    ]);
    expect(found.from).toEqual({ kind: "queue", queue: "qp:v1", vport: 1, port: 1 });
    expect(printTrace(found).split("\n")[0]).toBe("frame, 64 bytes, sent by qp:v1 of VF 1");
  });

  it("goes to the PF by the default of the FDB", async () => {
    const bench = await Switch.open();
    bench.fdb(81, (domain) => portAction(domain, 2));
    const found = await traceSend(bench.device, bench.queues[1], ipv4Frame());
    expect(wayOf(found)).toContain("fdb_default to nic_rx 0 host rules");
    expect(found.outcome.to.map(({ name }) => name)).toEqual(["host:0"]);
  });

  it("comes back by loopback to the rules of the port", async () => {
    const { device, queues } = await loadScenario(JSON.stringify(LOOPBACK));
    const queueOf = (name: string): QueuePair => queues.get(name)?.queue as QueuePair;
    const own = await traceSend(device, queueOf("app"), ipv4Frame());
    expect(wayOf(own)).toContain("loopback to nic_rx 0 root");
    const lookups = own.steps.filter((step) => step.kind === "lookup");
    expect(lookups.map(({ passedOver }) => passedOver)).toEqual([false, true, false]);
    expect(printTrace(own).split("\n").slice(2)).toEqual([
      "  NIC_TX   table root, no rules",
      "    to        port:1",
      "  looped   back through the port to its own receive rules",
      "  NIC_RX   table root, 1 rule",
      '    pass over flow "web": not for frames of its own queue',
      "  NIC_RX   table root, 1 rule from priority 0: no match",
      "    end       no rule takes the looped frame",
      "sent       port:1",
    ]);
    const found = await traceSend(device, queueOf("other"), ipv4Frame());
    expect(found.outcome.to.map(({ name }) => name)).toEqual(["qp:app"]);
    expect(found.steps.at(-1)).toMatchObject({ kind: "end", verdict: "deliver", branch: 1 });
  });

  it("ends in the empty table of a function without rules", async () => {
    const device = await createDevice();
    const found = await trace(device, 1, ipv4Frame());
    expect(wayOf(found)).toEqual(["parsed", "nic_rx 0 root: no match", "end: miss"]);
    expect(found.outcome.missed).toEqual([{ domain: "nic_rx", vport: 0, table: "root" }]);
    expect(printTrace(found).split("\n").slice(2)).toEqual([
      "  NIC_RX   table root, no rules",
      "lost       no flow or rule of the PF accepts the frame, and the PF has no",
      "           default flow",
    ]);
  });

  it("shows where parsing stopped", async () => {
    const device = await createDevice();
    const found = await trace(device, 1, ipv4Frame().subarray(0, 40), { wireLength: 64 });
    expect(printTrace(found).split("\n").slice(0, 3)).toEqual([
      "frame, 40 of 64 bytes, port 1 (wire)",
      "  parsed   ethernet / ipv4 192.0.2.1 > 10.0.0.1 / payload",
      "           stopped in tcp at sequence: truncated, 20 bytes needed, 6 there",
    ]);
  });

  it("leads packets of RC messages to their queue pair by the rule of the connection", async () => {
    const [left, right] = await openPair();
    const [a, b] = [openEnd(left), openEnd(right)];
    const wire = connectWatched(left, right);
    join(a, b);
    wire.onFrame = () => null;
    post(a, pattern(8));
    const [packet] = wire.frames as [Uint8Array];
    const found = await trace(right, 1, packet);
    const lookup = found.steps.find((step) => step.kind === "lookup" && step.rule !== null);
    expect(lookup).toMatchObject({ table: { table: "connections" }, rule: { kind: "connection", name: "qp:qp1" } });
    expect(found.outcome.to.map(({ name }) => name)).toEqual(["qp:qp1"]);
    // The dry run has taught the receiver nothing: it still expects this packet.
    expect(b.qp.hw_counters).toMatchObject({ duplicate_request: 0, out_of_sequence: 0 });
    expect(await trace(right, 1, packet)).toEqual(found);
  });
});

const LOOPBACK = {
  flowsteer: 1,
  queues: [{ name: "app" }, { name: "other" }],
  flows: [{ name: "web", queue: "app", specs: [{ ipv4: {} }, { tcp: { dst_port: 80 } }] }],
};

describe("a committed frame", () => {
  const SCENARIO = {
    flowsteer: 1,
    queues: [{ name: "web" }],
    counters: [{ name: "hits" }],
    tables: [{ name: "root", level: 0 }],
    rules: [{ name: "all", table: "root", actions: [{ count: "hits" }, { queue: "web" }] }],
  };

  it("has its effect, which a dry run has not", async () => {
    const { device, counters } = await loadScenario(JSON.stringify(SCENARIO));
    const tracer = await openTracer(device);
    const packets = (): bigint | undefined => counters.get("hits")?.read().packets;
    const dry = tracer.trace(1, ipv4Frame());
    expect(packets()).toBe(0n);
    const { committed, ...rest } = tracer.trace(1, ipv4Frame(), { commit: true });
    expect(packets()).toBe(1n);
    expect({ committed, ...rest }).toEqual({ ...dry, committed: true });
    const [again] = tracer.trace(1, ipv4Frame()).steps.flatMap((step) => (step.kind === "action" ? step.state : []));
    expect(again?.values[0]).toEqual({ value: "packets", before: "1", after: "2" });
  });

  it("leaves by a cable when it is sent", async () => {
    const bench = await Switch.open();
    const left: Uint8Array[] = [];
    bench.device.connect(1, (frame) => left.push(frame));
    const tracer = await openTracer(bench.device);
    tracer.traceSend(bench.queues[0], ipv4Frame());
    expect(left).toEqual([]);
    tracer.traceSend(bench.queues[0], ipv4Frame(), { commit: true });
    expect(left).toEqual([ipv4Frame()]);
  });

  it("has one time for its dry run and its effect, whatever the clock says", async () => {
    let now = 0n;
    const bench = await Switch.open({ now: () => (now += 1_000_000n) });
    const tracer = await openTracer(bench.device);
    expect(tracer.traceSend(bench.queues[0], ipv4Frame(), { commit: true }).committed).toBe(true);
    expect(tracer.trace(1, ipv4Frame(), { commit: true, time: 5n }).committed).toBe(true);
  });
});

const NO_DEVICE = JSON.parse("{}") as Device;

describe("refusals", () => {
  let closed: Device | undefined;

  it("are those of device.receive", async () => {
    const device = await createDevice();
    const tracer = await openTracer(device);
    const long = new Uint8Array(262_145);
    for (const commit of [false, true]) {
      const cases: [number, Uint8Array, object][] = [
        [2, ipv4Frame(), {}],
        [0, ipv4Frame(), {}],
        [1, long, {}],
        [1, ipv4Frame(), { wireLength: 63 }],
        [1, ipv4Frame(), { linkType: 147 }],
        [1, ipv4Frame(), { time: -1n }],
      ];
      for (const [port, frame, options] of cases) {
        const wanted = refusedBy(() => device.receive(port, frame, options));
        expect(refusedBy(() => tracer.trace(port, frame, { ...options, commit }))).toEqual(wanted);
      }
    }
    expect(() => tracer.trace(1, "frame" as unknown as Uint8Array)).toThrow(TypeError);
    expect(await refusalOf(() => trace(device, 2, ipv4Frame()))).toMatchObject({ call: "trace" });
    closed = await createDevice();
    const ofClosed = await openTracer(closed);
    closed.close();
    expect(refusedBy(() => ofClosed.trace(1, ipv4Frame()))).toMatchObject({ reason: "object_destroyed" });
  });

  it("are those of device.send", async () => {
    const device = await createDevice();
    const other = await createDevice({ name: "other" });
    const context = ibv_open_device(device);
    const queue = createSink(context, "a");
    const strange = createSink(ibv_open_device(other), "b");
    const tracer = await openTracer(device);
    const cases = [
      [queue, new Uint8Array(13), {}],
      [queue, new Uint8Array(262_145), {}],
      [queue, ipv4Frame(), { metadata: 2 ** 32 }],
      [strange, ipv4Frame(), {}],
    ] as const;
    for (const [from, frame, options] of cases) {
      const wanted = refusedBy(() => device.send(from, frame, options));
      expect(refusedBy(() => tracer.traceSend(from, frame, options))).toEqual(wanted);
    }
    expect(() => tracer.traceSend(undefined as unknown as typeof queue, ipv4Frame())).toThrow(TypeError);
    expect(await refusalOf(() => traceSend(device, strange, ipv4Frame()))).toMatchObject({ call: "traceSend" });
    // Objects of a closed context stay.
    ibv_close_device(context);
    expect(tracer.traceSend(queue, ipv4Frame()).outcome.verdict).toBe(device.send(queue, ipv4Frame()).verdict);
  });

  it("name a wrong device and unknown options", async () => {
    const device = await createDevice();
    expect(() => openTracer(NO_DEVICE)).toThrow(TypeError);
    expect(() => openTracer(device, { cores: 1 } as object)).toThrow();
    await expect(trace(NO_DEVICE, 1, ipv4Frame())).rejects.toThrow(TypeError);
  });
});
