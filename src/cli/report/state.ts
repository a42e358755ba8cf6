/** The part of the report about meters, first-hit flags and connections: their answers, and their state at the end. */
import { inCall } from "../../errors.js";
import {
  type Answer,
  connectionAt,
  type EndSum,
  isSet,
  type LoadedScenario,
  type StateUse,
  tokensAt,
} from "../../scenario/index.js";
import { missText, reasonText } from "./reasons.js";
import { grouped, printable, table, type Column, type Paint, type Row, type Style } from "../text.js";

const KINDS: Readonly<Record<StateUse["kind"], string>> = {
  first_hit: "flag",
  flow_meter: "meter",
  conn_track: "connection",
};

/** Answers in words, and their style. */
const ANSWERS: Readonly<Record<StateUse["kind"], Readonly<Record<number, readonly [string, Style]>>>> = {
  first_hit: { 0: ["not set", "green"], 1: ["set", "dim"] },
  flow_meter: { 0: ["red", "red"], 1: ["yellow", "yellow"], 2: ["green", "green"] },
  conn_track: {
    0x00: ["valid", "green"],
    0x02: ["valid, changes its state", "green"],
    0x40: ["invalid", "red"],
    0x41: ["invalid, bad packet", "red"],
    0x80: ["not tracked", "dim"],
  },
};

/** `meter police red` */
export function answerText({ use, answer }: Answer): string {
  const [said] = ANSWERS[use.kind][answer] ?? [String(answer)];
  return `${KINDS[use.kind]} ${use.name} ${said}`;
}

/** Answers that frames got, and the destinations of these frames. */
export function answers(paint: Paint, { state }: LoadedScenario): string {
  let before = "";
  const rows = state.answers.map(({ use, answer, frames, bytes, ends }): Row => {
    const [said, style]: readonly [string, Style?] = ANSWERS[use.kind][answer] ?? [String(answer)];
    const name = `${KINDS[use.kind]} ${printable(use.name)}`;
    const went = [...ends.values()].map(endText).join(", ");
    const cells = [name === before ? "" : name, said, grouped(frames), grouped(bytes), went];
    before = name;
    return style === undefined ? { cells } : { cells, style };
  });
  if (rows.length === 0) return "";
  const columns: Column[] = [
    { title: "State" },
    { title: "answer" },
    { title: "frames", right: true },
    { title: "bytes", right: true },
    { title: "destinations" },
  ];
  return table(paint, columns, rows);
}

function endText({ to, verdict, reason, frames, missed }: EndSum): string {
  const why = to !== null || reason === null ? "" : ` (${missed.length > 0 ? missText(missed) : reasonText(reason)})`;
  return `${printable(to ?? verdict)} ${grouped(frames)}${why}`;
}

/** The state at the end of the ASO objects that rules use. */
export function holdings(paint: Paint, loaded: LoadedScenario): string {
  const rows = loaded.state.uses.flatMap((use): Row[] => {
    const object = use.object === null ? undefined : loaded.asoObjects.get(use.object);
    if (object === undefined) return [];
    return [{ cells: [`${KINDS[use.kind]} ${printable(use.name)}`, held(use, object)] }];
  });
  return rows.length === 0 ? "" : table(paint, [{ title: "State at the end" }, { title: "" }], rows);
}

type AsoObject = NonNullable<ReturnType<LoadedScenario["asoObjects"]["get"]>>;

function held({ kind, offset }: StateUse, object: AsoObject): string {
  switch (kind) {
    case "first_hit":
      return isSet(object, offset) ? "set" : "not set";
    case "flow_meter": {
      const { c_tokens, e_tokens } = tokensAt(object, offset);
      return `${grouped(c_tokens)} committed, ${grouped(e_tokens)} excess`;
    }
    case "conn_track":
      return connectionText(object, offset);
  }
}

function connectionText(object: AsoObject, offset: number): string {
  return inCall("run", () => {
    const {
      valid,
      state = "state not defined",
      last_index,
      connection_assured,
      freeze_track,
    } = connectionAt(object, offset);
    const stands = last_index === "syn" ? "half-open" : "empty";
    const more = [valid === 1 && connection_assured === 1 ? "assured" : "", freeze_track === 1 ? "not tracked" : ""];
    return [valid === 1 ? state.replaceAll("_", " ") : stands, ...more.filter((text) => text !== "")].join(", ");
  });
}
