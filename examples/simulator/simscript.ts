// Devices in a model of SimScript (npm install simscript), an event-driven simulator: two clients ask a server through a
// switch. The wires and their times are those of flowsteer; requests, answers and the server's CPU are of SimScript.
import { createDevice, createSink } from "flowsteer";
import { createFabric, type Fabric } from "flowsteer/fabric";
import { buildFrame } from "flowsteer/packet";
import { loadScenario } from "flowsteer/scenario";
import { IBV_FLOW_ATTR_ALL_DEFAULT, ibv_create_flow, ibv_open_device } from "flowsteer/verbs";
import { Entity, Queue, Simulation } from "simscript";

const [REQUESTS, EVERY, SERVICE] = [4, 1_000, 900];
const CABLE = { delay: 1_000n, rate: 10e9 };

/** The fabric of a simulation: one entity of it, which sleeps until the next deadline. */
class Network extends Entity {
  constructor(readonly fabric: Fabric) {
    super();
  }

  override async script(): Promise<void> {
    for (;;) {
      const next = this.fabric.nextDeadline();
      // A signal ends a delay early; without a deadline the entity waits for one.
      if (next === null) await this.waitSignal(this);
      else await this.delay(Number(next) - this.simulation.timeNow, undefined, this);
      this.fabric.advanceTo(BigInt(this.simulation.timeNow));
    }
  }

  /** Runs a call on a device at the time of the simulation. It may have changed the next deadline. */
  call(work: () => void): void {
    this.fabric.advanceTo(BigInt(this.simulation.timeNow));
    work();
    this.sendSignal(this);
  }
}

/** Host n has the address 10.0.0.n. */
async function openHost(n: number) {
  const device = await createDevice({ name: `host${n}` });
  const queue = createSink(ibv_open_device(device), "app");
  ibv_create_flow(queue, { type: IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
  return { n, device, queue };
}
type Host = Awaited<ReturnType<typeof openHost>>;

const packet = (from: number, to: number, id: number): Uint8Array =>
  buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: `10.0.0.${from}`, destination: `10.0.0.${to}`, identification: id },
    { header: "udp" },
  ]);
/** The last bytes of the packet's source and id. */
const source = (frame: Uint8Array): number => frame[29]!;
const id = (frame: Uint8Array): number => frame[19]!;

const { device: middle } = await loadScenario({
  flowsteer: 1,
  device: { name: "switch", ports: 3 },
  tables: ["root", "hosts"].map((name, level) => ({ name, domain: "fdb" as const, level })),
  rules: [
    { name: "all", table: "root", actions: [{ table: "hosts" }] },
    ...[1, 2, 3].map((n) => ({
      ...{ name: `host ${n}`, table: "hosts", match: { "outer.ipv4_dst": `10.0.0.${n}` }, actions: [{ port: n }] },
    })),
  ],
});
const [server, ...clients] = (await Promise.all([1, 2, 3].map(openHost))) as [Host, ...Host[]];
const all = [server, ...clients];
const network = new Network(
  await createFabric({
    devices: [middle, ...all.map(({ device }) => device)],
    links: all.map(({ n, device }) => ({ from: device.name, to: `switch:${n}`, ...CABLE })),
  }),
);
const cpu = new Queue("cpu", 1);

class Client extends Entity {
  constructor(readonly host: Host) {
    super();
  }

  override async script(): Promise<void> {
    const { device, queue, n } = this.host;
    for (let request = 1; request <= REQUESTS; request++) {
      await this.delay(EVERY);
      network.call(() => device.send(queue, packet(n, server.n, request)));
    }
  }
}

class Answer extends Entity {
  constructor(readonly request: Uint8Array) {
    super();
  }

  override async script(): Promise<void> {
    await this.enterQueue(cpu);
    await this.delay(SERVICE);
    this.leaveQueue(cpu);
    const answer = packet(server.n, source(this.request), id(this.request));
    network.call(() => server.device.send(server.queue, answer));
  }
}

/** SimScript gives the turn to a page by requestAnimationFrame at this interval. Node.js has no such function. */
const simulation = new Simulation({ name: "requests", yieldInterval: Infinity });
server.device.on("delivery", ({ destination }) => void simulation.activate(new Answer(destination.frame.slice())));
for (const { n, device } of clients) {
  device.on("delivery", ({ destination }) =>
    console.log(`${device.now()} ns: host ${n}, answer ${id(destination.frame)}`),
  );
}
simulation.starting.addEventListener(() => {
  for (const entity of [network, ...clients.map((host) => new Client(host))]) void simulation.activate(entity);
});
await new Promise<void>((resolve) => {
  simulation.finished.addEventListener(() => resolve());
  void simulation.start();
});
console.log(`cpu: ${cpu.grossDwell.cnt} answers, busy ${(100 * cpu.utilization).toFixed(0)} % of the time`);
