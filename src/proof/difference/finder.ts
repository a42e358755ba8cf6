/** Finds frames that two devices treat differently among those that can notice a change. */
import type { TracedWalk } from "../../explain/trace/tracer.js";
import { hexOf } from "../../base/hex.js";
import { KEY_SIZE } from "../../abi/key.js";
import { termsOf } from "../../explain/match/terms.js";
import type { Change, DifferenceGroup, WitnessFrame } from "../answer.js";
import type { Prepared } from "../path/preparations.js";
import type { Entry } from "../path/graph.js";
import { Search, type LeftOut } from "../path/search.js";
import { nearWays, sameWays, type Way } from "./alike.js";
import type { Goal } from "./changes.js";
import { differentKinds, type Behaviour } from "./compare.js";
import { described } from "./described.js";
import { framesText } from "./framesText.js";
import { pathOf } from "./path.js";
import type { Side } from "./sides.js";
import { treatmentOf } from "./treatment.js";
import { VARIATIONS, variationsOf } from "./variations.js";

/** Ways to a goal that are looked at: those of frames that are treated alike, and those of groups. */
const MAX_WAYS = 500;
/** Those of them of which it is not known whether all their frames are treated alike. */
const MAX_OPEN = 12;
/** Groups of one goal. */
const MAX_GROUPS = 8;

/** The effect of a change, and for an unknown one how far the search went. */
export type Judged = Pick<Change, "effect" | "tried">;

const SAME: Judged = { effect: "same", tried: null };
const DIFFERENT: Judged = { effect: "different", tried: null };

function unknown(tried: string): Judged {
  return { effect: "unknown", tried };
}

/** @param ways of which one frame each was steered, with others like it */
function triedText(ways: number): string {
  const frames = ways === 1 ? "a frame that gets there" : `${ways} frames that get there by different paths`;
  return `${frames}, and ${VARIATIONS} like ${ways === 1 ? "it" : "each"}: both treat them the same`;
}

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
  /** Frames that come in at places that the other device does not have. */
  readonly #strangers: { readonly old: LeftOut; readonly changed: LeftOut };
  /** Frames that both devices treat alike, for all goals. */
  readonly #alike: LeftOut[] = [];

  constructor(sides: { readonly old: Side; readonly changed: Side }, behaviour: Behaviour) {
    this.#sides = sides;
    this.#behaviour = behaviour;
    this.#strangers = { old: notIn(sides.changed), changed: notIn(sides.old) };
    this.#searches = { old: new Search(sides.old.world), changed: new Search(sides.changed.world) };
  }

  get groups(): readonly DifferenceGroup[] {
    return [...this.#groups.values()];
  }

  /** Whether frames that come to one of the goals are treated differently; "same" is proved. */
  effectOf(goals: readonly Goal[]): Judged {
    if (goals.length === 0) return unknown("nothing: any frame may notice it");
    const judged = goals.map((goal) => this.#ofGoal(goal));
    const found = (wanted: Change["effect"]): Judged | undefined => judged.find(({ effect }) => effect === wanted);
    return found("different") ?? found("unknown") ?? SAME;
  }

  #ofGoal(goal: Goal): Judged {
    /** Frames of ways that were looked at: alike, or of a group that was found. */
    const except: LeftOut[] = [this.#strangers[goal.side], ...this.#alike];
    let groups = 0;
    /** Ways of frames that are treated alike, but not all for the same reason. */
    let open = 0;
    /** Where the search ends without having seen all frames. */
    const end = (tried: string): Judged => (groups > 0 ? DIFFERENT : unknown(tried));
    for (let ways = 0; ways < MAX_WAYS && groups < MAX_GROUPS; ways++) {
      const { table, rule, also, not } = goal;
      const found = this.#searches[goal.side].find({ table, rule }, { also, not, except });
      if (found.kind === "none") return open > 0 ? end(triedText(ways)) : groups > 0 ? DIFFERENT : SAME;
      if (found.kind === "unknown") return end(found.tried);
      const steered = this.#steer(goal, found.last, found.before);
      if (steered === null) return end("a frame that the other device has no place for");
      const different = this.#isDifferent(steered) ? steered : this.#variation(goal, steered);
      if (different !== null) {
        this.#note(goal, different);
        groups++;
      }
      const way = this.#wayOf(steered);
      if (way === null || (!way.alike && different === null && ++open > MAX_OPEN)) return end(triedText(ways + 1));
      if (way.alike && different === null) this.#alike.push(way.frames);
      except.push(way.frames);
    }
    return end(triedText(MAX_WAYS));
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

  /**
   * The frames that go the ways of a frame, and whether it is known that the same happens to all of them; null if nothing is
   * known of the ways.
   */
  #wayOf({
    last: { entry },
    before,
    old,
    changed,
    key,
  }: Steered): { readonly frames: LeftOut; readonly alike: boolean } | null {
    const [a, b] = [pathOf(this.#sides.old, old), pathOf(this.#sides.changed, changed)];
    const entries = [this.#sides.old.entryLike(entry), this.#sides.changed.entryLike(entry)] as const;
    if (a === null || b === null || entries[0] === null || entries[1] === null) return null;
    const ways: readonly [Way, Way] = [
      { side: this.#sides.old, entry: entries[0], path: a },
      { side: this.#sides.changed, entry: entries[1], path: b },
    ];
    const keys = before.length > 0 ? null : sameWays(ways, key);
    const known = keys ?? nearWays(ways, key);
    if (known === null) return null;
    const places = this.#firstTables(entry);
    const isFrom = (one: Entry): boolean => this.#firstTables(one) === places;
    return { frames: { keys: known, isFrom }, alike: keys !== null && a.effects === b.effects };
  }

  /** Equal for places from which frames come to the same first tables in both devices. */
  #firstTables(entry: Entry): string {
    return `${this.#sides.old.entryLike(entry)?.table} ${this.#sides.changed.entryLike(entry)?.table}`;
  }
}

function plainFrame({ frame, entry: { source }, metadata }: Prepared): WitnessFrame {
  return { bytes: hexOf(frame), from: source, ...(metadata === 0 ? {} : { metadata }) };
}

/** Frames that come in where a device has no place for them. */
function notIn(other: Side): LeftOut {
  const all = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE), ranges: [] };
  return { keys: all, isFrom: (entry) => other.entryLike(entry) === null };
}
