/**
 * What the page asks of the engine, which runs in a worker. All of it is plain data.
 *
 * The engine holds one set of rules, the frames of its document, and at most one capture. The frames
 * of the capture, or without a capture those of the document, are _the frames_; they are numbered from
 * 1. A call that takes long works in pieces and ends early when a newer call of its kind comes.
 */
import type { ReasonName, VerdictName } from "flowsteer";
import type { Explanation, Near, Target, Trace } from "flowsteer/explain";
import type { FrameTree } from "flowsteer/packet";

export interface Engine {
  /**
   * Loads rules, and steers the frames through them. Refused rules leave the last good ones in place.
   * @returns null if a newer call came
   */
  load(rules: string, progress?: Progress): Promise<Answer | null>;

  /**
   * Reads a capture and steers its frames. They take the place of those of the document.
   * @returns null if it was stopped, or another capture was opened; the frames then stay
   * @throws Error the file is no capture
   */
  openCapture(file: Blob, name: string, progress: Progress): Promise<Answer | null>;
  closeCapture(): Promise<Answer | null>;

  /** Ends the work under way. The calls whose work it is give null. */
  stop(): void;
  /** Does nothing: who waits for it knows that the engine takes calls. */
  ping(): void;

  /**
   * Narrows the list of frames, and sorts it.
   * @param order null for the order of arrival
   * @returns the number of frames in the list; null if a newer call came
   */
  filter(filter: FrameFilter, order?: FrameOrder | null, progress?: Progress): Promise<number | null>;
  /**
   * Rows `first` to `first + count - 1` of the narrowed list, counted from 0.
   * @param columns further columns, each a field of filters, or several joined by `||`: the first that a frame has counts
   */
  rows(first: number, count: number, columns?: readonly string[]): Promise<FrameRow[]>;
  /** The rows of these frames, whether they are in the narrowed list or not; none where there is no such frame. */
  rowsOf(frames: readonly number[]): Promise<FrameRow[]>;
  /** The place of a frame in the narrowed list, from 0; -1 if it is not there. */
  placeOf(frame: number): Promise<number>;

  /** All conversations, and the verdicts over time. Null if a newer call came, or no rules are loaded. */
  survey(progress?: Progress): Promise<Survey | null>;
  /** The filter that the frames of a frame's conversation pass; null for a frame without ends. */
  conversationOf(frame: number): Promise<string | null>;

  /** Everything that happened to a frame. Null for a frame that cannot be steered, or if a newer call came. */
  way(frame: number): Promise<FrameWay | null>;
  /** Why the frame did not reach a target. Null as for `way`. @throws Error nothing has the name of the target */
  why(frame: number, target: Target): Promise<Explanation | null>;
  /** The same as `way`, of bytes that are in no list: they arrive at port 1 before any other frame. */
  wayOf(bytes: Uint8Array, linkType: number): Promise<FrameWay | null>;

  /** Rules to compare with. Null ends the comparison. `Answer.changed` says what differs. */
  compareWith(rules: string | null, progress?: Progress): Promise<Answer | null>;
  /** The outcome of a frame under the rules that are compared with. */
  before(frame: number): Promise<FrameOutcome | null>;

  /**
   * Which frames have another outcome under other rules.
   * @param own the frame that they are for, which is not counted
   * @returns null if the rules are refused, or a newer call came
   */
  effectOf(rules: string, own: number | null): Promise<RulesEffect | null>;

  /** The frames as a capture with a comment on each that says what happened to it. */
  annotated(progress: Progress): Promise<Blob | null>;
  /** The frames as their destinations got them, as a capture: one interface for each destination. */
  captureOut(progress: Progress): Promise<Blob | null>;
  /** The bytes of the open capture, where it is no longer than `most`; null otherwise. */
  captureBytes(most: number): Promise<Uint8Array | null>;
}

/** Called during long work. `total` is 0 while it is not known. */
export type Progress = (done: number, total: number, what: string) => void;

