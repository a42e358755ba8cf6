/** Several messages of an RC queue pair in flight, over cables that lose, double and reorder packets. */
import { expect, test } from "vitest";
import { createFabric, restoreFabric, type Fabric } from "../../../src/fabric/index.js";
import * as v from "../../../src/verbs/index.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../../assembly/support/core.js";
import { rounds } from "../../support/tier.js";
import { join, openEnd, pattern, type End } from "../support/connected.js";

const REMOTE = v.IBV_ACCESS_REMOTE_WRITE | v.IBV_ACCESS_REMOTE_READ | v.IBV_ACCESS_REMOTE_ATOMIC;
const ALL = REMOTE | v.IBV_ACCESS_LOCAL_WRITE;
const MESSAGES = 40;
/** Memory of the peer: what is written, what is read, and a counter. */
const SIZE = 4096;
const COUNTER = 2 * SIZE;
const SLOT = 1 << 12;

interface Sender extends End {
  readonly peer: End;
  /** What the peer lets it use. */
  readonly remote: Uint8Array;
  readonly where: { readonly iova: bigint; readonly rkey: number };
  readonly results: Uint8Array;
}

interface Request {
  readonly opcode: number;
  readonly length: number;
  readonly at: number;
  readonly fence: boolean;
}

function draw(random: Random): Request[] {
  return Array.from({ length: MESSAGES }, () => {
    const opcode = random.pick([v.IBV_WR_SEND, v.IBV_WR_RDMA_WRITE, v.IBV_WR_RDMA_READ, v.IBV_WR_ATOMIC_FETCH_AND_ADD]);
    const isAtomic = opcode === v.IBV_WR_ATOMIC_FETCH_AND_ADD;
    const length = isAtomic ? 8 : random.pick([0, 1, 255, 256, random.between(1, 2000)]);
    return { opcode, length, at: random.between(0, SIZE - length), fence: random.chance(0.2) };
  });
}

function senderTo(end: End, peer: End): Sender {
  const remote = new Uint8Array(COUNTER + 8);
  remote.set(pattern(SIZE, 9), SIZE);
  const where = v.ibv_reg_mr(peer.pd, remote, undefined, ALL);
  const results = new Uint8Array(MESSAGES * SLOT);
  return { ...end, peer, remote, where, results };
}

const bytesOf = (n: number, { length }: Request): Uint8Array => pattern(length, n + 1);

/** Posts request `n`. */
function post({ from, results, requests }: Run, n: number): void {
  const request = requests[n]!;
  const { opcode, length, at, fence } = request;
  const slot = from.results.subarray(n * SLOT, n * SLOT + length);
  const reads = opcode === v.IBV_WR_RDMA_READ;
  const isAtomic = opcode === v.IBV_WR_ATOMIC_FETCH_AND_ADD;
  if (!reads && !isAtomic) slot.set(bytesOf(n, request));
  const { iova, rkey } = from.where;
  const atomic = { remote_addr: iova + BigInt(COUNTER), rkey, compare_add: BigInt(n + 1) };
  v.ibv_post_send(from.qp, {
    wr_id: n,
    opcode,
    send_flags: v.IBV_SEND_SIGNALED | (fence ? v.IBV_SEND_FENCE : 0),
    sg_list: [{ addr: slot, lkey: results.lkey }],
    wr: isAtomic ? { atomic } : { rdma: { remote_addr: iova + BigInt((reads ? SIZE : 0) + at), rkey } },
  });
}

/** A connection with requests, of which some are posted. */
interface Run {
  readonly from: Sender;
  readonly results: { readonly lkey: number };
  readonly requests: readonly Request[];
  /** Requests that are posted, and receive requests. */
  posted: number;
  takes: number;
  /** Send completions, and the lengths of received messages. */
  readonly done: (readonly [id: number, status: number])[];
  readonly received: number[];
}

