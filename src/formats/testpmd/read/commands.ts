/** The commands of testpmd that are about flows. */
import type { Element } from "../../reading/format.js";
import { commandWithin } from "../../text/lines.js";
import { TUNNEL_COMMANDS, tunnelKeys } from "./settings/tunnels.js";

/** How a command is carried over. */
export type CommandKind =
  | "create"
  | "validate"
  | "left"
  | "isolate"
  | "destroy"
  | "flush"
  | "update"
  | "silent"
  | "indirect"
  | "patternTemplate"
  | "actionsTemplate"
  | "templateTable"
  | "queue"
  | "tunnel"
  | "rawEncap"
  | "rawDecap"
  | "sampleActions"
  | "profile"
  | "policy"
  | "meter"
  | "queues"
  | "conntrack"
  | "refused";

export interface Command {
  readonly words: readonly string[];
  readonly kind: CommandKind;
  readonly element: Element;
}

function command(text: string, kind: CommandKind, becomes: string): Command {
  return { words: text.split(" "), kind, element: { becomes } };
}

function refused(text: string, reason: string): Command {
  return { words: text.split(" "), kind: "refused", element: { refused: reason } };
}

const NO_EFFECT = "nothing: it changes no rule";
const HEADERS = "the headers of the encapsulation in rules after it";
const HEADERS_OFF = "the headers that rules after it take off";

export const COMMANDS: readonly Command[] = [
  command("flow create", "create", "a rule"),
  command("flow validate", "validate", "nothing; it is checked like `flow create`"),
  command("flow destroy", "destroy", "its rules are removed, with a finding"),
  command("flow flush", "flush", "the rules of the port are removed, with a finding"),
  command("flow update", "update", "the rule has these actions"),
  command("flow isolate", "isolate", "`on`: the driver has no rules of its own for frames that no rule matches"),
  command("flow query", "silent", NO_EFFECT),
  command("flow list", "silent", NO_EFFECT),
  command("flow dump", "silent", NO_EFFECT),
  command("flow aged", "silent", NO_EFFECT),
  command("flow info", "silent", NO_EFFECT),
  command("flow configure", "silent", NO_EFFECT),
  command("flow push", "silent", NO_EFFECT),
  command("flow pull", "silent", NO_EFFECT),
  command("flow indirect_action", "indirect", "the actions of rules that name it"),
  command("flow pattern_template", "patternTemplate", "the masks of rules of its tables"),
  command("flow actions_template", "actionsTemplate", "the actions of rules of its tables"),
  command("flow template_table", "templateTable", "the group and the priority of its rules"),
  command("flow queue", "queue", "`create`: a rule"),
  refused("flow tunnel", "the driver composes the rules of a tunnel"),
  refused("flow flex_item", "its layout is in a file of its own"),
  ...TUNNEL_COMMANDS.map((name) => command(`set ${name}`, "tunnel", name.includes("decap") ? HEADERS_OFF : HEADERS)),
  command("set conntrack", "conntrack", "the connection of `flow indirect_action` after it"),
  command("set raw_encap", "rawEncap", HEADERS),
  command("set raw_decap", "rawDecap", HEADERS_OFF),
  command("set sample_actions", "sampleActions", "the actions of samples in rules after it"),
  command("add port meter profile", "profile", "the rates of meters"),
  command("add port meter policy", "policy", "what is done with each colour"),
  command("create port meter", "meter", "a meter, for rules after it"),
  command("port config all rxq", "queues", "the queues of `rss` without queues"),
];

export const COMMAND_ELEMENTS: Readonly<Record<string, Element>> = Object.fromEntries(
  COMMANDS.map(({ words, element }) => [words.join(" "), element]),
);

const SECOND = [...new Set(COMMANDS.filter(({ words }) => words[0] === "flow").map(({ words }) => words[1] ?? ""))];

/** The second words of `flow` commands. */
export const FLOW_WORDS: readonly string[] = SECOND;

const OTHERS = COMMANDS.filter(({ words }) => words[0] !== "flow").map(({ words }) => words.join("\\s+"));

const IS_FLOW = new RegExp(`^flow\\s+(?:(?:${SECOND.join("|")})\\b|\\w+\\s+\\d+\\s+\\w)`);
const IS_OTHER = new RegExp(`^(?:${OTHERS.join("|")})(?=\\s|$)`);

/** What testpmd prints besides answers; it is no command, and says nothing of rules. */
const PRINTED =
  /^(?:(?:Flow rule|Indirect action|(?:Pattern|Actions) template|Template table) #\d+ (?:created|validated|updated|destroyed|creation enqueued|destruction enqueued)|Flow rule validated|Configure flows on port \d+|Queue #\d+ pulled|testpmd>|EAL:|Interactive-mode|Done|Bye)/;
const FAILED = /\bCaught (?:PMD )?error type \d+|^port_flow_complain|^Bad arguments|^Command not found/;

/** What a line that testpmd prints says of the command before it; undefined if it is none of its lines. */
export function answerOf(text: string): { readonly created: number } | "failed" | "nothing" | undefined {
  const created = /^Flow rule #(\d{1,9}) created/.exec(text)?.[1];
  if (created !== undefined) return { created: Number(created) };
  return FAILED.test(text) ? "failed" : PRINTED.test(text) ? "nothing" : undefined;
}

/** Whether a text begins with a command about flows. */
export function isCommand(text: string): boolean {
  return IS_FLOW.test(text) || IS_OTHER.test(text);
}

/** Commands that anything stands in front of. */
export const within = commandWithin(
  /(?<=[\s:;>#$"'`|(])(?:flow\s+(?:create|validate|destroy|queue|indirect_action)\s+\d|flow\s+flush\s+\d|set\s+(?:raw_encap|raw_decap|sample_actions)\s+\d)/,
);

/** Whether a command has lines that people wrapped: its last list has no end yet. */
export function goesOn(command: string): boolean {
  if (/^set\s+conntrack\s/.test(command)) return !/\b(?:last_index|max_ack)\s+\w+$/.test(command);
  if (/^set\s/.test(command)) return setGoesOn(command);
  if (!/^flow\s+(?:create|validate)\s/.test(command)) return false;
  const words = command.replace(/#[^]*/, "").trimEnd();
  return !/\bend$/.test(words) || !/\bactions\b/.test(words);
}

/** `set raw_encap` has an end; `set vxlan` and the like have all their keys, in one order. */
function setGoesOn(command: string): boolean {
  const [, name = "", ...rest] = command.replace(/#[^]*/, "").trim().split(/\s+/);
  if (name === "raw_encap" || name === "raw_decap") return rest.at(-1) !== "end_set";
  if (name === "sample_actions") return rest.at(-1) !== "end";
  return TUNNEL_COMMANDS.includes(name) && rest.length < 2 * tunnelKeys(name).length;
}
