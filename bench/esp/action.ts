/**
 * The whole ESP action: frames matched by a flow, encrypted and decrypted, beside the cipher alone
 * on as many bytes.
 */
import { FRAME_SIZE, MAX_BATCH, VPORT_MANAGER, VPORT_UPLINK } from "../../src/abi/engine.js";
import { Verdict } from "../../src/abi/outcome.js";
import { ESP_WINDOW, ESP_WINDOW_WORDS } from "../../src/abi/esp.js";
import { Link } from "../../src/abi/headers.js";
import type { Core } from "../../src/engine/core.js";
import { Batch } from "../../src/engine/batch.js";
import { createDevice, createSink, type Device, type Outcome } from "../../src/index.js";
import type { EspAction } from "../../src/model/esp/action.js";
import { buildFrame } from "../../src/packet/index.js";
import * as v from "../../src/verbs/index.js";
import { cpuSeconds, expectEqual, repeated, type Workload } from "../harness.js";
import { EspByHand } from "../peers/espByHand.js";
import { createCipher, keyOf, Packets } from "./packets.js";

const ALONE = "the cipher alone";
const BY_HAND = "node:crypto by hand";
/** Pad length and next header. */
const TRAILER = 2;
const SPI = 0x1000;
/** Frames of a batch whose bytes would not fit otherwise. */
const FEW = 32;
/** Bytes of a frame in a batch, including head room. */
const ROOM = 2048;
const MAC = { source: "02:00:00:00:00:01", destination: "02:00:00:00:00:02" };

/** Frames whose ESP payload has this length, including the trailer. */
export async function wholeAction(length: number): Promise<Workload[]> {
  const tunnel = await Tunnel.open(length);
  const packets = new Packets(tunnel.core, createCipher(tunnel.core, keyOf(0)), length);
  const alone = (run: () => void): (() => Promise<number>) =>
    repeated((times) => {
      const start = cpuSeconds();
      for (let i = 0; i < times; i++) run();
      return cpuSeconds() - start;
    });
  const targets = { [ALONE]: { goal: 0.7 } };
  const workload = (name: string, action: () => Promise<number>, peer: () => Promise<number>): Workload => ({
    name: `${name}, ${length.toLocaleString("en")} bytes`,
    unit: "frame",
    units: MAX_BATCH,
    check: () => tunnel.check(),
    cases: [
      { name: "engine: flow, tunnel mode, full offload", seconds: action, targets },
      { name: ALONE, peer: true, seconds: peer },
    ],
  });
  return [
    workload(
      "into ESP",
      repeated((times) => tunnel.seal(times)),
      alone(() => packets.seal(1)),
    ),
    workload(
      "out of ESP, with replay window",
      repeated((times) => tunnel.open(times)),
      repeated((times) => packets.openSeconds(1, times)),
    ),
  ];
}

/** Frames of ESP as a program receives them: outcomes as objects, beside a program that decrypts by itself. */
export async function receivedFrames(length: number, goal: number): Promise<Workload> {
  const count = length > 2000 ? FEW : MAX_BATCH;
  const tunnel = await Tunnel.open(length, count);
  const hand = new EspByHand(keyOf(0), new Uint8Array(4));
  return {
    name: `frames of ESP, ${length.toLocaleString("en")} bytes`,
    unit: "frame",
    units: count,
    check: () => {
      tunnel.check();
      for (const frame of tunnel.sealed) tunnel.expectClear(hand.receive(frame));
      for (const { to } of tunnel.receive()) tunnel.expectClear(to[0]!.frame);
    },
    cases: [
      {
        name: `device.receiveBatch, ${count} a call`,
        seconds: repeated((times) => tunnel.receiving(times)),
        targets: { [BY_HAND]: { goal } },
      },
      {
        name: BY_HAND,
        peer: true,
        seconds: repeated((times) =>
          secondsOf(
            times,
            () => hand.forget(),
            () => tunnel.sealed.forEach((frame) => hand.receive(frame)),
          ),
        ),
      },
    ],
  };
}

const ip = (dst_ip: string): v.FlowSpec => ({
  type: v.IBV_FLOW_SPEC_IPV4,
  val: { dst_ip },
  mask: { dst_ip: "255.255.255.255" },
});
const ESP: v.FlowSpec = { type: v.IBV_FLOW_SPEC_ESP, val: { spi: SPI }, mask: { spi: 0xffffffff } };

/** A device with a flow for one direction of ESP. */
interface Side {
  readonly device: Device;
  readonly action: EspAction;
  /** The first table of its frames, and their origin. */
  readonly root: number;
  readonly vport: number;
}

