/** Commands and listings of tc, read into a draft. */
import type { KernelDriver } from "../../../drivers/driver.js";
import { UDP_PORTS } from "../../../headers/announcers.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { LastCommand } from "../../reading/lastCommand.js";
import { commandsOf, commandWithin, type TextLine } from "../../text/lines.js";
import { attempt, notImported, type Place, unknownName, type Word } from "../../text/refusal.js";
import { Cursor, setVariable, wordsOf, type Variables } from "../../text/words.js";
import { commandsIn, textOf } from "./commands.js";
import { checkPort, Devices, type NetDevice, type TunnelKind } from "./devices.js";
import { FilterList } from "./filterList.js";
import { readFilter, readHook, type FilterReader, type Hook } from "./filter.js";
import { listedOf as jsonListed, takeJson } from "./listing/json.js";
import type { Listed } from "./listing/listed.js";
import { headLineOf, listedOf as textListed, takeListings } from "./listing/text.js";
import { asOffloaded } from "./offload.js";
import { Links } from "./links.js";
import { Plan } from "./plan.js";
import { tcNumber } from "./values.js";

const ASSIGNMENT = /^\s*(?:export\s+|local\s+|readonly\s+)?[A-Za-z_]\w*=/;
/** Also a function of a script that runs tc: `tc_filter add`, `tc_filter_success add`. */
const COMMAND =
  /^(?:\w{0,80}?tc_filter\w{0,80}\s+(?:add|del|change|replace|show)\b|(?:[\w./-]*\/)?tc\b|\$\{?TC\}?|"\$TC"|filter|qdisc|ip\s+link\s+add|ip\s+l\s+a)\s/;

/** The same after any other text. */
const WITHIN = commandWithin(
  /(?<![\w-])(?:tc(?:\s+-\S{1,80}){0,4}\s+(?:filter|qdisc|chain|actions)\s+(?:add|a|del\w*|change|replace|show|ls|list)\b|ip\s+link\s+add\s)/,
);

/** What tc prints where the kernel does not execute a command. */
const FAILED =
  /^(?:RTNETLINK answers: (?!Success)|Error: |We have an error talking to the kernel|Cannot find device|Unknown filter|Command "filter" is unknown)/;

