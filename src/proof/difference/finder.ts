/** Finds frames that two devices treat differently among those that can notice a change. */
import type { TraceStep } from "../../explain/trace/trace.js";
import type { TracedWalk } from "../../explain/trace/tracer.js";
import { KEY_SIZE } from "../../abi/key.js";
import { overlap } from "../../base/bits.js";
import { termsOf } from "../../explain/match/terms.js";
import { packetLine } from "../../explain/print/packetLine.js";
import type { Change, DifferenceGroup, Treatment } from "../answer.js";
import type { Prepared } from "../path/preparations.js";
import type { Entry } from "../path/graph.js";
import { leftOut, Search, type LeftOut } from "../path/search.js";
import { witnessOf } from "../path/witness.js";
import { nearWays, sameWays, type Way } from "./alike.js";
import type { Goal, Suspect } from "./changes.js";
import { differentKinds, type Behaviour } from "./compare.js";
import { described } from "./described.js";
import { framesText } from "./framesText.js";
import { Meetings } from "./meeting.js";
import { partingFrames } from "./parting.js";
import { hits, pathOf, pathText } from "./path.js";
import type { Side } from "./sides.js";
import { dependsOnQueue, forbidPaths, isSmall } from "./taken.js";
import { treatmentOf } from "./treatment.js";
import { areAlike, branchesOf, mayMeet } from "./tree.js";
import { VARIATIONS, variationsOf } from "./variations.js";

/** Ways to a goal that are looked at: those of frames that are treated alike, and those of groups. */
const MAX_WAYS = 500;
/** Those of them of which it is not known whether all their frames are treated alike. */
const MAX_OPEN = 12;
/** Frames of paths whose other frames could not be left out at once: their keys do not decide these paths. */
const MAX_REPEATS = 80;
/** Those of one path, before it is left out with all that may end it, so that frames of other paths are seen. */
const MAX_OF_PATH = 8;
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

/** Paths of a frame, and frames that take them. */
interface LeftWays {
  readonly frames: LeftOut;
  /** Whether it is known that both devices treat all of them the same. */
  readonly alike: boolean;
  /** How many frames of these paths were seen after they were left out. */
  readonly repeats: number;
  readonly ways: readonly Way[];
}

export class DifferenceFinder {
  readonly #sides: { readonly old: Side; readonly changed: Side };
  readonly #behaviour: Behaviour;
  readonly #meetings: Meetings;
  readonly #searches: { readonly old: Search; readonly changed: Search };
  readonly #groups = new Map<string, DifferenceGroup>();
  /** Those whose sentences are about some of the frames that they name. */
  readonly #parts = new Set<string>();
  /** Of the present change: the groups of frames that a port loops back, and whether other frames show it too. */
  #looped: string[] = [];
  #isPlain = false;
  /** Frames that come in at places that the other device does not have. */
  readonly #strangers: { readonly old: LeftOut; readonly changed: LeftOut };
  /** Frames that both devices treat the same, with the paths that they take. */
  readonly #alike: Pick<LeftWays, "frames" | "ways">[] = [];

