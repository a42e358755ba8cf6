/** Prints traces for people: a line for each table, and below it what happened there. */
import { printableRecord } from "../../base/terminal.js";
import { MATCH_FIELDS } from "../../headers/fields.js";
import type {
  ActionStep,
  DestinationStep,
  EndStep,
  LookupStep,
  MoveStep,
  ParseStep,
  RuleRef,
  StateChange,
  TableRef,
  Trace,
  TraceDestination,
  TraceOutcome,
  TraceStep,
} from "../trace/trace.js";
import { circleOf } from "../why/circle.js";
import { lostText } from "../why/reasons/lost.js";
import type { Difference, Near } from "../why/explanation.js";
import { hashClauses } from "./hashText.js";
import { headerChain } from "./headerChain.js";
import { Page, together, type Style } from "./page.js";

export interface PrintTraceOptions {
  /** Columns that lines are folded at, 40 at least. @default 80 */
  width?: number;
  /** Whether labels have colours, by ANSI escape sequences. @default false */
  colour?: boolean;
  /** The number of the frame in its capture, for the first line. @default none */
  number?: number;
  /** Rules that the frame missed narrowly (`nearest`): shown at the tables without a match. @default none */
  near?: readonly Near[];
  /** What a match field is called where a rule matches or changes it. @default its name in scenario files */
  nameOf?: (field: string, rule: string) => string;
  /** A value of a match field as a rule writes it. @default as in scenario files */
  valueText?: (field: string, value: string, rule: string) => string;
  /** What the priorities of rules are called. @default "priority" */
  priorityName?: string;
}

/**
 * The text of a trace, several lines without a last line break.
 * @example
 *     console.log(printTrace(await trace(device, 1, frame)));
 */
export function printTrace(trace: Trace, options: PrintTraceOptions = {}): string {
  const { width = 80, colour = false } = options;
  const page = new Page(width, colour);
  const { near = [] } = options;
  new TracePrinter(page, printableRecord(trace), { ...options, near: printableRecord(near) }).print(options.number);
  return page.text;
}

/** Columns of labels: those of tables, those of what happens there, and those of the last lines. */
const TABLE = [2, 9] as const;
const THERE = [4, 10] as const;
const LAST = [0, 11] as const;

/** Labels of actions; others have the name of their operation. */
const LABELS: Readonly<Record<string, string>> = {
  table: "jump",
  root: "jump",
  queue: "queue",
  queue_from_others: "queue",
  copy_queue: "copy",
  copy_from_others: "copy",
  copy_rss: "copy RSS",
  rss: "RSS",
  esp: "ESP",
  push_vlan: "push VLAN",
  pop_vlan: "pop VLAN",
  first_hit: "first hit",
  default_miss: "miss",
  pass_chain: "pass",
  untag: "clear tag",
};

/** Actions whose changed fields say more than their text. */
const SHOWS_FIELDS: ReadonlySet<string> = new Set(["modify", "push_vlan", "pop_vlan", "sampler"]);

class TracePrinter {
  readonly #page: Page;
  readonly #trace: Trace;
  readonly #near: readonly Near[];
  readonly #nameOf: (field: string, rule: string) => string;
  readonly #valueText: (field: string, value: string, rule: string) => string;
  readonly #priorityName: string;
  /** Whether tables are shown with their function. */
  readonly #functions: boolean;
  #branch = 0;
  /** The last header chain of each branch. */
  readonly #chains = new Map<number, string>();
  /** What the last action of each branch said. */
  readonly #said = new Map<number, string>();

  constructor(page: Page, trace: Trace, options: PrintTraceOptions) {
    const { near = [], nameOf = (field: string) => field, priorityName = "priority" } = options;
    this.#valueText = options.valueText ?? ((_, value) => value);
    this.#page = page;
    this.#trace = trace;
    this.#near = near;
    this.#nameOf = nameOf;
    this.#priorityName = priorityName;
    this.#functions = trace.steps.some((step) => "table" in step && (step.table.vport !== 0 || isFdb(step.table)));
  }

  print(number: number | undefined): void {
    this.#page.line(0, 0, this.#title(number), "bold", "");
    for (const step of this.#trace.steps) {
      if (isShown(step)) this.#enter(step.branch);
      this.#step(step);
    }
    this.#outcome(this.#trace.outcome);
  }

