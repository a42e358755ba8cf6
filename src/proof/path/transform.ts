/**
 * What actions make of keys: the key of a frame at the next table, as functions of its key at the table before. Where the key
 * does not determine the result, such as the bytes after a UDP header whose port was changed, the result is the key of any
 * frame that fits: so what no such key does, no frame does.
 */
import { Place } from "../../abi/program.js";
import { L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL, L2_TUNNEL_TO_L2, REFORMAT_TYPE } from "../../abi/reformat.js";
import type { Tracer } from "../../explain/trace/tracer.js";
import { operationOf, opName, type HeaderOp, type StateResult } from "../../model/action/operations.js";
import type { ParsedKey } from "../keys/parsedKey.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { FALSE, TRUE, type Literal } from "../literal.js";
import { andOf } from "../solver/numbers.js";
import type { Solver } from "../solver/solver.js";
import { Decapsulated, hasInside } from "./decapsulated.js";
import { Encapsulated } from "./encapsulated.js";
import { frontHeadersAt } from "./frontHeaders.js";
import type { Edge } from "./graph.js";
import { HeaderChange, programAt } from "./headerChange.js";
import { inOtherDomain, loopedBack, withResult } from "./registers.js";
import { Reparsed, reparsed, resampled } from "./reparsed.js";
import { Popped, Pushed } from "./vlan.js";

/** What changes of keys need. */
export interface Changing {
  readonly solver: Solver;
  readonly tracer: Tracer;
  /**
   * A key that the parser could make of a frame. With an origin: of the packet inside a tunnel of that key; then `link` has the
   * bits of an Ethernet header that is put before it.
   */
  newKey(origin?: SymbolicKey | null, link?: ((bit: number) => Literal) | null): ParsedKey;
}

/** A key after actions. */
export interface Changed {
  readonly key: SymbolicKey;
  /** Holds for frames that go on; for others an action ends the frame. */
  readonly when: Literal;
  /** Bits that the state of the device decides, not the frame. */
  readonly choices: readonly Literal[];
}

const NOTHING_STAYS = new Uint8Array(4096);

/**
 * The key after actions.
 * @param actions pairs of operation and operand
 * @param upTo how many of them
 */
export function changedKey(
  changing: Changing,
  before: SymbolicKey,
  actions: readonly number[],
  upTo = actions.length / 2,
): Changed {
  let changed: Changed = { key: before, when: TRUE, choices: [] };
  let parameters = 0;
  for (let i = 0; i < 2 * upTo; i += 2) {
    const [op, operand] = [actions[i] as number, actions[i + 1] as number];
    const { changes } = operationOf(op);
    if (changes === "parameters") parameters = operand;
    else if (changes === "headers") changed = AFTER[opName(op) as HeaderOp](changing, changed, operand);
    else if (changes !== null) changed = withState(changing.solver, changed, parameters & 0xff, changes);
  }
  return changed;
}

/** The key after an operation that changes headers. */
const AFTER = {
  modify: (changing, before, address) => ({ ...before, key: modified(changing, before.key, address) }),
  push_vlan: (changing, before, tag) => ({
    ...before,
    key: sampled(changing, new Pushed(changing.solver, before.key, tag)),
  }),
  pop_vlan: (changing, before) => ({ ...before, key: sampled(changing, new Popped(changing.solver, before.key)) }),
  reformat: reformatted,
  esp(changing, before) {
    const newKey = (): ParsedKey => changing.newKey();
    return { ...before, key: new Reparsed(changing.solver, before.key, NOTHING_STAYS, [], () => FALSE, newKey) };
  },
} satisfies Record<HeaderOp, (changing: Changing, before: Changed, operand: number) => Changed>;

function withState(solver: Solver, before: Changed, register: number, result: StateResult): Changed {
  const { key, choices } = withResult(solver, before.key, register, result);
  return { ...before, key, choices: [...before.choices, ...choices] };
}

function modified(changing: Changing, key: SymbolicKey, address: number): SymbolicKey {
  const { solver, tracer } = changing;
  const program = programAt(tracer.traced.core, address);
  const changed = new HeaderChange(solver, key, program);
  if (program.every(({ to }) => to >= (Place.register as number))) return changed;
  return sampled(
    changing,
    reparsed(solver, key, changed, program, tracer.device.parser, () => changing.newKey()),
  );
}

function sampled(changing: Changing, key: SymbolicKey): SymbolicKey {
  const { solver, tracer } = changing;
  return tracer.device.parser.samples.length === 0 ? key : resampled(solver, key, () => changing.newKey());
}

function reformatted(changing: Changing, before: Changed, record: number): Changed {
  const { solver, tracer } = changing;
  const { traced } = tracer;
  const type = traced.core.u8[record + REFORMAT_TYPE];
  if (type === L2_TO_L2_TUNNEL || type === L2_TO_L3_TUNNEL) {
    const front = frontHeadersAt(traced, record);
    const newKey = (): ParsedKey => changing.newKey();
    const key = new Encapsulated(solver, before.key, front, type === L2_TO_L2_TUNNEL, newKey);
    return { ...before, key: sampled(changing, key) };
  }
  const keepsLink = type === L2_TUNNEL_TO_L2;
  const front = keepsLink ? null : frontHeadersAt(traced, record);
  const newKey = changing.newKey.bind(changing);
  return {
    ...before,
    key: sampled(changing, new Decapsulated(solver, before.key, { newKey, front })),
    when: andOf(solver, [before.when, hasInside(solver, before.key, keepsLink)]),
  };
}

/** The key at the end of an edge, for a key at its beginning. The conditions of the edge are those of this key. */
export function keyAlong(changing: Changing, before: SymbolicKey, { changes, move }: Edge): Changed {
  const changed = changedKey(changing, before, changes);
  if (move === "loop") return { ...changed, key: loopedBack(changed.key) };
  if (move === "egress" || move === "vport" || move === "default")
    return { ...changed, key: inOtherDomain(changed.key) };
  return changed;
}
