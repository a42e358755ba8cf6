/**
 * Header changes: which lists a device takes, and what the core is given for them (PROGRAM_* in src/abi/program.ts).
 * Checks and their order are those of docs/rules.md, "Modify header".
 */
import {
  INSTRUCTION_BITS,
  INSTRUCTION_DATA,
  INSTRUCTION_FROM,
  INSTRUCTION_FROM_BIT,
  INSTRUCTION_FROM_BIT6,
  INSTRUCTION_SIZE,
  INSTRUCTION_TO,
  INSTRUCTION_TO_BIT,
  INSTRUCTION_TO_BIT6,
  INSTRUCTION_TYPE,
  MODIFY_ADD,
  MODIFY_COPY,
  MODIFY_SET,
  PROGRAM_COUNT,
  PROGRAM_FIRST,
} from "../../abi/program.js";
import { MAX_RECORD } from "../../engine/records.js";
import { refuse, type ErrnoName, type Refusal } from "../../errors.js";
import { nearest } from "../../base/nearest.js";
import type { HeaderCheck } from "../profile/profile.js";
import type { Refusals } from "../profile/refusals.js";
import type { DomainType } from "../base/domainType.js";
import { unsigned, wrongType } from "../../base/checks.js";
import {
  ADD_TYPE,
  COPY_TYPE,
  MODIFY_WORD,
  MODIFY_ENCODINGS,
  readPart,
  SET_TYPE,
  writeModifyAction,
  type ModifyAction,
} from "./modifyActions.js";
import { modifyFields, modifyFieldAt, type ModifyField } from "./modifyFields.js";

/** Where a packet reformat, header changes or an array shall stand. */
export interface ActionSetting {
  readonly domainType: DomainType;
  /** What the profile refuses there, beyond what no device does. */
  readonly refuses: Refusals<HeaderCheck>;
  /** Made for root tables. */
  readonly rootLevel?: boolean;
  /** The domain has its root table only. */
  readonly rootOnly?: boolean;
}

/** What C has as `__be64 actions[]`: its bytes, or each word as a number or an object. */
export type ModifyActions = Uint8Array | readonly (bigint | ModifyAction)[];

/** Changes of one list. */
export const MAX_MODIFY = Math.floor((MAX_RECORD - PROGRAM_FIRST) / INSTRUCTION_SIZE);

const CITE = "mlx5dv_create_flow_action_modify_header(3)";

/** One end of a change: a field, and its bits, counted from the least significant bit. */
interface Side {
  readonly field: ModifyField;
  readonly offset: number;
}

interface Change {
  readonly type: number;
  readonly to: Side;
  readonly from?: Side;
  readonly bits: number;
  readonly data: number;
}

/**
 * Compiles header changes to a program. `actions_sz` counts bytes; undefined means all of them.
 * @throws EINVAL, EOPNOTSUPP, ENOTSUP changes that the device cannot carry out; TypeError not a
 *   list
 */
export function modifyProgram(
  setting: ActionSetting,
  actions: ModifyActions,
  actions_sz: number | undefined,
): Uint8Array {
  return programOfWords(setting, wordsOf(actions, actions_sz));
}

/** The same for words that are a copy already. */
export function programOfWords(setting: ActionSetting, words: DataView): Uint8Array {
  checkRootOnly(setting);
  const count = words.byteLength / MODIFY_WORD;
  const changes: Change[] = [];
  for (let i = 0; i < count; i++) {
    const change = readChange(setting, words, i);
    checkTypes(setting, change, changes);
    changes.push(change);
  }
  return encode(changes);
}

/** A domain with only its root table takes actions made for the root level only. */
export function checkRootOnly({ rootOnly, rootLevel }: ActionSetting): void {
  if (rootOnly !== true || rootLevel === true) return;
  const hint = "MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL";
  refuse({ code: "EOPNOTSUPP", reason: "root_only", path: "flags", hint });
}

