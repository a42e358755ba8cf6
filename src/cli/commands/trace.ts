/** flowsteer trace: the way of one frame through the rules of a scenario. */
import { printTrace, type PrintTraceOptions } from "../../explain/index.js";
import type { ImportedRules } from "../../import/index.js";
import { readCommandLine } from "../commandLine.js";
import { FRAME_OPTIONS } from "../input/chosenFrame.js";
import { RULE_OPTIONS } from "../input/rules/options.js";
import { nearestOf, traceOf } from "./explainCalls.js";
import { answerOne } from "./oneFrame.js";

/** @returns the exit code */
export async function trace(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "trace", { ...FRAME_OPTIONS, ...RULE_OPTIONS, json: "flag" });
  return answerOne("trace", line, (loaded, rules) => async (frame) => {
    const found = await traceOf(loaded, frame);
    const near = await nearestOf(loaded, frame, found);
    const { number } = frame;
    const own = rules.imported === null ? {} : inOwnWords(rules.imported, [near, found]);
    return {
      record: { kind: "trace", frame: number, trace: found, near },
      text: (colour) => printTrace(found, { colour, near, ...own, ...(number === null ? {} : { number }) }),
    };
  });
}

function inOwnWords(imported: ImportedRules, record: object): PrintTraceOptions {
  const nameOf = imported.namesOfFields(record);
  const valueText = (field: string, value: string, rule: string): string =>
    imported.valueIn(nameOf(field, rule), value, rule);
  return { nameOf, valueText, priorityName: "device priority" };
}