/** What became of a change. */
export interface Answer {
  /** What is wrong with the rules; empty if they were loaded. */
  readonly refusals: readonly RulesRefusal[];
  /** The pipeline of the last rules that were loaded; null if none were. */
  readonly pipeline: Pipeline | null;
  /** About the frames; null if no rules were loaded. */
  readonly totals: Totals | null;
  /** The number of frames in the whole list. */
  readonly frames: number;
  /** How many frames no rule took but the driver's own. */
  readonly unclaimed: number;
  /** The number of the first frame that missed or was dropped; null if none did. */
  readonly firstLost: number | null;
  readonly capture: CaptureInfo | null;
  /** How many frames have another outcome than under the rules that are compared with; null without a comparison. */
  readonly changed: number | null;
  /** The same frames by what they were and are, most frames first; empty without a comparison. */
  readonly changes: readonly ChangeGroup[];
  /** What the work took, in milliseconds. */
  readonly took: number;
}

/** Frames whose outcomes changed in the same way. */
export interface ChangeGroup {
  /** What `FrameFilter.change` takes; the same after an edit for the same before and after. */
  readonly id: string;
  readonly before: FrameEnd;
  readonly after: FrameEnd;
  readonly frames: number;
  /** The number of the first of them. */
  readonly first: number;
}

/** What other rules would change. */
export interface RulesEffect {
  /** How many frames have another outcome, and the first of their numbers. */
  readonly changed: number;
  readonly numbers: readonly number[];
  readonly groups: readonly ChangeGroup[];
  /** How many frames were looked at: the first ones of a long capture. */
  readonly looked: number;
}

/** Where a frame ended. */
export type FrameEnd = Pick<FrameOutcome, "verdict" | "reason" | "to" | "copies">;

export interface RulesRefusal {
  /** The message, in one line, with call, value and errno. */
  readonly message: string;
  /** The rule that is broken, in words, without the place. */
  readonly text: string;
  readonly hint: string | null;
  /** As in `SteeringError.path`: `rules[3].match.outer.ipv4_dst`; null if it has no place in the document. */
  readonly path: string | null;
  /** Where the text is not JSON: the offset of the first wrong character. */
  readonly offset: number | null;
}

export interface CaptureInfo {
  readonly name: string;
  readonly bytes: number;
  readonly frames: number;
  /** Why reading ended before the end of the file; null if it did not. */
  readonly broken: string | null;
  /** Frames that cannot be steered, by reason. */
  readonly skipped: readonly { readonly why: string; readonly frames: number }[];
}

/** The objects that frames pass, for the picture. Names are those of traces. */
export interface Pipeline {
  readonly tables: readonly PipelineTable[];
  /** Queues and ports. */
  readonly ends: readonly PipelineEnd[];
  readonly ports: number;
  readonly vports: number;
}

export interface PipelineTable {
  /** `domain/vport/name`; unique. */
  readonly id: string;
  readonly domain: "nic_tx" | "fdb" | "nic_rx";
  readonly vport: number;
  readonly name: string;
  readonly level: number;
  /** In the order in which the table tries them. */
  readonly rules: readonly PipelineRule[];
  /** The path of the table in the document; null for tables that the document does not name. */
  readonly path: string | null;
  /** The id of the table, or of the port, that unmatched frames go to; null where they miss. */
  readonly miss: string | null;
}

export interface PipelineRule {
  readonly name: string;
  readonly kind: "rule" | "flow" | "host rule" | "entry";
  /** In the document: `rules[2]`. */
  readonly path: string;
  readonly priority: number;
  /** What it matches, as notation: `misc.vxlan_vni = 5001`. */
  readonly match: readonly { readonly field: string; readonly value: string }[];
  /** One line for each action. */
  readonly actions: readonly string[];
  /** Ids of the tables and ends that its actions name. */
  readonly leadsTo: readonly string[];
}

export interface PipelineEnd {
  /** `qp:web`, `port:1`: as in outcomes. */
  readonly id: string;
  readonly kind: "qp" | "wq" | "host" | "port";
  readonly name: string;
  readonly path: string | null;
}

export interface Sum {
  readonly frames: number;
  /** On the wire. */
  readonly bytes: number;
}

