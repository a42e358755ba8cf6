/** Bytes of device commands from named fields: the layouts are those that the device reads (src/model/devx/layouts.ts). */
import { refuse } from "../../errors.js";
import type { DevxObject } from "../../model/base/devxObject.js";
import { readFields, writeFields, type Layout } from "../../model/devx/layouts.js";
import { checkBytes, checkObject, wrongType } from "../../base/checks.js";
import { namesHint } from "../../base/nearest.js";

/** A command that makes a `T`. */
export type CommandFor<T extends DevxObject> = Uint8Array & { readonly makes?: T };

/** Values of fields by name; those left out are 0. */
export type FieldValues<F extends string> = { readonly [K in F]?: number | boolean | undefined };

/** A command being written. */
export class CommandBytes {
  readonly bytes: Uint8Array;

  /** `size` bytes with an opcode. */
  constructor(size: number, opcode: number) {
    this.bytes = new Uint8Array(size);
    new DataView(this.bytes.buffer).setUint16(0, opcode);
  }

  /** @throws EINVAL a value that its field does not hold */
  write<F extends string>(layout: Layout<F>, values: FieldValues<F>, at = 0): this {
    checkObject("fields", values);
    for (const name of Object.keys(values) as F[]) {
      this.#checkName(layout, name, values[name]);
      const value = values[name] ?? 0;
      if (typeof value === "boolean") continue;
      if (typeof value !== "number") {
        wrongType(name, "a number", value);
      }
      const [, bits] = layout.fields[name];
      if (Number.isInteger(value) && value >= 0 && value < 2 ** bits) continue;
      const hint = `${bits} bits`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: name, value, hint });
    }
    writeFields(new DataView(this.bytes.buffer), layout, values, at);
    return this;
  }

  #checkName<F extends string>({ fields }: Layout<F>, name: string, value: unknown): void {
    if (Object.hasOwn(fields, name)) return;
    const hint = namesHint(name, "fields", Object.keys(fields));
    refuse({ code: "EINVAL", reason: "bad_field", path: name, value, hint });
  }

  /** Bytes as they are. @throws EINVAL more than `most` */
  put(path: string, bytes: Uint8Array, at: number, most: number): this {
    checkBytes(path, bytes);
    if (bytes.length > most) {
      const hint = `at most ${most} bytes`;
      refuse({ code: "EINVAL", reason: "out_of_range", path, value: bytes, hint });
    }
    this.bytes.set(bytes, at);
    return this;
  }
}

/**
 * A view of an output of at least `size` bytes.
 * @throws TypeError no bytes; SteeringError EINVAL fewer
 */
export function outputView(output: Uint8Array, size: number): DataView {
  checkBytes("output", output);
  if (output.length < size) {
    const hint = `at least ${size} bytes`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "output", value: output, hint });
  }
  return new DataView(output.buffer, output.byteOffset, output.length);
}

/** The fields of an output by name. @throws TypeError no bytes; SteeringError EINVAL fewer */
export function outputFields<F extends string>(output: Uint8Array, layout: Layout<F>, at = 0): Record<F, number> {
  return readFields(outputView(output, at + layout.size), layout, at);
}
