/**
 * ESP flow actions (ibv_flow_action_esp(3), docs/esp.md): created, modified for all their flows at
 * once, destroyed.
 */
import { Op } from "../../abi/engine.js";
import { ESP_ENCRYPT, ESP_FULL_OFFLOAD, ESP_SIZE, ESP_UP_IVS, ESP_UP_NUMBERS } from "../../abi/esp.js";
import { recordBytes } from "../../engine/records.js";
import { Context } from "../base/context.js";
import { checkedSettings } from "./checks.js";
import { acquire, release, type EspHolds } from "./resources.js";
import { associationOf, countsOf, type EspCounts } from "./record.js";
import type { EspKeymat, EspRequest } from "./request.js";
import { firstNumber, isNew, isNewKey, type EspSettings } from "./settings.js";
import { nonceSpace, UsedIvs } from "./usedIvs.js";
import { FlowAction, type FlowActionKind } from "../action/flowAction.js";
import { living } from "../base/handle.js";

/** The state of an action. */
export interface EspState {
  /**
   * The next sequence number. For decryption: the highest authenticated number, or before the first
   * frame the lowest accepted number.
   */
  readonly number: bigint;
  /** The next IV of a full offload ENCRYPT action. */
  readonly iv: bigint;
  /** Frames sealed or authenticated with its key. */
  readonly packets: bigint;
  /** Whether numbers or IVs have run out. */
  readonly numbersUsedUp: boolean;
  readonly ivsUsedUp: boolean;
  /** The replay window, which ends with `number`; null without one. */
  readonly windowSize: number | null;
}

export class EspAction extends FlowAction {
  private _settings: EspSettings;
  private _holds: EspHolds;
  private readonly _usedIvs = new UsedIvs();
  /** Key and salt in use. */
  private _space: string;

  private constructor(context: Context, settings: EspSettings, holds: EspHolds, space: string) {
    const encrypts = (settings.flags & ESP_ENCRYPT) !== 0;
    const does = { name: "esp", step: encrypts ? "encrypt" : "decrypt", op: Op.esp } as const;
    super(context, encrypts ? "nic_tx" : "nic_rx", does, associationOf(settings, holds, beginning(settings)));
    this._settings = settings;
    this._holds = holds;
    this._space = space;
  }

  /**
   * @internal The action takes over the key of the request and overwrites it when it is done. `metadata` is
   * MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA.
   * @throws EINVAL, EOPNOTSUPP refused by the page or the profile; ENOMEM
   */
  static create(context: Context, request: EspRequest, metadata = false): EspAction {
    const { device } = living("ctx", context, Context);
    let holds: EspHolds | null = null;
    try {
      const settings = checkedSettings(device.profile.esp, request, null, metadata);
      const space = nonceSpace(device, settings);
      holds = acquire(device, settings, null, true);
      holds.window?.begin(firstNumber(settings));
      return new EspAction(context, settings, holds, space);
    } catch (error) {
      if (holds !== null) release(device, holds, null);
      wipe(request.keymat?.value);
      throw error;
    } finally {
      // The staging area held the record, with its salt.
      const { u8, staging } = device.core;
      u8.fill(0, staging, staging + ESP_SIZE);
    }
  }

  get kind(): FlowActionKind {
    return "ESP";
  }

  /** Whether packets keep their ESP headers (inline crypto). */
  get inline(): boolean {
    return (this._settings.flags & ESP_FULL_OFFLOAD) === 0;
  }

  /** @internal Key and salt in use, as a text that shows neither; empty where the device does not choose the IVs. */
  get nonceSpace(): string {
    return this._space;
  }

  /** @internal The settings, with the key. */
  get settings(): EspSettings {
    return this._settings;
  }

  get state(): EspState {
    const { number, iv, packets, up } = countsOf(this._record);
    return {
      number,
      iv,
      packets,
      numbersUsedUp: (up & ESP_UP_NUMBERS) !== 0,
      ivsUsedUp: (up & ESP_UP_IVS) !== 0,
      windowSize: this._holds.window?.size ?? null,
    };
  }

  /**
   * @internal Changes the given parameters, for all flows at once.
   * @throws EINVAL, EOPNOTSUPP refused by the page or the profile; ENOMEM; nothing has changed
   */
  modify(request: EspRequest): void {
    const { device } = living<EspAction>("action", this, EspAction);
    const [before, had] = [this._settings, this._holds];
    try {
      const counts = countsOf(this._record);
      const settings = checkedSettings(device.profile.esp, request, before, before.metadata);
      const rekeyed = settings.keymat !== before.keymat;
      const space = rekeyed ? nonceSpace(device, settings) : this._space;
      this._usedIvs.note(this._space, counts);
      if (rekeyed) this._usedIvs.check(space, settings.iv);
      const holds = acquire(device, settings, had, rekeyed);
      openWindow(holds, had, counts, renumbered(settings, before));
      this._record.set(associationOf(settings, holds, countsAfter(settings, before, counts)));
      this._settings = settings;
      this._holds = holds;
      this._space = space;
      release(device, had, holds);
      if (rekeyed) wipe(before.keymat);
    } catch (error) {
      wipe(request.keymat?.value);
      throw error;
    }
  }

  private get _record(): Uint8Array {
    return recordBytes(this.device.core, this.operand, ESP_SIZE);
  }

  protected override discard(): void {
    this._record.fill(0);
    wipe(this._settings.keymat);
    release(this.device, this._holds, null);
  }
}

function beginning(settings: EspSettings): EspCounts {
  return { number: firstNumber(settings), iv: settings.iv, packets: 0n, up: 0 };
}

/**
 * SPEC: the number is set only where it differs from the last one given. A new key starts its own
 * frame count and IVs.
 */
function countsAfter(settings: EspSettings, before: EspSettings, counts: EspCounts): EspCounts {
  const number = renumbered(settings, before);
  const rekeyed = settings.keymat !== before.keymat;
  let { up } = counts;
  if (number !== null) up &= ~ESP_UP_NUMBERS;
  if (rekeyed && isNew(settings, before)) up &= ~ESP_UP_IVS;
  return {
    number: number ?? counts.number,
    iv: rekeyed ? settings.iv : counts.iv,
    packets: rekeyed && isNewKey(settings, before) ? 0n : counts.packets,
    up,
  };
}

/** The sequence number to set; null to continue. */
function renumbered(settings: EspSettings, before: EspSettings): bigint | null {
  const first = firstNumber(settings);
  return first === firstNumber(before) ? null : first;
}

function openWindow({ window }: EspHolds, had: EspHolds, { number, packets }: EspCounts, set: bigint | null): void {
  if (window === null) return;
  if (set !== null) window.begin(set);
  // Numbers received without a window are unknown, so all of them count as seen.
  else if (had.window === null) window.begin(number, packets > 0n);
  else if (had.window !== window) window.follow(had.window, number);
}

function wipe(keymat: EspKeymat | null | undefined): void {
  keymat?.aes_key.fill(0);
  keymat?.salt.fill(0);
}
