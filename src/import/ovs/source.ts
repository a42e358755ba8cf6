/** Texts with flows of Open vSwitch: commands, files of `add-flows`, what `dump-flows` prints. */
import type { Draft } from "../draft.js";
import type { Findings } from "../findings.js";
import type { Importer } from "../format.js";
import { commandsOf, type TextLine } from "../text/lines.js";
import { NotImported, notImported, type Word } from "../text/refusal.js";
import { setVariable, type Variables } from "../text/words.js";
import { withoutConjunctions } from "./conjunction.js";
import { tracks, withoutTracking } from "./connection.js";
import { readFlow, readGroup } from "./flows.js";
import { readDatapathFlow } from "./dpctl.js";
import {
  isCommand,
  isDatapathFlow,
  isFlow,
  isGroup,
  isHeading,
  isLogicalFlow,
  isMeter,
  readPortLine,
  TOOL,
} from "./lines.js";
import { readMeter, type Meter } from "./meters.js";
import { Pipeline } from "./pipeline/pipeline.js";
import type { Group } from "./pipeline/state.js";
import { Places } from "./places.js";
import { Ports, type Interface } from "./ports.js";
import type { Act, Flow } from "./steps.js";
import { Piece } from "./text.js";
import type { NamedOption } from "./tunnels.js";

export class OvsImport implements Importer {
  readonly #draft: Draft;
  readonly #findings: Findings;
  readonly #ports: Ports;
  readonly #flows = new Map<string, Flow>();
  readonly #groups = new Map<string, Group>();
  readonly #meters = new Map<string, Meter>();
  readonly #neighbors = new Map<string, string>();
  readonly #options = new Map<string, NamedOption>();
  readonly #variables: Variables;
  readonly #told = new Set<string>();
  #bridge: string | undefined;
  #otherBridge: string | undefined;

  constructor(draft: Draft, findings: Findings) {
    this.#draft = draft;
    this.#variables = new Map(draft.variables);
    this.#findings = findings;
    this.#ports = new Ports(draft);
  }

