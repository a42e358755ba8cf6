/** Meters whose colour has no effect. */
import { COLOUR_UNDEFINED, Op } from "../../../abi/engine.js";
import { MODIFY_COPY } from "../../../abi/program.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import { hasBit } from "../../path/bits.js";
import { programAt } from "../../path/headerChange.js";
import { registerBit } from "../../path/places.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called } from "../objects.js";

/** Registers C. */
const REGISTERS = 8;

/** Lists of actions of the device, as pairs of operation and operand: of rules, of members of arrays, of samplers. */
function* actionLists({ cover, tables, rules, tracer }: LintContext): Iterable<readonly number[]> {
  for (const table of tables) {
    for (const { stored } of rules.rulesOf(table)) yield tracer.traced.actionsOf(stored);
    for (const { changes } of cover.world.graph.edgesFrom(table)) yield changes;
  }
}

/** The registers that something reads the low byte of: a match, a copy, a meter that goes on from an earlier colour. */
function readRegisters(context: LintContext): ReadonlySet<number> {
  const all = Array.from({ length: REGISTERS }, (_, register) => register);
  const read = new Set<number>();
  const add = (reads: (bit: number) => boolean): void => {
    for (const register of all) if (lowByte(register).some(reads)) read.add(register);
  };
  for (const table of context.tables) {
    for (const rule of context.rules.rulesOf(table)) {
      const { mask, ranges } = context.rules.contentOf(rule);
      add((bit) => hasBit(mask, bit) || ranges.some(({ dword }) => bit >> 5 === dword >> 2));
    }
  }
  for (const actions of actionLists(context)) {
    for (let i = 0; i < actions.length; i += 2) {
      const [op, operand] = [actions[i] as number, actions[i + 1] as number];
      if (op === (Op.state as number) && ((operand >>> 8) & 0xff) === COLOUR_UNDEFINED) read.add(operand & 0xff);
      if (op !== (Op.modify as number)) continue;
      const copies = programAt(context.tracer.traced.core, operand).filter(({ type }) => type === MODIFY_COPY);
      add((bit) => copies.some(({ source }) => source.includes(bit)));
    }
  }
  return read;
}

/** The bits that a meter writes its colour into, and clears. */
function lowByte(register: number): number[] {
  return Array.from({ length: 8 }, (_, i) => registerBit(register) + 24 + i);
}

/** The register of the colour of a rule's meter; -1 without a meter. */
function meteredInto({ tracer: { traced } }: LintContext, { stored }: RuleNode): number {
  const actions = traced.actionsOf(stored);
  const meter = actions.findIndex((op, i) => i % 2 === 0 && op === (Op.meter as number));
  const state =
    meter < 0 ? -1 : actions.findLastIndex((op, i) => i < meter && i % 2 === 0 && op === (Op.state as number));
  return state < 0 ? -1 : (actions[state + 1] as number) & 0xff;
}

export const METERS: readonly LintDetector[] = [
  {
    id: "unread-meter",
    severity: "warning",
    *detect(context) {
      let read: ReadonlySet<number> | null = null;
      for (const table of context.tables) {
        for (const node of context.rules.rulesOf(table)) {
          const register = meteredInto(context, node);
          if (register < 0) continue;
          read ??= readRegisters(context);
          if (read.has(register)) continue;
          const object = context.objectOf(node);
          const field = `misc2.metadata_reg_c_${register}`;
          yield {
            objects: [object],
            field,
            sentence: `${called(object)} meters its frames, but no rule reads the colour from ${field}, so red frames are treated like green ones. Match ${field} in a later table.`,
          };
        }
      }
    },
  },
];
