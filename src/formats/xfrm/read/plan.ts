/**
 * States and policies that are on the NIC, as ESP actions and the flows that execute them, in the manner of
 * the mlx5 driver of Linux (`en_accel/ipsec.c`, `ipsec_fs.c`, `ipsec_offload.c`).
 */
import type { ScenarioEsp } from "../../../scenario/esp/definition.js";
import { formatIpv4, formatIpv6 } from "../../../packet/addresses.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import { MatchDraft } from "../../rules/matchDraft.js";
import { attempt, notImported, unknownName, type Place, type Word } from "../../text/refusal.js";
import type { Template, XfrmPolicy } from "./policy.js";
import { askAddress, askSelector, askUpper, type Prefix } from "./selector.js";
import type { Offload, XfrmState } from "./state.js";
import { AES_GCM, shown, shownRefusal } from "./words.js";

const ESP_PROTOCOL = 50;
const SALT_DIGITS = 8;
/** AES-GCM with 128 and with 256 bits, and the salt. */
const KEY_DIGITS = [32, 64].map((digits) => digits + SALT_DIGITS);
const WINDOWS = [32, 64, 128, 256];
/** Half of the numbers: the driver tells the NIC then that the window may reach into the next upper half. */
const MIDDLE = 2 ** 31;
const U32 = 2 ** 32;
/** Flows of states that policies allow. */
const MAX_PASSED = 100_000;