  add(text: string): void {
    const lines = commandsOf(text, { isCommand, goesOn, isPart }, ({ text: found, place }) => {
      if (isHeading(found.replace(/^>\s*/, "")) || setVariable(found, this.#variables)) return;
      this.#findings.assume(place, found, "no flow: left out");
    });
    for (const line of lines) this.#line(line.expanded((name) => this.#variables.get(name)));
  }

  finish(): void {
    const assume = (place: Word["place"], text: string, reason: string): void =>
      this.#findings.assume(place, text, reason);
    const flows = this.#whole();
    for (const flow of flows) this.#usePorts(flow);
    this.#ports.choose(assume);
    const tables = new Map<string, Flow[]>();
    for (const flow of flows) {
      const list = tables.get(flow.table) ?? [];
      list.push(flow);
      tables.set(flow.table, list);
    }
    if (flows.length === 0) {
      if (this.#findings.refused.length === 0)
        this.#findings.refuse({ line: 1, column: 1 }, "", "there is no flow in it");
      return;
    }
    const first = tables.has("0") ? "0" : ([...tables.keys()].sort((a, b) => Number(a) - Number(b))[0] as string);
    const [flow] = tables.get(first) ?? [];
    if (first !== "0" && flow !== undefined) {
      this.#findings.assume(flow.place, flow.text, `the text has no table 0: all frames come to table ${first}`);
    }
    const buckets = [...this.#groups.values()].flatMap((group) => group.buckets);
    const places = new Places(this.#draft, flows, buckets);
    new Pipeline(this.#draft, this.#findings, this.#ports, places, {
      ...{
        tables,
        groups: this.#groups,
        meters: this.#meters,
        neighbors: this.#neighbors,
        options: this.#options,
        first,
      },
    }).run();
  }

  /** The flows as the pipeline takes them: without conjunctions, and without states where nothing is tracked. */
  #whole(): Flow[] {
    const refuse = ({ place, text }: Flow, reason: string): void => this.#findings.refuse(place, text, reason);
    const flows = withoutConjunctions(this.#flows.values(), refuse);
    const tracking = flows.find(({ acts }) => tracks(acts));
    if (tracking !== undefined) {
      const { place, text } = tracking;
      const reason = "all frames belong to established connections, and go in their original direction";
      this.#findings.assume(place, text, reason);
      return flows;
    }
    return flows.flatMap((flow) => {
      try {
        return [withoutTracking(flow)];
      } catch (error) {
        if (!(error instanceof NotImported)) throw error;
        refuse(flow, error.reason);
        return [];
      }
    });
  }

  #line(line: TextLine): void {
    const piece = Piece.of(line).part(0, endOf(line.text));
    const port = readPortLine(piece.text);
    if (port !== undefined) {
      const one = this.#ports.interface(port.name);
      this.#ports.numbered(one, port.number);
      if (port.type !== undefined) one.type = port.type;
    } else if (TOOL.test(piece.text)) {
      for (const command of piece.split(";&|")) this.#command(command);
    } else this.#entry(piece);
  }

  /** A flow or a group without a command around it. */
  #entry(text: Piece): void {
    const [, word = ""] = /^(add|flow|\S+\|ofctrl_add_flow flow:)\s+\S/.exec(text.text) ?? [];
    const body = text.part(word.length);
    if (isDatapathFlow(text.text)) this.#flow(text);
    else if (isGroup(body.text)) this.#group(body);
    else if (isMeter(body.text)) this.#meter(body);
    else if (isFlow(body.text)) this.#flow(body);
    else this.#findings.refuse(text.place, text.text, "no flow that is added");
  }

  #command(command: Piece): void {
    const words = command.split(" \t");
    const at = words.findIndex(({ text }) => /(?:^|\/)ovs-\w+ctl$/.test(text));
    const tool = words[at]?.text.replace(/^.*\//, "");
    const rest = words.slice(at + 1);
    if (tool === "ovs-vsctl") this.#configure(rest);
    else if (tool === "ovs-appctl") this.#tell(rest);
    else if (tool === "ovs-ofctl") this.#control(rest);
  }

  #control(words: readonly Piece[]): void {
    const [verb, bridge, first, ...more] = operands(words);
    if (verb === undefined) return;
    const name = verb.text;
    if (/^(dump|show|snoop|monitor|mod-port|set-|get-|ping|probe)/.test(name)) {
      if (bridge !== undefined) this.#enter(bridge);
      return;
    }
    if (bridge !== undefined && !this.#enter(bridge)) return;
    const last = more.at(-1) ?? first;
    const argument =
      first === undefined || last === undefined ? undefined : unquoted(new Piece(first.line, first.from, last.to));
    if (name === "add-flow" && argument !== undefined) this.#flow(argument);
    else if (name === "add-group" && argument !== undefined) this.#group(argument);
    else if (name === "add-meter" && argument !== undefined) this.#meter(argument);
    else if (name === "del-meters" && argument === undefined) this.#meters.clear();
    else if (name === "del-flows" && argument === undefined) this.#flows.clear();
    else if (name === "del-groups" && argument === undefined) this.#groups.clear();
    else if (name === "add-tlv-map" && argument !== undefined) this.#nameOptions(argument);
    else if (name === "del-tlv-map" && argument === undefined) this.#options.clear();
    else if (/^(add-flows|add-groups|replace-flows|add-meters|bundle)$/.test(name)) {
      if (argument !== undefined && !/^[-<]/.test(argument.text)) {
        this.#findings.assume(argument.place, argument.text, "what the file has is imported where it is named too");
      }
    } else
      this.#findings.refuse(
        verb.place,
        new Piece(verb.line, verb.from, last?.to ?? verb.to).text,
        `${name} is not read: only what is added, and all deleted`,
      );
  }

  /** `{class=0xffff,type=0x80,len=4}->tun_metadata0`, and more of them behind commas. */
  #nameOptions(list: Piece): void {
    for (const one of list.split(", \t")) {
      const [, kind, type, length, name] =
        /^\{class=(\w+),type=(\w+),len=(\d+)\}->tun_(metadata\d+)$/.exec(one.text.replaceAll(" ", "")) ?? [];
      if (name === undefined) {
        const reason = "an option is {class=CLASS,type=TYPE,len=BYTES}->tun_metadataN";
        this.#findings.refuse(one.place, one.text, reason);
      } else this.#options.set(name, { class: Number(kind), type: Number(type), length: Number(length) });
    }
  }