/** A copy of the words, all well-formed. */
export function wordsOf(actions: ModifyActions, actions_sz: number | undefined): DataView {
  const bytes = actions instanceof Uint8Array;
  if (!bytes && !Array.isArray(actions)) {
    wrongType("actions", "a Uint8Array or an array", actions);
  }
  const given = actions.length * (bytes ? 1 : MODIFY_WORD);
  const size = unsigned("actions_sz", actions_sz ?? given, 32);
  const bad = (hint: string): never =>
    refuse({ code: "EINVAL", reason: "bad_modify", path: "actions_sz", value: size, hint, cite: CITE });
  if (size % MODIFY_WORD !== 0) bad("words of 8 bytes");
  if (size === 0) bad("at least one action of 8 bytes");
  if (size > given) bad(`the array has ${given} bytes`);
  if (size > MAX_MODIFY * MODIFY_WORD) bad(`at most ${MAX_MODIFY} actions of 8 bytes`);
  const copy = new Uint8Array(size);
  const view = new DataView(copy.buffer);
  if (bytes) copy.set(actions.subarray(0, size));
  else for (let i = 0; i * MODIFY_WORD < size; i++) writeWord(i, view, actions[i]);
  return view;
}

function writeWord(i: number, view: DataView, action: unknown): void {
  const path = `actions[${i}]`;
  if (typeof action !== "bigint") {
    writeModifyAction(path, view, i * MODIFY_WORD, action);
    return;
  }
  if (action >= 0n && action < 2n ** 64n) {
    view.setBigUint64(i * MODIFY_WORD, action);
    return;
  }
  refuse({ code: "EINVAL", reason: "out_of_range", path, value: action, hint: "64 bits" });
}

function readChange(setting: ActionSetting, words: DataView, i: number): Change {
  const at = i * MODIFY_WORD;
  const part = (bit: number, bits: number): number => readPart(words, at, bit, bits);
  const type = part(0, 4);
  const path = `actions[${i}]`;
  if (type !== SET_TYPE && type !== ADD_TYPE && type !== COPY_TYPE) {
    const value = MODIFY_ENCODINGS.get(type)?.[0] ?? type;
    const code = setting.refuses.changeType as ErrnoName;
    const hint = "SET, ADD or COPY";
    return refuse({ code, reason: "unsupported", path: `${path}.type`, value, hint, cite: CITE });
  }
  const ids = type === COPY_TYPE ? [part(4, 12), part(36, 12)] : [part(4, 12)];
  ids.forEach((id, side) => checkField(setting, `${path}.${side === 0 ? "field" : "to"}`, type, id));
  const fields = ids.map((id, side) => knownField(setting, `${path}.${side === 0 ? "field" : "to"}`, id));
  const [first, second] = fields as [ModifyField, ModifyField?];
  const data = part(32, 32);
  if (type === ADD_TYPE) return { type, to: { field: first, offset: 0 }, bits: first.width, data };
  const bits = part(27, 5) || 32;
  const side = (field: ModifyField, offset: number, name: string): Side =>
    sideOf(`${path}.${name}`, field, offset, bits);
  if (second === undefined) return { type, to: side(first, part(19, 5), "offset"), bits, data };
  const from = side(first, part(19, 5), "src_offset");
  return { type, from, to: side(second, part(51, 5), "dst_offset"), bits, data: 0 };
}

/** Refuses a field that the type cannot use, known to the device or not. */
function checkField({ domainType, refuses, rootLevel }: ActionSetting, path: string, type: number, id: number): void {
  const field = modifyFieldAt(id);
  if (field === undefined) return;
  const bad = (hint: string, code: ErrnoName = "EINVAL"): never =>
    refuse({ ...badModify(path, field.name), code, hint });
  if (field.domain !== null && field.domain !== domainType) bad(`only ${field.domain.toUpperCase()} has it`);
  if (refuses.addField === undefined || type !== ADD_TYPE || field.addAllowed) return;
  // Firmware can also add to registers.
  if (rootLevel === true && field.name.startsWith("METADATA_")) return;
  bad(
    `the device adds to ${modifyFields()
      .flatMap(({ name, addAllowed }) => (addAllowed ? name : []))
      .join(", ")}`,
    refuses.addField,
  );
}