async function side(encrypts: boolean): Promise<Side> {
  const device = await createDevice({ name: "esp0" });
  const context = v.ibv_open_device(device);
  const { IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD: FULL, IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT: ENCRYPT } = v;
  const action = v.ibv_create_flow_action_esp(context, {
    esp_attr: { spi: SPI, seq: 1, flags: encrypts ? FULL | ENCRYPT : FULL },
    keymat_ptr: { salt: new Uint8Array(4), iv: new Uint8Array(8), icv_len: 16, aes_key: keyOf(0) },
    esp_encap: [{ type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: "192.0.2.1", dst_ip: "192.0.2.2" } }],
    ...(encrypts ? {} : { replay_proto: v.IBV_FLOW_ACTION_ESP_REPLAY_BMP, replay_ptr: { size: 1024 } }),
  });
  v.ibv_create_flow(createSink(context, "out"), {
    type: v.IBV_FLOW_ATTR_NORMAL,
    port: 1,
    flags: encrypts ? v.IBV_FLOW_ATTR_FLAGS_EGRESS : 0,
    specs: [...(encrypts ? [ip("10.0.0.2")] : [ip("192.0.2.2"), ESP]), { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action }],
  });
  const { pipeline } = device.function(0);
  return encrypts
    ? { device, action, root: pipeline.sent, vport: VPORT_MANAGER }
    : { device, action, root: pipeline.received, vport: VPORT_UPLINK };
}

/** Two of them, and frames from one to the other. */
class Tunnel {
  readonly #out: Side;
  readonly #in: Side;
  readonly #clear: Uint8Array;
  readonly #count: number;
  #sealed: Uint8Array[] = [];

  private constructor(out: Side, into: Side, clear: Uint8Array, count: number) {
    this.#count = count;
    this.#out = out;
    this.#in = into;
    this.#clear = clear;
  }

  /** @param count frames of a batch */
  static async open(length: number, count = MAX_BATCH): Promise<Tunnel> {
    const clear = buildFrame([
      { header: "ethernet", ...MAC },
      { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
      { header: "udp" },
      { header: "payload", bytes: new Uint8Array(length - TRAILER - 28) },
    ]);
    return new Tunnel(await side(true), await side(false), clear, count);
  }

  get core(): Core {
    return this.#out.device.core;
  }

  /** Throws unless every frame arrives unchanged. */
  check(): void {
    const sent = this.#fill(this.#out, this.#all());
    sent.steer(this.#out.root);
    this.#sealed = this.#all().map((_, i) => sent.frameAt(sent.firstDestination(i)).slice());
    const received = this.#fill(this.#in, this.#sealed);
    received.steer(this.#in.root);
    for (let i = 0; i < this.#count; i++) {
      expectEqual(`verdict ${i}`, [sent.verdict(i), received.verdict(i)], [Verdict.transmit, Verdict.deliver]);
      const back = received.frameAt(received.firstDestination(i));
      expectEqual(`bytes ${i}`, [back.length, this.#sealed[i]!.length], [this.#clear.length, this.#clear.length + 54]);
      this.expectClear(back);
    }
    this.#forget();
  }

  /** The encrypted frames; after `check`. */
  get sealed(): readonly Uint8Array[] {
    return this.#sealed;
  }

  /** Throws unless this is the frame that was encrypted. */
  expectClear(frame: Uint8Array | null): void {
    if (frame === null || !Buffer.from(frame).equals(this.#clear)) throw new Error("a frame did not come back");
  }

  /** Receives the encrypted frames with the window of no received frames. */
  receive(): Outcome[] {
    this.#forget();
    return this.#receive();
  }

  /** CPU seconds of receiving them `times` times. */
  receiving(times: number): number {
    return secondsOf(
      times,
      () => this.#forget(),
      () => this.#receive(),
    );
  }

  #receive(): Outcome[] {
    return this.#in.device.receiveBatch(1, this.#sealed);
  }

  #all(): Uint8Array[] {
    return Array.from({ length: this.#count }, () => this.#clear);
  }

  /** CPU seconds of encrypting a batch `times` times. */
  seal(times: number): number {
    return time(this.#fill(this.#out, this.#all()), this.#out.root, times, () => undefined);
  }

  open(times: number): number {
    return time(this.#fill(this.#in, this.#sealed), this.#in.root, times, () => this.#forget());
  }

  #fill({ device, vport }: Side, frames: readonly Uint8Array[]): Batch {
    const batch = new Batch(device.core);
    for (const frame of frames) batch.put(frame, frame.length, 1, Link.ethernet, vport);
    return batch;
  }

  /** Resets the window to that of no received frames. */
  #forget(): void {
    const { action, device } = this.#in;
    const { u8, u32 } = device.core;
    const at = action.operand >> 2;
    const window = u32[at + (ESP_WINDOW >> 2)]!;
    u8.fill(0, window, window + 8 * (u32[at + (ESP_WINDOW_WORDS >> 2)]! + 1));
  }
}

/** CPU seconds of repeated runs, without the time of what comes before each. */
function secondsOf(times: number, before: () => void, run: () => unknown): number {
  let seconds = 0;
  for (let i = 0; i < times; i++) {
    before();
    const start = cpuSeconds();
    run();
    seconds += cpuSeconds() - start;
  }
  return seconds;
}

/** CPU seconds of walking a batch repeatedly, without the time of resetting it. */
function time(batch: Batch, root: number, times: number, restore: () => void): number {
  const { core } = batch;
  const frames = core.u8.slice(core.frames, core.frames + MAX_BATCH * FRAME_SIZE);
  const bytes = core.u8.slice(core.bytes, core.bytes + MAX_BATCH * ROOM);
  const reset = (): void => {
    core.u8.set(frames, core.frames);
    core.u8.set(bytes, core.bytes);
    restore();
  };
  return secondsOf(times, reset, () => batch.steer(root));
}