export interface Totals extends Sum {
  readonly verdicts: Readonly<Record<VerdictName, Sum>>;
  /** By destination, such as `qp:web`; most frames first. */
  readonly destinations: readonly (Sum & { readonly to: string })[];
  readonly copies: readonly (Sum & { readonly to: string })[];
  readonly reasons: readonly (Sum & { readonly verdict: VerdictName; readonly reason: ReasonName | null })[];
  /** Every rule of the document, in the order of the document; 0 frames for one that was never hit. */
  readonly rules: readonly (Sum & { readonly name: string; readonly path: string })[];
  readonly counters: readonly { readonly name: string; readonly packets: number; readonly bytes: number }[];
  /** Answers of meters over time. */
  readonly meters: readonly MeterSeries[];
  /** Meters, connections and first-hit flags that frames met, with the frames by answer. */
  readonly states: readonly StateAnswers[];
  /** The number of expectations of the document: frames, counters, objects that `expect` names. */
  readonly expectations: number;
  /** Expectations of the document that the frames do not meet. */
  readonly failures: readonly { readonly path: string; readonly text: string }[];
}

export interface StateAnswers {
  readonly kind: "flow_meter" | "conn_track" | "first_hit";
  /** `connections[3]`, or the action. */
  readonly name: string;
  /** In words: `green`, `valid`, `first`. */
  readonly answers: readonly (Sum & { readonly answer: string })[];
}

export interface MeterSeries {
  readonly name: string;
  /** The ends of the intervals, in seconds since the first frame. */
  readonly times: readonly number[];
  /** Frames in the interval, by colour or answer. */
  readonly answers: Readonly<Record<string, readonly number[]>>;
}

export interface Survey {
  /** Most frames first. */
  readonly conversations: readonly Conversation[];
  /** Frames by verdict over time; null for frames without times. */
  readonly verdicts: MeterSeries | null;
}

export interface Conversation extends Sum {
  /** `10.0.0.1:40000 ↔ 10.0.0.7:443 TCP`. */
  readonly text: string;
  /** `FrameFilter.fields` for its frames. */
  readonly filter: string;
  readonly verdicts: Readonly<Partial<Record<VerdictName, number>>>;
}

/** All conditions hold. An empty filter lets every frame pass. */
export interface FrameFilter {
  readonly verdicts?: readonly VerdictName[];
  readonly rule?: string;
  /** A destination, or one of a copy: `qp:web`. */
  readonly to?: string;
  readonly reason?: ReasonName;
  /** Only frames whose outcome differs from that under the rules that are compared with. */
  readonly changed?: boolean;
  /** Only frames of one group of changes. */
  readonly change?: string;
  /** Every word is in the row's text, whatever its case. */
  readonly text?: string;
  /** Conditions on fields, as display filters of Wireshark have them: `ip.dst == 10.0.0.0/8`. */
  readonly fields?: string;
}

/** What the list is sorted by. Frames that are equal there keep their order of arrival. */
export interface FrameOrder {
  /** `frame.len`, `fs.rule`, `tcp.port || udp.port`: as columns of rows. */
  readonly by: string;
  readonly descending: boolean;
}

export interface FrameOutcome {
  /** Null for a frame that cannot be steered. */
  readonly verdict: VerdictName | null;
  readonly reason: ReasonName | null;
  readonly to: readonly string[];
  readonly copies: readonly string[];
  readonly rules: readonly string[];
  /** Whether no rule took it but the driver's own. */
  readonly unclaimed: boolean;
  /** Why it cannot be steered. */
  readonly skipped: string | null;
}

export interface FrameRow extends FrameOutcome {
  readonly number: number;
  /** Seconds since the first frame; null for a capture without times. */
  readonly time: number | null;
  /** Captured bytes. */
  readonly length: number;
  readonly wireLength: number;
  /** The name that the document gives it. */
  readonly name: string | null;
  /** `10.0.0.1 > 10.0.0.7 vxlan 5001 / tcp 443`. */
  readonly summary: string;
  readonly changed: boolean;
  /** The texts of further columns, by column. */
  readonly cells: Readonly<Record<string, string>>;
}

/** Everything that happened to one frame. */
export interface FrameWay {
  readonly frame: number;
  readonly trace: Trace;
  /** The bytes of the frame after each step that changed them, the first as it came in, and of each new branch; in order. */
  readonly snapshots: readonly Snapshot[];
  /** Why it ended as it did, for a frame that missed, was dropped, or was left to the driver; null for others. */
  readonly why: Explanation | null;
  /** The rules nearest to it in the tables where it found none. */
  readonly near: readonly Near[];
}

export interface Snapshot {
  /** The index of the step in the trace after which the frame has these bytes. */
  readonly step: number;
  readonly branch: number;
  readonly tree: FrameTree;
}
