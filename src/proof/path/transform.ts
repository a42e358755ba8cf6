/**
 * What actions make of keys: the key of a frame at the next table, as functions of its key at the table before. Where the key
 * does not determine the result, such as the bytes after a UDP header whose port was changed, the result is the key of any
 * frame that fits: so what no such key does, no frame does.
 */
import { Op } from "../../abi/engine.js";
import { Place } from "../../abi/program.js";
import { L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL, L2_TUNNEL_TO_L2, REFORMAT_TYPE } from "../../abi/reformat.js";
import type { Tracer } from "../../explain/trace/tracer.js";
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
import { inOtherDomain, loopedBack, withResult, type Result } from "./registers.js";
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

const RESULTS: ReadonlyMap<number, Result> = new Map([
  [Op.meter, "colour"],
  [Op.first_hit, "flag"],
  [Op.track, "syndrome"],
]);
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
    if (op === (Op.state as number)) parameters = operand;
    else changed = afterAction(changing, changed, op, operand, parameters);
  }
  return changed;
}

function afterAction(changing: Changing, before: Changed, op: number, operand: number, parameters: number): Changed {
  const { solver } = changing;
  const { key } = before;
  switch (op) {
    case Op.modify as number:
      return { ...before, key: modified(changing, key, operand) };
    case Op.push_vlan as number:
      return { ...before, key: sampled(changing, new Pushed(solver, key, operand)) };
    case Op.pop_vlan as number:
      return { ...before, key: sampled(changing, new Popped(solver, key)) };
    case Op.reformat as number:
      return reformatted(changing, before, operand);
    case Op.esp as number:
      return {
        ...before,
        key: new Reparsed(
          solver,
          key,
          NOTHING_STAYS,
          [],
          () => FALSE,
          () => changing.newKey(),
        ),
      };
    default: {
      const result = RESULTS.get(op);
      if (result === undefined) return before;
      const written = withResult(solver, key, parameters & 0xff, result);
      return { ...before, key: written.key, choices: [...before.choices, ...written.choices] };
    }
  }
}

function modified(changing: Changing, key: SymbolicKey, address: number): SymbolicKey {
  const { solver, tracer } = changing;
  const program = programAt(tracer.traced.core, address);
  const changed = new HeaderChange(solver, key, program);
  if (program.every(({ to }) => to >= (Place.register as number))) return changed;
  return sampled(
    changing,
    reparsed(solver, key, changed, program, () => changing.newKey()),
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
