/**
 * Stateful actions (mlx5dv_dr(3): ASO, Meter; docs/state.md): first hit, ASO flow meter, connection
 * tracking, flow meter.
 */
import type { DevxObject } from "../base/devxObject.js";
import { DIRECTION_ORIGINAL, DIRECTION_REPLY } from "../../abi/connection.js";
import { COLOUR_UNDEFINED, FIRST_HIT_SET, Op } from "../../abi/engine.js";
import { METER_SIZE } from "../../abi/state.js";
import { createRecord, recordBytes } from "../../engine/records.js";
import { refuse } from "../../errors.js";
import { Action, type ActionKind, type ActionStep } from "./action.js";
import { AsoObject, type AsoKind, type AsoLink } from "./asoObject.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { Domain, Table } from "../table/domain.js";
import { checkBytes, checkObject, unsigned, wrongType, member } from "../../base/checks.js";
import { Handle, living } from "../base/handle.js";
import { changeMeter, meterOf, PARAMETERS_SIZE, startColour } from "./meterParameters.js";

/** Registers C that an object of this family can write. */
const REGISTERS = [1, 3, 5];
/** Start colours, by the flags RED, YELLOW, GREEN, UNDEFINED. */
const COLOURS: ReadonlyMap<number, number> = new Map([
  [1, 0],
  [2, 1],
  [4, 2],
  [8, COLOUR_UNDEFINED],
]);

interface Family {
  readonly action: ActionKind;
  readonly step: ActionStep;
  readonly op: Op;
  /** The valid flags, for messages. */
  readonly flags: string;
  /** The word that the core gets for flags; undefined where they are invalid. */
  readonly flagWord: (flags: number) => number | undefined;
}

const FAMILIES: Readonly<Record<AsoKind, Family>> = {
  first_hit: {
    action: "aso_first_hit",
    step: "first_hit",
    op: Op.first_hit,
    flags: "0, or MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET",
    flagWord: (flags) => (flags <= 1 ? flags * FIRST_HIT_SET : undefined),
  },
  flow_meter: {
    action: "aso_flow_meter",
    step: "meter",
    op: Op.meter,
    flags: "one of MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_RED, _YELLOW, _GREEN, _UNDEFINED",
    flagWord: (flags) => COLOURS.get(flags),
  },
  connection: {
    action: "aso_ct",
    step: "track",
    op: Op.track,
    flags: "MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR or _RESPONDER",
    flagWord: (flags) => (flags === DIRECTION_ORIGINAL || flags === DIRECTION_REPLY ? flags : undefined),
  },
};

/** The parts of an ASO action that can be modified. */
interface AsoChoice {
  offset: number;
  flags: number;
  register: number;
}

export class AsoAction extends Action {
  readonly object: AsoObject;
  /** The domain that the action was made in. */
  readonly home: Domain;
  private _choice: AsoChoice;

  private constructor(domain: Domain, object: AsoObject, choice: AsoChoice) {
    const { action, step, op } = FAMILIES[object.kind];
    super(domain.device, action, { step, op, holds: [object] });
    this.object = object;
    this.home = domain;
    this._choice = choice;
  }

  static create(domain: Domain, object: DevxObject, choice: AsoChoice): AsoAction {
    living("domain", domain, Domain);
    checkSupport(domain);
    if (!(object instanceof AsoObject)) refuseObject(object);
    living("devx_obj", object, AsoObject);
    if (object.device !== domain.device) {
      refuse({ code: "EINVAL", reason: "other_device", path: "devx_obj", value: object });
    }
    checkChoice(object, choice);
    return new AsoAction(domain, object, { ...choice });
  }

