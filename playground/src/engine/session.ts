/** The engine: one set of rules on a device, the frames, and what is asked about them. */
import { SteeringError, type Outcome } from "flowsteer";
import { openExplainer, openTracer, type Explanation, type Target, type Trace } from "flowsteer/explain";
import { frameTree } from "flowsteer/packet";
import {
  cannotRun,
  checkScenario,
  loadScenario,
  outcomeNames,
  type FrameInput,
  type LoadedScenario,
} from "flowsteer/scenario";
import type {
  Answer,
  Engine,
  FrameFilter,
  FrameOutcome,
  FrameRow,
  FrameWay,
  Pipeline,
  RulesRefusal,
  Sum,
  Totals,
} from "./api.js";
import { pipelineOf } from "./pipeline.js";

/** Before a capture is opened the device runs on the traced core, which explanations need anyway. */
const TRACED = new URL("./traced.wasm", import.meta.url);

interface Good {
  readonly text: string;
  readonly loaded: LoadedScenario;
  readonly outcomes: readonly Outcome[];
  readonly pipeline: Pipeline;
}

export class Session implements Engine {
  #good: Good | null = null;
  #list: readonly number[] = [];

  async load(rules: string): Promise<Answer | null> {
    const began = performance.now();
    const refusals: RulesRefusal[] = [];
    try {
      const loaded = await loadScenario(rules, { core: TRACED });
      const outcomes = loaded.run();
      this.#good = { text: rules, loaded, outcomes, pipeline: pipelineOf(loaded) };
      this.#list = loaded.frames.map((_, i) => i + 1);
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
      refusals.push(...(await checkScenario(rules)).refusals.map(refusalOf));
      if (refusals.length === 0) refusals.push(refusalOf(error));
    }
    const good = this.#good;
    return {
      refusals,
      pipeline: good?.pipeline ?? null,
      totals: good === null ? null : totalsOf(good),
      frames: good?.loaded.frames.length ?? 0,
      capture: null,
      changed: null,
      changes: [],
      took: performance.now() - began,
    };
  }

  openCapture(): Promise<Answer | null> {
    throw new Error("not yet");
  }
  closeCapture(): Promise<Answer | null> {
    throw new Error("not yet");
  }
  stop(): void {}

  filter(_filter: FrameFilter): Promise<number | null> {
    return Promise.resolve(this.#list.length);
  }

  rows(first: number, count: number): Promise<FrameRow[]> {
    const good = this.#good;
    if (good === null) return Promise.resolve([]);
    const rows = this.#list.slice(first, first + count).map((number) => {
      const frame = good.loaded.frames[number - 1] as FrameInput;
      return {
        number,
        time: Number(frame.time ?? 0n) / 1e9,
        length: frame.bytes.length,
        wireLength: frame.wireLength ?? frame.bytes.length,
        name: frame.name ?? null,
        summary: `${frame.bytes.length} bytes`,
        changed: false,
        ...outcomeOf(frame, good.outcomes[number - 1]),
      };
    });
    return Promise.resolve(rows);
  }

  placeOf(frame: number): Promise<number> {
    return Promise.resolve(this.#list.indexOf(frame));
  }

  async way(number: number): Promise<FrameWay | null> {
    const good = this.#good;
    const frame = good?.loaded.frames[number - 1];
    if (good === null || frame === undefined) return null;
    // The device as it is when the frame comes.
    const loaded = await loadScenario(good.text, { core: TRACED });
    loaded.run(loaded.frames.slice(0, number - 1));
    loaded.prepare(frame);
    return wayOn(loaded, number, frame);
  }

  why(_frame: number, _target: Target): Promise<Explanation> {
    throw new Error("not yet");
  }
  wayOf(): Promise<FrameWay> {
    throw new Error("not yet");
  }
  compareWith(): Promise<Answer | null> {
    return Promise.resolve(null);
  }
  before(): Promise<FrameOutcome | null> {
    return Promise.resolve(null);
  }
  annotated(): Promise<Blob | null> {
    return Promise.resolve(null);
  }
  captureOut(): Promise<Blob | null> {
    return Promise.resolve(null);
  }
  captureBytes(): Promise<Uint8Array | null> {
    return Promise.resolve(null);
  }
}

async function wayOn(loaded: LoadedScenario, number: number, frame: FrameInput): Promise<FrameWay> {
  const { device } = loaded;
  const { bytes, linkType = 1, wireLength, port = 1, send, metadata, time } = frame;
  const source = { core: TRACED };
  const tracer = await openTracer(device, source);
  const explainer = await openExplainer(device, source);
  const options = { linkType, wireLength: wireLength ?? bytes.length, time: time ?? null };
  const queue = send === undefined ? null : loaded.queues.get(send)?.queue;
  const sends = queue !== null && queue !== undefined && "qp_num" in queue ? queue : null;
  const trace =
    sends === null ? tracer.trace(port, bytes, options) : tracer.traceSend(sends, bytes, { metadata: metadata ?? 0 });
  const end: Target = { kind: "end" };
  const lost = trace.outcome.verdict === "miss" || trace.outcome.verdict === "drop";
  const why = !lost
    ? null
    : sends === null
      ? explainer.why(port, bytes, end, options)
      : explainer.whySend(sends, bytes, end, { metadata: metadata ?? 0 });
  const near = lost && sends === null ? explainer.nearest(port, bytes, 3, options) : [];
  return { frame: number, trace, snapshots: snapshotsOf(loaded, trace, bytes, linkType), why, near };
}

function snapshotsOf(
  loaded: LoadedScenario,
  _trace: Trace,
  bytes: Uint8Array,
  linkType: number,
): FrameWay["snapshots"] {
  const [parsed] = loaded.device.parseBatch([bytes], { linkType });
  return parsed === undefined ? [] : [{ step: 0, branch: 0, tree: frameTree(bytes, parsed) }];
}

function outcomeOf(frame: FrameInput, outcome: Outcome | undefined): FrameOutcome {
  const skipped = cannotRun(frame.linkType ?? 1, frame.bytes.length);
  if (outcome === undefined) return { verdict: null, reason: null, to: [], copies: [], rules: [], skipped };
  const { verdict, reason, to, copies, rules } = outcomeNames(outcome);
  return { verdict, reason, to, copies, rules, skipped };
}

function refusalOf({ message, path, hint, reason }: SteeringError): RulesRefusal {
  return { message, text: reason, hint: hint ?? null, path: path ?? null, offset: null };
}

function totalsOf({ loaded: { tally, rules, scenario } }: Good): Totals {
  const none: Sum = { frames: 0, bytes: 0 };
  const verdict = (name: Outcome["verdict"]): Sum => tally.verdicts.get(name) ?? none;
  return {
    ...tally.all,
    verdicts: {
      deliver: verdict("deliver"),
      forward: verdict("forward"),
      transmit: verdict("transmit"),
      drop: verdict("drop"),
      miss: verdict("miss"),
    },
    destinations: tally.ends.flatMap(({ to, frames, bytes }) => (to === null ? [] : [{ to, frames, bytes }])),
    copies: [...tally.copies].map(([to, sum]) => ({ to, ...sum })),
    reasons: tally.ends.map(({ verdict, reason, frames, bytes }) => ({ verdict, reason, frames, bytes })),
    rules: (scenario.rules ?? []).map(({ name = "" }, i) => ({ name, path: `rules[${i}]`, ...none })),
    counters: [...rules.keys()].slice(0, 0).map((name) => ({ name, packets: 0, bytes: 0 })),
    meters: [],
    states: [],
    expectations: 0,
    failures: [],
  };
}
