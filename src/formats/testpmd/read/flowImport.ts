/** Reads testpmd commands into a draft. */
import type { Pmd } from "../../../drivers/driver.js";
import type { ScenarioRule } from "../../../scenario/rule/definition.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { commandsOf, type OtherLine, type TextLine } from "../../text/lines.js";
import { attempt, notImported, type Word } from "../../text/refusal.js";
import { Cursor, setVariable, wordsOf, type Variables } from "../../text/words.js";
import { readActions, type Action } from "./actions/read.js";
import { readAttributes } from "./attributes.js";
import {
  answerOf,
  COMMANDS,
  FLOW_WORDS,
  goesOn,
  isCommand,
  within,
  type Command,
  type CommandKind,
} from "./commands.js";
import { LivingRules, type LivingRule } from "./livingRules.js";
import { readPattern } from "./pattern/read.js";
import { Ports } from "./ports.js";
import { Rules } from "./rules.js";
import { Settings } from "./settings/settings.js";
import { Templates, withMasks, withTemplate } from "./templates.js";
import { numberAt, unknownWord } from "./values.js";

const MAX_INDIRECT = 16;
/** The first words of a file that native/flowsteer-record-rte.c writes. */
const RECORDED = "# recorded by flowsteer-record-rte";

export class FlowImport implements Importer {
  readonly #settings = new Settings();
  readonly #templates = new Templates();
  readonly #rules: Rules;
  readonly #variables: Variables;
  /** Rules of each port so far, for their names. */
  readonly #numbers = new Map<bigint, number>();
  readonly #living = new LivingRules();
  /** The rule that the last command makes. */
  #newest: { readonly port: bigint; rule: LivingRule } | undefined;
  /** Whether rules may be made again: what that needs takes memory. */
  #hasUpdates = false;
  /** Takes back what the last command did, which testpmd says has failed. */
  #undo: (() => void) | undefined;
  /** The number of the first finding about the last command. */
  #firstFinding = 0;
  /** Whether a text is a recording, which a program's own end is part of. */
  #isRecorded = false;
  /** What a recording destroyed after its last rule was made, with what undoes it. */
  #atEnd: { readonly command: Word; readonly undo: () => void }[] = [];

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    pmd: Pmd | null,
  ) {
    this.#variables = new Map(draft.variables);
    const ports = new Ports(draft, (word, reason) => findings.assume(word.place, word.text, reason));
    this.#rules = new Rules(draft, findings, ports, this.#settings, pmd);
  }

  add(text: string): void {
    this.#isRecorded ||= text.startsWith(RECORDED);
    this.#hasUpdates ||= /\bflow\s+update\b/.test(text);
    const answers: OtherLine[] = [];
    const lines = commandsOf(text, { isCommand, isOwnLanguage: () => true, goesOn, within }, (line) => {
      const { text: other, place } = line;
      const queues = /\s--rxq[= ](\d+)/.exec(other)?.[1];
      if (answerOf(other) !== undefined) answers.push(line);
      else if (queues !== undefined) this.#settings.queues = Number(queues);
      else if (!setVariable(other, this.#variables)) {
        this.findings.assume(place, other, "not a flow command: ignored");
      }
    });
    let next = 0;
    for (const line of lines) {
      for (; (answers[next]?.place.line ?? Infinity) < line.place(0).line; next++)
        this.#answer(answers[next] as OtherLine);
      this.#command(line);
    }
    for (const answer of answers.slice(next)) this.#answer(answer);
    this.#undo = undefined;
  }

  finish(): void {
    this.#keepLast();
    this.draft.remove("rules", this.#living.gone);
    this.#rules.finish();
  }

  /** Programs destroy their rules as they end: a recording has those that were there before. */
  #keepLast(): void {
    const last = this.#atEnd.at(-1)?.command;
    if (last === undefined || this.#living.some) {
      this.#tellGone();
      return;
    }
    for (const { undo } of this.#atEnd) undo();
    this.findings.assume(last.place, last.text, "the program ends here: the rules before are imported");
  }

  #tellGone(): void {
    for (const { command } of this.#atEnd)
      this.findings.assume(command.place, command.text, "the rules that it destroys are not in the scenario");
    this.#atEnd = [];
  }

  /** What testpmd answers to a command: the number of its rule, or that it failed. */
  #answer({ text, place }: OtherLine): void {
    const answer = answerOf(text);
    if (typeof answer === "object" && this.#newest !== undefined) {
      const { port, rule } = this.#newest;
      this.#newest.rule = this.#living.of(port).renumber(rule, answer.created);
    }
    if (answer !== "failed") return;
    this.findings.forgetRefused(this.#firstFinding);
    if (this.#undo === undefined) return;
    this.#undo();
    this.#undo = undefined;
    this.findings.assume(place, text, "testpmd refused the command before it: it has no effect");
  }

  #command(line: TextLine): void {
    const words = new Cursor(wordsOf(line, this.#variables));
    this.draft.comesFrom(line.place(0), line.text);
    this.#newest = undefined;
    this.#undo = undefined;
    this.#firstFinding = this.findings.list.length;
    attempt(
      () => {
        const first = words.next("a command");
        this.#do(commandAt(words, first), words, first);
      },
      ({ word, reason }) => this.findings.refuse(word.place, word.text, reason),
    );
  }

  #do({ kind, words: names, element }: Command, words: Cursor, first: Word): void {
    const text = names.join(" ");
    const doing = this.#doing[kind];
    if ("refused" in element) notImported({ ...first, text }, element.refused);
    if (kind === "left") this.findings.assume(first.place, text, "ignored: rules do not change once created");
    if (kind === "silent" || kind === "left") return;
    doing?.(words, { ...first, text });
    if (!words.done && kind !== "meter") {
      const rest = words.next("");
      notImported(rest, `the command ends before this`);
    }
  }

  readonly #doing: Readonly<Partial<Record<CommandKind, (words: Cursor, command: Word) => void>>> = {
    create: (words) => this.#flow(words, true),
    validate: (words) => this.#flow(words, false),
    indirect: (words) => this.#indirect(words),
    patternTemplate: (words) => this.#template(words, "pattern_template"),
    actionsTemplate: (words) => this.#template(words, "actions_template"),
    templateTable: (words) => this.#template(words, "template_table"),
    queue: (words) => this.#queue(words),
    destroy: (words, command) => this.#destroy(words, command),
    flush: (words, command) => {
      this.#gone(command, this.#living.of(numberAt(words.next("the port"), "the port", 16)).all);
    },
    update: (words) => this.#update(words),
    isolate: (words) => void (this.#undo = this.#rules.receivers.isolate(words)),
    tunnel: (words, { text }) => this.#settings.tunnels.set(text.slice("set ".length), words),
    rawEncap: (words) => this.#settings.setRaw("raw_encap", words),
    rawDecap: (words) => this.#settings.setRaw("raw_decap", words),
    sampleActions: (words) => this.#settings.setSample(words),
    profile: (words) => this.#settings.meters.addProfile(words),
    policy: (words) => this.#settings.meters.addPolicy(words),
    meter: (words) => this.#settings.meters.create(words),
    conntrack: (words) => this.#settings.conntrack.set(words),
    queues: (words) => {
      this.#settings.queues = Math.max(1, Number(numberAt(words.next("the number of queues"), "rxq", 16)));
    },
  };

  /** `flow create PORT ATTRIBUTES pattern ITEMS end actions ACTIONS end`. */
  #flow(words: Cursor, isCreated: boolean): void {
    const word = words.next("the port");
    const port = { number: numberAt(word, "the port", 16), word };
    const number = isCreated ? this.#nextNumber(port.number) : 0;
    const living = isCreated ? this.#makes(port.number) : undefined;
    const { domains, group, priority, userId } = readAttributes(words, word);
    if (living !== undefined && userId !== undefined) this.#living.of(port.number).call(living, userId);
    const items = readPattern(words);
    if (!words.take("actions")) unknownWord(words.next('"actions"'), "word after a pattern", ["actions"]);
    const read = this.#expanded(readActions(words), port.number);
    if (!words.done) notImported(words.next(""), "the command ends before this");
    if (living === undefined) {
      this.findings.assume(word.place, "flow validate", "it makes no rule");
      return;
    }
    const make = (actions: readonly Action[]): ScenarioRule[] =>
      domains.flatMap((domain, n) => {
        const name = `port ${port.number} flow ${number}${n === 0 ? "" : " egress"}`;
        return this.#rules.add({ name, port, domain, group, priority, items, actions });
      });
    living.rules = make(read);
    if (this.#hasUpdates) living.again = make;
  }

  /** A rule that a command makes, unless testpmd says that it failed. */
  #makes(port: bigint): LivingRule {
    const rule = this.#living.of(port).add();
    const newest = { port, rule };
    this.#newest = newest;
    this.#tellGone();
    this.#undo = () => void this.#living.destroy([newest.rule]);
    return rule;
  }

  /** `flow destroy PORT rule N [rule N]... [user_id]`. */
  #destroy(words: Cursor, command: Word): void {
    const port = numberAt(words.next("the port"), "the port", 16);
    this.#gone(command, this.#named(port, words));
  }

  /** The rules of `rule N [rule N]... [user_id]`. */
  #named(port: bigint, words: Cursor): LivingRule[] {
    const named: Word[] = [];
    while (words.take("rule")) named.push(words.next("the number of a rule"));
    const isUserId = words.take("user_id");
    return named.flatMap((word) => {
      const found = this.#living.of(port).find(numberAt(word, "a rule", 64), isUserId);
      if (found === undefined) this.findings.assume(word.place, word.text, `port ${port} has no such rule before this`);
      return found ?? [];
    });
  }

  #gone(command: Word, rules: readonly LivingRule[]): void {
    this.#undo = this.#living.destroy(rules);
    this.#atEnd.push({ command, undo: this.#undo });
    if (!this.#isRecorded) this.#tellGone();
  }

  /** `flow update PORT RULE actions ACTIONS end [user_id]`. */
  #update(words: Cursor): void {
    const port = numberAt(words.next("the port"), "the port", 16);
    const word = words.next("the number of a rule");
    if (!words.take("actions")) unknownWord(words.next('"actions"'), "word here", ["actions"]);
    const actions = this.#expanded(readActions(words), port);
    const found = this.#living.of(port).find(numberAt(word, "a rule", 64), words.take("user_id"));
    if (found === undefined || found.again === null)
      notImported(word, `port ${port} has no such rule before this that is imported`);
    const before = found.rules;
    const undo = this.#living.destroy([found]);
    found.isGone = false;
    found.rules = found.again(actions);
    this.#undo = () => {
      for (const one of found.rules) this.#living.gone.add(one);
      found.rules = before;
      undo();
    };
  }

  #nextNumber(port: bigint): number {
    const number = this.#numbers.get(port) ?? 0;
    this.#numbers.set(port, number + 1);
    return number;
  }

  /** `flow indirect_action PORT create [action_id N] [ingress] action ACTION end`. */
  #indirect(words: Cursor): void {
    const port = numberAt(words.next("the port"), "the port", 16);
    const word = words.next("create, update, destroy or query");
    if (word.text === "update") {
      this.#turnConnection(Number(port), words);
      return;
    }
    if (word.text !== "create") notImported(word, "rules do not change once created");
    let handle = 0n;
    while (!words.take("action")) {
      const key = words.next('"action"');
      if (key.text === "action_id") handle = numberAt(words.next("a number"), "action_id", 32);
      else if (!["ingress", "egress", "transfer"].includes(key.text)) {
        unknownWord(key, "attribute", ["action_id", "ingress", "egress", "transfer", "action"]);
      }
    }
    const actions = this.#expanded(readActions(words), port).map((action) => {
      if (action.kind?.does !== "conntrack") return action;
      const name = `port ${port} conntrack ${handle}`;
      return { ...action, connection: this.#settings.conntrack.current(name, action.word) };
    });
    // One may name another: without a limit they double.
    if (actions.length > MAX_INDIRECT)
      notImported(word, `an indirect action stands for ${MAX_INDIRECT} actions at most`);
    this.#settings.setIndirect(Number(port), handle, actions);
  }

  /** `flow indirect_action PORT update N action conntrack_update dir / end`: rules after it are of the other direction. */
  #turnConnection(port: number, words: Cursor): void {
    const handle = words.next("the number of an indirect action");
    const number = numberAt(handle, "an indirect action", 32);
    words.take("action");
    const update = words.next("conntrack_update");
    if (update.text !== "conntrack_update") notImported(update, "rules do not change once created");
    const actions = this.#settings.indirect(port, number, handle).map((action) => {
      const { connection } = action;
      if (connection === undefined) return notImported(handle, "not a connection");
      const { isOriginal } = this.#settings.conntrack.current(connection.name, update);
      return { ...action, connection: { ...connection, isOriginal } };
    });
    if (words.peek() === "ctx")
      notImported(words.next("dir"), "a scenario holds only the initial state of a connection");
    for (const text of ["dir", "/", "end"])
      if (!words.take(text)) unknownWord(words.next(`"${text}"`), "word here", [text]);
    this.#settings.setIndirect(port, number, actions);
  }

  /** Indirect actions are those that they stand for. */
  #expanded(actions: readonly Action[], port: bigint): Action[] {
    return actions.flatMap((action) => {
      if (action.handle === undefined) return [action];
      return this.#settings.indirect(Number(port), action.handle, action.word);
    });
  }

  #template(words: Cursor, kind: "pattern_template" | "actions_template" | "template_table"): void {
    const port = numberAt(words.next("the port"), "the port", 16);
    const word = words.next("create or destroy");
    if (word.text === "destroy") {
      this.findings.assume(word.place, `flow ${kind} destroy`, "ignored: rules do not change once created");
      words.skipTo();
    } else if (word.text !== "create") unknownWord(word, "word here", ["create", "destroy"]);
    else if (kind === "pattern_template") this.#templates.addPattern(port, words);
    else if (kind === "actions_template") this.#templates.addActions(port, words);
    else this.#templates.addTable(port, words);
  }

  /** `flow queue PORT create QUEUE template_table N pattern_template N actions_template N pattern ... actions ...`. */
  #queue(words: Cursor): void {
    const word = words.next("the port");
    const port = { number: numberAt(word, "the port", 16), word };
    const verb = words.next("create or destroy");
    if (verb.text === "destroy") {
      numberAt(words.next("the queue"), "the queue", 32);
      if (words.take("postpone")) words.next("yes or no");
      this.#gone({ ...verb, text: "flow queue destroy" }, this.#named(port.number, words));
      return;
    }
    if (verb.text !== "create") {
      this.findings.assume(verb.place, `flow queue ${verb.text}`, "ignored: rules do not change once created");
      words.skipTo();
      return;
    }
    numberAt(words.next("the queue"), "the queue", 32);
    const living = this.#makes(port.number);
    const number = (key: string): bigint => {
      if (!words.take(key)) unknownWord(words.next(`"${key}"`), "attribute here", [key]);
      return numberAt(words.next(`the value of ${key}`), key, 32);
    };
    const table = this.#templates.table(port.number, number("template_table"), verb);
    const [pattern, doing] = [number("pattern_template"), number("actions_template")];
    if (words.take("postpone")) words.next("yes or no");
    if (!words.take("pattern")) unknownWord(words.next('"pattern"'), "word here", ["pattern", "postpone"]);
    const masks =
      table.patterns[Number(pattern)] ?? notImported(verb, `its table has no pattern template at place ${pattern}`);
    const items = withMasks(readPattern(words), masks, verb);
    if (!words.take("actions")) unknownWord(words.next('"actions"'), "word after a pattern", ["actions"]);
    const fixed =
      table.actions[Number(doing)] ?? notImported(verb, `its table has no actions template at place ${doing}`);
    const actions = this.#expanded(withTemplate(readActions(words), fixed, verb), port.number);
    const priority = { value: table.priority, word };
    const name = `port ${port.number} queue flow ${this.#nextNumber(-1n - port.number)}`;
    const place = { name, port, domain: table.domain, group: table.group, priority };
    living.rules = this.#rules.add({ ...place, items, actions, isTemplated: true });
  }
}

function commandAt(words: Cursor, first: Word): Command {
  const found = COMMANDS.filter((one) => one.words.slice(1).every((text, n) => words.peek(n) === text));
  const command = found.find((one) => one.words[0] === first.text);
  if (command === undefined) {
    const second = words.next("the second word of the command");
    return unknownWord(second, `command flow`, FLOW_WORDS);
  }
  words.take(...command.words.slice(1));
  return command;
}
