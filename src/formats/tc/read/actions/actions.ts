/** What a filter does: its actions, one after the other. */
import { namesHint } from "../../../../base/nearest.js";
import type { Element } from "../../../reading/format.js";
import { NotImported, notImported, type Word } from "../../../text/refusal.js";
import type { Cursor } from "../../../text/words.js";
import { csum, ct, pedit, skbedit, vlan } from "./changes.js";
import { control, CONTROLS, gact, options, skipAction } from "./control.js";
import { mirred, sample, tunnelKey } from "./outputs.js";
import { police } from "./police.js";
import type { ActionContext, Read, State, Step, Verdict, Zone } from "./steps.js";

interface Action {
  readonly element: Element;
  readonly read?: Read;
  /** What comes after it where it does not say. */
  readonly next?: Verdict["kind"] & ("pass" | "pipe");
}

const does = (becomes: string, read: Read, next: "pass" | "pipe" = "pipe"): Action => {
  return { element: { becomes }, read, next };
};
const no = (refused: string): Action => ({ element: { refused } });

export const ACTIONS: Readonly<Record<string, Action>> = {
  mirred: does("redirect: the port, or the tunnel; mirror: a member of an array. Ingress is refused", mirred),
  vlan: does("push: `push_vlan`; pop: `pop_vlan`; modify: a change of VLAN and priority; else refused", vlan),
  pedit: does("`modify`, by field names or by offsets", pedit, "pass"),
  tunnel_key: does("set: the headers of an encapsulation; unset: nothing, the tunnel device takes them off", tunnelKey),
  csum: does("nothing after pedit: the device fixes checksums as it changes fields", csum, "pass"),
  ct: does("register C2 gets the zone, and the state of an established connection; commit and nat are refused", ct),
  police: does("`flow_meter`, and a table for what exceeds the rate", police),
  sample: does("`flow_sampler`: the copies go to the PF", sample),
  skbedit: does("mark: register C1; priority, queue_mapping and ptype are refused", skbedit),
  gact: does("drop, pass (the PF), trap (the PF), goto chain, continue, reclassify, pipe", gact),
  mpls: no("the device does not add or remove MPLS entries"),
  nat: no("the device does not translate addresses statelessly: use pedit"),
  skbmod: no("drivers do not offload skbmod: use pedit"),
  connmark: no("connection marks are kept in the kernel"),
  ctinfo: no("connection marks are kept in the kernel"),
  ife: no("the device does not have IFE headers"),
  bpf: no("the device runs no programs"),
  simple: no("it prints a message in the kernel"),
  gate: no("the device has no gates"),
  xt: no("iptables targets run in the kernel"),
};

/** Reads the actions of a filter, to the end of its words. */
export function readActions(
  words: Cursor,
  context: ActionContext,
): { readonly steps: Step[]; readonly zones: readonly Zone[] } {
  const steps: Step[] = [];
  const state: State = { key: undefined, changed: false, zones: [] };
  let ended = false;
  while (!words.done) {
    if (words.take("action")) continue;
    const word = words.next("an action");
    const found: Step[] = [];
    try {
      found.push(...oneAction(word, words, context, state));
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      const what = error.word.text === word.text ? word.text : `${word.text} ${error.word.text}`;
      context.refuse(error.word, what, error.reason);
      skipAction(words);
      continue;
    }
    if (ended) {
      context.assume(word, "the action before it ends the filter without pipe: it is not executed");
      continue;
    }
    steps.push(...found);
    ended = found.some(isOver);
  }
  // A list that grew keeps room for more.
  return { steps: [...steps], zones: state.zones };
}

/** Whether no frame goes on after a step. */
function isOver(step: Step): boolean {
  if (step.kind === "police") return step.conform.kind !== "pipe" && step.exceed.kind !== "pipe";
  return step.kind === "end";
}

function oneAction(word: Word, words: Cursor, context: ActionContext, state: State): Step[] {
  const isControl = CONTROLS.includes(word.text);
  const action = ACTIONS[isControl ? "gact" : word.text];
  if (action === undefined)
    return notImported(
      word,
      `not a tc action: ${namesHint(word.text, "actions", [...Object.keys(ACTIONS), ...CONTROLS])}`,
    );
  if (action.read === undefined) return notImported(word, (action.element as { refused: string }).refused);
  if (isControl) {
    const end = control(words, word);
    options(words);
    return end.kind === "pipe" ? [] : [{ kind: "end", verdict: end }];
  }
  if (words.peek() === "index" && words.peek(2) === undefined) {
    notImported(word, "the text does not define the shared action with this index");
  }
  const steps = action.read(words, context, state, word);
  if (word.text === "police" || steps.at(-1)?.kind === "end") {
    options(words);
    return steps;
  }
  options(words);
  const next: Verdict = CONTROLS.includes(words.peek() ?? "")
    ? control(words, words.next("a control"))
    : { kind: action.next ?? "pipe" };
  options(words);
  if (next.kind === "pipe") return steps;
  return [...steps, { kind: "end", verdict: next }];
}

/** Whether some frame of a filter goes on to the filters after it. */
export function usesContinue(steps: readonly Step[]): boolean {
  return steps.some((step) => {
    if (step.kind === "police") return step.exceed.kind === "continue" || step.conform.kind === "continue";
    return step.kind === "end" && step.verdict.kind === "continue";
  });
}