export class TcImport implements Importer {
  /** Those that the caller sets. */
  readonly #variables: ReadonlyMap<string, string>;
  readonly #devices: Devices;
  readonly #plan: Plan;
  readonly #filters = new Map<string, FilterList>();
  /** Devices of each block, and the blocks of devices. */
  readonly #blocks = new Map<string, string[]>();
  readonly #blockOf = new Map<string, string>();
  readonly #reader: FilterReader;
  /** The device of the listing that is read. */
  #shown: Word | undefined;
  readonly #last: LastCommand;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly driver: KernelDriver | null,
  ) {
    this.#variables = draft.variables;
    this.#last = new LastCommand(findings);
    this.#devices = new Devices(draft, findings);
    this.#plan = new Plan(draft, findings, this.#devices);
    this.#reader = {
      driver,
      findings,
      devices: this.#devices,
      option: (option, word) => {
        if (!draft.geneveOption(option)) notImported(word, "the device looks for one class and type of options");
      },
      encPort: (word, tunnel, port) => {
        checkPort(draft, findings, word, tunnel, port);
      },
      deviceOf: (owner) => this.#deviceOf(owner),
    };
  }

  add(text: string): void {
    const variables: Variables = new Map(this.#variables);
    const json = takeJson(text);
    const listing = takeListings(json.rest);
    for (const { word, reason } of json.broken) this.findings.refuse(word.place, word.text, reason);
    const answers: Word[] = [];
    const links = new Links((name, tunnel) => {
      this.#guard(name, () => {
        this.#devices.declare(name.place, name.text, tunnel);
      });
    });
    const lines = commandsOf(listing.rest, RULES, (other) => {
      if (links.add(other)) return;
      if (FAILED.test(other.text)) answers.push(other);
      else if (/[\p{L}\d]/u.test(other.text)) this.findings.assume(other.place, other.text, NO_COMMAND);
    });
    const assume = (word: Word, reason: string): void => {
      this.findings.assume(word.place, word.text, reason);
    };
    const steps = [
      ...lines.map((line) => ({
        place: line.place(0),
        read: () => {
          this.#line(line, variables);
        },
      })),
      ...answers.map((answer) => ({
        place: answer.place,
        read: () => {
          this.#last.failed(answer);
        },
      })),
      ...json.filters.map((one) => ({
        place: one.place,
        read: () => {
          this.#listed(one.place, "", () => jsonListed(one, assume));
        },
      })),
      ...listing.filters.map((one) => ({
        place: one.place,
        read: () => {
          this.#listed(one.place, headLineOf(one), () => textListed(one, assume));
        },
      })),
    ];
    this.#shown = undefined;
    this.#last.end();
    for (const { read } of steps.sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column)) read();
  }

  /** A filter of a listing, as the command that makes it. @param text its first line; "" where it has none */
  #listed(place: Place, text: string, read: () => Listed | undefined): void {
    const start = { text: "filter", place };
    this.#last.end();
    this.#guard(start, () => {
      const listed = read();
      if (listed === undefined) return;
      const { hook, words } = listed;
      const owner = this.#ownerOf(hook.owner ?? this.#shown ?? this.#unnamed(place));
      const shown = `filter of prio ${hook.prio ?? 0}`;
      this.draft.comesFrom(place, text === "" ? shown : text);
      this.#add({ ...hook, owner }, new Cursor(words), shown);
    });
  }

  /** The device of a listing that does not say it. */
  #unnamed(place: Place): Word {
    this.findings.assume(
      place,
      "filter",
      "the listing does not name its device; eth0 assumed, --map eth0=... sets its port",
    );
    this.#shown = { text: "eth0", place };
    return this.#shown;
  }

  finish(): void {
    const filters = new Map([...this.#filters].map(([owner, list]) => [owner, list.all]));
    this.#plan.build(this.driver === null ? filters : asOffloaded(filters, this.findings), this.#blocks);
  }

  #line(line: TextLine, variables: Variables): void {
    if (ASSIGNMENT.test(line.text) && setVariable(line.text, variables)) return;
    const commands = [...commandsIn(wordsOf(line, variables))];
    for (const words of commands) {
      const [first] = words;
      if (first === undefined) continue;
      this.draft.comesFrom(first.place, commands.length === 1 ? line.text : words.map(({ text }) => text).join(" "));
      const text = textOf(words);
      if (!COMMAND.test(`${text} `)) {
        this.findings.assume(first.place, text, NO_COMMAND);
        continue;
      }
      this.#last.begin();
      this.#guard(first, () => {
        this.#command(new Cursor(words), first, text);
      });
    }
  }

  /** Turns what a reader throws into a finding. */
  #guard(whole: Word, read: () => void): void {
    attempt(read, ({ word, reason }) => this.findings.refuse(word.place, word.text || whole.text, reason));
  }

  #command(words: Cursor, first: Word, text: string): void {
    if (first.text === "ip") {
      this.#link(words);
      return;
    }
    if (first.text !== "filter" && first.text !== "qdisc") {
      words.next("tc");
      globalOptions(words);
    }
    const isFunction = first.text.includes("tc_filter");
    const object = isFunction ? { ...first, text: "filter" } : words.next("filter, qdisc or chain");
    const kind = beginsOne(object.text, OBJECTS) ?? unknownName(object, "an object that is read", "objects", OBJECTS);
    const verb = words.done ? "show" : verbOf(words.next("add"));
    switch (kind) {
      case "qdisc":
        this.#qdisc(words, verb);
        return;
      case "filter":
        if (ADDS.has(verb)) {
          const hook = readHook(words, first);
          this.#add({ ...hook, owner: this.#ownerOf(hook.owner) }, words, text, verb);
        } else if (verb === "delete") this.#delete(readHook(words, first));
        else this.#show(words);
        return;
    }
  }

  /** The device of the listing that comes next. */
  #show(words: Cursor): void {
    while (!words.done) {
      const { text } = words.next("a word");
      if (text === "dev" && !words.done) this.#shown = words.next("a device");
      else if (text === "block" && !words.done) {
        const { text: index, place } = words.next("a block");
        this.#shown = { text: `block ${index}`, place };
      }
    }
  }

  /** @param verb of a command; undefined for what a listing shows */
  #add(hook: Hook, words: Cursor, text: string, verb?: string): void {
    if (hook.kind.text === "") notImported(hook.kind, "the kind of the filter is missing: flower or matchall");
    const filter = readFilter(hook, words, this.#reader, text, this.draft.origin);
    if (filter === undefined) return;
    const list = this.#listOf(filter.owner);
    if (hook.prio === undefined) {
      const prio = (filter.prio = list.newPrio(hook.chain));
      const reason = `without a prio the kernel assigns one: ${prio}, before earlier filters without one`;
      this.findings.assume(hook.kind.place, hook.kind.text, reason);
    }
    // net/sched/cls_api.c, tcf_chain_tp_find().
    const other = list.someAt(filter.chain, filter.prio);
    if (other !== undefined && other.protocol !== filter.protocol)
      notImported(
        hook.protocol ?? hook.kind,
        `the kernel refuses it (EINVAL): the filters of prio ${filter.prio} have another protocol, as in line ${other.place.line}`,
      );
    // net/sched/cls_flower.c, fl_ht_insert_unique(); cls_matchall.c, mall_change().
    const same = verb === undefined ? undefined : list.sameAs(filter);
    const isItself = verb !== "add" && filter.handle !== undefined && same?.handle === filter.handle;
    if (same !== undefined && !isItself) {
      const reason = `the kernel refuses it (EEXIST) and it is left out: line ${same.place.line} has a filter with these keys at prio ${filter.prio}`;
      this.findings.assume(hook.kind.place, hook.kind.text, reason);
      return;
    }
    this.#last.undo = list.add(filter, verb !== undefined && verb !== "add");
  }

  #delete({ owner, chain, prio, handle }: Hook): void {
    const name = this.#ownerOf(owner).text;
    this.#last.undo = this.#listOf(name).delete(chain, prio, handle);
  }

  #qdisc(words: Cursor, verb: string): void {
    let name: string | undefined;
    let isIngress = false;
    let block: string | undefined;
    let unknown: Word | undefined;
    let isChild = false;
    while (!words.done) {
      const word = words.next("a word");
      if (word.text === "dev") name = words.next("a device").text;
      else if (word.text === "ingress" || word.text === "clsact") isIngress = true;
      else if (word.text === "ingress_block") block = words.next("a block").text;
      else if (word.text === "root" && verb !== "show") {
        notImported(word, "queueing disciplines for sent frames run in the kernel");
      } else if (/^(?:parent|handle|egress_block)$/.test(word.text)) {
        isChild ||= word.text === "parent";
        words.next("a value");
      } else if (verb !== "show" && word.text !== "ffff:") unknown ??= word;
    }
    // Children of other qdiscs are for sent frames.
    if (unknown !== undefined && (isIngress || !isChild))
      notImported(unknown, `"${unknown.text}" is not an option of a qdisc: dev, handle, parent, ingress_block`);
    if (/^(?:add|replace)$/.test(verb) && !isIngress && unknown === undefined)
      words.next("its kind, such as ingress or clsact,");
    if (name === undefined || !isIngress) return;
    const owner = name;
    if (verb === "delete") {
      const list = this.#filters.get(owner);
      this.#filters.delete(owner);
      if (list !== undefined) this.#last.undo = () => this.#filters.set(owner, list);
    } else if (block !== undefined) {
      const key = `block ${block}`;
      const devices = this.#blocks.get(key) ?? [];
      devices.push(owner);
      this.#blocks.set(key, devices);
      const before = this.#blockOf.get(owner);
      this.#blockOf.set(owner, before ?? key);
      this.#last.undo = () => {
        devices.pop();
        if (before === undefined) this.#blockOf.delete(owner);
      };
    }
  }

  /** `ip link add NAME type vxlan ...`: the tunnel devices of the text. */
  #link(words: Cursor): void {
    let name: Word | undefined;
    let kind: string | undefined;
    let [port, key]: (number | undefined)[] = [];
    let external: Word | undefined;
    words.next("ip");
    words.next("link");
    words.next("add");
    while (!words.done) {
      const word = words.next("a word");
      if (word.text === "type") kind = words.next("a type").text;
      else if (word.text === "name") name = words.next("a name");
      else if (word.text === "dstport") port = tcNumber(words.next("a port"), "a port", 16);
      else if (word.text === "id" || word.text === "vni") key = tcNumber(words.next("an id"), "an id", 24);
      else if (word.text === "external") external = word;
      else if (["dev", "link", "remote", "local", "group"].includes(word.text)) words.next("a value");
      else name ??= word;
    }
    const tunnel = LINK_KINDS[kind ?? ""];
    if (tunnel === undefined || name === undefined) return;
    if (external !== undefined && key !== undefined) {
      const reason = "ip takes no id beside it: imported without the id";
      this.findings.assume(external.place, external.text, reason);
      key = undefined;
    }
    if ((port ?? 0) === 0) port = tunnel === "vxlan" ? this.#devices.linuxPort(name) : UDP_PORTS[tunnel];
    this.#devices.declare(name.place, name.text, {
      kind: tunnel,
      port: port ?? 0,
      ...(key === undefined ? {} : { key }),
    });
  }

  #listOf(owner: string): FilterList {
    const list = this.#filters.get(owner) ?? new FilterList();
    this.#filters.set(owner, list);
    return list;
  }

  /** The block of a device that shares one, else the device. */
  #ownerOf(owner: Word): Word {
    const block = this.#blockOf.get(owner.text);
    return block === undefined ? owner : { ...owner, text: block };
  }

  #deviceOf(owner: Word): NetDevice {
    if (!owner.text.startsWith("block ")) return this.#devices.of(owner);
    const names = this.#blocks.get(owner.text) ?? notImported(owner, "no qdisc of the text has this ingress_block");
    const devices = names.map((text) => this.#devices.of({ ...owner, text }));
    const [first, ...others] = devices as [NetDevice, ...NetDevice[]];
    const mixed = others.find((one) => "tunnel" in one !== "tunnel" in first);
    if (mixed !== undefined) notImported(owner, "a block of ports and tunnel devices has two kinds of frames");
    return first;
  }
}