function knownField({ refuses: { fixedField } }: ActionSetting, path: string, id: number): ModifyField {
  const field = modifyFieldAt(id);
  if (field !== undefined && (fixedField === undefined || field.swSteering)) return field;
  if (field === undefined) {
    return refuse({
      ...badModify(path, `0x${id.toString(16)}`),
      reason: "bad_field",
      hint: "no field has this id",
    });
  }
  const names = modifyFields().flatMap(({ name, swSteering }) => (swSteering ? name : []));
  const near = nearest(field.name, names);
  const hint = `the device cannot change it${near === undefined ? "" : `; did you mean "${near}"?`}`;
  return refuse({ ...badModify(path, field.name), code: fixedField as ErrnoName, hint });
}

function sideOf(path: string, field: ModifyField, offset: number, bits: number): Side {
  if (offset + bits <= field.width) return { field, offset };
  const hint = `${bits} bits (a length of 0 is 32) from ${offset} on; ${field.name} has ${field.width}`;
  return refuse({ ...badModify(path, offset), hint });
}

/**
 * A device locates the headers of a list once, so all its fields need one IP version and one
 * protocol.
 */
function checkTypes({ refuses }: ActionSetting, { type, to: { field } }: Change, before: readonly Change[]): void {
  for (const kind of ["l3Type", "l4Type"] as const) {
    const code = kind === "l3Type" ? refuses.mixedVersions : refuses.mixedProtocols;
    if (code === undefined) continue;
    const other = before.find(({ to }) => to.field[kind] !== null && to.field[kind] !== field[kind])?.to.field;
    if (other === undefined || field[kind] === null) continue;
    const path = `actions[${before.length}].${type === COPY_TYPE ? "to" : "field"}`;
    const pair = [other.name, field.name];
    const isTwice = pair.every((name) => /_(?:IP_TTL|IPV6_HOPLIMIT)$/.test(name));
    const advice = isTwice ? `write ${pair.join(" or ")}, or match outer.ip_version` : "make two actions";
    const hint = `${other.name} stands in the same list; ${advice}`;
    refuse({ ...badModify(path, field.name), code, hint });
  }
}

function badModify(path: string, value: unknown): Omit<Refusal, "call"> {
  return { code: "EINVAL", reason: "bad_modify", path, value, cite: CITE };
}

function encode(changes: readonly Change[]): Uint8Array {
  const record = new Uint8Array(PROGRAM_FIRST + changes.length * INSTRUCTION_SIZE);
  const view = new DataView(record.buffer);
  view.setUint32(PROGRAM_COUNT, changes.length, true);
  changes.forEach((change, i) => writeInstruction(view, PROGRAM_FIRST + i * INSTRUCTION_SIZE, change));
  return record;
}

const INSTRUCTION_TYPES: Readonly<Record<number, number>> = {
  [SET_TYPE]: MODIFY_SET,
  [ADD_TYPE]: MODIFY_ADD,
  [COPY_TYPE]: MODIFY_COPY,
};

/**
 * Bits of a field count from its least significant bit, bits of an instruction from the start of
 * the header.
 */
function writeInstruction(view: DataView, at: number, { type, to, from, bits, data }: Change): void {
  const down = ({ field, offset }: Side): number => field.width - offset - bits;
  view.setUint8(at + INSTRUCTION_TYPE, INSTRUCTION_TYPES[type] as number);
  view.setUint8(at + INSTRUCTION_BITS, bits);
  view.setUint8(at + INSTRUCTION_TO, to.field.place);
  view.setUint16(at + INSTRUCTION_TO_BIT, to.field.bit + down(to), true);
  view.setUint16(at + INSTRUCTION_TO_BIT6, to.field.bit6 + down(to), true);
  view.setUint32(at + INSTRUCTION_DATA, data % 2 ** bits, true);
  if (from === undefined) return;
  view.setUint8(at + INSTRUCTION_FROM, from.field.place);
  view.setUint16(at + INSTRUCTION_FROM_BIT, from.field.bit + down(from), true);
  view.setUint16(at + INSTRUCTION_FROM_BIT6, from.field.bit6 + down(from), true);
}