  #title(number: number | undefined): string {
    const { frame, from, committed } = this.#trace;
    const cut = frame.wireLength === frame.length ? "" : ` of ${frame.wireLength}`;
    const origin =
      from.kind === "wire" ? `port ${from.port} (wire)` : `sent by ${from.queue} of ${functionText(from.vport)}`;
    const frameText = number === undefined ? "frame" : `frame ${number}`;
    return `${frameText}, ${frame.length}${cut} bytes, ${origin}${committed ? ", committed" : ""}`;
  }

  #enter(branch: number): void {
    if (branch === this.#branch) return;
    this.#branch = branch;
    this.#page.line(...TABLE, `branch ${branch}`, "cyan", "");
  }

  #step(step: TraceStep): void {
    switch (step.kind) {
      case "parse":
        this.#parsed(step);
        break;
      case "lookup":
        this.#lookup(step);
        break;
      case "action":
        this.#action(step);
        break;
      case "fork":
        this.#there("split", "cyan", `off branch ${step.into}`);
        this.#chains.set(step.into, this.#chains.get(step.branch) ?? "");
        break;
      case "move":
        this.#move(step);
        break;
      case "destination":
        this.#destination(step);
        break;
      case "end":
        this.#end(step);
        break;
    }
  }

  #table(label: string, style: Style, text: string): void {
    this.#page.line(...TABLE, label, style, text);
  }

  #there(label: string, style: Style, text: string): void {
    this.#page.line(...THERE, label, style, text);
  }

  /** Parsed again, a frame is shown if it has other headers, addresses or ports. */
  #parsed(step: ParseStep): void {
    const chain = headerChain(step);
    if (this.#chains.get(step.branch) === chain) return;
    this.#chains.set(step.branch, chain);
    this.#table("parsed", "bold", chain.split(" / ").map(together).join(" / "));
    if (step.stopped === null) return;
    const { header, field, wanted, had, reason } = step.stopped;
    const why = reason.replaceAll("_", " ");
    this.#table("", "dim", `stopped in ${header} at ${field}: ${why}, ${wanted} bytes needed, ${had} there`);
  }

  #lookup(step: LookupStep): void {
    const { table, rules, fromPriority, rule } = step;
    const from = fromPriority === null ? "" : ` from priority ${fromPriority}`;
    const found = rule !== null ? "" : rules === 0 ? "" : ": no match";
    this.#table(domainText(table), "bold", `${this.#tableText(table)}, ${rulesText(rules)}${from}${found}`);
    if (rule === null) this.#nearMisses(table);
    else if (step.passedOver) this.#there("pass over", "yellow", `${ruleText(rule)}: not for frames of its own queue`);
    else this.#there("hit", "green", `${ruleText(rule)}  ${this.#priorityText(rule)}${this.#matchedText(step, rule)}`);
  }

  #priorityText({ kind, priority }: RuleRef): string {
    if (kind === "connection") return "";
    return kind === "entry" ? `index ${priority}` : `${this.#priorityName} ${priority}`;
  }

  /** `outer.tcp_dport 80`, `outer.ipv4_dst 10.0.0.7 in 10.0.0.0/8`. */
  #matchedText({ matched }: LookupStep, rule: RuleRef): string {
    const texts = matched.map(({ field, found, ...of }) => {
      const wanted = this.#valueText(field, of.wanted, rule.name);
      // Words of a state name the bits that the rule compares.
      const isOwn = wanted !== of.wanted;
      const named = `${this.#nameOf(field, rule.name)} ${isOwn ? wanted : found}`;
      return together(isOwn || wanted === found || wanted === "any" ? named : `${named} in ${wanted}`);
    });
    return texts.length === 0 ? "" : `  ${texts.join(", ")}`;
  }

  #nearMisses(table: TableRef): void {
    for (const { rule, table: missed, differences } of this.#near) {
      if (!isSame(missed, table) || differences.length === 0) continue;
      const named = differences.map((one) => differenceText({ ...one, field: this.#nameOf(one.field, rule.name) }));
      this.#there("near", "yellow", `${ruleText(rule)}  ${named.join("; ")}`);
    }
  }

  #action(step: ActionStep): void {
    const { action, text, fields, state } = step;
    const label = LABELS[action] ?? action;
    const style = action === "drop" ? "red" : "dim";
    const [main, ...rest] = state;
    const values = main === undefined ? "" : valuesText(main);
    const nameOf = (field: string): string => this.#nameOf(field, step.rule?.name ?? "");
    const valueOf = (field: string, value: string): string => this.#valueText(field, value, step.rule?.name ?? "");
    const said = action === "table" ? tableText(text) : assigned(text, valueOf).replace(MATCH_FIELDS, nameOf);
    this.#said.set(step.branch, said);
    const joint = said === "" || values === "" ? "" : said.includes(": ") ? ", " : ": ";
    this.#there(label, style, said + joint + values);
    for (const one of rest) this.#there("", "dim", `${one.object}: ${valuesText(one)}`);
    for (const clause of step.hash === undefined ? [] : hashClauses(step.hash, nameOf)) this.#there("", "dim", clause);
    for (const { sentence } of step.failed ?? []) this.#there("", "red", `the frame ${sentence}`);
    if (!SHOWS_FIELDS.has(action)) {
      const grown = step.bytes.reduce((sum, { before, after }) => sum + after.length - before.length, 0) / 2;
      if (grown !== 0) this.#there("", "dim", `${Math.abs(grown)} bytes ${grown > 0 ? "more" : "fewer"}`);
      return;
    }
    for (const { field, before, after } of fields) {
      const [from, to] = [before, after].map((value) => (value === null ? "absent" : valueOf(field, value)));
      this.#there("", "dim", `${nameOf(field)} ${from} -> ${to}`);
    }
  }

  #move({ to, cause, branch }: MoveStep): void {
    const said = this.#said.get(branch) ?? "";
    this.#said.delete(branch);
    if (cause === "miss" && said === "") this.#there("miss", "yellow", `to ${this.#tableText(to)}`);
    else if (cause === "fdb_default") this.#there("miss", "yellow", "to the PF (default of FDB)");
    else if (cause === "egress") this.#there("goes on", "dim", "to the FDB");
    else if (cause === "loopback") {
      this.#chains.set(branch, this.#chains.get(this.#branch) ?? "");
      this.#branch = branch;
      this.#table("looped", "cyan", "back through the port to its own receive rules");
    }
  }

  /** The action says where the frame went, unless the default of a table or a hash decided. */
  #destination({ to, copy, refused, state, branch }: DestinationStep): void {
    const said = (this.#said.get(branch) ?? "").includes(to);
    if (refused !== null) this.#there("refused", "red", `by ${to}: ${reasonText(refused)}`);
    else if (!said) this.#there(copy ? "copy" : "to", "dim", to);
    for (const one of state) this.#there("", "dim", `${one.object} ${one.name}: ${valuesText(one)}`);
  }

  /** The end of the frame itself is the outcome. */
  #end({ verdict, reason, branch }: EndStep): void {
    const { outcome } = this.#trace;
    const isOutcome = verdict === outcome.verdict && reason === outcome.reason;
    if (verdict === "deliver" || verdict === "forward" || verdict === "transmit") return;
    if (branch === 0 && isOutcome) return;
    this.#there("end", "red", reason === null ? "no rule takes the looped frame" : reasonText(reason));
  }

  #tableText({ domain, vport, table }: TableRef): string {
    const text = tableText(table);
    return this.#functions && domain !== "fdb" ? `${functionText(vport)}, ${text}` : text;
  }

  #outcome(outcome: TraceOutcome): void {
    const { verdict, to, copies, tag, registers } = outcome;
    const taken = verdict === "deliver" || verdict === "forward" || verdict === "transmit";
    const [label, style] = taken ? ([VERDICTS[verdict], "green"] as const) : (["lost", "red"] as const);
    const where = to.map((one) => this.#destinationText(one)).join(", ");
    this.#page.line(...LAST, label, style, taken ? where : this.#lost(outcome));
    if (!taken && to.length > 0) this.#page.line(...LAST, "", "dim", where);
    const others = copies.map((one) => this.#destinationText(one)).join(", ");
    if (others !== "") this.#page.line(...LAST, "copies", "dim", others);
    const values = Object.entries(registers).map(([name, value]) => `${name} = 0x${value.toString(16)}`);
    if (tag !== null) values.unshift(`tag ${tag}`);
    if (values.length > 0) this.#page.line(...LAST, "with", "dim", values.join(", "));
  }

  #destinationText({ name, frame, tag }: TraceDestination): string {
    const changed = frame === this.#trace.frame.bytes ? "" : `changed, ${frame.length / 2} bytes`;
    const own = tag !== 0 && tag !== this.#trace.outcome.tag ? `tag ${tag}` : "";
    const notes = [changed, own].filter((note) => note !== "").join(", ");
    return notes === "" ? name : `${name} (${notes})`;
  }

  #lost({ verdict, reason }: TraceOutcome): string {
    const { steps, from, frame } = this.#trace;
    const end = steps.findLast((step) => step.kind === "end");
    const hit = steps.findLast((step) => step.kind === "lookup" && step.rule !== null);
    const refused = steps.findLast((step) => step.kind === "destination" && step.refused !== null);
    const vport = end?.kind === "end" ? end.table.vport : 0;
    return lostText(verdict, reason, {
      table: tableText(end?.kind === "end" ? end.table.table : "root"),
      rule: hit?.kind === "lookup" && hit.rule !== null ? `${hit.rule.kind} "${hit.rule.name}"` : null,
      circle: circleOf(steps),
      queue: refused?.kind === "destination" ? refused.to : null,
      port: from.port,
      length: frame.length,
      state: null,
      esp: null,
      failed: steps.flatMap((step) => (step.kind === "action" && step.action === "esp" ? (step.failed ?? []) : [])),
      noInner: null,
      owner: vport === 0 ? "the PF" : `VF ${vport}`,
      defaults: steps.some(
        (step) => step.kind === "lookup" && step.table.table === "default flows" && step.table.vport === vport,
      ),
    });
  }
}

