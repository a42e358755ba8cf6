/**
 * Groups frames by why they ended as they did, without explaining each of them.
 *
 * The first frames of each outcome are explained, one for each combination of values that rules
 * match. Explanations that differ in values only are one group. A later frame with other values
 * joins a group if its rules fail for the frame in the same fields.
 */
import type { DeviceBase } from "../../model/base/deviceBase.js";
import type { Outcome } from "../../model/traffic/outcome.js";
import type { KeyMatch } from "../match/terms.js";
import { compileMatch, distanceOf, type CompiledMatch, type KeyView } from "../why/compare.js";
import type { Explanation } from "../why/explanation.js";
import { FrameKeys, type KeyFrame } from "./frameKeys.js";

/** A frame that was steered. */
export interface EndedFrame extends KeyFrame {
  readonly number: number;
  /** The outcome; frames with the same outcome may share the object. */
  readonly outcome: Outcome;
}

/** Frames with the same explanation. */
export interface ExplanationGroup {
  frames: number;
  /** The sum of their lengths on the wire. */
  bytes: number;
  /** The numbers of the first frames. */
  readonly examples: number[];
  /** Why the first of them ended as it did; null for frames of an outcome whose other frames were explained, and these not. */
  readonly explanation: Explanation | null;
  readonly outcome: Outcome;
}

/** Explains a frame; null for a frame that cannot be explained any more, because the state of its time has passed. */
export type Explain = (frame: EndedFrame) => Explanation | null | Promise<Explanation>;

/** Explanations of one outcome: the first ones, then one whenever the number of combinations has doubled. */
const MOST = 64;
/** Combinations that are remembered. */
const KNOWN = 1 << 18;
const EXAMPLES = 4;

/** A rule that a group's frames did not match, and which of its terms fail. */
interface Failing {
  readonly match: CompiledMatch;
  readonly terms: readonly boolean[];
}

interface Group extends ExplanationGroup {
  /** What its frames have in common; null if that cannot be told from their keys. */
  failing: readonly Failing[] | null;
}

interface Ending {
  readonly groups: Group[];
  /** Groups by their explanation without its values. */
  readonly bySignature: Map<string, Group>;
  readonly byNumber: Map<number, Group>;
  /** Frames of this outcome that were not explained and fit no group. */
  rest: Group | null;
  combinations: number;
}

export class ExplanationGroups {
  readonly #matches: ReadonlyMap<number, KeyMatch>;
  readonly #compiled = new Map<number, CompiledMatch>();
  readonly #keys: FrameKeys;
  readonly #endings = new Map<string, Ending>();
  readonly #known = new WeakMap<Outcome, Ending>();
  readonly #rules = new Map<object, number>();

  /** @param matches the rules of the device, by the numbers that outcomes list */
  constructor(device: DeviceBase, matches: ReadonlyMap<number, KeyMatch>) {
    this.#matches = matches;
    this.#keys = new FrameKeys(device, matches.values());
  }

  /** All groups, the largest first. */
  get groups(): readonly ExplanationGroup[] {
    const all = [...this.#endings.values()].flatMap(({ groups, rest }) => (rest === null ? groups : [...groups, rest]));
    return all.sort((a, b) => b.frames - a.frames || (a.examples[0] ?? 0) - (b.examples[0] ?? 0));
  }

  /**
   * Adds frames to their groups. No frame of the device may be under way.
   */
  async add(frames: readonly EndedFrame[], explain: Explain): Promise<void> {
    const unexplained: { frame: EndedFrame; number: number; key: KeyView }[] = [];
    this.#keys.parse(frames, (frame, number, key) => {
      const ending = this.#endingOf(frame.outcome);
      const group = ending.byNumber.get(number);
      if (group !== undefined) note(group, frame);
      else unexplained.push({ frame, number, key: copied(key) });
    });
    for (const { frame, number, key } of unexplained) {
      const ending = this.#endingOf(frame.outcome);
      const group = ending.byNumber.get(number) ?? (await this.#groupOf(ending, frame, key, explain));
      if (ending.byNumber.size < KNOWN) ending.byNumber.set(number, group);
      note(group, frame);
    }
  }

