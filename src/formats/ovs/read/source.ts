/** Texts with flows of Open vSwitch: commands, files of `add-flows`, what `dump-flows` prints. */
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { commandsOf, type TextLine } from "../../text/lines.js";
import { attempt, notImported, type Word } from "../../text/refusal.js";
import { setVariable, type Variables } from "../../text/words.js";
import { configure, Listing } from "./bridge/configuration.js";
import { Interfaces } from "./bridge/interfaces.js";
import type { Contents } from "./bridge/scope.js";
import { steer } from "./bridge/steer.js";
import { flowsOf, readFlow, readGroup } from "./flows.js";
import { datapathFlow, readDatapathFlow } from "./datapath/keys.js";
import { inferTunnel, makeTunnel, nameSystemPorts } from "./datapath/ports.js";
import { TUNNEL_TYPES } from "./bridge/ports.js";
import type { Flow } from "./steps.js";
import {
  commandAfter,
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
import { readMeter } from "./meters.js";
import { Piece } from "./text.js";
import type { NamedOption } from "./tunnels.js";

const keysOf = ({ acts }: Flow): string => acts.map(({ key }) => key).join();

/** What a dump says of a flow that is not in the NIC (lib/dpif.c, dpif_flow_dump). */
const NOT_OFFLOADED: Readonly<Record<string, string>> = {
  no: "the flow is in the software datapath, and not on the NIC",
  partial: "the NIC marks the frames of this flow, and the host executes its actions",
};

export class OvsImport implements Importer {
  readonly #interfaces = new Interfaces();
  readonly #listing = new Listing(this.#interfaces);
  /** What the texts have of each bridge; "" before they name one. */
  readonly #bridges = new Map<string, Contents>();
  readonly #neighbors = new Map<string, string>();
  readonly #options = new Map<string, NamedOption>();
  readonly #variables: Variables;
  readonly #told = new Set<string>();
  /** The bridge that lines belong to which name none. */
  #bridge = "";
  /** Whether a command names it that prints flows: its lines follow. */
  #isPrinted = false;
  /** Flows that were compared with matches of mod-flows and del-flows. */
  #compared = 0;
  /** The first line without a bridge after a command that prints no flows. */
  readonly #guessed = new Map<string, Piece>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {
    this.#variables = new Map(draft.variables);
  }

  add(text: string): void {
    const within = (line: string, from: number): number | undefined =>
      isVariable(line.slice(from)) ? undefined : commandAfter(line, from);
    /** Variables that have flows. */
    const flows: Word[] = [];
    const lines = commandsOf(text, { isCommand, isOwnLanguage, progress, isPart, within }, ({ text: found, place }) => {
      if (isHeading(found.replace(/^>\s*/, ""))) return;
      if (!setVariable(found, this.#variables)) this.findings.assume(place, found, "not a flow: ignored");
      else if (isFlow(found) || /^\w+=[^"']*,/.test(found)) flows.push({ text: found, place });
    });
    const used = new Set(flows.length === 0 ? [] : [...text.matchAll(/\$\{?(\w+)/g)].map(([, name]) => name));
    for (const { text: flow, place } of flows) {
      const name = flow.slice(0, flow.indexOf("=")).split(/\s/).at(-1);
      if (!used.has(name)) this.findings.assume(place, flow, "no command uses this variable: ignored");
    }
    for (const line of lines) {
      const whole = line.expanded((name) => this.#variables.get(name));
      this.#read(Piece.of(whole), () => this.#line(whole));
    }
  }

  finish(): void {
    const bridges = [...this.#bridges].filter(([, { flows }]) => flows.size > 0);
    if (bridges.length === 0) {
      if (this.findings.refused.length === 0)
        this.findings.refuse({ line: 1, column: 1 }, "", "there is no flow in it");
      return;
    }
    if (bridges.length > 1) {
      for (const [bridge, piece] of this.#guessed)
        this.findings.assume(
          piece.place,
          piece.text,
          `taken for a line of ${bridge}, which the previous command names`,
        );
    }
    steer(bridges, {
      draft: this.draft,
      findings: this.findings,
      interfaces: this.#interfaces,
      neighbors: this.#neighbors,
      options: this.#options,
    });
  }

  #line(line: TextLine): void {
    const piece = Piece.of(line).part(0, endOf(line.text));
    if (this.#listing.add(piece)) return;
    const port = readPortLine(piece.text);
    if (port !== undefined) {
      const one = this.#interfaces.named(port.name, piece.place);
      this.#interfaces.number(one, port.number, this.#bridge === "" ? undefined : this.#bridge);
      if (port.isTyped) one.isTyped = true;
      // ovs-dpctl show: the datapath's port of all tunnels of a type.
      if (port.type !== undefined && TUNNEL_TYPES.includes(port.type)) makeTunnel(one, port.type);
      else if (port.type !== undefined) one.type = port.type;
    } else if (TOOL.test(piece.text)) {
      for (const command of piece.split(";&|")) this.#command(command);
    } else this.#entry(piece);
  }

  /** A flow or a group without a command around it. */
  #entry(text: Piece): void {
    const [, word = ""] = /^(add|flow|\S+\|ofctrl_add_flow flow:)\s+\S/.exec(text.text) ?? [];
    const body = text.part(word.length);
    if (!this.#isPrinted && this.#bridge !== "" && !this.#guessed.has(this.#bridge))
      this.#guessed.set(this.#bridge, body);
    if (isDatapathFlow(text.text)) this.#flow(text);
    else if (isGroup(body.text)) this.#group(body);
    else if (isMeter(body.text)) this.#meter(body);
    else if (isFlow(body.text)) this.#flow(body);
    else this.findings.refuse(text.place, text.text, "no flow that is added");
  }

  #command(command: Piece): void {
    const words = command.split(" \t");
    const at = words.findIndex(({ text }) => /(?:^|\/)ovs-\w+ctl\d?$/.test(text));
    const tool = words[at]?.text.replace(/^.*\/|\d$/g, "");
    const rest = words.slice(at + 1);
    if (tool === "ovs-vsctl") {
      configure(rest, this.#interfaces, (bridge) => this.#bridges.delete(bridge), this.findings);
    } else if (tool === "ovs-appctl") this.#tell(rest);
    else if (tool === "ovs-dpctl") this.#datapath(rest);
    else if (tool === "ovs-ofctl") this.#control(rest);
  }

  #control(words: readonly Piece[]): void {
    const [verb, bridge, first, ...more] = operands(words);
    if (verb === undefined) return;
    const name = verb.text;
    const isPrinted = /^(dump|show|snoop|monitor|mod-port|set-|get-|ping|probe)/.test(name);
    if (bridge !== undefined) this.#enter(bridge.unquoted(), isPrinted);
    if (isPrinted) return;
    const last = more.at(-1) ?? first;
    const argument =
      first === undefined || last === undefined ? undefined : unquoted(new Piece(first.line, first.from, last.to));
    if (name === "add-flow" && argument !== undefined) this.#flow(argument);
    else if (name === "add-group" && argument !== undefined) this.#group(argument);
    else if (name === "add-meter" && argument !== undefined) this.#meter(argument);
    else if (name === "del-meters" && argument === undefined) this.#contents.meters.clear();
    else if (name === "del-flows" && argument === undefined) this.#contents.flows.clear();
    else if ((name === "mod-flows" || name === "del-flows") && argument !== undefined)
      this.#change(
        argument,
        name,
        words.some(({ text }) => text === "--strict"),
      );
    else if (name === "del-groups" && argument === undefined) this.#contents.groups.clear();
    else if (name === "add-tlv-map" && argument !== undefined) this.#nameOptions(argument);
    else if (name === "del-tlv-map" && argument === undefined) this.#options.clear();
    else if (/^(add-flows|add-groups|replace-flows|add-meters|bundle)$/.test(name)) {
      if (argument !== undefined && !/^[-<]/.test(argument.text)) {
        this.findings.assume(argument.place, argument.text, "what the file has is imported where it is named too");
      }
    } else
      this.findings.refuse(
        verb.place,
        new Piece(verb.line, verb.from, last?.to ?? verb.to).text,
        `${name} is not read: only what is added, and all deleted`,
      );
  }

  /** `{class=0xffff,type=0x80,len=4}->tun_metadata0`, and more of them after commas. */
  #nameOptions(list: Piece): void {
    for (const one of list.split(", \t")) {
      const [, kind, type, length, name] =
        /^\{class=(\w+),type=(\w+),len=(\d+)\}->tun_(metadata\d+)$/.exec(one.text.replaceAll(" ", "")) ?? [];
      if (name === undefined) {
        const reason = "an option is {class=CLASS,type=TYPE,len=BYTES}->tun_metadataN";
        this.findings.refuse(one.place, one.text, reason);
        continue;
      }
      const option = { class: Number(kind), type: Number(type), length: Number(length) };
      const before = this.#options.get(name);
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(option))
        this.findings.refuse(one.place, one.text, `tun_${name} is another option already`);
      else this.#options.set(name, option);
    }
  }

  /** The lines that follow belong to a bridge; those before the first one that is named too. */
  #enter(bridge: string, isPrinted: boolean): void {
    const unnamed = this.#bridges.get("");
    if (this.#bridge === "" && unnamed !== undefined) {
      this.#bridges.delete("");
      this.#bridges.set(bridge, unnamed);
    }
    this.#bridge = bridge;
    this.#isPrinted = isPrinted;
  }

  get #contents(): Contents {
    const found = this.#bridges.get(this.#bridge);
    if (found !== undefined) return found;
    const made: Contents = { flows: new Map(), groups: new Map(), meters: new Map() };
    this.#bridges.set(this.#bridge, made);
    return made;
  }

  #read(text: Piece, read: () => unknown): void {
    attempt(read, ({ word, reason }) => this.findings.refuse(word.place, text.text, reason));
  }

  #flow(text: Piece): void {
    this.#read(text, () => {
      if (isLogicalFlow(text.text)) notImported(text, LOGICAL);
      const isOfDatapath = isDatapathFlow(text.text);
      const flow = isOfDatapath
        ? this.#datapathFlow(text)
        : readFlow(text, (word, reason) => this.#assume(word, reason), this.findings.file);
      const [, offloaded = "yes"] = (isOfDatapath && /\boffloaded:(no|partial)\b/.exec(text.text)) || [];
      const why = NOT_OFFLOADED[offloaded];
      if (why === undefined) this.#add(flow);
      else this.findings.assume(flow.place, `offloaded:${offloaded}`, `${why}: it is left out`);
    });
  }

  /** Adds a flow, in place of one with the same match and priority. */
  #add(flow: Flow): void {
    const { flows } = this.#contents;
    const before = flows.get(flow.identity);
    if (before !== undefined && keysOf(before) !== keysOf(flow))
      this.findings.assume(
        before.place,
        before.text,
        `line ${flow.place.line} has the same match and priority, and replaces it`,
      );
    flows.set(flow.identity, flow);
  }

  /** Flows that are there are deleted, or get other actions. */
  #change(text: Piece, name: string, isStrict: boolean): void {
    this.#read(text, () => {
      if (/\b(?:cookie|out_port|out_group)=/.test(text.text))
        notImported(text, `${name} by cookies and outputs of flows is not read`);
      const pattern = readFlow(text, (word, reason) => this.#assume(word, reason));
      const { flows } = this.#contents;
      this.#compared += isStrict ? 0 : flows.size;
      if (this.#compared > MAX_COMPARED) notImported(text, `${name} with a match, of too many flows: use --strict`);
      const acts = name === "mod-flows" ? pattern.acts : undefined;
      const found = flowsOf(flows, pattern, isStrict, /\btable(?:_id)?=/.test(text.text));
      if (acts !== undefined && found.length === 0) notImported(text, "it changes no flow before it");
      for (const flow of found) {
        if (acts === undefined) flows.delete(flow.identity);
        else flows.set(flow.identity, { ...flow, acts });
      }
    });
  }

  /** `ovs-dpctl add-flow [DATAPATH] KEYS ACTIONS`, and the same by `ovs-appctl dpctl/add-flow`. */
  #datapath(words: readonly Piece[]): void {
    const [verb, ...rest] = operands(words);
    if (verb === undefined || !/-flows?$/.test(verb.text) || /^(?:dump|get)-/.test(verb.text)) return;
    const [keys, actions] = rest.slice(-2);
    if (verb.text === "del-flows") this.#contents.flows.clear();
    else if (verb.text === "add-flow" && keys !== undefined && actions !== undefined)
      this.#read(verb, () => {
        const whole = new Piece(keys.line, keys.from, actions.to);
        const flow = datapathFlow(whole, this.findings.file, unquoted(keys), unquoted(actions));
        this.#add(this.#withTunnel(flow));
      });
    else
      this.findings.refuse(
        verb.place,
        verb.text,
        `${verb.text} is not read: only flows that are added, and all deleted`,
      );
  }

  #datapathFlow(text: Piece): Flow {
    return this.#withTunnel(readDatapathFlow(text, this.findings.file));
  }

  #withTunnel(flow: Flow): Flow {
    nameSystemPorts(flow, this.#interfaces);
    const type = inferTunnel(flow, this.#interfaces);
    if (type !== undefined) {
      const port = flow.match.inPort ?? "";
      this.findings.assume(flow.place, port, `port ${port} is a tunnel of type ${type}: its flows match one`);
    }
    return flow;
  }

  #group(text: Piece): void {
    this.#read(text, () => this.#contents.groups.set(...readGroup(text)));
  }

  #meter(text: Piece): void {
    const assume = (word: Word, reason: string): void => this.#assume(word, reason);
    this.#read(text, () => this.#contents.meters.set(...readMeter(text, assume)));
  }

  /** `ovs-appctl tnl/neigh/set BRIDGE IP MAC`. */
  #tell(words: readonly Piece[]): void {
    const at = words.findIndex(({ text }) => text === "tnl/neigh/set" || text === "tnl/arp/set");
    const [, , ip, mac] = at < 0 ? [] : words.slice(at);
    if (ip !== undefined && mac !== undefined) this.#neighbors.set(ip.unquoted(), mac.unquoted());
    const datapath = words.findIndex(({ text }) => /^dpctl\/\w/.test(text));
    if (datapath >= 0) this.#datapath([(words[datapath] as Piece).part("dpctl/".length), ...words.slice(datapath + 1)]);
  }

  #assume({ text, place }: Word, reason: string): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    this.findings.assume(place, text, reason);
  }
}