  /** @returns whether commands on the bridge are read: those of the first one that has flows */
  #enter(bridge: Piece): boolean {
    const name = bridge.unquoted();
    this.#bridge ??= name;
    this.#otherBridge = name === this.#bridge ? undefined : name;
    return this.#isRead(bridge);
  }

  #isRead(at: Piece): boolean {
    if (this.#otherBridge === undefined) return true;
    this.#findings.refuse(
      at.place,
      at.text,
      `a scenario has the flows of one bridge, ${this.#bridge ?? ""}: import the other one by itself`,
    );
    return false;
  }

  #flow(text: Piece): void {
    if (!this.#isRead(text)) return;
    try {
      if (isLogicalFlow(text.text)) notImported(text, LOGICAL);
      const flow = isDatapathFlow(text.text)
        ? readDatapathFlow(text)
        : readFlow(text, (word, reason) => this.#assume(word, reason));
      this.#flows.set(flow.identity, flow);
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      this.#findings.refuse(error.word.place, text.text, error.reason);
    }
  }

  #group(text: Piece): void {
    if (!this.#isRead(text)) return;
    try {
      this.#groups.set(...readGroup(text));
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      this.#findings.refuse(error.word.place, text.text, error.reason);
    }
  }

  #meter(text: Piece): void {
    if (!this.#isRead(text)) return;
    try {
      this.#meters.set(...readMeter(text, (word, reason) => this.#assume(word, reason)));
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      this.#findings.refuse(error.word.place, text.text, error.reason);
    }
  }

  /** `ovs-vsctl add-port BRIDGE NAME -- set interface NAME type=vxlan options:remote_ip=...`. */
  #configure(words: readonly Piece[]): void {
    let one: Interface | undefined;
    let number: string | undefined;
    for (const [n, word] of words.entries()) {
      const text = word.unquoted();
      const next = words[n + 2];
      if (text === "add-port" && next !== undefined) one = this.#ports.interface(next.unquoted());
      else if (text === "set" && words[n + 1]?.text.toLowerCase() === "interface" && next !== undefined) {
        one = this.#ports.interface(next.unquoted());
      } else if (text === "--") number = undefined;
      const [, key = "", value = ""] = /^([\w:-]+)=(.*)$/.exec(text) ?? [];
      if (one === undefined || key === "") continue;
      const plain = value.replace(/^(["'])(.*)\1$/, "$2");
      if (key === "type") one.type = plain;
      else if (key === "ofport_request" || key === "ofport") number = plain;
      else if (key.startsWith("options:")) one.options.set(key.slice(8), plain);
      else if (key === "options") {
        for (const [, option = "", to = ""] of plain.matchAll(/([\w-]+)=("[^"]*"|[^,{}]*)/g))
          one.options.set(option, to.replaceAll('"', ""));
      }
      if (number !== undefined) this.#ports.numbered(one, number);
      number = undefined;
    }
  }

  /** `ovs-appctl tnl/neigh/set BRIDGE IP MAC`. */
  #tell(words: readonly Piece[]): void {
    const at = words.findIndex(({ text }) => text === "tnl/neigh/set" || text === "tnl/arp/set");
    const [, , ip, mac] = at < 0 ? [] : words.slice(at);
    if (ip !== undefined && mac !== undefined) this.#neighbors.set(ip.unquoted(), mac.unquoted());
  }

  #usePorts({ match, acts, place }: Flow): void {
    if (match.inPort !== undefined) this.#ports.use(match.inPort, place);
    this.#useActs(acts, new Set());
  }

  /** @param seen groups whose buckets are used already */
  #useActs(acts: readonly Act[], seen: Set<string>): void {
    for (const one of acts) {
      if (one.kind === "output" || one.kind === "encap") this.#ports.use(one.port, one.place);
      else if (one.kind === "write") this.#useActs(one.acts, seen);
      else if (one.kind === "clones") for (const list of one.lists) this.#useActs(list, seen);
      else if (one.kind === "group" && !seen.has(one.id)) {
        seen.add(one.id);
        for (const list of this.#groups.get(one.id)?.buckets ?? []) this.#useActs(list, seen);
      }
    }
  }

  #assume({ text, place }: Word, reason: string): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    this.#findings.assume(place, text, reason);
  }
}

const LOGICAL = "a logical flow of OVN: import what ovs-ofctl dump-flows br-int prints on a host";

/** Without options, which also stand behind operands: `-O OpenFlow13`, `--bundle`. */
function operands(words: readonly Piece[]): Piece[] {
  const found: Piece[] = [];
  for (let n = 0; n < words.length; n++) {
    const word = words[n] as Piece;
    const { text } = word;
    if (/^-\w$/.test(text)) n += Number(text === "-O" || text === "-F" || text === "-t" || text === "-m");
    else if (/^--protocols?$/.test(text)) n++;
    else if (text.startsWith("-") && text !== "-") continue;
    else found.push(word);
  }
  return found;
}

function unquoted(piece: Piece): Piece {
  const { text } = piece;
  const [, sign = ""] = /^(\\?["'])[^]*\1$/.exec(text) ?? [];
  return piece.part(sign.length, text.length - sign.length);
}

/** Where a comment begins, or the end. */
function endOf(text: string): number {
  const [comment] = /\s#.*$/.exec(text) ?? [];
  return comment === undefined ? text.length : text.length - comment.length;
}

/** Where a line ends within a flow: whether the next one has the rest of it. */
function isPart(text: string): boolean {
  return !/^(?:cookie|table|priority|add|group_id|meter=|ovs-)/.test(text);
}

/** Whether a flow goes on in the next line. */
function goesOn(text: string): boolean {
  if (text.endsWith(",")) return true;
  let depth = 0;
  for (const sign of text) {
    if (sign === "(") depth++;
    else if (sign === ")") depth--;
  }
  return (
    depth > 0 ||
    (/^cookie=/.test(text) && !/actions=/.test(text)) ||
    (isMeter(text) && !/rate=/.test(text)) ||
    (isDatapathFlow(text) && !text.includes("actions:"))
  );
}
