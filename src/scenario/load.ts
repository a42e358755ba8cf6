/** A loaded scenario: objects on a device, frames steered, expectations compared. */
import { inCall, inAsyncCall } from "../errors.js";
import { MAX_FRAME } from "../abi/engine.js";
import { Context } from "../model/base/context.js";
import type { FlowCounter } from "../model/action/counter.js";
import { createDevice, type Device } from "../model/device/device.js";
import type { DeviceOptions } from "../model/device/options.js";
import type { Table } from "../model/table/domain.js";
import type { DomainType } from "../model/base/domainType.js";
import type { DeviceFlow } from "../model/flow/deviceFlow.js";
import type { DevxFlowEntry } from "../model/devx/flowEntry.js";
import type { VerbsFlow } from "../model/flow/verbsFlow.js";
import type { HostRule } from "../model/flow/hostRules.js";
import { hasParser } from "../model/traffic/links.js";
import type { Matcher } from "../model/table/matcher.js";
import type { HitRule, Outcome } from "../model/traffic/outcome.js";
import { QueuePair } from "../model/queuePair/queuePair.js";
import { linkTypeText } from "../packet/capture/linkTypeTexts.js";
import type { Rule } from "../model/rule/rule.js";
import type { WorkQueue } from "../model/queue/workQueue.js";
import type { AsoObject } from "../model/action/asoObject.js";
import type { Scenario } from "./document.js";
import type { ScenarioFrame } from "./frame/definition.js";
import { Expectations } from "./expect/check.js";
import type { Failure } from "./expect/failure.js";
import type { LoadedFlowCounter } from "./flow/counter.js";
import { frameBytes } from "./frame/bytes.js";
import type { ScenarioDomains } from "./device/domains.js";
import { messageFailures, sendMessages, type MessageRecord } from "./message/load.js";
import { connectedQueue, ScenarioObjects } from "./objects.js";
import { loaderPartsFor } from "./onDemand.js";
import { at } from "./place.js";
import { noteDeliveries, type LoadedQueue, type ReceiveBuffers } from "./queue/load.js";
import { throwFirst, withWrittenValues, type Report } from "./report.js";
import { parseScenario } from "./scenario.js";
import { below } from "./schema/path.js";
import type { ScenarioStep } from "./state/definition.js";
import { StateTally } from "./outcome/stateTally.js";
import { usesOfRules, type RuleUses } from "./state/use.js";
import { Steps } from "./state/steps.js";
import type { RunFrame } from "./outcome/record.js";
import { summedOutcome, type SummedOutcome } from "./outcome/summed.js";
import { one, Tally, type Sum } from "./outcome/tally.js";

/** Domains, in the order in which frames pass them. */
const WAY: readonly DomainType[] = ["nic_tx", "fdb", "nic_rx"];

/** A frame to run. */
export interface FrameInput {
  bytes: Uint8Array;
  /** The queue that sends it, by name. Without it the frame arrives on `port`. */
  send?: string;
  /** The initial metadata register A of a sent frame. @default 0 */
  metadata?: number;
  /** Whether all domains are synced before it. @default false */
  sync?: boolean;
  /** Changes made before it. */
  before?: readonly ScenarioStep[];
  /**
   * When it arrives or is sent, in nanoseconds of the device's clock; null as for a capture without
   * times. @default the clock of the device
   */
  time?: bigint | null;
  /** @default 1 */
  port?: number;
  /** LINKTYPE_ number. @default 1, Ethernet */
  linkType?: number;
  /** @default the length of `bytes` */
  wireLength?: number;
  /** The name by which expectations refer to it. */
  name?: string;
  /**
   * The number by which expectations refer to it. @default one more than that of the frame before
   * it, from 1 on
   */
  number?: number;
}

/**
 * Creates a device and the objects of a scenario on it.
 *
 * @param deviceOptions override those of the document
 * @throws SteeringError as `parseScenario`, and refusals of the model with the path in the document
 */