  /** @param suspects all changes of the devices */
  constructor(
    sides: { readonly old: Side; readonly changed: Side },
    suspects: readonly Pick<Suspect, "goals">[],
    behaviour: Behaviour,
  ) {
    this.#sides = sides;
    this.#meetings = new Meetings(sides, suspects);
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
    [this.#looped, this.#isPlain] = [[], false];
    const judged = goals.map((goal) => this.#ofGoal(goal));
    const found = (wanted: Change["effect"]): Judged | undefined => judged.find(({ effect }) => effect === wanted);
    return found("different") ?? found("unknown") ?? SAME;
  }

  #ofGoal(goal: Goal): Judged {
    const noted = new Set<string>();
    const judged = this.#judged(goal, noted);
    const shown = [...noted].filter((key) => this.#groups.has(key));
    // Frames that the rule takes may be treated the same, or differently in another way, or may not all have been seen.
    if (judged.isWhole === true && shown.length === 1) return judged;
    for (const key of shown) {
      const group = this.#groups.get(key) as DifferenceGroup;
      if (!this.#parts.has(key))
        this.#groups.set(key, { ...group, sentence: `some ${group.sentence.replace(/^all /, "")}` });
      this.#parts.add(key);
    }
    return judged;
  }

  /** @param noted gets the keys of the groups that are found; `isWhole` says that they have all frames of the goal */
  #judged(goal: Goal, noted: Set<string>): Judged & { readonly isWhole?: boolean } {
    /** Frames of ways that were looked at: alike, or of a group that was found. */
    const known = this.#alike.filter(({ ways }) => ways.some((way) => isAt(way, this.#sides[goal.side], goal)));
    const except: LeftOut[] = [this.#strangers[goal.side], ...known.map(({ frames }) => frames)];
    const seen = new Map<string, number>();
    let [groups, repeats] = [0, 0];
    /** Ways of frames that are treated alike, but not all for the same reason. */
    let open = 0;
    /** Whether frames of one way, or other frames of the rule, may be treated otherwise. */
    let isSplit = known.length > 0 || goal.also !== undefined || this.#leavesOut(goal);
    /** Where the search ends without having seen all frames. */
    const end = (tried: string): Judged => (groups > 0 ? DIFFERENT : unknown(tried));
    for (let ways = 0; ways < MAX_WAYS && groups < MAX_GROUPS; ways++) {
      const { table, rule, also, not } = goal;
      const found = this.#searches[goal.side].find({ table, rule }, { also, not, except });
      if (found.kind === "none") {
        if (open > 0) return end(triedText(ways));
        return groups > 0 ? { ...DIFFERENT, isWhole: groups === ways && !isSplit } : SAME;
      }
      if (found.kind === "unknown") return end(found.tried);
      const steered = this.#steer(goal, found.last, found.before);
      if (steered === null) return end("a frame that the other device has no place for");
      const way = this.#wayOf(steered, seen);
      // Of a path that is left out as a whole, not all frames are known to be treated alike.
      const isWhole = way !== null && way.repeats === MAX_OF_PATH;
      const isSame = way?.alike === true && !isWhole;
      const different = this.#isDifferent(steered) ? steered : isSame ? null : this.#other(goal, steered);
      if (different !== null) {
        noted.add(this.#note(goal, different));
        isSplit ||= [different.old, different.changed].some(({ trace }) => trace.steps.some(isChance));
        groups++;
      }
      if (way === null || (!isSame && different === null && ++open > MAX_OPEN)) return end(triedText(ways + 1));
      if (isSame && different === null) this.#alike.push(way);
      if (way.repeats > 0 && ++repeats > MAX_REPEATS) return end(triedText(ways + 1));
      except.push(isWhole ? this.#wholePaths(way, steered.last.entry) : way.frames);
    }
    return end(triedText(MAX_WAYS));
  }

  /** Whether a goal has not all frames that its rule matches. */
  #leavesOut({ side, rule, not = [] }: Goal): boolean {
    const own = rule === null ? null : this.#sides[side].world.contentOf(rule);
    return not.some((one) => own === null || overlap(own, one));
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
    const walks = [own.world.walk(last, before), other.world.walk(lastThere, there)] as const;
    const [old, changed] = goal.side === "old" ? walks : [walks[1], walks[0]];
    return { last, before, old, changed, key: old.lookups[0]?.key.slice() ?? new Uint8Array(KEY_SIZE) };
  }

  #kinds({ old, changed }: Steered) {
    return differentKinds(...this.#treatments(old, changed), this.#behaviour);
  }

  #treatments(old: TracedWalk, changed: TracedWalk): [Treatment, Treatment] {
    return [treatmentOf(old.trace), treatmentOf(changed.trace, (name) => this.#sides.changed.stateName(name))];
  }

  #isDifferent(steered: Steered): boolean {
    return this.#kinds(steered).length > 0;
  }

  /** A frame near one that is treated the same, which reaches the same goal and is treated differently; null for none. */
  #other(goal: Goal, near: Steered): Steered | null {
    for (const last of this.#others(goal, near)) {
      const steered = this.#steer(goal, last, near.before);
      if (steered === null) return null;
      if (indexOf(steered[goal.side], goal) >= 0 && this.#isDifferent(steered)) return steered;
    }
    return null;
  }

  /** Frames that have what the actions on the paths of a frame need, then frames with other bytes. */
  *#others(goal: Goal, near: Steered): Generator<Prepared> {
    const [was, is] = this.#branchesOf(near) ?? this.#waysTo(goal, near) ?? [[], []];
    for (let n = 0; n < Math.max(was.length, is.length); n++) {
      const [a, b] = [was[n] ?? was.at(-1), is[n] ?? is.at(-1)] as [Way, Way];
      yield* partingFrames(goal.side === "old" ? [a, b] : [b, a], near.last.entry);
    }
    for (const frame of variationsOf(near.last.frame)) yield { ...near.last, frame };
  }

  /** The paths of a frame through both devices up to the goal's table. */
  #waysTo(goal: Goal, steered: Steered): readonly [readonly Way[], readonly Way[]] | null {
    const other = goal.side === "old" ? "changed" : "old";
    const table = this.#sides[other].tableNamed(this.#sides[goal.side].tableName(goal.table));
    const ends = {
      [goal.side]: indexOf(steered[goal.side], goal),
      [other]: steered[other].lookups.findIndex((one) => one.table === table),
    } as Record<Goal["side"], number>;
    const ways = ends.old < 0 || ends.changed < 0 ? null : this.#waysOf(steered, ends);
    return ways === null ? null : [[ways[0]], [ways[1]]];
  }

  /** Frames that a port loops back are only noted where no others show the change. @returns the key of its group */
  #note(goal: Goal, steered: Steered): string {
    const { last, before, old, changed } = steered;
    const terms =
      goal.rule === null
        ? []
        : termsOf(this.#sides[goal.side].world.contentOf(goal.rule)).map(({ field, wanted }) => ({
            field: field.name,
            wanted,
          }));
    const { device } = this.#sides.old.world.tracer;
    const { linkType } = old.trace.frame;
    const [was, is] = this.#treatments(old, changed);
    const { key, ...group } = described(
      device,
      { bytes: last.frame, linkType, kinds: this.#kinds(steered), before: was, after: is },
      goal.rule === null ? "frames" : framesText(terms),
    );
    const isLooped = [old, changed].some(({ trace }) => trace.steps.some(isLoopback));
    if (this.#groups.has(key) || (isLooped && this.#isPlain)) return key;
    if (isLooped) this.#looped.push(key);
    else {
      this.#isPlain = true;
      for (const one of this.#looped.splice(0)) this.#groups.delete(one);
    }
    const [parsed] = device.parseBatch([last.frame], { linkType });
    const headers = parsed === undefined ? "" : packetLine(last.frame, parsed);
    this.#groups.set(key, { ...group, headers, witness: witnessOf({ last, before }) });
    return key;
  }

  /** The paths of a frame through both devices; null if one of them is split. */
  #waysOf(
    { last: { entry }, old, changed }: Steered,
    ends: Partial<Record<Goal["side"], number>> = {},
  ): readonly [Way, Way] | null {
    const [a, b] = [pathOf(this.#sides.old, old, ends.old), pathOf(this.#sides.changed, changed, ends.changed)];
    const entries = [this.#sides.old.entryLike(entry), this.#sides.changed.entryLike(entry)] as const;
    if (a === null || b === null || entries[0] === null || entries[1] === null) return null;
    return [
      { side: this.#sides.old, entry: entries[0], path: a },
      { side: this.#sides.changed, entry: entries[1], path: b },
    ];
  }

  /**
   * The frames that take the paths of a frame, and whether it is known that the same happens to all of them; null if nothing
   * is known of the paths.
   * @param seen the paths of which all frames are left out, as far as their keys decide
   */
  #wayOf(steered: Steered, seen: Map<string, number>): LeftWays | null {
    const whole = this.#waysOf(steered);
    if (whole === null) return this.#treesOf(steered, seen);
    const met = this.#meetings.before(whole);
    const ways = met ?? whole;
    const { last, before, key } = steered;
    const isFrom = this.#placesOf(ways, last.entry);
    const isEqual = met !== null || whole[0].path.effects === whole[1].path.effects;
    const id = ways.map(({ path }) => pathText(path)).join(" | ");
    const repeats = seen.get(id);
    if (repeats === undefined && isFrom(last.entry) && isSmall(ways)) {
      seen.set(id, 0);
      const forbid: LeftOut["forbid"] = (solver, arrival) => forbidPaths(solver, arrival, ways);
      return { frames: { isFrom, forbid }, alike: isEqual, repeats: 0, ways };
    }
    if (repeats !== undefined) seen.set(id, repeats + 1);
    const keys = before.length > 0 ? null : sameWays(whole, key);
    const known = keys ?? nearWays(whole, key);
    if (known === null) return null;
    const alike = keys !== null && isEqual;
    return { frames: leftOut(known, isFrom), alike, repeats: repeats === undefined ? 0 : repeats + 1, ways: whole };
  }

  /** As `#wayOf`, for a frame that arrays split. */
  #treesOf(steered: Steered, seen: Map<string, number>): LeftWays | null {
    const branches = this.#branchesOf(steered);
    if (branches === null) return null;
    const [was, is] = branches;
    const ways = [...was, ...is];
    const id = ways.map(({ path }) => pathText(path)).join(" | ");
    const { entry } = steered.last;
    const isFrom = this.#placesOf(ways, entry);
    if (seen.has(id) || !isFrom(entry) || !isSmall(ways)) return null;
    seen.set(id, 0);
    const { old, changed } = this.#sides;
    const isOrdered = old.world.remembers || changed.world.remembers || [steered.old, steered.changed].some(mayMeet);
    const alike = areAlike(was, is, isOrdered);
    const forbid: LeftOut["forbid"] = (solver, arrival) => forbidPaths(solver, arrival, ways);
    return { frames: { isFrom, forbid }, alike, repeats: 0, ways };
  }

  /** The paths of all branches of a frame through both devices; null if the graph does not have them. */
  #branchesOf({ last: { entry }, old, changed }: Steered): readonly [readonly Way[], readonly Way[]] | null {
    const waysOf = (side: Side, walk: TracedWalk): Way[] | null => {
      const own = side.entryLike(entry);
      const paths = branchesOf(side, walk);
      return own === null || paths === null ? null : paths.map((path) => ({ side, entry: own, path }));
    };
    const [was, is] = [waysOf(this.#sides.old, old), waysOf(this.#sides.changed, changed)];
    return was === null || is === null ? null : [was, is];
  }

  /** All frames of two paths, whatever ends them. */
  #wholePaths({ ways }: LeftWays, entry: Entry): LeftOut {
    const whole = ways.map(({ path, ...way }): Way => ({ ...way, path: { ...path, passed: 0, failed: false } }));
    const forbid: LeftOut["forbid"] = (solver, arrival) => forbidPaths(solver, arrival, whole);
    return { isFrom: this.#placesOf(ways, entry), forbid };
  }

  /** Whether frames that come in at a place take the same paths as those of another one. */
  #placesOf(ways: readonly Way[], entry: Entry): LeftOut["isFrom"] {
    const places = this.#firstTables(entry);
    const isNumbered = dependsOnQueue(ways);
    return (one) => this.#firstTables(one) === places && !(isNumbered && this.#hasOtherNumber(one));
  }

  /** Whether the queue that sends has another number in the other device. */
  #hasOtherNumber(entry: Entry): boolean {
    const [a, b] = [this.#sides.old, this.#sides.changed].map((side) => side.entryLike(entry)?.queue?.qp_num);
    return a !== b;
  }

  /** Equal for places from which frames come to the same first tables in both devices. */
  #firstTables(entry: Entry): string {
    return `${this.#sides.old.entryLike(entry)?.table} ${this.#sides.changed.entryLike(entry)?.table}`;
  }
}

/** Whether a hash or a state decides what happens to a frame. */
function isChance(step: TraceStep): boolean {
  return step.kind === "action" && (step.hash !== undefined || step.state.length > 0);
}

function isLoopback(step: TraceStep): boolean {
  return step.kind === "move" && step.cause === "loopback";
}

/** Frames that come in where a device has no place for them. */
function notIn(other: Side): LeftOut {
  const all = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE), ranges: [] };
  return leftOut(all, (entry) => other.entryLike(entry) === null);
}

/** The lookup in which a frame reaches the goal; -1 for none. */
function indexOf({ lookups }: TracedWalk, { table, rule }: Goal): number {
  const address = rule?.stored.address ?? 0;
  return lookups.findIndex((one) => one.table === table && one.rule === address && !one.step.passedOver);
}

function isAt({ side, path }: Way, own: Side, { table, rule }: Goal): boolean {
  return side === own && hits(path, table, rule);
}
