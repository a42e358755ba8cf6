/** Finds frames that two devices treat differently among those that can notice a change. */
import type { TracedWalk } from "../../explain/trace/tracer.js";
import { hexOf } from "../../hex.js";
import { KEY_SIZE } from "../../abi/key.js";
import { termsOf, type KeyMatch } from "../../explain/match/terms.js";
import type { Change, DifferenceGroup, WitnessFrame } from "../answer.js";
import type { Prepared } from "../path/preparations.js";
import { Search } from "../path/search.js";
import { originMatch, sameWays } from "./alike.js";
import type { Goal } from "./changes.js";
import { differentKinds, type Behaviour } from "./compare.js";
import { described } from "./described.js";
import { framesText } from "./framesText.js";
import { pathOf } from "./path.js";
import type { Side } from "./sides.js";
import { treatmentOf } from "./treatment.js";
import { variationsOf } from "./variations.js";

/** Ways to a goal that are looked at: those of frames that are treated alike, and those of groups. */
const MOST_WAYS = 500;
/** Groups of one goal. */
const MOST_GROUPS = 8;

/** A frame that both devices have steered in a dry run. */
interface Steered {
  readonly last: Prepared;
  readonly before: readonly Prepared[];
  readonly old: TracedWalk;
  readonly changed: TracedWalk;
  /** The key with which the frame comes in. */
  readonly key: Uint8Array;
}

export class DifferenceFinder {
  readonly #sides: { readonly old: Side; readonly changed: Side };
  readonly #behaviour: Behaviour;
  readonly #searches: { readonly old: Search; readonly changed: Search };
  readonly #groups = new Map<string, DifferenceGroup>();
  /** The keys of frames that come in at places that the other device does not have. */
  readonly #strangers: { readonly old: readonly KeyMatch[]; readonly changed: readonly KeyMatch[] };
  /** Arriving keys that both devices treat alike, for all goals. */
  readonly #alike: KeyMatch[] = [];

  constructor(sides: { readonly old: Side; readonly changed: Side }, behaviour: Behaviour) {
    this.#sides = sides;
    this.#behaviour = behaviour;
    this.#strangers = { old: onlyIn(sides.old, sides.changed), changed: onlyIn(sides.changed, sides.old) };
    this.#searches = { old: new Search(sides.old.world), changed: new Search(sides.changed.world) };
  }

  get groups(): readonly DifferenceGroup[] {
    return [...this.#groups.values()];
  }

  /** Whether frames that come to one of the goals are treated differently; "same" is proved. */
  effectOf(goals: readonly Goal[]): Change["effect"] {
    if (goals.length === 0) return "unknown";
    const effects = goals.map((goal) => this.#ofGoal(goal));
    if (effects.includes("different")) return "different";
    return effects.includes("unknown") ? "unknown" : "same";
  }

  #ofGoal(goal: Goal): Change["effect"] {
    /** Keys of ways that were looked at: alike, or of a group that was found. */
    const except: KeyMatch[] = [...this.#strangers[goal.side], ...this.#alike];
    let groups = 0;
    const effect = (open: boolean): Change["effect"] => (groups > 0 ? "different" : open ? "unknown" : "same");
    for (let ways = 0; ways < MOST_WAYS && groups < MOST_GROUPS; ways++) {
      const { table, rule, also } = goal;
      const found = this.#searches[goal.side].find({ table, rule }, { also, except });
      if (found.kind !== "frame") return effect(found.kind === "unknown");
      const steered = this.#steer(goal, found.last, found.before);
      // No frame of the other device comes in there.
      if (steered === null) return effect(true);
      const different = this.#isDifferent(steered) ? steered : this.#variation(goal, steered);
      if (different !== null) {
        this.#note(goal, different);
        groups++;
      }
      const way = this.#wayOf(steered);
      if (way === null || (different === null && !way.alike)) return effect(true);
      if (way.alike && different === null) this.#alike.push(way.keys);
      except.push(way.keys);
    }
    return effect(true);
  }

  /** Null where the other device has no place for the frame to come in. */
  #steer(goal: Goal, last: Prepared, before: readonly Prepared[]): Steered | null {
    const own = this.#sides[goal.side];
    const other = this.#sides[goal.side === "old" ? "changed" : "old"];
    const there = [...before, last].flatMap((one) => {
      const entry = other.entryLike(one.entry);
      return entry === null ? [] : [{ ...one, entry }];
    });
    const lastThere = there.pop();
    if (lastThere === undefined || there.length < before.length) return null;
    const walks = [own.walk(last, before), other.walk(lastThere, there)] as const;
    const [old, changed] = goal.side === "old" ? walks : [walks[1], walks[0]];
    return { last, before, old, changed, key: old.lookups[0]?.key.slice() ?? new Uint8Array(KEY_SIZE) };
  }

  #kinds({ old, changed }: Steered) {
    return differentKinds(treatmentOf(old.trace), treatmentOf(changed.trace), this.#behaviour);
  }

  #isDifferent(steered: Steered): boolean {
    return this.#kinds(steered).length > 0;
  }

