/** ESP actions at work in the engine, for tests that ask the reference the same. */
import { createDevice, createSink, type Device, type DeviceOptions, type Outcome } from "../../../../src/index.js";
import type { Context } from "../../../../src/model/base/context.js";
import type { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import * as mlx5dv from "../../../../src/mlx5dv/index.js";
import * as v from "../../../../src/verbs/index.js";
import type { EspSettings, KeyMaterial } from "../../../oracle/esp/esp.js";
import type { Encapsulation } from "../../../oracle/esp/chain.js";
import type { EspChange } from "../../../oracle/esp/modify.js";
import type { Frame } from "../../../oracle/act/rewrite.js";

const SPECS = {
  eth: v.IBV_FLOW_SPEC_ETH,
  ipv4: v.IBV_FLOW_SPEC_IPV4,
  ipv4_ext: v.IBV_FLOW_SPEC_IPV4_EXT,
  ipv6: v.IBV_FLOW_SPEC_IPV6,
  udp: v.IBV_FLOW_SPEC_UDP,
} as const;

const FLAGS = {
  full: v.IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD,
  inline: v.IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO,
} as const;

function flagsOf({ offload, transport, encrypt, newWindow }: EspSettings): number {
  return (
    FLAGS[offload] |
    (transport ? v.IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT : 0) |
    (encrypt ? v.IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT : 0) |
    (newWindow ? v.IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW : 0)
  );
}

function keymatOf({ key, salt, iv, icvLength }: KeyMaterial): v.FlowActionEspAesGcm {
  const bytes = Uint8Array.from({ length: 8 }, (_, i) => Number((iv >> BigInt(8 * (7 - i))) & 0xffn));
  return { iv: bytes, salt: salt.slice(), icv_len: icvLength, aes_key: key.slice() };
}

function encapOf(list: readonly Encapsulation[]): v.FlowActionEspEncap[] {
  return list.map(({ type, ...val }) => ({ type: SPECS[type], val }));
}

/** The C struct of an action. */
export function structOf(settings: EspSettings): v.FlowActionEsp {
  const { spi, seq, tfcPad: tfc_pad, hardLimit: hard_limit_pkts, keymat, replay, encap, esn } = settings;
  return {
    esp_attr: { spi, seq, tfc_pad, hard_limit_pkts, flags: flagsOf(settings) },
    keymat_ptr: keymatOf(keymat),
    ...(encap.length > 0 ? { esp_encap: encapOf(encap) } : {}),
    ...(replay === null ? {} : replayOf(replay)),
    ...esnOf(esn ?? undefined),
  };
}

function replayOf(size: number | null): v.FlowActionEsp {
  if (size === null) return { replay_proto: v.IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE };
  return { replay_proto: v.IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP, replay_ptr: { size } };
}

function esnOf(esn: number | undefined): v.FlowActionEsp {
  return esn === undefined ? {} : { comp_mask: v.IBV_FLOW_ACTION_ESP_MASK_ESN, esn };
}

/** The C struct of a change to an action that was made from `settings`. */
export function changeOf(settings: EspSettings, { attr, keymat, replay, encap, esn }: EspChange): v.FlowActionEsp {
  const given: v.FlowActionEsp = { ...(replay === undefined ? {} : replayOf(replay)), ...esnOf(esn) };
  if (keymat) given.keymat_ptr = keymatOf(keymat);
  if (encap) given.esp_encap = encapOf(encap);
  if (attr) {
    const { spi, seq, tfcPad: tfc_pad, hardLimit: hard_limit_pkts } = attr;
    given.esp_attr = { spi, seq, tfc_pad, hard_limit_pkts, flags: flagsOf({ ...settings, ...attr }) };
  }
  return given;
}

export function actionFor(context: Context, settings: EspSettings): v.EspAction {
  if (!settings.metadata) return v.ibv_create_flow_action_esp(context, structOf(settings));
  return mlx5dv.mlx5dv_create_flow_action_esp(context, structOf(settings), {
    comp_mask: mlx5dv.MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS,
    action_flags: mlx5dv.MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA,
  });
}

const ESP = { type: v.IBV_FLOW_SPEC_ESP };
/** Inline actions want an IP and an ESP spec; these ask for nothing but the version. */
const INLINE = [
  [{ type: v.IBV_FLOW_SPEC_IPV4 }, ESP],
  [{ type: v.IBV_FLOW_SPEC_IPV6 }, ESP],
];

export class EspBench {
  readonly device: Device;
  readonly context: Context;
  readonly sink: QueuePair;

  private constructor(device: Device, context: Context, sink: QueuePair) {
    [this.device, this.context, this.sink] = [device, context, sink];
  }

  static async open(make: (options: DeviceOptions) => Promise<Device> = createDevice): Promise<EspBench> {
    const device = await make({ ports: 2 });
    const context = v.ibv_open_device(device);
    return new EspBench(device, context, createSink(context, "sink"));
  }

  /** An action, and flows that bring every frame to it: one, or for inline one for each IP version. */
  work(settings: EspSettings): EspWork {
    return new EspWork(this, settings);
  }
}

/** What became of a frame: what it is now, or why it is lost. */
export type Result = { frame: Uint8Array } | { lost: string };

export class EspWork {
  readonly action: v.EspAction;
  readonly #bench: EspBench;
  readonly #settings: EspSettings;
  readonly #flows: ReturnType<typeof v.ibv_create_flow>[];

  constructor(bench: EspBench, settings: EspSettings) {
    this.#bench = bench;
    this.#settings = settings;
    this.action = actionFor(bench.context, settings);
    const handle = { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action: this.action };
    const flags = settings.encrypt ? v.IBV_FLOW_ATTR_FLAGS_EGRESS : 0;
    const lists = settings.offload === "inline" ? INLINE : [[]];
    this.#flows = lists.map((specs) =>
      v.ibv_create_flow(bench.sink, { type: v.IBV_FLOW_ATTR_NORMAL, port: 1, flags, specs: [...specs, handle] }),
    );
  }

  /** All in one batch, or sent one after the other. */
  take(frames: readonly Frame[]): Result[] {
    const { device, sink } = this.#bench;
    if (this.#settings.encrypt) return frames.map(({ bytes }) => resultOf(device.send(sink, bytes)));
    const options = frames.map(({ linkType, wireLength }) => ({ linkType, wireLength }));
    return device
      .receiveBatch(
        1,
        frames.map(({ bytes }) => bytes),
        options,
      )
      .map(resultOf);
  }

  modify(change: EspChange): void {
    v.ibv_modify_flow_action_esp(this.action, changeOf(this.#settings, change));
  }

  end(): void {
    for (const flow of this.#flows) v.ibv_destroy_flow(flow);
    v.ibv_destroy_flow_action(this.action);
  }
}

function resultOf({ to, reason, verdict }: Outcome): Result {
  const [first] = to;
  return first === undefined ? { lost: reason ?? verdict } : { frame: first.frame };
}
