/** One device command: its input, its output, and how it is refused. */
import { refuse, SteeringError, type Refusal } from "../../errors.js";
import type { Context } from "../base/context.js";
import { checkBytes, unsigned } from "../../base/checks.js";
import { COMMAND, OUTPUT, readField, readFields, writeFields, type Layout } from "./layouts.js";
import type { NumberedKind } from "../base/numbered.js";
import { SYNDROMES, syndromeOf, type SyndromeName } from "./syndromes.js";

export class Command {
  readonly context: Context;
  readonly in: DataView;
  readonly out: DataView;

  /**
   * @throws EINVAL lengths beyond the buffers, or too short for opcode, status and syndrome;
   *   TypeError
   */
  constructor(
    context: Context,
    input: Uint8Array,
    inlen: number | undefined,
    output: Uint8Array,
    outlen: number | undefined,
  ) {
    this.context = context;
    this.in = viewOf("in", input, inlen);
    this.out = viewOf("out", output, outlen);
    const hint = "no room for opcode, status and syndrome";
    const bad = { code: "EINVAL", reason: "bad_command", hint } as const;
    if (this.in.byteLength < 2) refuse({ ...bad, path: "inlen", value: this.in.byteLength });
    if (this.out.byteLength < 8) refuse({ ...bad, path: "outlen", value: this.out.byteLength });
  }

  get opcode(): number {
    return readField(this.in, COMMAND.fields.opcode);
  }

  /** Refuses shorter lengths than these. */
  expect(inlen: number, outlen: number): void {
    const { in: input, out } = this;
    if (input.byteLength < inlen) this.fail("short_input", "inlen", input.byteLength, `at least ${inlen} bytes`);
    if (out.byteLength < outlen) this.fail("short_output", "outlen", out.byteLength, `at least ${outlen} bytes`);
  }

  read<F extends string>(layout: Layout<F>, at = 0): Record<F, number> {
    return readFields(this.in, layout, at);
  }

  /** Copies bytes of the input. */
  bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.in.buffer, this.in.byteOffset + at, length).slice();
  }

  /** The object of the context with this number. */
  object<T>(kind: NumberedKind, path: string, id: number): T {
    return (this.context.numbered.at(kind, id) ?? this.fail("unknown_object", path, id)) as T;
  }

  /** Succeeds: the output is zero except for these fields. */
  succeed<F extends string>(layout?: Layout<F>, values: { readonly [K in F]?: number } = {}, at = 0): void {
    new Uint8Array(this.out.buffer, this.out.byteOffset, this.out.byteLength).fill(0);
    if (layout !== undefined) writeFields(this.out, layout, values, at);
  }

  /** Fails: writes status and syndrome to the output. @throws EREMOTEIO */
  fail(cause: SyndromeName, path: string, value?: unknown, hint?: string): never {
    return this.#refuse(cause, { reason: "bad_command", path, value, hint });
  }

  /**
   * Runs a call of the model; its refusal becomes a failed command. @throws EREMOTEIO; TypeError
   * unchanged
   */
  carry<T>(make: () => T): T {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
      const { code, reason, path, value, hint } = error;
      return this.#refuse(syndromeOf(code), { reason, path, value, hint });
    }
  }

  #refuse(cause: SyndromeName, refusal: Pick<Refusal, "reason" | "path" | "value" | "hint">): never {
    const { status, syndrome, text } = SYNDROMES[cause];
    this.succeed(OUTPUT, { status, syndrome });
    const said = `status 0x${status.toString(16)}, syndrome 0x${syndrome.toString(16)}: ${text}`;
    const hint = refusal.hint === undefined ? said : `${said}; ${refusal.hint}`;
    return refuse({ code: "EREMOTEIO", ...refusal, hint });
  }
}

function viewOf(path: string, bytes: Uint8Array, length: number | undefined): DataView {
  checkBytes(path, bytes);
  const size = unsigned(`${path}len`, length ?? bytes.length, 32);
  if (size > bytes.length) {
    const hint = `it has ${bytes.length} bytes`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}len`, value: size, hint });
  }
  return new DataView(bytes.buffer, bytes.byteOffset, size);
}
