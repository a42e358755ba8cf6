/** Plans what a rule does: its actions, in steps, and what it lacks. */
import { attempt, notImported, type Word } from "../../../text/refusal.js";
import { registerOfMeta } from "../../fields/metadata.js";
import { registerOfTag } from "../pattern/special.js";
import type { RawHeader } from "../settings/headers.js";
import { headersHex } from "../settings/headers.js";
import type { TunnelName } from "../settings/tunnels.js";
import type { Does } from "./actions.js";
import { changeOf, type PatternLevel } from "./changes.js";
import { fatesOfRss } from "./hash.js";
import type { Planning, RulePlace } from "./place.js";
import { connectionStep, meterStep, sampleStep } from "./stateful.js";
import type { Action } from "./read.js";
import type { RuleAction } from "../../../rules/importRule.js";
import { ENDED, Steps } from "./steps.js";

const FLAG = 0xffffff;
const TAG_BITS = 24n;
/** Where the kernel's rules are: `mlx5_get_send_to_kernel_priority` of the mlx5 PMD. */
const KERNEL_PRIORITY = 15;

export class Plan implements Planning {
  readonly steps = new Steps();
  passes: Word | undefined;
  level: PatternLevel = "outer";

  constructor(
    readonly actions: readonly Action[],
    readonly place: RulePlace,
  ) {
    let at = 0;
    while (at < actions.length) at += this.#add(at);
  }

  /** Adds the action at a place. @returns how many actions of the list it took */
  #add(at: number): number {
    const action = this.actions[at] as Action;
    const one = (): number => {
      if (action.refused !== undefined) notImported(action.word, action.refused);
      if (action.kind?.does === "pushVlan") return this.#pushVlan(at);
      if (action.kind?.does === "rawDecap") return this.#rawDecap(at);
      this.#one(action);
      return 1;
    };
    return attempt(one, ({ word, reason }) => {
      this.place.lack(word, reason);
      return 1;
    });
  }

  #one(action: Action): void {
    const does = action.kind?.does;
    if (this.steps.isForked && (does === "meter" || does === "sample")) notImported(action.word, ENDED);
    if (does === undefined || does === "modifyField") {
      for (const change of changeOf(action, this.place.walk, this.level)) this.steps.modify(change);
    } else DOES[does]?.(this, action);
  }

  value(action: Action, name: string): bigint | undefined {
    return action.values.get(name)?.value;
  }

  /** The headers that an action puts in front or takes off: those of a `set` before it. @throws NotImported */
  headers({ name, word, values }: Action): readonly RawHeader[] {
    const { settings, assume } = this.place;
    if (name === "raw_encap" || name === "raw_decap") return settings.raw(name, values.get("index")?.value ?? 0n, word);
    const tunnel = name === "vxlan_encap" || name === "nvgre_encap" ? name.slice(0, -"_encap".length) : name;
    const { headers, isSet } = settings.tunnels.headers(tunnel as TunnelName, word);
    // Of headers that are taken off, the kinds count only.
    if (!isSet && !name.endsWith("_decap"))
      assume(word, `there is no "set ${tunnel}" before it: the default headers of testpmd are used`);
    return headers;
  }

  /** Ends the rule. @throws NotImported where it has an end already */
  end(word: Word, action: RuleAction): void {
    if (this.steps.end !== undefined || this.steps.isForked) notImported(word, ENDED);
    this.steps.end = action;
  }

  /** The tag that is pushed has what the next actions set. */
  #pushVlan(at: number): number {
    const action = this.actions[at] as Action;
    const type = this.value(action, "ethertype") ?? 0x8100n;
    if (type !== 0x8100n && type !== 0x88a8n)
      notImported(action.word, "the device pushes tags of type 0x8100 and 0x88a8");
    const asked = this.place.walk.match.bits("outer.first_vid");
    let vid = asked?.mask === 0xfffn ? Number(asked.value) : 0;
    let pcp = 0;
    let taken = 1;
    for (; ; taken++) {
      const next = this.actions[at + taken];
      if (next?.kind?.does === "vlanVid") vid = Number((this.value(next, "vlan_vid") ?? 0n) & 0xfffn);
      else if (next?.kind?.does === "vlanPcp") pcp = Number((this.value(next, "vlan_pcp") ?? 0n) & 7n);
      else break;
    }
    const tpid = type === 0x88a8n ? { tpid: "0x88a8" as const } : {};
    this.steps.change("push", { push_vlan: { ...tpid, ...(pcp === 0 ? {} : { pcp }), vid } });
    return taken;
  }

  /** Headers are taken off, and those of raw_encap after it put in their place. */
  #rawDecap(at: number): number {
    const action = this.actions[at] as Action;
    const off = this.headers(action);
    const next = this.actions[at + 1];
    const on = next?.kind?.does === "rawEncap" ? this.headers(next) : undefined;
    if (isTunnel(off)) {
      if (on !== undefined && !isTunnel(on)) {
        this.level = "inner";
        this.steps.change("decap", { reformat: { type: "l3_tunnel_to_l2", data: headersHex(on) } });
        return 2;
      }
      this.level = "inner";
      this.steps.change("decap", { reformat: { type: "l2_tunnel_to_l2" } });
      return 1;
    }
    if (on === undefined || !isTunnel(on))
      notImported(action.word, "an Ethernet header is taken off only for a tunnel");
    this.level = undefined;
    this.steps.change("encap", { reformat: { type: "l2_to_l3_tunnel", data: headersHex(on) } });
    return 2;
  }
}