const MAX_COMPARED = 20_000_000;
const LOGICAL = "a logical flow of OVN: import what ovs-ofctl dump-flows br-int prints on a host";

/** `FLOW="in_port=1,actions=2"`, `FLOW=in_port=1,actions=2`: a flow that a variable has. Names of fields can be in capitals too. */
function isVariable(text: string): boolean {
  return /^(?:export\s+|local\s+|readonly\s+)?(?:\w+=["']|(?!NXM_|OXM_)[A-Z][A-Z\d_]*=)/.test(text);
}

/** Without options, which may also follow operands: `-O OpenFlow13`, `--bundle`. */
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
  const comment = text.search(/\s#/);
  return comment < 0 ? text.length : comment;
}

/** Where a line ends within a flow: whether the next one has the rest of it. */
function isPart(text: string): boolean {
  return !/^(?:cookie|table|priority|add|group_id|meter=|ovs-)/.test(text);
}

/** Whether a flow goes on in the next line, line by line. */
function progress(): (added: string) => boolean {
  let first: string | undefined;
  let depth = 0;
  const seen = { flow: false, datapath: false, rate: false };
  return (added) => {
    first ??= added;
    for (let at = 0; at < added.length; at++) {
      if (added[at] === "(") depth++;
      else if (added[at] === ")") depth--;
    }
    seen.flow ||= added.includes("actions=");
    seen.datapath ||= added.includes("actions:");
    seen.rate ||= added.includes("rate=");
    if (added.endsWith(",") || depth > 0) return true;
    if (first.startsWith("cookie=") && !seen.flow) return true;
    if (isMeter(first) && !seen.rate) return true;
    return !seen.datapath && !seen.flow && isDatapathFlow(first);
  };
}

/** Flows have no prompt in front of them, commands may have that of root. */
function isOwnLanguage(command: string): boolean {
  return !/^(?:sudo\s+)?ovs-/.test(command);
}