async function start(random: Random, seed: number): Promise<{ fabric: Fabric; run: Run; text: string }> {
  const part = random.pick([0, 0.02, 0.08]);
  const link = { delay: BigInt(random.between(1, 30_000)), loss: part, duplicate: part, reorder: part, seed };
  const depth = random.pick([1, 2, 4]);
  const fabric = await createFabric({ links: [{ from: "a", to: "b", ...link }] });
  const [a, b] = fabric.devices.map((device) => openEnd(device)) as [End, End];
  const limits = { max_rd_atomic: depth, max_dest_rd_atomic: depth };
  join(a, b, { qp_access_flags: REMOTE, path_mtu: v.IBV_MTU_256, timeout: 8, ...limits });
  const from = senderTo(a, b);
  const results = v.ibv_reg_mr(a.pd, from.results, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const run = { from, results, requests: draw(random), posted: 0, takes: 0, done: [], received: [] };
  return { fabric, run, text: `round ${seed}: delay ${link.delay}, chance ${part}, max_rd_atomic ${depth}` };
}

/** One deadline of the network. A receive request is posted each time, so that some come late. */
function step(fabric: Fabric, run: Run): void {
  const { from, done, received } = run;
  if (run.takes - received.length < 16) {
    const slot = run.takes++ * SLOT;
    const sg_list = [{ addr: from.peer.memory.subarray(slot, slot + SLOT), lkey: from.peer.mr.lkey }];
    v.ibv_post_recv(from.peer.qp, { wr_id: slot, sg_list });
  }
  while (run.posted < MESSAGES && run.posted - done.length < 16) post(run, run.posted++);
  if (!fabric.step()) throw new Error(`nothing waits after ${done.length} completions`);
  for (const { wr_id, status } of v.ibv_poll_cq(from.sent, 64)) done.push([Number(wr_id), status]);
  for (const { byte_len } of v.ibv_poll_cq(from.peer.received, 64)) received.push(byte_len);
}

/** What the memory of both sides must be. */
function check({ from, requests, done, received }: Run, text: string): void {
  expect(done, text).toEqual(requests.map((_, n) => [n, v.IBV_WC_SUCCESS]));
  const sends = requests.flatMap((request, n) => (request.opcode === v.IBV_WR_SEND ? [bytesOf(n, request)] : []));
  expect(received, text).toEqual(sends.map(({ length }) => length));
  for (const [i, bytes] of sends.entries())
    expect(from.peer.memory.subarray(i * SLOT, i * SLOT + bytes.length), text).toEqual(bytes);
  const written = new Uint8Array(SIZE);
  let counter = 0n;
  for (const [n, request] of requests.entries()) {
    const { opcode, length, at } = request;
    const got = from.results.subarray(n * SLOT, n * SLOT + length);
    if (opcode === v.IBV_WR_RDMA_WRITE) written.set(bytesOf(n, request), at);
    if (opcode === v.IBV_WR_RDMA_READ) expect(got, text).toEqual(pattern(SIZE, 9).subarray(at, at + length));
    if (opcode !== v.IBV_WR_ATOMIC_FETCH_AND_ADD) continue;
    expect(new DataView(got.buffer, got.byteOffset).getBigUint64(0, true), text).toBe(counter);
    counter += BigInt(n + 1);
  }
  expect(from.remote.subarray(0, SIZE), text).toEqual(written);
}

const ROUNDS = rounds(600, "FLOWSTEER_PIPELINED");

test(`memory is what was sent, and completions are in order: ${ROUNDS} connections`, { timeout: 1e7 }, async () => {
  const random = new Random(seedFor("messages in flight"));
  for (let round = 0; round < ROUNDS; round++) {
    const { fabric, run, text } = await start(random, round);
    while (run.done.length < MESSAGES) step(fabric, run);
    check(run, text);
  }
});

test("a snapshot has the messages in flight", async () => {
  const random = new Random(seedFor("snapshots of messages in flight"));
  for (let round = 0; round < rounds(60); round++) {
    const { fabric, run, text } = await start(random, round);
    for (let steps = random.between(1, 60); steps > 0 && run.done.length < MESSAGES; steps--) step(fabric, run);
    const { fabric: copy, kept } = await restoreFabric(fabric.snapshot({ keep: { run } }));
    const runs = [[fabric, run] as const, [copy, kept["run"] as Run] as const];
    for (const [one, its] of runs) while (its.done.length < MESSAGES) step(one, its);
    for (const [, its] of runs) check(its, text);
    expect(copy.now(), text).toBe(fabric.now());
    expect(copy.metrics(), text).toEqual(fabric.metrics());
  }
});

/** Two ends with a cable of 10 microseconds. */
async function joined(depth: number): Promise<{ fabric: Fabric; run: Run }> {
  const fabric = await createFabric({ links: [{ from: "a", to: "b", delay: 10_000n }] });
  const [a, b] = fabric.devices.map((device) => openEnd(device)) as [End, End];
  join(a, b, { qp_access_flags: REMOTE, max_rd_atomic: depth, max_dest_rd_atomic: depth });
  const from = senderTo(a, b);
  const results = v.ibv_reg_mr(a.pd, from.results, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  return { fabric, run: { from, results, requests: [], posted: 0, takes: 0, done: [], received: [] } };
}

const WRITE = { opcode: v.IBV_WR_RDMA_WRITE, length: 100, at: 0, fence: false };
const READ = { ...WRITE, opcode: v.IBV_WR_RDMA_READ };

/** The times at which requests complete, in round trips. */
async function trips(depth: number, requests: readonly Request[]): Promise<number[]> {
  const { fabric, run } = await joined(depth);
  for (const n of requests.keys()) post({ ...run, requests }, n);
  const times: number[] = [];
  while (fabric.step()) for (const _ of v.ibv_poll_cq(run.from.sent, 64)) times.push(Number(fabric.now()) / 20_000);
  return times;
}

test("messages do not wait for those before them, but for READs as they must", async () => {
  expect(await trips(1, [WRITE, WRITE, WRITE, WRITE])).toEqual([1, 1, 1, 1]);
  // max_rd_atomic at a time; the WRITE is posted after the last READ.
  expect(await trips(1, [READ, READ, READ, WRITE])).toEqual([1, 2, 3, 3]);
  expect(await trips(2, [READ, READ, READ, WRITE])).toEqual([1, 1, 2, 2]);
  expect(await trips(4, [WRITE, READ, { ...WRITE, fence: true }, READ, WRITE])).toEqual([1, 1, 2, 2, 2]);
});

test("a refused message ends the connection, and those before it succeed", async () => {
  const { fabric, run } = await joined(4);
  const far = { ...WRITE, at: 2 * SIZE };
  for (const n of [0, 1, 2, 3]) post({ ...run, requests: [WRITE, READ, far, WRITE] }, n);
  fabric.run();
  expect(v.ibv_poll_cq(run.from.sent, 64).map(({ wr_id, status }) => [wr_id, status])).toEqual([
    [0, v.IBV_WC_SUCCESS],
    [1, v.IBV_WC_SUCCESS],
    [2, v.IBV_WC_REM_ACCESS_ERR],
    [3, v.IBV_WC_WR_FLUSH_ERR],
  ]);
  expect(run.from.qp.state).toBe(v.IBV_QPS_ERR);
});
