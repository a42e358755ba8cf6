/**
 * Groups frames by why they ended as they did, without explaining each of them.
 *
 * Of each outcome the first frames are explained, one for each combination of values that rules
 * match, and later the first frame that fails the nearest rule in other fields. Explanations that
 * differ in values, or in which rule was nearest, are one group. Frames that are not explained join
 * the group whose frames fail in the same fields and have the same headers.
 */
import { VPORT_MANAGER } from "../../abi/engine.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import type { Device } from "../../model/device/device.js";
import { TablePipeline } from "../../model/table/pipeline.js";
import type { Outcome } from "../../model/traffic/outcome.js";
import { openTracer } from "../trace/tracer.js";
import type { KeyView } from "../why/compare.js";
import type { FailedCheck } from "../trace/trace.js";
import type { Explanation, Reason } from "../why/explanation.js";
import { FrameKeys, PRESENCE_WORDS, type KeyFrame } from "./frameKeys.js";
import { failsAlike, NearestFields, type Nearest } from "./nearestFields.js";

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

/** Combinations of values of one outcome that are explained: the first ones, then one whenever their number has doubled. */
const FIRST = 64;
/** Further explanations of one outcome, of frames that fail in other fields. */
const OTHERS = 192;
/** Frames of one outcome that have the values of an explained one, in a device with state: that may be another reason. */
const AGAIN = 64;
/** Combinations that are remembered. */
const KNOWN = 1 << 15;
/** Ways to fail that a frame is compared with, when its nearest rule is not looked for any more. */
const COMPARED = 16;
const EXAMPLES = 4;

/** Where frames are counted; the group is null until one of them has been explained. */
interface Slot {
  group: ExplanationGroup | null;
}

/** Frames that fail the nearest rule in the same fields, and have the same headers. */
interface Likeness {
  readonly nearest: Nearest;
  readonly presence: number;
  slot: Slot;
}

/** Frames of one outcome. */
interface Ending {
  readonly outcome: Outcome;
  /** By explanation, without its values. */
  readonly bySignature: Map<string, ExplanationGroup>;
  /** By the combination of values that rules match. */
  readonly byNumber: Map<number, Slot>;
  readonly byLikeness: Map<string, Likeness>;
  /** The first of them. */
  readonly likenesses: Likeness[];
  /** Frames that were not explained and are like no frame that was. */
  readonly rest: ExplanationGroup;
  combinations: number;
  others: number;
  again: number;
}

/** A frame to explain, and where it is counted. */
interface Question {
  readonly frame: EndedFrame;
  readonly ending: Ending;
  readonly slot: Slot;
  readonly likeness: Likeness | null;
}

/**
 * Groups lost frames by why they were lost: a million frames have few reasons.
 * @example
 *     const groups = await ExplanationGroups.open(device);
 *     await groups.add(lost, ({ bytes }) => explainer.why(1, bytes, { kind: "end" }));
 *     for (const { frames, explanation } of groups.groups) console.log(frames, explanation?.sentence);
 */
export class ExplanationGroups {
  readonly #hasState: boolean;
  readonly #keys: FrameKeys;
  readonly #nearest: NearestFields;
  readonly #endings = new Map<string, Ending>();
  readonly #known = new WeakMap<Outcome, Ending>();
  readonly #rules = new Map<object, number>();

  /** Reads the rules of a device. They may not change while frames are added. */
  static async open(device: Device): Promise<ExplanationGroups> {
    const { traced } = await openTracer(device);
    traced.refresh(device.function(VPORT_MANAGER).part(TablePipeline).switched);
    return new ExplanationGroups(device, traced);
  }

