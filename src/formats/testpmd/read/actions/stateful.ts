/** The actions that have a state: meter and sample, which go on in a table of their own, and conntrack. */
import { notImported, type Word } from "../../../text/refusal.js";
import { STATE_REGISTER } from "../pattern/special.js";
import type { Policy } from "../settings/meters.js";
import type { Action } from "./read.js";
import type { Planning } from "./place.js";
import { ENDED } from "./steps.js";
import type { Branch, RuleAction } from "../../../rules/importRule.js";

/** The numbers that a meter writes. */
const COLOURS = { green: 2, yellow: 1, red: 0 } as const;

/** A meter writes its colour; rules of the next step ask for it. */
export function meterStep(plan: Planning, action: Action): void {
  const { place } = plan;
  const id = plan.value(action, "mtr_id") ?? 0n;
  const { profile, policy } = place.settings.meters.get(place.port, id, action.word);
  const gates = gatesOf(plan, policy, action.word);
  const { eir = 0, ebs = 0 } = profile;
  // Without an excess burst no frame is yellow.
  const colours = Object.keys(COLOURS).filter((colour) => colour !== "yellow" || eir !== 0 || ebs !== 0);
  const isEnd = colours.every((colour) => gates.some(({ suffix }) => suffix === suffixOf(colour)));
  if (isEnd && plan.steps.end !== undefined) notImported(action.word, ENDED);
  const object = `port ${place.port} meter ${id}`;
  place.draft.once("asoObjects", { name: object, flow_meter: profile });
  plan.steps.add({ aso: { object, flags: "flow_meter_green", return_reg_c: STATE_REGISTER } });
  if (isEnd) plan.steps.fork(gates);
  else plan.steps.next(undefined, gates);
}

function gatesOf(plan: Planning, policy: Policy, word: Word): Branch[] {
  return (Object.keys(COLOURS) as (keyof typeof COLOURS)[]).flatMap((colour) => {
    const actions = endsOf(plan, policy[colour], word);
    if (actions.length === 0) return [];
    const match = { [`misc2.metadata_reg_c_${STATE_REGISTER}`]: `0x${COLOURS[colour].toString(16)}/0xff` };
    return [{ suffix: suffixOf(colour), match, priority: 0, actions: [], end: actions }];
  });
}

function suffixOf(colour: string): string {
  return ` ${colour}`;
}

/** What a policy does with a colour; nothing if the rule goes on. */
function endsOf(plan: Planning, actions: readonly Action[], word: Word): RuleAction[] {
  return actions.flatMap((action): RuleAction[] => {
    switch (action.kind?.does) {
      case "nothing":
      case "passthru":
        return [];
      case "drop":
        return ["drop"];
      case "queue":
        if (plan.place.domain !== "nic_rx") break;
        return [{ queue: plan.place.queue(Number(plan.value(action, "index") ?? 0n)) }];
      case "jump":
        return [{ table: plan.place.table(plan.value(action, "group") ?? 0n, action.word) }];
      default:
    }
    // A colour is no change of the frame.
    if (action.name === "color") return [];
    return notImported(
      word,
      `the action ${action.name} in the policy of its meter is not imported; a policy can have passthru, drop, queue, jump and color`,
    );
  });
}

/** A connection writes its syndrome; the item conntrack asks for it. */
export function connectionStep({ place, steps }: Planning, { connection, word }: Action): void {
  if (connection === undefined)
    return notImported(word, "a connection is made by `flow indirect_action`, and rules name it by its number");
  const { name: object, context, isOriginal } = connection;
  place.draft.once("asoObjects", { name: object, conn_track: context });
  const flags = isOriginal ? "ct_direction_initiator" : "ct_direction_responder";
  steps.read({ aso: { object, flags, return_reg_c: STATE_REGISTER } });
}

/** Samples are copies: the rule goes on with every frame. */
export function sampleStep(plan: Planning, action: Action): void {
  const { place } = plan;
  const ratio = Number(plan.value(action, "ratio") ?? 1n);
  if (ratio === 0) notImported(action.word, "a ratio is at least 1");
  const index = plan.value(action, "index");
  if (index === undefined) notImported(action.word, "the index of its sample_actions is missing");
  const actions = place.settings.sample(index, action.word).flatMap((one) => sampleAction(plan, one));
  plan.steps.next((next) => ({
    flow_sampler: { sample_ratio: ratio, default_next_table: next, sample_actions: actions as never },
  }));
}

function sampleAction(plan: Planning, action: Action): RuleAction[] {
  const { place } = plan;
  const value = (name: string): bigint => plan.value(action, name) ?? 0n;
  switch (action.kind?.does) {
    case "nothing":
      return [];
    case "mark":
      if (place.domain !== "nic_rx") break;
      return [{ tag: Number(value("id") & 0xffffffn) }];
    case "queue":
      if (place.domain !== "nic_rx") break;
      return [{ queue: place.queue(Number(value("index"))) }];
    case "count":
      return [{ count: place.draft.counter(`${place.name} samples`) }];
    case "port":
      if (place.domain !== "fdb") break;
      return [place.destination(plan.value(action, "id") ?? value("ethdev_port_id"), action.word)];
    default:
  }
  return notImported(action.word, `a sample of the device does not take ${action.name} here`);
}