const VERDICTS = { deliver: "delivered", forward: "forwarded", transmit: "sent" } as const;

/** Steps that show which branch they are of. */
function isShown({ kind }: TraceStep): boolean {
  return kind === "lookup" || kind === "action" || kind === "fork" || kind === "end";
}

function isFdb({ domain }: TableRef): boolean {
  return domain === "fdb";
}

function isSame(a: TableRef, b: TableRef): boolean {
  return a.table === b.table && a.domain === b.domain && a.vport === b.vport;
}

/** The text of an action with the values that it sets as a rule writes them: "misc2.metadata_reg_c_0 = 34". */
function assigned(text: string, valueOf: (field: string, value: string) => string): string {
  const parts = text.split(", ").map((part) => {
    const [field = "", value, ...more] = part.split(" = ");
    return value === undefined || more.length > 0 ? part : `${field} = ${valueOf(field, value)}`;
  });
  return parts.join(", ");
}

/** Those of Open vSwitch are called "table 5" already. */
function tableText(name: string): string {
  return name.startsWith("table ") ? name : `table ${name}`;
}

function domainText({ domain }: TableRef): string {
  return domain.toUpperCase();
}

function functionText(vport: number): string {
  return vport === 0 ? "PF" : `VF ${vport}`;
}

function rulesText(rules: number): string {
  return rules === 0 ? "no rules" : rules === 1 ? "1 rule" : `${rules} rules`;
}

function ruleText({ kind, name }: RuleRef): string {
  if (kind === "connection") return `connection of ${name}`;
  return kind === "rule" ? `"${name}"` : `${kind} "${name}"`;
}

function differenceText({ field, wanted, found, absent }: Difference): string {
  return found === null ? `${field} ${wanted}: ${absent ?? "no such header"}` : `${field} ${wanted}, found ${found}`;
}

function valuesText({ values }: StateChange): string {
  return values
    .map(({ value, before, after }) =>
      together(before === after ? `${value} ${after}` : `${value} ${before} -> ${after}`),
    )
    .join(", ");
}

function reasonText(reason: string): string {
  return reason.replaceAll("_", " ");
}
