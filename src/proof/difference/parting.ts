/**
 * Frames of two paths that the devices treat differently by what actions do: frames that have what the actions need, with
 * values that the actions change to different ones.
 */
import { Op, REGISTER_B } from "../../abi/engine.js";
import { frameOf } from "../keys/frameOf.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { FALSE, TRUE, type Literal } from "../literal.js";
import { arrivalKey, metadataOf } from "../path/arrival.js";
import { Chain, solveAll } from "../path/chain.js";
import type { Entry } from "../path/graph.js";
import { programAt } from "../path/headerChange.js";
import { INNER_OF, IS_PATH, OUTER_OF } from "../path/levels.js";
import { registerBit } from "../path/places.js";
import type { Prepared } from "../path/preparations.js";
import { TAGS } from "../path/vlan.js";
import { andOf, exclusiveOr, orOf } from "../solver/numbers.js";
import { Solver } from "../solver/solver.js";
import type { Way } from "./alike.js";

/** Frames of one kind that are tried. */
const MAX_FRAMES = 6;
/** Frames of one kind that other rules took, because of bits for which the solver was not asked. */
const MAX_DIVERTED = 24;
const B = registerBit(REGISTER_B);

/** @param entry where the frames come in; of the same device as the first way */
export function* partingFrames(ways: readonly [Way, Way], entry: Entry): Generator<Prepared> {
  const solver = new Solver();
  const arrival = arrivalKey(ways[0].side.world.tracer.device, entry, solver);
  const chains = ways.map(
    ({ side, path: { edges, table, rule } }) => new Chain(side.world, solver, arrival, edges, { table, target: rule }),
  ) as [Chain, Chain];
  if (!chains.every(({ possible }) => possible)) return;
  for (const parted of partings(solver, ways, chains)) {
    // A solution of one parting has few bits: others have frames with the same bits.
    const within = solver.newVariable();
    for (let [n, diverted] = [0, 0]; n < MAX_FRAMES && parted !== FALSE; n++) {
      if (solveAll(solver, chains, () => [parted, within]) !== true) break;
      const frame = frameOf(solver, arrival);
      const found = frame === null ? null : { frame, entry, metadata: metadataOf(solver, arrival) };
      if (
        found !== null &&
        diverted < MAX_DIVERTED &&
        ways.some((way, i) => isDiverted(way, chains[i] as Chain, found))
      ) {
        diverted++;
        n--;
        continue;
      }
      if (found !== null) yield found;
      chains[0].forbidSolution([within]);
    }
  }
}

/** Whether an earlier rule takes a frame from a path; the chain forbids it then. */
function isDiverted({ side: { world }, entry }: Way, chain: Chain, frame: Prepared): boolean {
  const { lookups } = world.walk({ ...frame, entry });
  for (const [i, stage] of chain.stages.entries()) {
    const lookup = lookups[i];
    if (lookup === undefined || lookup.table !== stage.table || stage.any) return false;
    const wanted = stage.wanted?.stored ?? null;
    if (lookup.rule === (wanted?.address ?? 0)) continue;
    if (lookup.rule === 0) return false;
    const taker = world.rules.ruleAt(lookup.table, lookup.rule);
    return world.oracle.keeps(taker, stage.wanted, stage) && chain.forbid(stage, taker);
  }
  return false;
}

/**
 * Literals each of which holds for frames of both paths that may be treated differently, the likeliest first. Headers that
 * actions put in front move fields to the inner packet, others move them out; inner bits after a change can be free.
 */
function* partings(solver: Solver, ways: readonly [Way, Way], [a, b]: readonly [Chain, Chain]): Generator<Literal> {
  const [was, is] = [endOf(solver, ways[0], a), endOf(solver, ways[1], b)];
  // A frame that has no tunnel to remove does not show what comes after it.
  const isUnseen = ways.some(({ path }) => path.failed);
  if (isUnseen || ways[0].path.marks !== ways[1].path.marks) yield orOf(solver, [was.when, is.when]);
  yield exclusiveOr(solver, was.when, is.when);
  const bits = new Set(ways.flatMap(writtenBits));
  const twins = new Set([...bits].flatMap((bit) => [INNER_OF[bit] as number, OUTER_OF[bit] as number]));
  // A counter shows a tag that was removed, by the length, and no other field.
  const tags = TAGS.filter((bit) => bits.has(bit));
  const fields = [...bits].filter((bit) => !TAGS.includes(bit));
  for (const some of [tags, fields, twins]) {
    const seen = [...some].filter((bit) => bit >= 0 && (IS_PATH[bit] === 0 || (bit >= B && bit < B + 32)));
    const changed = seen.map((bit) => exclusiveOr(solver, was.key.bit(bit), is.key.bit(bit)));
    yield andOf(solver, [was.when, is.when, orOf(solver, changed)]);
  }
}

/** A chain has a stage for each of its tables, and one table at least. */
function lastOf({ stages }: Chain): Chain["stages"][number] {
  const stage = stages.at(-1);
  if (stage === undefined) throw new Error("a chain without tables");
  return stage;
}

/** The key at the end of a path, and when a frame gets there. */
function endOf(solver: Solver, { side, path: { rule } }: Way, chain: Chain): { key: SymbolicKey; when: Literal } {
  const { key } = lastOf(chain);
  if (rule === null || rule === undefined) return { key, when: TRUE };
  return side.world.afterActions(solver, key, side.world.contentOf(rule).actions);
}

/** The bits of the key that the actions on a path write. */
function writtenBits({ side: { world }, path: { edges, rule } }: Way): number[] {
  const lists = [
    ...edges.map(({ changes }) => changes),
    rule === null || rule === undefined ? [] : world.contentOf(rule).actions,
  ];
  return lists.flatMap((actions) =>
    actions.flatMap((op, n) => {
      if (n % 2 === 1) return [];
      if (op === (Op.push_vlan as number) || op === (Op.pop_vlan as number)) return TAGS;
      if (op !== (Op.modify as number)) return [];
      return programAt(world.tracer.traced.core, actions[n + 1] as number).flatMap(({ bits }) => bits.flat());
    }),
  );
}