export async function loadScenario(
  document: string | object,
  deviceOptions: DeviceOptions = {},
  open: (options: DeviceOptions) => Promise<Device> = createDevice,
): Promise<LoadedScenario> {
  return inAsyncCall("loadScenario", async () => {
    const scenario = parseScenario(document);
    const report = withWrittenValues(scenario, throwFirst);
    const [parts, device] = await Promise.all([
      loaderPartsFor(scenario),
      at("device", () => open({ ...scenario.device, ...deviceOptions })),
    ]);
    const objects = new ScenarioObjects(scenario, parts, device, new Context(device), report);
    return new LoadedScenario(scenario, objects, report);
  });
}

/**
 * Why a captured frame cannot be steered: its link type has no parser, or it is too long; null if
 * it can.
 */
export function cannotRun(linkType: number, length: number): string | null {
  if (!hasParser(linkType)) return `link type ${linkTypeText(linkType)}`;
  return length > MAX_FRAME ? `longer than ${MAX_FRAME} bytes` : null;
}

/** Gets the outcome of frames that are alike, and the number of the first of them. */
export type SumListener = (outcome: SummedOutcome, sum: Sum, first: number) => void;

/** A scenario on a device. Objects are found by their names in the document. */
export class LoadedScenario {
  #scenario: Scenario;
  /** @internal */
  readonly objects: ScenarioObjects;
  readonly device: Device;
  readonly context: Context;
  readonly queues: ReadonlyMap<string, LoadedQueue>;
  readonly counters: ReadonlyMap<string, FlowCounter>;
  readonly asoObjects: ReadonlyMap<string, AsoObject>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly matchers: ReadonlyMap<string, Matcher>;
  readonly rules: ReadonlyMap<string, Rule>;
  readonly flowCounters: ReadonlyMap<string, LoadedFlowCounter>;
  /** Objects without a name are under the name that they were given. */
  readonly flows: ReadonlyMap<string, VerbsFlow>;
  readonly flowEntries: ReadonlyMap<string, DevxFlowEntry>;
  readonly deviceFlows: ReadonlyMap<string, DeviceFlow>;
  readonly hostRules: ReadonlyMap<string, HostRule>;
  /** The frames of the document. */
  readonly frames: readonly FrameInput[];
  /** Sums over all frames that were steered. */
  readonly tally = new Tally();
  /** Sums over the answers of meters, flags and connections. */
  readonly state: StateTally;
  /** @internal Gets what is added to the sums; null for no one. */
  onSum: SumListener | null = null;
  readonly #uses: Map<HitRule, RuleUses>;
  readonly #domains: ScenarioDomains;
  readonly #steps: Steps;
  readonly #expectations: Expectations;
  readonly #disagreements: Failure[] = [];
  readonly #buffers = new Map<QueuePair | WorkQueue, ReceiveBuffers>();
  #number = 0;
  #messages: readonly MessageRecord[] | null = null;

  /** @param report takes the refusals of expectations */
  constructor(scenario: Scenario, objects: ScenarioObjects, report: Report) {
    const { device, context } = objects;
    this.#scenario = scenario;
    this.objects = objects;
    this.device = device;
    this.context = context;
    this.queues = objects.queues;
    this.counters = objects.counters;
    this.asoObjects = objects.asoObjects;
    this.tables = objects.tables;
    this.matchers = objects.matchers;
    this.rules = objects.rules;
    this.flowCounters = objects.flowCounters;
    this.flows = objects.flows;
    this.flowEntries = objects.flowEntries;
    this.deviceFlows = objects.deviceFlows;
    this.hostRules = objects.hostRules;
    for (const { queue, buffers } of this.queues.values()) if (buffers !== null) this.#buffers.set(queue, buffers);
    const times = timesOf(scenario.frames ?? []);
    this.frames = (scenario.frames ?? []).map((frame, i) => {
      const { name, send, metadata, sync, before, port, linkType, wireLength } = frame;
      const options = { name, send, metadata, sync, before, time: times[i], port, linkType, wireLength };
      const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
      const bytes = inCall("loadScenario", () => frameBytes(below("frames", i), frame));
      return { bytes, ...given };
    });
    this.#domains = objects.domains;
    this.#uses = new Map(usesOfRules(scenario).map(([name, uses]) => [this.rules.get(name) as Rule, uses]));
    this.state = new StateTally(this.#uses);
    this.#steps = new Steps(objects.actions, objects.asoObjects);
    this.#expectations = new Expectations(
      scenario.expect ?? {},
      (frame, linkType) => device.parseBatch([frame], { linkType })[0]?.fields ?? {},
      report,
    );
  }

