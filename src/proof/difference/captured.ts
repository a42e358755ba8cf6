/** Frames that were steered by two devices, grouped by how their treatment differs. */
import { inAsyncCall } from "../../errors.js";
import { checkOptions, wrongType } from "../../base/checks.js";
import { traceOutcome } from "../../explain/trace/outcome.js";
import { openTracer, type Tracer, type TracerOptions } from "../../explain/trace/tracer.js";
import { Device } from "../../model/device/device.js";
import type { Destination, Outcome } from "../../model/traffic/outcome.js";
import type { CapturedGroup, Treatment } from "../answer.js";
import { BEHAVIOUR_TYPES, differentKinds, type Behaviour } from "./compare.js";
import { described } from "./described.js";
import { framesText } from "./framesText.js";
import { HitRules, type HitInfo } from "./installed.js";

const EXAMPLES = 4;

/** A frame that both devices have steered. */
export interface SteeredFrame {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly linkType: number;
  readonly wireLength: number;
  /** Its outcome on the old and on the new device. */
  readonly before: Outcome;
  readonly after: Outcome;
}

type OpenGroup = { -readonly [K in keyof CapturedGroup]: CapturedGroup[K] } & { readonly examples: number[] };

/**
 * Compares the outcomes of frames on two devices. Counters and state are those that the hit rules name.
 * @example
 *     const differences = await CapturedDifferences.open(old, changed);
 *     differences.add({ number: 1, bytes, linkType: 1, wireLength: bytes.length, before, after });
 *     for (const { frames, sentence } of differences.groups) console.log(frames, sentence);
 */
export class CapturedDifferences {
  readonly #device: Device;
  readonly #behaviour: Behaviour;
  readonly #before: HitRules;
  readonly #after: HitRules;
  /** Groups by their keys. */
  readonly #groups = new Map<string, OpenGroup>();

  private constructor(old: Tracer, changed: Tracer, behaviour: Behaviour) {
    this.#device = old.device;
    this.#behaviour = behaviour;
    this.#before = new HitRules(old);
    this.#after = new HitRules(changed);
  }

  /**
   * Reads the rules of two devices, which must stay as they are.
   * @throws TypeError no devices, or an unknown option
   */
  static async open(
    old: Device,
    changed: Device,
    options: Behaviour & TracerOptions = {},
  ): Promise<CapturedDifferences> {
    return inAsyncCall("CapturedDifferences.open", async () => {
      for (const [name, device] of Object.entries({ old, changed }))
        if (!(device instanceof Device)) wrongType(name, "a Device", device);
      checkOptions("", options, BEHAVIOUR_TYPES);
      const { core, ...behaviour } = options;
      return new CapturedDifferences(await copied(old, core), await copied(changed, core), behaviour);
    });
  }

  /** The groups, the largest first. */
  get groups(): readonly CapturedGroup[] {
    return [...this.#groups.values()].sort((a, b) => b.frames - a.frames);
  }

  /** Adds a frame. @returns whether the devices treat it differently */
  add(frame: SteeredFrame): boolean {
    const { number, bytes, linkType, wireLength } = frame;
    const [was, is] = [this.#before.of(frame.before), this.#after.of(frame.after)];
    if (isPlainlySame(frame) && isSameHit(was, is)) return false;
    const [before, after] = [treatment(frame.before, was, wireLength), treatment(frame.after, is, wireLength)];
    const kinds = differentKinds(before, after, this.#behaviour);
    if (kinds.length === 0) return false;
    const { key, ...group } = described(
      this.#device,
      { bytes, linkType, kinds, before, after },
      framesText(firstDifferent(was, is)),
    );
    const open = this.#groups.get(key) ?? { ...group, frames: 0, bytes: 0, examples: [] };
    this.#groups.set(key, open);
    open.frames++;
    open.bytes += wireLength;
    if (open.examples.length < EXAMPLES) open.examples.push(number);
    return true;
  }
}

/** The tracer of a device, with a copy of its rules. */
async function copied(device: Device, core: TracerOptions["core"]): Promise<Tracer> {
  return inAsyncCall("CapturedDifferences.open", async () => {
    const tracer = await openTracer(device, { core });
    tracer.refresh();
    return tracer;
  });
}

/** What the rules say of counters and state: each counts a frame once. */
function treatment(outcome: Outcome, hit: readonly HitInfo[], wireLength: number): Treatment {
  const counters = new Map<string, number>();
  for (const name of hit.flatMap((one) => one.counters)) counters.set(name, (counters.get(name) ?? 0) + 1);
  const text = (packets: number): string =>
    `${packets} ${packets === 1 ? "packet" : "packets"}, ${packets * wireLength} bytes`;
  return {
    rules: hit.map(({ ref }) => ref),
    outcome: traceOutcome(outcome),
    counters: Object.fromEntries([...counters].sort().map(([name, packets]) => [name, text(packets)])),
    state: hit.flatMap((one) => one.state),
  };
}

/** What the first rule matches that only one of the devices applies. */
function firstDifferent(was: readonly HitInfo[], is: readonly HitInfo[]): ReturnType<HitInfo["terms"]> {
  const at = was.findIndex((one, i) => one.ref.name !== is[i]?.ref.name);
  const hit = (at < 0 ? (is[was.length] ?? was.at(-1)) : was[at]) ?? is[0];
  return hit?.terms() ?? [];
}

function isSameHit(a: readonly HitInfo[], b: readonly HitInfo[]): boolean {
  return (
    a.length === b.length &&
    a.every((one, i) => {
      const other = b[i] as HitInfo;
      return (
        one.ref.name === other.ref.name &&
        one.ref.kind === other.ref.kind &&
        isSameList(one.counters, other.counters) &&
        isSameList(one.state, other.state)
      );
    })
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

/** Whether two outcomes are the same in all that is cheap to compare; others are compared in full. */
function isPlainlySame({ before, after }: SteeredFrame): boolean {
  return (
    before.verdict === after.verdict &&
    before.reason === after.reason &&
    before.tag === after.tag &&
    before.registers["B"] === after.registers["B"] &&
    isSameArrival(before.to, after.to) &&
    isSameArrival(before.copies, after.copies)
  );
}

function isSameArrival(a: readonly Destination[], b: readonly Destination[]): boolean {
  return (
    a.length === b.length &&
    a.every((one, i) => {
      const other = b[i] as Destination;
      return one.name === other.name && one.tag === other.tag && isSameFrame(one.frame, other.frame);
    })
  );
}

function isSameFrame(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || (a.length === b.length && a.every((byte, i) => byte === b[i]));
}