  private constructor(device: Device, traced: TracedCore) {
    const rules = [...device.tables.keys()].flatMap((table) => traced.rulesOf(table));
    this.#hasState = device.stateful;
    this.#keys = new FrameKeys(
      device,
      rules.map((rule) => traced.contentOf(rule)),
    );
    this.#nearest = new NearestFields(device, traced);
  }

  /** All groups, the largest first. */
  get groups(): readonly ExplanationGroup[] {
    const all = [...this.#endings.values()].flatMap(({ bySignature, rest }) => [...bySignature.values(), rest]);
    return all
      .filter(({ frames }) => frames > 0)
      .sort((a, b) => b.frames - a.frames || (a.examples[0] ?? 0) - (b.examples[0] ?? 0));
  }

  /**
   * Adds frames to their groups. No frame of the device may be under way.
   * @param see gets each frame with its group, which has counted the frame
   */
  async add(
    frames: readonly EndedFrame[],
    explain: Explain,
    see: (frame: EndedFrame, group: ExplanationGroup) => void = nobody,
  ): Promise<void> {
    const note = (group: ExplanationGroup, frame: EndedFrame): void => {
      count(group, frame);
      see(frame, group);
    };
    const waiting: { frame: EndedFrame; slot: Slot; joins: Ending | null }[] = [];
    const questions: Question[] = [];
    this.#keys.parse(frames, (frame, number) => {
      const ending = this.#endingOf(frame.outcome);
      const known = ending.byNumber.get(number);
      const slot =
        (known === undefined ? null : this.#slotAgain(ending, frame, questions)) ??
        known ??
        this.#slotOf(ending, frame, number, questions);
      const joins = slot === known ? ending : null;
      if (slot.group === null || questions.length > 0) waiting.push({ frame, slot, joins });
      else note(joinedGroup(slot.group, joins), frame);
    });
    for (const { frame, ending, slot } of questions) {
      const explanation = await explain(frame);
      slot.group = explanation === null ? ending.rest : explainedGroup(ending, explanation);
    }
    for (const { frame, slot, joins } of waiting) note(joinedGroup(slot.group as ExplanationGroup, joins), frame);
    for (const { slot, likeness } of questions) {
      // Explanations of frames that fail alike differ by known mistakes: the most frequent one is taken.
      if (likeness !== null && framesOf(slot) > framesOf(likeness.slot)) likeness.slot = slot;
    }
  }

  #endingOf(outcome: Outcome): Ending {
    const known = this.#known.get(outcome);
    if (known !== undefined) return known;
    const signature = this.#signatureOf(outcome);
    let ending = this.#endings.get(signature);
    if (ending === undefined) {
      ending = {
        outcome,
        bySignature: new Map(),
        byNumber: new Map(),
        byLikeness: new Map(),
        likenesses: [],
        rest: newGroup(outcome, null),
        combinations: 0,
        others: 0,
        again: 0,
      };
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

  /** Where a frame is counted whose combination of values is known, and whose state may be another one; null for there. */
  #slotAgain(ending: Ending, frame: EndedFrame, questions: Question[]): Slot | null {
    const isOfState = this.#hasState || ending.outcome.reason?.startsWith("esp_") === true;
    if (!isOfState || ending.again >= AGAIN) return null;
    ending.again++;
    const slot: Slot = { group: null };
    questions.push({ frame, ending, slot, likeness: null });
    return slot;
  }

  /** Where frames with a new combination of values are counted. */
  #slotOf(ending: Ending, frame: EndedFrame, number: number, questions: Question[]): Slot {
    const { key } = this.#keys;
    const count = ++ending.combinations;
    const nearest = this.#nearest.of(ending.outcome, key);
    const presence = presenceOf(key);
    const name = nearest === null ? "" : `${nearest.fields} ${presence}`;
    const known =
      nearest === null
        ? ending.likenesses.find((one) => one.presence === presence && failsAlike(one.nearest, key))
        : ending.byLikeness.get(name);
    const first = count <= FIRST || (count & (count - 1)) === 0;
    const other = !first && nearest !== null && known === undefined && ending.others < OTHERS;
    if (other) ending.others++;
    let slot: Slot = known?.slot ?? { group: ending.rest };
    if (first || other) {
      slot = { group: null };
      const likeness = known ?? (nearest === null ? null : { nearest, presence, slot });
      if (likeness !== null && known === undefined) {
        ending.byLikeness.set(name, likeness);
        if (ending.likenesses.length < COMPARED) ending.likenesses.push(likeness);
      }
      questions.push({ frame, ending, slot, likeness });
    }
    if (ending.byNumber.size < KNOWN) ending.byNumber.set(number, slot);
    return slot;
  }
}

function explainedGroup(ending: Ending, explanation: Explanation): ExplanationGroup {
  const signature = explanationSignature(explanation);
  let group = ending.bySignature.get(signature);
  if (group === undefined) ending.bySignature.set(signature, (group = newGroup(ending.outcome, explanation)));
  return group;
}

/** The group of a frame that was not explained: of one that failed a check of a state, others may have failed another. */
function joinedGroup(group: ExplanationGroup, joins: Ending | null): ExplanationGroup {
  const isOfState = group.explanation?.reasons.some((reason) => failedOf(reason).length > 0) === true;
  return joins !== null && isOfState ? joins.rest : group;
}

/** The names of the checks of a state that a frame failed. */
function failedOf(reason: Reason): string[] {
  const { failed = [] } = reason as { failed?: readonly FailedCheck[] };
  return failed.map(({ check }) => check);
}

function framesOf({ group }: Slot): number {
  return group?.frames ?? 0;
}

function newGroup(outcome: Outcome, explanation: Explanation | null): ExplanationGroup {
  return { frames: 0, bytes: 0, examples: [], explanation, outcome };
}

const nobody = (): void => undefined;

function count(group: ExplanationGroup, { number, wireLength }: EndedFrame): void {
  group.frames++;
  group.bytes += wireLength;
  if (group.examples.length < EXAMPLES) group.examples.push(number);
}

/** Which headers are there, as a hash. */
function presenceOf({ words }: KeyView): number {
  let hash = 0;
  for (const word of PRESENCE_WORDS) hash = Math.imul(hash ^ (words[word] as number), 0x9e3779b1);
  return hash;
}

/** An explanation without the values of its frame, and without the rules that were as near as the nearest. */
function explanationSignature({ reasons, mistake }: Explanation): string {
  const nearest = reasons.findIndex(({ kind }) => kind === "no match");
  const links = (nearest < 0 ? reasons : reasons.slice(0, nearest + 1)).map(linkOf);
  return JSON.stringify([links, mistake?.name]);
}

function linkOf(reason: Reason): unknown[] {
  switch (reason.kind) {
    case "no match":
      return [
        reason.kind,
        reason.table,
        reason.differences.map(({ field, absent }) => [field, withoutNumbers(absent)]),
      ];
    case "earlier rule":
      return [reason.kind, reason.rule.id, reason.by.id];
    case "not reached":
      return [reason.kind, reason.table];
    case "changed on the way":
      return [reason.kind, reason.field, reason.rule.id, reason.action];
    case "other domain":
      return [reason.kind, reason.domain, reason.vport, reason.took?.id];
    case "lost":
      return [reason.kind, reason.verdict, reason.reason, reason.at, failedOf(reason)];
    case "action":
      return [reason.kind, reason.rule.id, reason.action];
    case "state":
      return [reason.kind, reason.object, reason.name, failedOf(reason)];
  }
}

function withoutNumbers(text: string | null): string | undefined {
  return text?.replace(/0x[0-9a-f]+|\d+/g, "#");
}