  /** The document. `updateScenario` changes it. */
  get scenario(): Scenario {
    return this.#scenario;
  }

  /** @internal Takes another document, whose objects were made. */
  changeTo(document: Scenario): void {
    const { messages: _sent, frames: _run, expect: _compared, ...next } = document;
    const { messages, frames, expect } = this.#scenario;
    const own = Object.entries({ messages, frames, expect }).filter(([, one]) => one !== undefined);
    this.#scenario = { ...next, ...Object.fromEntries(own) };
    this.#uses.clear();
    for (const [name, uses] of usesOfRules(next)) this.#uses.set(this.rules.get(name) as Rule, uses);
  }

  /** The results of the messages of the document; empty before the first run. */
  get messages(): readonly MessageRecord[] {
    return this.#messages ?? [];
  }

  /**
   * Steers frames in order. The messages of the document are sent once, before the first frame.
   * @param frames by default those of the document
   * @returns an outcome for each frame; sums and expectations include all runs
   */
  run(frames: readonly FrameInput[] = this.frames): Outcome[] {
    this.#messages ??= this.#sendMessages();
    const outcomes: Outcome[] = [];
    for (let first = 0; first < frames.length;) {
      const { send, port = 1 } = frames[first] as FrameInput;
      this.prepare(frames[first] as FrameInput);
      let end = first + 1;
      if (send === undefined) while (end < frames.length && comesIn(frames[end] as FrameInput, port)) end++;
      const some = frames.slice(first, end);
      outcomes.push(...this.#note(some, send === undefined ? this.#receive(port, some) : this.#send(send, some)));
      first = end;
    }
    return outcomes;
  }

  /**
   * Does what comes before a frame, without the frame: moves the clock to its time, syncs domains and takes its steps. `run`
   * does so by itself. Messages of the document are sent before the first frame.
   */
  prepare({ sync = false, before = [], time }: FrameInput): void {
    this.#messages ??= this.#sendMessages();
    this.advance(time);
    if (sync) this.#domains.sync();
    before.forEach((step, i) => this.#steps.take(below("before", i), step));
  }

  /** Expectations of the document that the runs so far do not meet. */
  failures(): Failure[] {
    const { messages = [], expect = {} } = this.scenario;
    return [...messageFailures(expect.messages ?? [], messages, this.messages), ...this.#expectations.failures(this)];
  }

  /**
   * Completions that contradict the outcomes: a defect of flowsteer, whatever the document says.
   */
  get disagreements(): readonly Failure[] {
    return this.#disagreements;
  }

  /** @internal Disagreements on another device with this scenario. */
  addDisagreements(failures: readonly Failure[]): void {
    this.#disagreements.push(...failures);
  }

  /** Rules in matching order: by domain, function, level of their tables, and rank. */
  rulesByRank(): Rule[] {
    const tables = [...this.tables.values()].sort(
      (a, b) =>
        WAY.indexOf(a.domain.type) - WAY.indexOf(b.domain.type) ||
        a.domain.context.function.vport - b.domain.context.function.vport ||
        a.level - b.level,
    );
    const place = new Map(tables.map((table, i) => [table, i]));
    return [...this.rules.values()].sort((a, b) => {
      const tablesApart = (place.get(a.matcher.table) ?? 0) - (place.get(b.matcher.table) ?? 0);
      return tablesApart || a.classifier.compare(a, b);
    });
  }

  #sendMessages(): MessageRecord[] {
    const { queues = [], messages = [] } = this.scenario;
    const sent = sendMessages(messages, (name) => ({
      from: connectedQueue(this.queues, name),
      to: connectedQueue(this.queues, queues.find((queue) => queue.name === name)?.peer ?? ""),
    }));
    // Flows may have given packets of messages to other queues.
    if (sent.length > 0) for (const buffers of this.#buffers.values()) buffers.take();
    return sent;
  }

  #receive(port: number, frames: readonly FrameInput[]): Outcome[] {
    return this.device.receiveBatch(
      port,
      frames.map(({ bytes }) => bytes),
      frames.map(({ linkType = 1, wireLength, bytes, time }) => ({
        linkType,
        wireLength: wireLength ?? bytes.length,
        ...(time === undefined || time === null ? {} : { time: onClock(time) }),
      })),
    );
  }

  /** @internal Whether CaptureRun can sum frames without an object for each: no queue of the scenario reads what arrives. */
  get sumsAlone(): boolean {
    const { messages, connect = [] } = this.scenario;
    const read = [...this.queues.values()].some(({ buffers, connected }) => buffers !== null || connected !== null);
    return !read && messages === undefined && connect.length === 0;
  }

  /**
   * @internal Sums of the frames that CaptureRun steered.
   * @param first the number of the first of them
   */
  addClass({ bytes }: Pick<RunFrame, "bytes">, outcome: Outcome, alike: Sum, first: number): void {
    this.addSums(summedOutcome(bytes, outcome), alike, first);
  }

  /** @internal Sums of frames that were steered, here or on another device with this scenario. */
  addSums(outcome: SummedOutcome, alike: Sum, first: number): void {
    this.tally.addSummed(outcome, alike);
    this.state.addSummed(outcome, alike);
    this.onSum?.(outcome, alike, first);
  }

  /** @internal Everything that frames can hit, in the same order on each device with this scenario. */
  get hitRules(): readonly HitRule[] {
    const { rules, flows, flowEntries, deviceFlows, hostRules } = this;
    return [rules, flows, flowEntries, deviceFlows, hostRules].flatMap((all): HitRule[] => [...all.values()]);
  }

  /** @internal The expectations, for frames that CaptureRun steers. */
  get expectations(): Expectations {
    return this.#expectations;
  }

  /** @internal Moves the clock of the device forward to the time of a frame. */
  advance(time: bigint | null | undefined): void {
    const late = onClock(time ?? 0n) - this.device.now();
    if (late > 0n) this.device.advance(late);
  }

  #send(name: string, frames: readonly FrameInput[]): Outcome[] {
    const loaded = this.queues.get(name);
    if (!(loaded?.queue instanceof QueuePair))
      throw new Error(`loadScenario: no queue ${name} that sends is in the document`);
    const { queue } = loaded;
    return frames.map(({ bytes, metadata = 0 }) => this.device.send(queue, bytes, { metadata }));
  }

  #note(frames: readonly FrameInput[], outcomes: Outcome[]): Outcome[] {
    noteDeliveries(this.#buffers, outcomes);
    for (const buffers of this.#buffers.values()) this.#disagreements.push(...buffers.check());
    for (const [i, outcome] of outcomes.entries()) {
      const frame = frames[i] as FrameInput;
      this.#number = frame.number ?? this.#number + 1;
      const { bytes, wireLength = bytes.length } = frame;
      this.addSums(summedOutcome(bytes, outcome), one(wireLength), this.#number);
      this.#expectations.see(this.#number, frame, outcome);
    }
    return outcomes;
  }
}

/** Whether it arrives on a port and nothing happens before it. */
function comesIn({ send, port = 1, sync = false, before = [] }: FrameInput, on: number): boolean {
  return send === undefined && port === on && !sync && before.length === 0;
}

/** The clock of a device has 64 bits. */
export function onClock(time: bigint): bigint {
  return BigInt.asUintN(64, time);
}

/** A frame without a time arrives one microsecond after the frame before it. */
function timesOf(frames: readonly ScenarioFrame[]): bigint[] {
  let next = 0n;
  return frames.map(({ time }) => {
    const now = time === undefined ? next : BigInt(time);
    next = now + 1000n;
    return now;
  });
}
