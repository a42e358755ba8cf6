/**
 * Where the paths of a frame through two devices meet again: both reach the same table after the same effects, and neither
 * reaches a change from there. So the same happens to the frame from there on, and its paths need not be followed further.
 */
import type { Way } from "./alike.js";
import type { Goal, Suspect } from "./changes.js";
import { beginning } from "./path.js";
import type { Side } from "./sides.js";

type Sides = Readonly<Record<Goal["side"], Side>>;

export class Meetings {
  /** The names of tables in which some frame can notice a change. */
  readonly #changed: ReadonlySet<string>;
  readonly #calm = new Map<Side, Map<number, boolean>>();

  constructor(sides: Sides, suspects: readonly Pick<Suspect, "goals">[]) {
    const goals = suspects.flatMap((one) => one.goals);
    this.#changed = new Set(goals.map(({ side, table }) => sides[side].tableName(table)));
  }

  /** The paths up to the first place where they meet for good; null if they do not. */
  before([a, b]: readonly [Way, Way]): readonly [Way, Way] | null {
    for (const [i, effects] of a.path.stops.entries()) {
      const edge = a.path.edges[i];
      if (edge === undefined || edge.slot !== 0 || !this.#isCalm(a.side, edge.to)) continue;
      const name = a.side.tableName(edge.to);
      const j = b.path.edges.findIndex(({ to }) => b.side.tableName(to) === name);
      const other = b.path.edges[j];
      if (other?.slot !== 0 || b.path.stops[j] !== effects || !this.#isCalm(b.side, other.to)) continue;
      return [
        { ...a, path: beginning(a.path, i + 1) },
        { ...b, path: beginning(b.path, j + 1) },
      ];
    }
    return null;
  }

  /** Whether frames at a table reach no change, and only tables that both devices have. */
  #isCalm(side: Side, table: number): boolean {
    let calm = this.#calm.get(side);
    if (calm === undefined) this.#calm.set(side, (calm = new Map<number, boolean>()));
    let known = calm.get(table);
    if (known === undefined) {
      const reached = new Set([table]);
      for (const one of reached) for (const { to } of side.world.graph.edgesFrom(one)) reached.add(to);
      known = [...reached].every((one) => side.isShared(one) && !this.#changed.has(side.tableName(one)));
      calm.set(table, known);
    }
    return known;
  }
}
