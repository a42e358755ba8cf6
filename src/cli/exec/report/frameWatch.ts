/** Watches the frames of a device: sums by end, explanations of lost frames, frames for the annotated capture. */
import type { Explanation, ExplanationGroup } from "../../../explain/index.js";
import { SteeringError, type DeviceEvents, type Outcome } from "../../../index.js";
import type { LoadedScenario } from "../../../scenario/index.js";
import { isLost } from "../../input/lostFrames.js";
import { whyText } from "../../report/reasons.js";
import { printable } from "../../text.js";
import type { AnnotatedFile } from "./annotatedFile.js";
import type { DeviceLine, EndLine } from "./execLines.js";

type Frame = DeviceEvents["frame"];
type Explain = (frame: Frame) => Explanation;

/** Numbers of frames that a group shows. */
const EXAMPLES = 4;

/** Lost frames with the same end; the explanation is that of the first. */
export interface LostGroup extends ExplanationGroup {
  readonly text: string;
}

interface Sum {
  frames: number;
  bytes: number;
}

/** What the watches of all devices share. */
export interface SharedWatch {
  /** The number of the last frame of all devices. */
  frames: number;
  /** LINKTYPE_ of the frame that is arriving; programs send Ethernet. */
  linkType: number;
  readonly annotated: AnnotatedFile | null;
}

export interface WatchOptions {
  readonly shared: SharedWatch;
  /** Explains the first lost frame of each end when it is lost: rules may have changed at the end. */
  readonly explained: boolean;
}

/** Reads the frames of a device from now on. Explanations have to be loaded first (`open`). */
export class FrameWatch {
  readonly loaded: LoadedScenario;
  readonly #shared: SharedWatch;
  readonly #explain: Explain | null;
  readonly #arrived = newSum();
  readonly #sent = newSum();
  readonly #delivered = new Map<Outcome["verdict"], Sum>();
  readonly #lost = new Map<string, LostGroup>();
  /** Rules in the keys of ends. */
  readonly #rules = new WeakMap<object, number>();
  #ruleCount = 0;
  readonly #stop: () => void;

  static async open(loaded: LoadedScenario, { shared, explained }: WatchOptions): Promise<FrameWatch> {
    return new FrameWatch(loaded, shared, explained ? await explainerOf(loaded, shared) : null);
  }

  private constructor(loaded: LoadedScenario, shared: SharedWatch, explain: Explain | null) {
    this.loaded = loaded;
    this.#shared = shared;
    this.#explain = explain;
    this.#stop = loaded.device.on("frame", (frame) => this.#see(frame));
  }

  end(): void {
    this.#stop();
  }

  /** Frames without a destination, by their ends, the most frequent first. */
  get lost(): readonly LostGroup[] {
    return [...this.#lost.values()].sort((a, b) => b.frames - a.frames);
  }

  get line(): DeviceLine {
    const delivered = [...this.#delivered].map(([verdict, sum]): EndLine => {
      return { verdict, reason: null, text: "", ...sum };
    });
    const lost = this.lost.map(({ outcome: { verdict, reason }, text, frames, bytes }): EndLine => {
      return { verdict, reason, text, frames, bytes };
    });
    return { device: this.loaded.device.name, arrived: this.#arrived, sent: this.#sent, ends: [...delivered, ...lost] };
  }

  #see(event: Frame): void {
    const { sender, frame, outcome } = event;
    const number = ++this.#shared.frames;
    add(sender === null ? this.#arrived : this.#sent, frame);
    let group: LostGroup | null = null;
    if (isLost(outcome)) group = this.#addLost(event, number);
    else {
      let sum = this.#delivered.get(outcome.verdict);
      if (sum === undefined) this.#delivered.set(outcome.verdict, (sum = newSum()));
      add(sum, frame);
    }
    const { annotated, linkType } = this.#shared;
    annotated?.add(this.loaded, event, linkType, group === null ? "" : reasonText(group, number));
  }

  #addLost(event: Frame, number: number): LostGroup {
    const { frame, outcome } = event;
    const key = this.#keyOf(outcome);
    let group = this.#lost.get(key);
    if (group === undefined) {
      const explanation = this.#explain === null ? null : this.#explained(this.#explain, event);
      const text = whyText(this.loaded, outcome);
      this.#lost.set(key, (group = { ...newSum(), examples: [], explanation, outcome, text }));
    }
    add(group, frame);
    if (group.examples.length < EXAMPLES) group.examples.push(number);
    return group;
  }

  /**
   * Null for a sender that explanations do not know: one of messages. Null, too, where the device is not as it was: the
   * frame has used up the receive buffer that was too short for it.
   */
  #explained(explain: Explain, event: Frame): Explanation | null {
    try {
      const explanation = explain(event);
      const [first] = explanation.reasons;
      const isOther = first?.kind === "lost" && first.reason !== event.outcome.reason;
      return explanation.reached || isOther ? null : explanation;
    } catch (error) {
      if (error instanceof SteeringError) return null;
      throw error;
    }
  }

  #keyOf({ verdict, reason, rules, missed }: Outcome): string {
    const rule = rules.at(-1);
    const tables = missed.map(({ domain, vport, table }) => `${domain} ${vport} ${table}`);
    return `${verdict} ${reason} ${rule === undefined ? 0 : this.#numberOf(rule)} ${tables.join()}`;
  }

  #numberOf(rule: object): number {
    let number = this.#rules.get(rule);
    if (number === undefined) this.#rules.set(rule, (number = ++this.#ruleCount));
    return number;
  }
}

async function explainerOf({ device }: LoadedScenario, shared: SharedWatch): Promise<Explain> {
  const { openEndExplainer } = await import("../../commands/explainCalls.js");
  const explain = await openEndExplainer(device);
  return ({ port, sender, frame, time }) =>
    explain({
      bytes: frame,
      queue: sender,
      metadata: 0,
      port,
      linkType: shared.linkType,
      wireLength: frame.length,
      time,
    });
}

function newSum(): Sum {
  return { frames: 0, bytes: 0 };
}

function add(sum: Sum, { length }: Uint8Array): void {
  sum.frames++;
  sum.bytes += length;
}

/** As in the captures of `flowsteer run --annotate`. */
function reasonText({ explanation, examples: [first] }: LostGroup, number: number): string {
  if (explanation === null) return "";
  const as = first === undefined || first === number ? "" : ` (as frame ${first})`;
  const { sentence, mistake } = explanation;
  return printable(`; why${as}: ${sentence}${mistake === null ? "" : `; looks like ${mistake.name}`}`);
}