function isTunnel(headers: readonly RawHeader[]): boolean {
  return headers.some(({ name }) => name !== "eth" && name !== "vlan");
}

type Doing = (plan: Plan, action: Action) => void;

/** What each kind of action adds; changes of headers are not among them. */
const DOES: Readonly<Partial<Record<Does, Doing>>> = {
  passthru: (plan, { word }) => (plan.passes = word),
  jump: (plan, action) =>
    plan.end(action.word, { table: plan.place.table(plan.value(action, "group") ?? 0n, action.word) }),
  mark: (plan, action) => tag(plan, action, plan.value(action, "id") ?? 0n),
  flag: (plan, action) => tag(plan, action, BigInt(FLAG)),
  queue: (plan, action) => {
    onlyReceived(plan, action);
    plan.end(action.word, { queue: plan.place.queue(Number(plan.value(action, "index") ?? 0n)) });
  },
  drop: (plan, { word }) => plan.end(word, "drop"),
  count: (plan, action) => {
    const id = plan.value(action, "identifier");
    const { draft, name } = plan.place;
    const isNew = plan.actions.indexOf(action) === plan.actions.findIndex(({ kind }) => kind?.does === "count");
    const counter = isNew ? name : `${name} counter ${id ?? plan.actions.indexOf(action)}`;
    plan.steps.add({ count: draft.counter(counter) });
  },
  rss: (plan, action) => {
    onlyReceived(plan, action);
    const { draft, walk, queue, settings, assume, lack } = plan.place;
    if (action.rss === undefined) return;
    const place = { draft, walk, packet: plan.level, queue, queues: settings.queues, assume, lack };
    const fates = fatesOfRss(action.rss, action.word, place);
    const [only] = fates;
    plan.end(action.word, fates.length === 1 && only !== undefined ? only.action : { table: plan.place.spread(fates) });
  },
  port: (plan, action) => {
    onlyTransfer(plan, action);
    if (plan.value(action, "original") === 1n)
      notImported(action.word, "the port that frames came from is not known here");
    const port = plan.value(action, "id") ?? plan.value(action, "ethdev_port_id") ?? 0n;
    plan.end(action.word, plan.place.destination(port, action.word));
  },
  portRepresentor: (plan, action) => {
    onlyTransfer(plan, action);
    if ((plan.value(action, "port_id") ?? 0n) !== 0n)
      notImported(action.word, "the application receives by port 0 only, the PF");
    plan.end(action.word, { vport: 0 });
  },
  pf: (plan, action) => {
    onlyTransfer(plan, action);
    plan.end(action.word, { vport: 0 });
  },
  kernel: (plan, { word }) => {
    const { draft, domain, vport } = plan.place;
    plan.end(word, { table: draft.root(domain, vport), priority: KERNEL_PRIORITY });
  },
  vf: (plan, action) => {
    onlyTransfer(plan, action);
    if (plan.value(action, "original") === 1n)
      notImported(action.word, "the VF that frames came from is not known here");
    const vf = Number(plan.value(action, "id") ?? 0n) + 1;
    if (vf > 255) notImported(action.word, "a device has 255 VFs at most");
    plan.place.draft.endpoint({ vport: vf });
    plan.end(action.word, { vport: vf });
  },
  meter: meterStep,
  conntrack: connectionStep,
  sample: sampleStep,
  age: (plan, { word }) => plan.place.assume(word, "age has no effect on frames: ignored"),
  popVlan: (plan) => plan.steps.change("pop", "pop_vlan"),
  vlanVid: (plan, action) => {
    plan.steps.modify({ set: "outer.first_vid", to: Number((plan.value(action, "vlan_vid") ?? 0n) & 0xfffn) });
  },
  vlanPcp: (plan, action) => {
    plan.steps.modify({ set: "outer.first_prio", to: Number((plan.value(action, "vlan_pcp") ?? 0n) & 7n) });
  },
  decap: (plan) => {
    plan.level = "inner";
    plan.steps.change("decap", { reformat: { type: "l2_tunnel_to_l2" } });
  },
  rawEncap: (plan, action) => {
    const headers = plan.headers(action);
    if (!isTunnel(headers))
      notImported(action.word, "the device puts an Ethernet header in front only where it takes a tunnel off");
    plan.level = undefined;
    plan.steps.change("encap", { reformat: { type: "l2_to_l2_tunnel", data: headersHex(headers) } });
  },
  setTag: (plan, action) => {
    const index = plan.value(action, "index") ?? 0n;
    setRegister(plan, action, registerOfTag(index, action.word), plan.value(action, "mask") ?? 0n);
  },
  setMeta: (plan, action) => {
    setRegister(plan, action, registerOfMeta(plan.place.domain), plan.value(action, "mask") ?? 0xffffffffn);
  },
};

