/** The records of domains and tables, and the types of those of matchers and rules. */
import { VPORT_MANAGER, VPORT_UPLINK } from "../../abi/engine.js";
import { DOMAIN_TYPES, type DomainType } from "../base/domainType.js";
import { hex, writeLine, type Write } from "./record.js";

const DOMAIN = 3000;
const DEVICE_ATTRIBUTES = 3002;
const VPORT = 3003;
const CAPABILITIES = 3004;
const TABLE = 3100;
const TABLE_RECEIVES = 3101;
const TABLE_SENDS = 3102;
export const MATCHER = 3200;
export const MATCHER_MASK = 3205;
export const RULE = 3300;
/** Our own record type, which tools skip: | id of the rule | groups, as those of a mask |. */
export const RULE_VALUE = 4300;

/** In device commands. */
const TABLE_TYPES: Readonly<Record<DomainType, number>> = { nic_rx: 0, nic_tx: 1, fdb: 4 };

/** The version of the package that a dump names: flowsteer lists the rules of root tables too. */
export const PACKAGE = "flowsteer";
/** Flags of a domain. */
const RECLAIMS = 1;
const NO_DUPLICATES = 2;
const NOWHERE = hex(0);

export interface DumpedDomain {
  readonly id: string;
  readonly type: DomainType;
  /** Of its function. */
  readonly vport: number;
  readonly name: string;
  readonly managesSwitch: boolean;
  /** Virtual functions of the device. */
  readonly vports: number;
  readonly rootOnly: boolean;
  readonly reclaims: boolean;
  readonly allowsDuplicates: boolean;
  readonly firmware: string;
  readonly steeringFormat: number;
}

/** Writes a domain, its device and the vports of its eSwitch. */
export function writeDomainRecords(write: Write, domain: DumpedDomain): void {
  const { id, type, vport, name, managesSwitch, rootOnly, reclaims, allowsDuplicates, steeringFormat } = domain;
  const vports = managesSwitch ? domain.vports + 1 : 0;
  const flags = (reclaims ? RECLAIMS : 0) | (allowsDuplicates ? 0 : NO_DUPLICATES);
  const steers = rootOnly ? 0 : 1;
  const gvmi = `0${vport.toString(16)}`;
  // Memory pools for entries, programs and patterns: none of each kind.
  const blocks = [0, 0, 0];
  writeLine(
    write,
    DOMAIN,
    id,
    DOMAIN_TYPES.indexOf(type),
    gvmi,
    steers,
    PACKAGE,
    name,
    flags,
    ...blocks,
    steeringFormat,
  );
  writeLine(write, DEVICE_ATTRIBUTES, id, vports, domain.firmware, 0);
  const protocols = hex(FLEX_PROTOCOLS);
  writeLine(write, CAPABILITIES, id, hex(vport), NOWHERE, NOWHERE, protocols, vports, managesSwitch ? 1 : 0);
  if (type !== "fdb" || rootOnly) return;
  for (let one = VPORT_MANAGER; one <= domain.vports; one++) writeVport(write, id, one);
  writeVport(write, id, VPORT_UPLINK);
}

/**
 * Parser features: Geneve, MPLS over GRE and UDP, VXLAN-GPE, ICMP, ICMPv6, Geneve option 0, GTP-U
 * and its words.
 */
const FLEX_PROTOCOLS = [3, 4, 5, 7, 8, 9, 10, 11, 16, 17, 18, 19].reduce((bits, bit) => bits | (1 << bit), 0);

function writeVport(write: Write, domain: string, vport: number): void {
  writeLine(write, VPORT, domain, vport, hex(vport), NOWHERE, NOWHERE);
}

/** @param anchor where it lies in device memory; null for a root table */
export function writeTableRecords(
  write: Write,
  id: string,
  domain: string,
  type: DomainType,
  level: number,
  anchor: string | null,
): void {
  writeLine(write, TABLE, id, domain, TABLE_TYPES[type], level);
  if (anchor === null) return;
  if (type !== "nic_tx") writeLine(write, TABLE_RECEIVES, id, anchor);
  if (type !== "nic_rx") writeLine(write, TABLE_SENDS, id, anchor);
}
