/** A filter, as commands and listings have it, and what it asks for. */
import type { SourceElement } from "../../reading/finding.js";
import type { Findings } from "../../reading/findings.js";
import type { KernelDriver } from "../../../drivers/driver.js";
import { namesHint } from "../../../base/nearest.js";
import { MatchDraft, type AskedMatch } from "../../rules/matchDraft.js";
import { notImported, type Place, unknownName, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";
import { readActions } from "./actions/actions.js";
import type { Step, Zone } from "./actions/steps.js";
import type { Devices, NetDevice, Tunnel } from "./devices.js";
import { askProtocol, checkTags, isTag, isTracked, KEYS, l3Of, type KeyContext, type Keys } from "./keys.js";
import { etherTypeOf, tcNumber } from "./values.js";

/** Where a filter is: a device, or a block that devices share. */
export interface Hook {
  readonly owner: Word;
  readonly chain: number;
  readonly prio: number | undefined;
  readonly protocol: Word | undefined;
  readonly handle: number | undefined;
  readonly kind: Word;
}

export interface Filter extends Omit<Hook, "owner" | "prio" | "protocol" | "kind"> {
  readonly owner: string;
  prio: number;
  readonly protocol: number | undefined;
  readonly match: AskedMatch;
  readonly steps: readonly Step[];
  /** Zones that its actions track, and whether the kernel executes them, too. */
  readonly zones?: readonly Zone[];
  readonly inSoftware?: boolean;
  readonly notImported: readonly string[];
  readonly place: Place;
  /** The command or the entry of a listing. */
  readonly origin: SourceElement;
}

/** The table of a chain. */
export function tableOf(owner: string, chain: number): string {
  return chain === 0 ? owner : `${owner} chain ${chain}`;
}

/** What stands alone, and changes nothing for the frames of a filter in the device. */
export const FLAGS: Readonly<Record<string, string>> = {
  skip_sw: "nothing: the filter is in the device",
  verbose: "nothing",
  in_hw: "nothing: the filter is in the device",
  skip_hw: "the filter is left out: it is not in the device",
  not_in_hw: "the filter is left out: it is not in the device",
};

/** A variable that the text does not set, where a flag can be. */
const isFlagVariable = (text: string): boolean => /^\$\{?\w+\}?$/.test(text) && /verb|skip|flag/i.test(text);

/** What has a value, and is no key. */
export const EXTRAS: Readonly<Record<string, string>> = {
  classid: "nothing: ingress has no classes",
  flowid: "nothing: ingress has no classes",
  in_hw_count: "nothing",
  eth_type: "what protocol says, in listings",
};

/** Values of those that tc prints. */
const EXTRA_FORMS: Readonly<Record<string, RegExp>> = {
  in_hw_count: /^\d+$/,
  eth_type: /^(?:ipv4|ipv6|arp|rarp|802\.1[qQ]|802\.1ad|(?:0x)?[\da-f]{2,4})$/i,
};

export interface FilterReader {
  readonly driver: KernelDriver | null;
  readonly findings: Findings;
  readonly devices: Devices;
  readonly option: KeyContext["option"];
  readonly encPort: KeyContext["encPort"];
  /** The devices of a block, or the device itself. */
  readonly deviceOf: (owner: Word) => NetDevice;
}

/**
 * Reads what follows the kind of a filter. Undefined if it is not in the device.
 * @throws NotImported the filter matches what the device cannot
 */
export function readFilter(
  hook: Hook,
  words: Cursor,
  reader: FilterReader,
  text: string,
  origin: SourceElement,
): Filter | undefined {
  const { findings } = reader;
  const protocol = hook.protocol === undefined ? undefined : etherTypeOf(hook.protocol);
  const isFlower = hook.kind.text === "flower";
  if (!isFlower && hook.kind.text !== "matchall") {
    const why = KINDS[hook.kind.text];
    if (why !== undefined) notImported(hook.kind, why);
    unknownName(hook.kind, "a word of a filter, or a kind that drivers offload", "words", HOOK_WORDS);
  }
  const keys = new Map<string, Word>();
  const missing: string[] = [];
  let software: Word | undefined;
  let inSoftware = true;
  let isInHardware = false;
  const refuse = (word: Word, what: string, reason: string): void => {
    missing.push(`${what}: ${reason}`);
    findings.refuse(word.place, what, reason);
  };
  while (!words.done && words.peek() !== "action" && words.peek() !== "actions") {
    const word = words.next("a key");
    if (word.text === "skip_hw" || word.text === "not_in_hw") software = word;
    else if (FLAGS[word.text] !== undefined) {
      inSoftware &&= word.text !== "skip_sw";
      isInHardware ||= word.text === "in_hw";
    } else if (isFlagVariable(word.text))
      findings.assume(
        word.place,
        word.text,
        "by its name the variable has a flag such as verbose or skip_sw, or nothing",
      );
    else if (word.text === "hw_tc") {
      words.next("a class");
      refuse(word, "hw_tc", "the eSwitch has no traffic classes");
    } else if (EXTRAS[word.text] !== undefined) {
      const value = words.next("its value");
      const form = EXTRA_FORMS[word.text];
      if (form?.test(value.text) === false) notImported(value, `"${value.text}" is not a value of ${word.text}`);
    } else if (KEYS[word.text] === undefined || !isFlower)
      notImported(
        word,
        `not a key of ${hook.kind.text}: ${namesHint(word.text, "keys", isFlower ? Object.keys(KEYS) : [])}`,
      );
    else if (keys.has(word.text)) notImported(word, `${word.text} is given twice`);
    else {
      if (KEYS[word.text]?.ask === undefined)
        notImported(word, (KEYS[word.text]?.element as { refused: string }).refused);
      keys.set(word.text, words.next("a value"));
    }
  }
  if (words.peek() === "actions") words.next("actions");
  if (software !== undefined) {
    findings.assume(software.place, text, `${software.text}: the filter is not in the device, and is left out`);
    return undefined;
  }
  const device = reader.deviceOf(hook.owner);
  const tunnel = "tunnel" in device ? device.tunnel : undefined;
  if (tunnel !== undefined && !isInHardware) checkTunnelPort(hook, tunnel, keys, reader);
  const match = new MatchDraft();
  const context: KeyContext = {
    match,
    level: tunnel === undefined ? "outer" : "inner",
    tunnel,
    device: device.name,
    option: reader.option,
    asksGroup: keys.has("vxlan_opts"),
    encPort: reader.encPort,
    assume: (word, reason) => {
      findings.assume(word.place, word.text, reason);
    },
    l3: l3Of(protocol, keys),
    l4: undefined,
    driver: reader.driver,
  };
  checkTags(protocol, keys);
  askProtocol(protocol, keys, context);
  for (const name of ["ip_proto", ...[...keys.keys()].filter((one) => one !== "ip_proto")]) {
    const value = keys.get(name);
    if (value !== undefined) KEYS[name]?.ask?.(value, context);
  }
  if (match.contradicts) notImported(hook.kind, "its keys contradict each other: no frame has them all");
  const { steps, zones } = readActions(words, {
    isTracked: isTracked(reader.driver, context.l4),
    l3: ({ 0x0800: "ip", 0x86dd: "ip6" } as const)[context.l3 ?? 0],
    l4: ({ 6: "tcp", 17: "udp" } as const)[context.l4 ?? 0],
    tagged: protocol === undefined || isTag(protocol),
    device: (word) => reader.devices.of(word),
    assume: context.assume,
    refuse,
  });
  const { chain, handle, prio = 0, owner } = hook;
  return {
    owner: owner.text,
    chain,
    prio,
    handle,
    protocol,
    match: match.asked,
    steps,
    zones,
    inSoftware,
    notImported: missing,
    place: hook.kind.place,
    origin,
  };
}

/** The driver refuses filters of a tunnel over UDP that do not ask for its port (docs/drivers.md). */
function checkTunnelPort({ owner }: Hook, { kind }: Tunnel, keys: Keys, { driver, findings }: FilterReader): void {
  if (driver === null || kind === "gre" || keys.has("enc_dst_port")) return;
  const reason = `${driver.name} offloads filters of a ${kind} device only with enc_dst_port: imported all the same`;
  findings.assume(owner.place, owner.text, reason);
}

/** Words up to the kind of a filter, and the kinds. */
const HOOK_WORDS = ["dev", "block", "ingress", "parent", "protocol", "prio", "pref", "chain", "handle", "flower", "matchall"]; // prettier-ignore

const KINDS: Readonly<Record<string, string>> = {
  u32: "the mlx5 driver does not offload u32: use flower",
  basic: "the kernel executes it: use flower",
  bpf: "the device runs no programs",
  ...Object.fromEntries(
    ["cgroup", "flow", "fw", "route", "rsvp", "tcindex"].map((kind) => [kind, "drivers offload flower and matchall"]),
  ),
};

/** Reads the words of a hook up to the kind of the filter. @throws NotImported */
export function readHook(words: Cursor, first: Word): Hook {
  let owner: Word | undefined;
  let side: Word | undefined;
  let [chain, prio, handle]: (number | undefined)[] = [];
  let protocol: Word | undefined;
  for (;;) {
    if (words.done) break;
    const word = words.next("a word");
    switch (wholeWord(word.text)) {
      case "dev":
        owner = words.next("a device");
        break;
      case "block": {
        const index = words.next("a block");
        owner = { text: `block ${index.text}`, place: index.place };
        break;
      }
      case "ingress":
        side = word;
        break;
      case "egress":
      case "root":
        return notImported(
          word,
          "drivers offload filters of ingress only: frames that the device received from that port",
        );
      case "parent":
        side = parentOf(words.next("a parent"));
        break;
      case "protocol":
        protocol = words.next("a protocol");
        break;
      case "priority":
      case "preference":
        prio = tcNumber(words.next("a priority"), "a priority", 16) || undefined;
        break;
      case "chain":
        chain = tcNumber(words.next("a chain"), "a chain", 28);
        break;
      case "handle":
        handle = handleOf(words.next("a handle"));
        break;
      case "estimator":
        words.next("a sample");
        words.next("an average");
        break;
      default:
        if (owner === undefined) notImported(first, "the device is missing: dev NAME, or block N");
        if (![...HOOK_WORDS, ...Object.keys(KINDS)].includes(word.text))
          unknownName(word, "a word of a filter, or a kind that drivers offload", "words", HOOK_WORDS);
        if (side === undefined && !owner.text.startsWith("block ")) {
          notImported(first, "the hook is missing: ingress, or parent ffff:");
        }
        return { owner, chain: chain ?? 0, prio, protocol, handle, kind: word };
    }
  }
  if (owner === undefined) return notImported(first, "the device is missing: dev NAME, or block N");
  return { owner, chain: chain ?? -1, prio, protocol, handle, kind: { text: "", place: first.place } };
}

/** tc takes the beginnings of these words: `matches()` in tc/tc_filter.c of iproute2. */
function wholeWord(text: string): string {
  return ["preference", "priority", "protocol"].find((word) => text.length > 0 && word.startsWith(text)) ?? text;
}

const INGRESS_PARENTS = ["ffff:", "ffff:0", "ffff:fff2", "ingress", "clsact"];

function parentOf(word: Word): Word {
  const isIngress = INGRESS_PARENTS.includes(word.text.toLowerCase());
  return isIngress ? word : notImported(word, "drivers offload filters of ingress only: parent ffff: or ffff:fff2");
}

function handleOf(word: Word): number {
  return tcNumber(word, "a handle", 32);
}