  /** A frame like one that is treated alike, which comes to the same goal and is treated differently; null for none. */
  #variation(goal: Goal, { last, before }: Steered): Steered | null {
    const address = goal.rule?.stored.address ?? 0;
    for (const frame of variationsOf(last.frame)) {
      const steered = this.#steer(goal, { ...last, frame }, before);
      if (steered === null) return null;
      const isThere = steered[goal.side].lookups.some(({ table, rule }) => table === goal.table && rule === address);
      if (isThere && this.#isDifferent(steered)) return steered;
    }
    return null;
  }

  #note(goal: Goal, steered: Steered): void {
    const { last, before, old, changed } = steered;
    const terms =
      goal.rule === null
        ? []
        : termsOf(this.#sides[goal.side].world.contentOf(goal.rule)).map(({ field, wanted }) => ({
            field: field.name,
            wanted,
          }));
    const { key, ...group } = described(
      this.#sides.old.world.tracer.device,
      {
        bytes: last.frame,
        linkType: old.trace.frame.linkType,
        kinds: this.#kinds(steered),
        before: treatmentOf(old.trace),
        after: treatmentOf(changed.trace),
      },
      goal.rule === null ? "frames" : framesText(terms),
    );
    if (this.#groups.has(key)) return;
    this.#groups.set(key, { ...group, witness: { ...plainFrame(last), before: before.map(plainFrame) } });
  }

  /** The keys of frames that go the ways of a frame, and whether the same happens on both; null if they are not known. */
  #wayOf({
    last: { entry },
    before,
    old,
    changed,
    key,
  }: Steered): { readonly keys: KeyMatch; readonly alike: boolean } | null {
    if (before.length > 0) return null;
    const paths = [pathOf(this.#sides.old, old), pathOf(this.#sides.changed, changed)] as const;
    const entries = [this.#sides.old.entryLike(entry), this.#sides.changed.entryLike(entry)] as const;
    const [a, b] = paths;
    if (a === null || b === null || entries[0] === null || entries[1] === null) return null;
    const keys = sameWays(
      [
        { side: this.#sides.old, entry: entries[0], path: a },
        { side: this.#sides.changed, entry: entries[1], path: b },
      ],
      key,
    );
    return keys === null ? null : { keys, alike: a.effects === b.effects };
  }
}

function plainFrame({ frame, entry: { source }, metadata }: Prepared): WitnessFrame {
  return { bytes: hexOf(frame), from: source, ...(metadata === 0 ? {} : { metadata }) };
}

/** The keys of frames that come in where only one device has a place for them. */
function onlyIn(one: Side, other: Side): KeyMatch[] {
  return one.world.graph.entries.filter((entry) => other.entryLike(entry) === null).map(originMatch);
}
