/**
 * ASO objects (docs/devx.md): bulks of first-hit flags, meters or connections. An action runs on
 * one unit of a bulk at a time. Units lie in the core; all actions and rules share them.
 */
import { CONNECTION_SIZE } from "../../abi/connection.js";
import { METER_SIZE } from "../../abi/state.js";
import { createRoom, recordBytes, releaseRoom } from "../../engine/records.js";
import { inCall, refuse } from "../../errors.js";
import { Context } from "../base/context.js";
import type { Domain } from "../table/domain.js";
import { DevxObject } from "../base/devxObject.js";
import { checkBytes, unsigned } from "../../base/checks.js";
import { living, retire } from "../base/handle.js";
import { isValid, meterOf, PARAMETERS_SIZE, withState } from "./meterParameters.js";

export type AsoKind = "first_hit" | "flow_meter" | "connection";

/** Bytes of one object's data in device commands. */
export const ASO_DATA = 64;

interface Layout {
  /** Units of an object: the offset of an action counts them. */
  readonly units: number;
  /** Bytes of an object in the core. */
  readonly bytes: number;
}

const LAYOUTS: Readonly<Record<AsoKind, Layout>> = {
  first_hit: { units: 512, bytes: ASO_DATA },
  flow_meter: { units: 2, bytes: 2 * METER_SIZE },
  connection: { units: 1, bytes: CONNECTION_SIZE },
};

/** A domain that may use the connections of another domain's object. */
export interface AsoLink {
  readonly flags: number;
  readonly register: number;
  /** Offsets that a rule of the domain uses. */
  readonly used: Set<number>;
}

export class AsoObject extends DevxObject {
  readonly numberedAs = "aso";
  readonly context: Context;
  readonly kind: AsoKind;
  /** Objects in the bulk. */
  readonly objects: number;
  /** Device number of the first object. */
  readonly id: number;
  /** Domains that it is linked to (mlx5dv_dr_aso_other_domain_link). */
  readonly links = new Map<Domain, AsoLink>();
  private readonly _address: number;
  /**
   * The parameters of the meters of an object, as created or as last changed by a device command.
   */
  private readonly _parameters: Uint8Array;
  private readonly _changed = new Map<number, Uint8Array>();

  private constructor(context: Context, kind: AsoKind, objects: number, address: number, data: Uint8Array) {
    const { device } = context;
    super(device, `${kind}${device.nextNumber(kind)}`);
    this.context = context;
    this.kind = kind;
    this.objects = objects;
    this.id = device.nextNumber("aso id", objects) + 1;
    this._address = address;
    this._parameters = data;
    device.resources.add(this);
    context.users++;
  }

  /**
   * @internal Makes a bulk of 2^log_obj_range objects, each with the same 64 bytes of data.
   * @throws ENOMEM
   */
  static create(context: Context, kind: AsoKind, logRange: number, data: Uint8Array): AsoObject {
    const { device } = living("context", context, Context);
    const objects = 2 ** logRange;
    const { bytes } = LAYOUTS[kind];
    const fits = objects * bytes < 2 ** 31;
    const address = device.allocated(fits ? createRoom(device.core, objects * bytes) : 0);
    device.stateful = true;
    const object = new AsoObject(context, kind, objects, address, data.slice(0, ASO_DATA));
    for (let n = 0; n < objects; n++) object._set(n, data);
    return object;
  }

  override get count(): number {
    return this.objects;
  }

  /** Units of all objects: an offset is below this number. */
  get size(): number {
    return this.objects * LAYOUTS[this.kind].units;
  }

  /** The operand of an operation on a unit: an address in the core, and the bit in its byte. */
  unitAt(offset: number): { readonly address: number; readonly bit: number } {
    const at = this._address;
    switch (this.kind) {
      case "first_hit":
        return { address: at + (offset >>> 3), bit: offset & 7 };
      case "flow_meter":
        return { address: at + offset * METER_SIZE, bit: 0 };
      case "connection":
        return { address: at + offset * CONNECTION_SIZE, bit: 0 };
    }
  }

