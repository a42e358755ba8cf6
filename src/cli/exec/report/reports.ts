/** What the host of `flowsteer exec` reports of the programs that use its devices. */

/** A return address of a program: file and offset as addr2line(1) takes them. */
export interface CodePlace {
  /** The path of the executable or the shared library. */
  readonly module: string;
  readonly offset: number;
  /** The function, where the dynamic symbol table has it. */
  readonly symbol: string | null;
}

/** A refusal before it is known who made the call. */
export interface Refused {
  readonly call: string;
  /** EINVAL, ... */
  readonly code: string;
  /** The message of the `SteeringError`. */
  readonly message: string;
}

/** A call that was refused. */
export interface RefusedCall extends Refused {
  readonly pid: number;
  /** Who made the call, the innermost first; frames of the C library itself are left out. */
  readonly callers: readonly CodePlace[];
}

/** A rule or flow that a program made. */
export interface MadeRule {
  readonly kind: "rule" | "flow";
  /** As objects are printed: `rule12`, `flow3`. */
  readonly name: string;
  /** The call that made it: `mlx5dv_dr_rule_create`. */
  readonly call: string;
  /** Hits while it was alive. */
  readonly packets: bigint;
  readonly bytes: bigint;
  readonly destroyed: boolean;
}

/** A process that used the devices. */
export interface SessionReport {
  readonly pid: number;
  /** Its command line, as far as the system tells it. */
  readonly command: string;
  readonly calls: number;
  readonly rules: readonly MadeRule[];
  /** Objects that it never destroyed, by the name of their struct: `ibv_qp`. Contexts do not count. */
  readonly leaks: ReadonlyMap<string, number>;
}