function matchText(match: MatchDraft): string {
  return JSON.stringify(Object.entries(match.toScenario()).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A state that is on the NIC. */
interface Offloaded {
  readonly state: XfrmState;
  readonly offload: Offload;
  readonly name: string;
}

export class Plan {
  /** Devices that have an offload, in the order in which they are named. */
  readonly #devices = new Set<string>();
  readonly #told = new Set<string>();
  #passed = 0;
  /** States whose flow is that of a policy which allows all of their frames. */
  readonly #placed = new Set<XfrmState>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {}

  write(states: readonly XfrmState[], policies: readonly XfrmPolicy[]): void {
    for (const name of [...states.map(({ offload }) => offload?.dev), ...policies.map(({ dev }) => dev)])
      if (name !== undefined) this.#devices.add(name.text);
    const made = states.flatMap((state) => this.#guard(state, () => this.#state(state), []));
    const used = new Set<XfrmState>();
    // The lowest priority is first, then the policy that was added first.
    const ordered = policies.toSorted((a, b) => a.priority - b.priority || a.order - b.order);
    const blocks = new Map<string | undefined, number>();
    for (const [i, { direction, isBlock, dev }] of ordered.entries())
      if (isBlock && direction === "in") blocks.set(dev?.text, i);
    // Flows of one priority of policies have one, or two where some of them are allowed before others are blocked.
    let [rank, ranks] = [0, 1];
    for (const [i, policy] of ordered.entries()) {
      const isPassed = policy.direction === "in" && !policy.isBlock && i < (blocks.get(policy.dev?.text) ?? 0);
      if (isPassed) ranks = 2;
      this.#guard(policy, () => this.#policy(policy, rank, { made, used, isPassed }), undefined);
      if (policy.priority !== ordered[i + 1]?.priority) [rank, ranks] = [rank + ranks, 1];
    }
    for (const one of made) this.#guard(one.state, () => this.#flow(one, rank, used), undefined);
  }

  /** Turns what a reader throws into a finding of the state or the policy. */
  #guard<T>({ origin }: XfrmState | XfrmPolicy, read: () => T, otherwise: T): T {
    this.findings.file = origin.file;
    this.draft.origin = origin;
    return attempt(read, (refused) => {
      const { word, reason } = shownRefusal(refused);
      this.findings.refuse(word.place, word.text, reason);
      return otherwise;
    });
  }

  /** Adds the action of a state. @throws NotImported */
  #state(state: XfrmState): Offloaded[] {
    const { offload, first, mode, protocol, spi } = state;
    if (offload === undefined) {
      this.findings.assume(
        first.place,
        shown(state.origin.text),
        "without offload the host encrypts: it is not on the NIC",
      );
      return [];
    }
    if (protocol !== "esp")
      notImported({ text: protocol, place: first.place }, "the NIC has ESP, and no other protocol of IPsec");
    if (mode.text !== "transport" && mode.text !== "tunnel")
      unknownName(mode, "a mode that the mlx5 driver offloads", "modes", ["transport", "tunnel"]);
    this.#functionOf(offload.dev);
    const hex = `0x${spi.toString(16)}`;
    const name = this.draft.freeName("flowActions", `${offload.dev.text} ${offload.direction} spi ${hex}`);
    const esp = offload.kind === "packet" ? this.#packet(state, offload, hex) : this.#crypto(state, offload, hex);
    this.draft.push("flowActions", { name, esp });
    return [{ state, offload, name }];
  }

  /** Key and mode. @throws NotImported what the driver does not take */
  #common(state: XfrmState, { direction }: Offload): Pick<ScenarioEsp, "direction" | "mode" | "key" | "salt"> {
    const { aead, other, first, tfcPad, mode } = state;
    if (other !== undefined) notImported(other, "the NIC encrypts with AES-GCM only: aead rfc4106(gcm(aes))");
    if (aead === undefined)
      return notImported(
        { text: "state", place: first.place },
        "its algorithm is missing: aead rfc4106(gcm(aes)) KEY 128",
      );
    const { name, digits, icv } = aead;
    // Where the algorithm is missing, the key stands in its place.
    const shown = name.text.includes("(") ? name : { ...name, text: "aead" };
    if (name.text !== AES_GCM) notImported(shown, `the NIC encrypts with AES-GCM only: aead ${AES_GCM}`);
    if (!KEY_DIGITS.includes(digits.length))
      notImported(
        { text: "key", place: name.place },
        "the mlx5 driver accepts keys of 20 and 36 bytes: AES-128 or AES-256, and 4 of the salt at the end",
      );
    if (icv !== 128)
      notImported({ text: String(icv), place: name.place }, "the mlx5 driver accepts an ICV of 128 bits");
    if (tfcPad !== undefined) notImported(tfcPad, "the mlx5 driver does not offload it");
    return {
      direction: direction === "in" ? "decrypt" : "encrypt",
      ...(mode.text === "transport" ? { mode: "transport" } : {}),
      key: digits.slice(0, -SALT_DIGITS),
      salt: digits.slice(-SALT_DIGITS),
    };
  }

  /** Full offload: the NIC adds and removes ESP, and in tunnel mode the IP header in front of it. */
  #packet(state: XfrmState, offload: Offload, spi: string): ScenarioEsp {
    const { isEsn, window, numbers, first, hardPackets, encap, mode, reqid } = state;
    const common = this.#common(state, offload);
    if (reqid === 0)
      notImported(
        { text: "reqid", place: first.place },
        "the mlx5 driver offloads whole packets of states with a reqid",
      );
    if (encap !== undefined && encap.type.text !== "espinudp")
      notImported(encap.type, "the mlx5 driver offloads UDP in front of ESP, and no other encapsulation");
    if (encap !== undefined && mode.text !== "transport")
      notImported(encap.type, "the mlx5 driver offloads UDP in front of ESP in transport mode only");
    const isIn = offload.direction === "in";
    if (isIn && isEsn && !WINDOWS.includes(window))
      notImported(
        { text: `replay-window ${window}`, place: first.place },
        `the mlx5 driver accepts windows of ${WINDOWS.join(", ")} numbers`,
      );
    if (isIn && !isEsn && window > 0) this.#say(first.place, "replay-window", NO_WINDOW);
    const next = isIn ? numbers.seq : numbers.oseq;
    const upper = isIn ? numbers.seqHi : numbers.oseqHi;
    if (isIn && isEsn && next > 0) this.#say(first.place, "replay-seq", SEEN);
    const [seq, esn] = next + 1 < U32 ? [next + 1, upper] : [0, upper + 1];
    const headers = [
      ...(mode.text === "tunnel" ? [this.#outer(state)] : []),
      ...(encap === undefined ? [] : [{ udp: { src_port: encap.sport, dst_port: encap.dport } }]),
    ];
    const { direction, mode: kept, key, salt } = common;
    return {
      // Not spread: an object that begins with a spread takes three times the memory.
      direction,
      ...(kept === undefined ? {} : { mode: kept }),
      key,
      salt,
      spi,
      // The first packet of a state has the number 1 (RFC 4303, 3.3.3).
      ...(isIn && !isEsn ? {} : { seq }),
      ...(isEsn ? { esn } : {}),
      ...(isIn && isEsn ? { replay: window } : {}),
      ...(hardPackets > 0n && hardPackets <= BigInt(Number.MAX_SAFE_INTEGER) ? { hardLimit: Number(hardPackets) } : {}),
      ...(headers.length === 0 ? {} : { encap: headers }),
    };
  }

  #outer({ src, dst, first }: XfrmState): NonNullable<ScenarioEsp["encap"]>[number] {
    if (src === undefined || dst === undefined)
      return notImported({ text: "state", place: first.place }, "in tunnel mode it has a source and a destination");
    const ends = { src_ip: textOf(src), dst_ip: textOf(dst) };
    return dst.version === 4 ? { ipv4: ends } : { ipv6: ends };
  }

  /** Inline: frames have ESP before and after; the host adds and removes it, and checks the numbers. */
  #crypto(state: XfrmState, offload: Offload, spi: string): ScenarioEsp {
    const { encap, isEsn, numbers, window } = state;
    if (encap !== undefined)
      notImported(encap.type, "the mlx5 driver offloads UDP in front of ESP with packet offload only");
    const esp: ScenarioEsp = { ...this.#common(state, offload), offload: "inline", spi };
    if (!isEsn) return esp;
    // mlx5e_ipsec_update_esn_state: the upper half of the lowest number of the window.
    const isIn = offload.direction === "in";
    const [low, high] = isIn ? [numbers.seq, numbers.seqHi] : [numbers.oseq, numbers.oseqHi];
    const bottom = low >= window ? Math.max(0, low - window + 1) : 0;
    return { ...esp, esn: high, ...(bottom >= MIDDLE ? { newWindow: true } : {}) };
  }

  /** The flow of a state: received frames, and with crypto offload those that the host sends. */
  #flow({ state, offload, name }: Offloaded, priority: number, used: ReadonlySet<XfrmState>): void {
    const { first } = state;
    const isIn = offload.direction === "in";
    if (offload.kind === "packet" && !isIn) {
      if (!used.has(state))
        this.#say(
          first.place,
          shown(state.origin.text),
          "no policy of the text with offload packet and dir out leads frames to it",
        );
      return;
    }
    const match = new MatchDraft();
    askState(match, state);
    if (!this.#placed.has(state)) this.#push(name, offload.dev, isIn, priority, match, [{ action: name }]);
  }

  /** Adds the flow of a policy. @throws NotImported */
  #policy(policy: XfrmPolicy, rank: number, { made: states, used, isPassed }: Others): void {
    const { dev, first, direction, templates, type, isBlock, selector, origin, isOfSocket } = policy;
    if (dev === undefined) {
      this.findings.assume(
        first.place,
        shown(origin.text),
        isOfSocket ? "it is of one socket: only the host compares it" : "it has no offload: only the host compares it",
      );
      return;
    }
    if (direction === "fwd")
      notImported(
        { text: "dir fwd", place: first.place },
        "the mlx5 driver does not offload policies of forwarded frames",
      );
    if (direction !== "in" && direction !== "out")
      notImported({ text: "dir", place: first.place }, "a direction is in, out or fwd");
    if (type !== undefined && type.text !== "main") notImported(type, "the mlx5 driver offloads policies of type main");
    const [template, another] = templates;
    if (another !== undefined)
      notImported({ text: "tmpl", place: first.place }, "the mlx5 driver offloads policies of one template");
    const match = new MatchDraft();
    askSelector(match, selector);
    match.ask("outer.frag", 0);
    if (direction === "in") match.ask("outer.ip_protocol", ESP_PROTOCOL);
    const selected = /(?<=src )[^]*?(?=$| (?:dir|ptype|tmpl|priority|uid|action|index)\b)/.exec(
      shown(origin.text),
    )?.[0];
    const name = `${dev.text} policy ${direction}${selected === undefined ? "" : ` src ${selected}`}`;
    if (match.contradicts) {
      this.#say(first.place, shown(origin.text), NO_ESP);
      return;
    }
    if (isBlock) {
      this.#push(name, dev, direction === "in", rank, match, ["drop"]);
      return;
    }
    if (direction === "in") {
      if (isPassed) this.#pass(policy, dev, name, rank, states);
      else this.#say(first.place, shown(origin.text), "frames reach the states without it: it makes no flow");
      return;
    }
    if (template === undefined) {
      this.#push(name, dev, false, rank, match, []);
      return;
    }
    const found = states.filter((one) => leadsTo(template, one) && one.offload.dev.text === dev.text);
    const state = found.at(-1);
    if (state === undefined)
      return notImported(
        { text: "tmpl", place: first.place },
        `no state with offload packet and dir out on ${dev.text} has its reqid ${template.reqid}, mode and addresses`,
      );
    if (found.length > 1) this.#say(first.place, "tmpl", `${found.length} states are for it: the last one encrypts`);
    used.add(state.state);
    askUpper(match, state.state.selector);
    if (match.contradicts)
      notImported({ text: "tmpl", place: first.place }, "the selectors of policy and state contradict each other");
    this.#push(name, dev, false, rank, match, [{ action: state.name }]);
  }

  /** A received frame that a policy allows before another one blocks it reaches the states. @throws NotImported */
  #pass(
    { selector, first, origin }: XfrmPolicy,
    dev: Word,
    name: string,
    rank: number,
    states: readonly Offloaded[],
  ): void {
    const own = states.filter(
      ({ offload, state }) => offload.direction === "in" && offload.dev.text === dev.text && state.encap === undefined,
    );
    this.#passed += own.length;
    if (this.#passed > MAX_PASSED)
      notImported(
        { text: "policy", place: first.place },
        `policies that allow what later ones block make a flow for each state, ${MAX_PASSED} at most`,
      );
    const ask = (): MatchDraft => {
      const match = new MatchDraft();
      askSelector(match, selector);
      match.ask("outer.ip_protocol", ESP_PROTOCOL);
      match.ask("outer.frag", 0);
      return match;
    };
    for (const state of own) {
      const match = ask();
      askState(match, state.state);
      const actions = [{ action: state.name }];
      if (match.contradicts) continue;
      const whole = new MatchDraft();
      askState(whole, state.state);
      const isWhole = !this.#placed.has(state.state) && matchText(whole) === matchText(match);
      if (isWhole) {
        this.#placed.add(state.state);
        this.draft.origin = state.state.origin;
      }
      this.#push(isWhole ? state.name : `${name} ${state.name}`, dev, true, rank, match, actions);
      this.draft.origin = origin;
    }
    this.#push(name, dev, true, rank + 1, ask(), []);
  }

  #push(base: string, dev: Word, isIn: boolean, priority: number, match: MatchDraft, actions: FlowActions): void {
    const vport = this.#functionOf(dev);
    const ends = actions.includes("drop") || !isIn;
    // The host sends and receives by it.
    const queue = this.draft.queue(`${dev.text} host`, vport);
    this.draft.push("deviceFlows", {
      name: this.draft.freeName("deviceFlows", base),
      ...(vport === 0 ? {} : { function: vport }),
      ...(isIn ? {} : { ft_type: "nic_tx" }),
      ...(priority === 0 ? {} : { priority }),
      match: match.toScenario(),
      actions: [...actions, ...(ends ? [] : [{ queue }])],
    });
  }

  /** The function of a device: the PF, unless the map says another one. @throws NotImported it is one of several ports */
  #functionOf({ text: device, place }: Word): number {
    const mapped = this.draft.mapped(device);
    const own = [...this.#devices].filter((name) => this.draft.mapped(name) === undefined);
    const isPort = mapped === undefined ? own.length > 1 : "port" in mapped && mapped.port > 1;
    if (isPort) notImported({ text: device, place }, NO_PORT);
    if (mapped !== undefined) this.draft.endpoint(mapped);
    else this.#say(place, device, `taken for the PF; --map ${device}=... overrides this`);
    return mapped !== undefined && "vport" in mapped ? mapped.vport : 0;
  }

  /** Says something once of each text. */
  #say(place: Place, text: string, reason: string): void {
    const key = `${text} ${reason}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.findings.assume(place, text, reason);
  }
}

/** What a policy is read beside. */
interface Others {
  readonly made: readonly Offloaded[];
  /** States that policies lead to. */
  readonly used: Set<XfrmState>;
  /** Whether a policy after this one drops received frames. */
  readonly isPassed: boolean;
}

type FlowActions = readonly ("drop" | { readonly action: string })[];

const NO_PORT =
  "flows in device bytes do not match a port: one device is the PF, --map NAME=vf1 says which function another one is";
const NO_WINDOW = "without the flag esn the mlx5 driver gives the NIC no window: numbers are not checked";
const NO_ESP = "the driver compares it with received ESP before it decrypts: no such frame has this protocol";
const SEEN = "numbers up to the highest one that was received count as seen";

/** Asks for the frames of a state: received ones, or with crypto offload those of the host. */
function askState(match: MatchDraft, { src, dst, spi, encap }: XfrmState): void {
  askAddress(match, "src", src);
  askAddress(match, "dst", dst);
  if (encap === undefined) match.ask("outer.ip_protocol", ESP_PROTOCOL);
  match.ask("misc.outer_esp_spi", spi);
  match.ask("outer.frag", 0);
}

/** Whether a template is for a state. */
function leadsTo({ reqid, mode, src, dst, spi, protocol }: Template, { state, offload }: Offloaded): boolean {
  if (offload.kind !== "packet" || offload.direction !== "out" || protocol !== state.protocol) return false;
  const isSame = (own: Prefix | undefined, given: Prefix | undefined): boolean =>
    given === undefined || own?.value === given.value;
  if (reqid !== state.reqid || mode !== state.mode.text || (spi !== 0 && spi !== state.spi)) return false;
  return isSame(state.src, src) && isSame(state.dst, dst);
}

function textOf({ version, value }: Prefix): string {
  return version === 4 ? formatIpv4(value) : formatIpv6(value);
}