function setRegister(plan: Plan, action: Action, register: string, mask: bigint): void {
  const data = plan.value(action, "data") ?? 0n;
  if (mask === 0n) {
    plan.place.assume(action.word, "without a mask no bit is set, as testpmd reads it");
    return;
  }
  const to = mask === 0xffffffffn ? Number(data) : `0x${(data & mask).toString(16)}/0x${mask.toString(16)}`;
  plan.steps.modify({ set: register, to });
}

function tag(plan: Plan, action: Action, value: bigint): void {
  onlyReceived(plan, action);
  if (value >> TAG_BITS !== 0n) notImported(action.word, "the tag of a frame has 24 bits");
  const { maxMark } = plan.place;
  if (action.name === "mark" && maxMark !== undefined && value > maxMark)
    notImported(action.word, `mlx5 refuses marks above 0x${maxMark.toString(16)}`);
  plan.steps.add({ tag: Number(value) });
}

function onlyReceived({ place }: Plan, { word, name }: Action): void {
  if (place.domain !== "nic_rx") notImported(word, `${name} is for frames that a function receives: ingress rules`);
}

function onlyTransfer({ place }: Plan, { word, name }: Action): void {
  if (place.domain !== "fdb") notImported(word, `${name} is for rules of the eSwitch: transfer`);
}