  /** mlx5dv_dr_action_modify_aso: changes the action for rules made from now on. */
  modify(choice: AsoChoice): void {
    checkChoice(this.object, choice);
    if (this.object.kind === "connection" && this.object.links.size > 0) {
      const { flags, register } = this._choice;
      if (choice.flags !== flags || choice.register !== register) {
        const hint = "only the offset, while the object is linked to another domain";
        refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "flags", value: choice.flags, hint });
      }
    }
    this._choice = { ...choice };
  }

  get offset(): number {
    return this._choice.offset;
  }

  /**
   * The link through which rules of a domain use a connection of another domain; null where none is
   * needed, undefined where it is missing.
   */
  linkTo(domain: Domain): AsoLink | null | undefined {
    if (this.object.kind !== "connection" || domain === this.home) return null;
    return this.object.links.get(domain);
  }

  override record(domain: Domain): readonly number[] {
    const { flagWord, op } = FAMILIES[this.object.kind];
    const { flags, register } = this.linkTo(domain) ?? this._choice;
    const { address, bit } = this.object.unitAt(this.offset);
    const operand = register | ((flagWord(flags) ?? 0) << 8) | (bit << 16);
    return [Op.state, operand, op, address];
  }
}

/** Refuses an object of another kind of device command. */
function refuseObject(object: unknown): never {
  if (object instanceof Handle) {
    const hint = "first hit, flow meter or connection tracking objects";
    refuse({ code: "EOPNOTSUPP", reason: "bad_object", path: "devx_obj", value: object as Handle, hint });
  }
  wrongType("devx_obj", "a device object", object);
}

function checkSupport(domain: Domain): void {
  const { rootOnly, device } = domain;
  if (!rootOnly && device.profile.rules.statefulActions) return;
  const hint = rootOnly ? "the domain has only its root table" : `${device.profile.name} has none`;
  refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "domain", value: domain, hint });
}

function checkChoice(object: AsoObject, { offset, flags, register }: AsoChoice): void {
  const { flagWord, flags: taken } = FAMILIES[object.kind];
  if (flagWord(unsigned("flags", flags, 32)) === undefined) {
    refuse({ code: "EINVAL", reason: "out_of_range", path: "flags", value: flags, hint: taken });
  }
  if (unsigned("offset", offset, 32) >= object.size) {
    const hint = `the bulk has ${object.size}`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "offset", value: offset, hint });
  }
  if (REGISTERS.includes(unsigned("return_reg_c", register, 8))) return;
  const hint = REGISTERS.join(", ");
  refuse({ code: "EINVAL", reason: "out_of_range", path: "return_reg_c", value: register, hint });
}

/** Refuses what is no living connection tracking object. @throws TypeError, EOPNOTSUPP, EINVAL */
function checkConnections(object: unknown): asserts object is AsoObject {
  if (!(object instanceof Handle)) wrongType("devx_obj", "a device object", object);
  if (object instanceof AsoObject && object.kind === "connection") {
    living("devx_obj", object, AsoObject);
    return;
  }
  const hint = "a connection tracking object";
  refuse({ code: "EOPNOTSUPP", reason: "bad_object", path: "devx_obj", value: object as Handle, hint });
}

/** mlx5dv_dr_aso_other_domain_link */
export function linkAso(object: DevxObject, peer: Domain, domain: Domain, flags: number, register: number): void {
  living("peer_dmn", peer, Domain);
  living("dmn", domain, Domain);
  checkSupport(domain);
  checkConnections(object);
  checkChoice(object, { offset: 0, flags, register });
  if (object.device !== domain.device || peer.device !== domain.device) {
    refuse({ code: "EINVAL", reason: "other_device", path: "dmn", value: domain });
  }
  if (peer === domain || object.links.has(domain)) {
    const hint = peer === domain ? "its own domain needs no link" : "it is linked already";
    refuse({ code: "EINVAL", reason: "contradiction", path: "dmn", value: domain, hint });
  }
  object.links.set(domain, { flags, register, used: new Set() });
  domain.users++;
}

/** mlx5dv_dr_aso_other_domain_unlink */
export function unlinkAso(object: DevxObject, domain: Domain): void {
  living("dmn", domain, Domain);
  checkConnections(object);
  const link = object.links.get(domain);
  if (link === undefined) {
    const hint = "mlx5dv_dr_aso_other_domain_link has not linked it to this domain";
    refuse({ code: "EINVAL", reason: "other_domain", path: "dmn", value: domain, hint });
  }
  if (link.used.size > 0) {
    const hint = "destroy the rules of the domain that use it first";
    refuse({ code: "EBUSY", reason: "in_use", path: "devx_obj", value: object, hint });
  }
  object.links.delete(domain);
  domain.users--;
}

