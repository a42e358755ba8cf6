/** RDMA WRITEs over a cable with a delay: one at a time, and as many in flight as the queue has room for. */
import { createFabric, type Fabric } from "../src/fabric/index.js";
import * as v from "../src/verbs/index.js";
import { join, openEnd, type End } from "../test/verbs/support/connected.js";
import { cpuSeconds, expectEqual, type Suite, type TimedCase } from "./harness.js";

const COUNT = 200;
const SIZE = 4096;
const IN_FLIGHT = 16;
const GIGABIT = 1e9;
const CABLE = { delay: 5_000n, rate: 100 * GIGABIT };

interface Connection {
  readonly fabric: Fabric;
  readonly from: End;
  readonly target: v.MemoryRegion;
  readonly written: Uint8Array;
}

export const messages: Suite = {
  name: "messages",
  title: "RDMA WRITEs of 4,096 bytes over a cable of 5 µs and 100 Gbit/s",
  async *workloads() {
    const connection = await connect();
    const rate = (inFlight: number): number => {
      const began = connection.fabric.now();
      send(connection, inFlight);
      return (COUNT * SIZE * 8) / (Number(connection.fabric.now() - began) / 1e9) / GIGABIT;
    };
    yield {
      name: `${COUNT} messages`,
      unit: "message",
      units: COUNT,
      rounds: 5,
      check: () => {
        for (const inFlight of [1, IN_FLIGHT]) {
          connection.written.fill(0);
          send(connection, inFlight);
          expectEqual("memory", connection.written.join(), connection.from.memory.subarray(0, SIZE).join());
        }
      },
      cases: [
        timed("one at a time", connection, 1, true),
        timed(`${IN_FLIGHT} in flight`, connection, IN_FLIGHT, false),
      ],
      facts: {
        "simulated Gbit/s, one at a time": rate(1),
        [`simulated Gbit/s, ${IN_FLIGHT} in flight`]: rate(IN_FLIGHT),
      },
    };
  },
};

function timed(name: string, connection: Connection, inFlight: number, peer: boolean): TimedCase {
  const seconds = (): number => {
    const began = cpuSeconds();
    send(connection, inFlight);
    return cpuSeconds() - began;
  };
  return { name, peer, seconds };
}

async function connect(): Promise<Connection> {
  const fabric = await createFabric({ links: [{ from: "a", to: "b", ...CABLE }] });
  const [from, to] = fabric.devices.map((device) => openEnd(device)) as [End, End];
  join(from, to, { path_mtu: v.IBV_MTU_4096, qp_access_flags: v.IBV_ACCESS_REMOTE_WRITE });
  from.memory.forEach((_, i, memory) => (memory[i] = i));
  const written = new Uint8Array(SIZE);
  const target = v.ibv_reg_mr(to.pd, written, undefined, v.IBV_ACCESS_REMOTE_WRITE | v.IBV_ACCESS_LOCAL_WRITE);
  return { fabric, from, target, written };
}

/** Sends all messages, keeping `inFlight` of them outstanding. */
function send({ fabric, from, target: { iova, rkey } }: Connection, inFlight: number): void {
  const sg_list = [{ addr: from.memory.subarray(0, SIZE), lkey: from.mr.lkey }];
  const request = { opcode: v.IBV_WR_RDMA_WRITE, send_flags: v.IBV_SEND_SIGNALED, sg_list };
  for (let [posted, done] = [0, 0]; done < COUNT; fabric.step()) {
    for (const { status } of v.ibv_poll_cq(from.sent, IN_FLIGHT)) {
      expectEqual("status", status, v.IBV_WC_SUCCESS);
      done++;
    }
    for (; posted < COUNT && posted - done < inFlight; posted++)
      v.ibv_post_send(from.qp, { wr_id: posted, ...request, wr: { rdma: { remote_addr: iova, rkey } } });
  }
}