  /** The offset of the unit that `unitAt` has this operand for; undefined for that of another bulk. */
  unitOf({ address, bit }: { readonly address: number; readonly bit: number }): number | undefined {
    const unit = { first_hit: 1, flow_meter: METER_SIZE, connection: CONNECTION_SIZE }[this.kind];
    const at = (address - this._address) / unit;
    const offset = this.kind === "first_hit" ? 8 * at + bit : at;
    return offset >= 0 && offset < this.size ? offset : undefined;
  }

  /**
   * The 64 data bytes of an object as QUERY_GENERAL_OBJECT returns them; 0 is the first object of
   * the bulk. `connectionFromBytes`, `flowMetersFromBytes` and `firstHitFromBytes` read them.
   * @throws EINVAL no such object in the bulk, or a destroyed bulk
   */
  read(object: number): Uint8Array {
    return inCall("AsoObject.read", () => {
      this._check(object);
      const bytes = this._bytesOf(object);
      if (this.kind === "first_hit") return bytes.slice();
      const data = new Uint8Array(ASO_DATA);
      if (this.kind === "connection") {
        data.set(bytes.subarray(0, ASO_DATA));
        return data;
      }
      for (let n = 0; n < 2; n++) {
        data.set(
          withState(this._block(2 * object + n), bytes.subarray(n * METER_SIZE, (n + 1) * METER_SIZE)),
          n * PARAMETERS_SIZE,
        );
      }
      return data;
    });
  }

  /**
   * Sets an object to the state that these data bytes describe. Missing bytes are 0.
   * @throws EINVAL no such object in the bulk, a destroyed bulk, more than 64 bytes
   */
  write(object: number, data: Uint8Array): void {
    inCall("AsoObject.write", () => {
      this._check(object);
      checkBytes("data", data);
      if (data.length > ASO_DATA) {
        const hint = `at most ${ASO_DATA} bytes`;
        refuse({ code: "EINVAL", reason: "out_of_range", path: "data", value: data.length, hint });
      }
      const whole = new Uint8Array(ASO_DATA);
      whole.set(data);
      if (this.kind === "flow_meter") this._changed.set(object, whole);
      this._set(object, whole);
    });
  }

  private _check(object: number): void {
    living("this", this, AsoObject);
    if (unsigned("object", object, 32) < this.objects) return;
    const hint = `0 to ${this.objects - 1}`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "object", value: object, hint });
  }

  private _set(object: number, data: Uint8Array): void {
    const bytes = this._bytesOf(object);
    bytes.fill(0);
    if (this.kind !== "flow_meter") {
      bytes.set(data.subarray(0, ASO_DATA));
      return;
    }
    for (let n = 0; n < 2; n++) {
      const block = data.subarray(n * PARAMETERS_SIZE, (n + 1) * PARAMETERS_SIZE);
      bytes.set(meterOf(block, isValid(block), this.device.now()), n * METER_SIZE);
    }
  }

  private _bytesOf(object: number): Uint8Array {
    const { bytes } = LAYOUTS[this.kind];
    return recordBytes(this.device.core, this._address + object * bytes, bytes);
  }

  private _block(offset: number): Uint8Array {
    const first = (offset & 1) * PARAMETERS_SIZE;
    const data = this._changed.get(offset >>> 1) ?? this._parameters;
    return data.subarray(first, first + PARAMETERS_SIZE);
  }

  /** @internal */
  destroy(): void {
    if (this.links.size > 0) {
      const hint = "unlink it from other domains first";
      refuse({ code: "EBUSY", reason: "in_use", path: "obj", value: this, hint });
    }
    retire("obj", this, "destroy the actions that use it first");
    releaseRoom(this.device.core, this._address, this.objects * LAYOUTS[this.kind].bytes);
    this.context.users--;
  }
}