/** `struct mlx5dv_dr_flow_meter_attr` */
export interface FlowMeterAttr {
  next_table: Table;
  /** @default 1 */
  active?: number | boolean | undefined;
  reg_c_index: number;
  /** Size of the parameters in bytes. @default all */
  flow_meter_parameter_sz?: number | undefined;
  /** Device bytes. */
  flow_meter_parameter: Uint8Array;
}

export class FlowMeterAction extends Action {
  private readonly _record: number;
  private readonly _flagWord: number;

  private constructor(table: Table, record: number, flagWord: number) {
    const { device, domain, classifier } = table;
    super(device, "flow_meter", {
      step: "end",
      op: Op.table,
      operand: classifier.table,
      domain,
      holds: [table],
      levelBelow: table.level,
      records: [{ address: record, bytes: METER_SIZE }],
    });
    this._record = record;
    this._flagWord = flagWord;
  }

  static create(attr: FlowMeterAttr): FlowMeterAction {
    checkObject("attr", attr);
    const table = living("attr.next_table", attr.next_table, Table);
    const { device, domain } = table;
    if (domain.rootOnly || table.isRoot) {
      const hint = "a table of level 1 or more";
      refuse({ code: "EOPNOTSUPP", reason: "root_table", path: "attr.next_table", value: table, hint });
    }
    const register = member("attr.reg_c_index", attr.reg_c_index, 8);
    if (register > 7) {
      refuse({
        code: "EINVAL",
        reason: "out_of_range",
        path: "attr.reg_c_index",
        value: register,
        hint: "0 to 7",
      });
    }
    const parameters = parametersOf(attr);
    const record = meterOf(parameters, isActive(attr), device.now());
    const address = device.allocated(createRecord(device.core, record));
    device.stateful = true;
    return new FlowMeterAction(table, address, register | (startColour(parameters) << 8));
  }

  /** @internal The address of its meter in the core. */
  get meter(): number {
    return this._record;
  }

  /** mlx5dv_dr_action_modify_flow_meter: changes all rules that use it, at once. */
  modify(
    attr: Pick<FlowMeterAttr, "active" | "flow_meter_parameter" | "flow_meter_parameter_sz">,
    select: bigint | Uint8Array,
  ): void {
    checkObject("attr", attr);
    const chosen = Number(selectOf(select) & 0x1fn);
    const parameters = parametersOf(attr);
    changeMeter(
      recordBytes((this.device as DeviceBase).core, this._record, METER_SIZE),
      parameters,
      isActive(attr),
      chosen,
    );
  }

  override record(): readonly number[] {
    return [Op.state, this._flagWord, Op.meter, this._record, this.op, this.operand];
  }
}

function isActive({ active }: Pick<FlowMeterAttr, "active">): boolean {
  return active === undefined || Boolean(active);
}

/** At most 32 bytes; missing bytes are 0. */
function parametersOf({
  flow_meter_parameter: bytes,
  flow_meter_parameter_sz: size,
}: Pick<FlowMeterAttr, "flow_meter_parameter" | "flow_meter_parameter_sz">): Uint8Array {
  checkBytes("attr.flow_meter_parameter", bytes);
  const count = unsigned("attr.flow_meter_parameter_sz", size ?? bytes.length, 32);
  if (count > PARAMETERS_SIZE || count > bytes.length) {
    const hint = `at most ${PARAMETERS_SIZE}, and no more than there are`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: "attr.flow_meter_parameter_sz", value: count, hint });
  }
  const parameters = new Uint8Array(PARAMETERS_SIZE);
  parameters.set(bytes.subarray(0, count));
  return parameters;
}

/** A `__be64`, as bytes or as a bigint. */
function selectOf(select: bigint | Uint8Array): bigint {
  if (typeof select === "bigint") return select;
  if (select instanceof Uint8Array && select.length === 8) {
    return new DataView(select.buffer, select.byteOffset, 8).getBigUint64(0);
  }
  wrongType("modify_field_select", "a bigint or 8 bytes", select);
}