const OBJECTS = ["qdisc", "filter", "chain"];
const VERBS = ["add", "delete", "change", "replace", "link", "show", "list", "ls", "get"];
/** Verbs that leave a filter behind. */
const ADDS: ReadonlySet<string> = new Set(["add", "change", "replace"]);

/** What is done to an object. @throws NotImported */
function verbOf(verb: Word): string {
  return beginsOne(verb.text, VERBS) ?? unknownName(verb, "a command of tc", "commands", VERBS);
}

/** The first name that begins with a word: tc takes these for the names (`matches()` of iproute2). */
function beginsOne(word: string, names: readonly string[]): string | undefined {
  return names.find((name) => word !== "" && name.startsWith(word));
}

const NO_COMMAND = "not a tc command: ignored";

const LINK_KINDS: Readonly<Record<string, TunnelKind>> = {
  vxlan: "vxlan",
  geneve: "geneve",
  gretap: "gre",
  ip6gretap: "gre",
};

const RULES = {
  isCommand: (text: string): boolean => COMMAND.test(text) || ASSIGNMENT.test(text),
  within: WITHIN,
};

/** `-s -j -batch FILE -n NAME` before the object. */
function globalOptions(words: Cursor): void {
  while (words.peek()?.startsWith("-") === true) {
    const option = words.next("an option");
    if (/^-(?:n|netns|b|batch|cf|conf)$/.test(option.text)) words.next("its value");
  }
}