  #endingOf(outcome: Outcome): Ending {
    const known = this.#known.get(outcome);
    if (known !== undefined) return known;
    const signature = this.#signatureOf(outcome);
    let ending = this.#endings.get(signature);
    if (ending === undefined) {
      ending = { groups: [], bySignature: new Map(), byNumber: new Map(), rest: null, combinations: 0 };
      this.#endings.set(signature, ending);
    }
    this.#known.set(outcome, ending);
    return ending;
  }

  #signatureOf({ verdict, reason, rules, missed }: Outcome): string {
    const numbers = rules.map((rule) => {
      const number = this.#rules.get(rule) ?? this.#rules.size;
      this.#rules.set(rule, number);
      return number;
    });
    const tables = missed.map(({ domain, vport, table }) => [domain, vport, table]);
    return JSON.stringify([verdict, reason, numbers, tables]);
  }

  async #groupOf(ending: Ending, frame: EndedFrame, key: KeyView, explain: Explain): Promise<Group> {
    const count = ++ending.combinations;
    const explained = count <= MOST || (count & (count - 1)) === 0;
    const explanation = explained ? await explain(frame) : null;
    if (explanation === null) {
      const fitting = ending.groups.find(({ failing }) => failing !== null && failing.every((one) => fails(one, key)));
      return fitting ?? (ending.rest ??= newGroup(frame.outcome, null, null));
    }
    const signature = explanationSignature(explanation);
    let group = ending.bySignature.get(signature);
    if (group === undefined) {
      group = newGroup(frame.outcome, explanation, this.#failingOf(explanation, key));
      ending.bySignature.set(signature, group);
      // A frame that only looks like it joins the group without a mistake first.
      if (explanation.mistake === null) ending.groups.unshift(group);
      else ending.groups.push(group);
    }
    return group;
  }

  /** What of the explanation can be told from a key; null if the key of its own frame does not tell it. */
  #failingOf({ reasons }: Explanation, key: KeyView): readonly Failing[] | null {
    const failing: Failing[] = [];
    for (const reason of reasons) {
      if (reason.kind !== "no match") continue;
      const match = this.#compiledOf(reason.rule.id);
      if (match === undefined) return null;
      const fields = new Set(reason.differences.map(({ field }) => field));
      const one = { match, terms: match.map(({ term }) => fields.has(term.field.name)) };
      if (!fails(one, key)) return null;
      failing.push(one);
    }
    return failing;
  }

  #compiledOf(id: number): CompiledMatch | undefined {
    const before = this.#compiled.get(id);
    const match = this.#matches.get(id);
    if (before !== undefined || match === undefined) return before;
    const compiled = compileMatch(match);
    this.#compiled.set(id, compiled);
    return compiled;
  }
}

function newGroup(outcome: Outcome, explanation: Explanation | null, failing: Group["failing"]): Group {
  return { frames: 0, bytes: 0, examples: [], explanation, outcome, failing };
}

function note(group: Group, { number, wireLength }: EndedFrame): void {
  group.frames++;
  group.bytes += wireLength;
  if (group.examples.length < EXAMPLES) group.examples.push(number);
}

/** Whether a key fails in these terms and in no other. */
function fails({ match, terms }: Failing, key: KeyView): boolean {
  return match.every((term, i) => (distanceOf(term, key) !== 0) === terms[i]);
}

function copied({ bytes }: KeyView): KeyView {
  const own = bytes.slice();
  return { bytes: own, words: new Int32Array(own.buffer) };
}

/** An explanation without the values of its frame. */
function explanationSignature({ reasons, mistake, repairs }: Explanation): string {
  const links = reasons.map((reason) => {
    switch (reason.kind) {
      case "no match":
        return [reason.kind, reason.rule.id, reason.differences.map(({ field, found }) => [field, found === null])];
      case "earlier rule":
        return [reason.kind, reason.rule.id, reason.by.id];
      case "not reached":
        return [reason.kind, reason.table];
      case "changed on the way":
        return [reason.kind, reason.field, reason.rule.id, reason.action];
      case "other domain":
        return [reason.kind, reason.domain, reason.vport, reason.took?.id];
      case "lost":
        return [reason.kind, reason.verdict, reason.reason, reason.at];
      case "action":
        return [reason.kind, reason.rule.id, reason.action];
      case "state":
        return [reason.kind, reason.object, reason.name];
    }
  });
  return JSON.stringify([
    links,
    mistake?.name,
    repairs.map(({ of, rule, fields }) => [of, rule, fields.map(({ field }) => field)]),
  ]);
}
