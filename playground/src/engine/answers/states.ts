/** Answers of meters, connections and flags, in words. */
import type { Answer, LoadedScenario } from "flowsteer/scenario";
import type { StateAnswers } from "../api.js";

const ANSWERS: Readonly<Record<StateAnswers["kind"], Readonly<Record<number, string>>>> = {
  first_hit: { 0: "first", 1: "not first" },
  flow_meter: { 0: "red", 1: "yellow", 2: "green" },
  conn_track: {
    0x00: "valid",
    0x02: "valid, changes its state",
    0x40: "invalid",
    0x41: "invalid, bad packet",
    0x80: "not tracked",
  },
};

export function answerText({ use, answer }: Answer): string {
  return ANSWERS[use.kind][answer] ?? String(answer);
}

/** Frames by answer, object by object. */
export function statesOf({ state }: LoadedScenario): StateAnswers[] {
  const all = new Map<string, StateAnswers & { answers: StateAnswers["answers"][number][] }>();
  for (const { kind, name } of state.uses) all.set(`${kind} ${name}`, { kind, name, answers: [] });
  for (const sum of state.answers) {
    const { frames, bytes, use } = sum;
    all.get(`${use.kind} ${use.name}`)?.answers.push({ answer: answerText(sum), frames, bytes });
  }
  return [...all.values()];
}
