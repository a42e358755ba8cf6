/** Reads testpmd commands into a draft. */
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { commandsOf, type TextLine } from "../../text/lines.js";
import { attempt, notImported, type Word } from "../../text/refusal.js";
import { Cursor, setVariable, wordsOf, type Variables } from "../../text/words.js";
import { readActions, type Action } from "./actions/read.js";
import { COMMANDS, FLOW_WORDS, isCommand, type Command, type CommandKind } from "./commands.js";
import { readPattern } from "./pattern/read.js";
import { Ports } from "./ports.js";
import { Rules, type Domain, type FlowRule } from "./rules.js";
import { Settings } from "./settings/settings.js";
import { Templates, withMasks, withTemplate } from "./templates.js";
import { numberAt, unknownWord } from "./values.js";

interface Attributes {
  readonly group: bigint;
  readonly priority: FlowRule["priority"];
  readonly domains: readonly Domain[];
}

const ATTRIBUTES = ["group", "priority", "ingress", "egress", "transfer", "pattern"];
const MAX_INDIRECT = 16;
/** What testpmd prints; it is no command, and says nothing of rules. */
const PRINTED =
  /^(?:Flow rule #\d+ (?:created|validated|destroyed)|Flow rule validated|Bad arguments|Command not found|port_flow_complain|Caught |testpmd>|EAL:|Interactive-mode|Done|Bye)/;

export class FlowImport implements Importer {
  readonly #settings = new Settings();
  readonly #templates = new Templates();
  readonly #rules: Rules;
  readonly #variables: Variables;
  /** Rules of each port so far: testpmd numbers them from 0. */
  readonly #numbers = new Map<bigint, number>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {
    this.#variables = new Map(draft.variables);
    const ports = new Ports(draft, (word, reason) => findings.assume(word.place, word.text, reason));
    this.#rules = new Rules(draft, findings, ports, this.#settings);
  }

  add(text: string): void {
    const lines = commandsOf(text, { isCommand, goesOn }, ({ text: other, place }) => {
      const queues = /\s--rxq[= ](\d+)/.exec(other)?.[1];
      if (queues !== undefined) this.#settings.queues = Number(queues);
      else if (!setVariable(other, this.#variables) && !PRINTED.test(other)) {
        this.findings.assume(place, other, "it is no command about flows: left out");
      }
    });
    for (const line of lines) this.#command(line);
  }

  #command(line: TextLine): void {
    const words = new Cursor(wordsOf(line, this.#variables));
    this.draft.comesFrom(line.place(0), line.text);
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
    if (kind === "left") this.findings.assume(first.place, text, "it is left out: rules stay as they are made");
    if (kind === "silent" || kind === "left") return;
    doing?.(words, text);
    if (!words.done && kind !== "meter") {
      const rest = words.next("");
      notImported(rest, `the command ends before this`);
    }
  }

  readonly #doing: Readonly<Partial<Record<CommandKind, (words: Cursor, text: string) => void>>> = {
    create: (words) => this.#flow(words, true),
    validate: (words) => this.#flow(words, false),
    indirect: (words) => this.#indirect(words),
    patternTemplate: (words) => this.#template(words, "pattern_template"),
    actionsTemplate: (words) => this.#template(words, "actions_template"),
    templateTable: (words) => this.#template(words, "template_table"),
    queue: (words) => this.#queue(words),
    tunnel: (words, text) => this.#settings.tunnels.set(text.slice("set ".length), words),
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
    const { domains, group, priority } = readAttributes(words, word);
    const items = readPattern(words);
    if (!words.take("actions")) unknownWord(words.next('"actions"'), "word after a pattern", ["actions"]);
    const actions = this.#expanded(readActions(words), port.number);
    if (!words.done) notImported(words.next(""), "the command ends before this");
    if (!isCreated) {
      this.findings.assume(word.place, "flow validate", "it makes no rule");
      return;
    }
    domains.forEach((domain, n) => {
      const name = `port ${port.number} flow ${number}${n === 0 ? "" : " egress"}`;
      this.#rules.add({ name, port, domain, group, priority, items, actions });
    });
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
    if (word.text !== "create") notImported(word, "rules stay as they are made");
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
    if (update.text !== "conntrack_update") notImported(update, "rules stay as they are made");
    const actions = this.#settings.indirect(port, number, handle).map((action) => {
      const { connection } = action;
      if (connection === undefined) return notImported(handle, "it is no connection");
      const { isOriginal } = this.#settings.conntrack.current(connection.name, update);
      return { ...action, connection: { ...connection, isOriginal } };
    });
    if (words.peek() === "ctx")
      notImported(words.next("dir"), "a scenario has the first contents of a connection only");
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
      this.findings.assume(word.place, `flow ${kind} destroy`, "it is left out: rules stay as they are made");
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
    if (verb.text !== "create") {
      this.findings.assume(verb.place, `flow queue ${verb.text}`, "it is left out: rules stay as they are made");
      words.skipTo();
      return;
    }
    numberAt(words.next("the queue"), "the queue", 32);
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
    this.#rules.add({ name, port, domain: table.domain, group: table.group, priority, items, actions });
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

/** The attributes up to `pattern`. */
function readAttributes(words: Cursor, port: Word): Attributes {
  let group = 0n;
  let priority = { value: 0n, word: port };
  const said = new Set<string>();
  for (;;) {
    const word = words.next('"pattern"');
    if (word.text === "pattern") break;
    if (word.text === "group") group = numberAt(words.next("a group"), "group", 32);
    else if (word.text === "priority") {
      const operand = words.next("a priority");
      priority = { value: numberAt(operand, "priority", 32), word: operand };
    } else if (["ingress", "egress", "transfer"].includes(word.text)) said.add(word.text);
    else if (word.text === "tunnel_set" || word.text === "tunnel_match") {
      notImported(word, "the rules of a tunnel are put together by the driver");
    } else if (word.text === "user_id") notImported(word, "DPDK 22.11 does not have it");
    else unknownWord(word, "attribute", ATTRIBUTES);
  }
  if (said.has("transfer")) return { group, priority, domains: ["fdb"] };
  const domains: Domain[] = [
    ...(said.has("ingress") ? ["nic_rx" as const] : []),
    ...(said.has("egress") ? ["nic_tx" as const] : []),
  ];
  if (domains.length === 0) notImported(port, "it is for no direction: ingress, egress or transfer");
  return { group, priority, domains };
}

/** Whether a command has lines that people wrapped: its last list has no end yet. */
function goesOn(command: string): boolean {
  if (/^set\s+conntrack\s/.test(command)) return !/\b(?:last_index|max_ack)\s+\w+$/.test(command);
  if (!/^flow\s+(?:create|validate)\s/.test(command)) return false;
  const words = command.replace(/#[^]*/, "").trimEnd();
  return !/\bend$/.test(words) || !/\bactions\b/.test(words);
}
