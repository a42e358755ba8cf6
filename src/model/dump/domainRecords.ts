/** The records of a domain, before those of its tables: domain, device, capabilities, vports. */
import { VPORT_MANAGER, VPORT_UPLINK } from "../../abi/engine.js";
import { DOMAIN_TYPES, type DomainType } from "../table/domainType.js";
import { hex, RECORD, writeLine, type Write } from "./record.js";

export interface DumpedDomain {
  readonly id: string;
  readonly type: DomainType;
  /** The function that has the domain; its number stands for its gvmi. */
  readonly vport: number;
  readonly deviceName: string;
  readonly firmware: string;
  /** VFs of the eSwitch; null for a function that does not manage it. */
  readonly vfs: number | null;
  readonly rootOnly: boolean;
  readonly reclaims: boolean;
  readonly allowsDuplicates: boolean;
  readonly steeringFormat: number;
}

/** Flags of a domain. */
const RECLAIMS = 1;
const NO_DUPLICATES = 2;
/** The version of the package that a real dump names. */
const PACKAGE = "flowsteer";
const NOWHERE = hex(0);

/** The types of tables in device commands, by the type of their domain. */
export const TABLE_TYPES: Readonly<Record<DomainType, number>> = { nic_rx: 0, nic_tx: 1, fdb: 4 };

/**
 * Parser features: Geneve, MPLS over GRE and UDP, VXLAN-GPE, ICMP, ICMPv6, Geneve option 0, GTP-U
 * and its words.
 */
const FLEX_PROTOCOLS = [3, 4, 5, 7, 8, 9, 10, 11, 16, 17, 18, 19].reduce((bits, bit) => bits | (1 << bit), 0);

export function writeDomainRecords(write: Write, domain: DumpedDomain): void {
  const { id, type, vport, deviceName, firmware, vfs, rootOnly, reclaims, allowsDuplicates, steeringFormat } = domain;
  const vports = vfs === null ? 0 : vfs + 1;
  const flags = (reclaims ? RECLAIMS : 0) | (allowsDuplicates ? 0 : NO_DUPLICATES);
  const gvmi = `0${vport.toString(16)}`;
  // Memory pools for entries, programs and patterns: none of each kind.
  const last = [flags, 0, 0, 0, steeringFormat];
  writeLine(write, RECORD.domain, id, DOMAIN_TYPES.indexOf(type), gvmi, rootOnly ? 0 : 1, PACKAGE, deviceName, ...last);
  writeLine(write, RECORD.device, id, vports, firmware, 0);
  const protocols = hex(FLEX_PROTOCOLS);
  writeLine(write, RECORD.capabilities, id, hex(vport), NOWHERE, NOWHERE, protocols, vports, vfs === null ? 0 : 1);
  if (type !== "fdb" || rootOnly) return;
  for (let one = VPORT_MANAGER; one <= (vfs ?? 0); one++) writeVport(write, id, one);
  writeVport(write, id, VPORT_UPLINK);
}

function writeVport(write: Write, domain: string, vport: number): void {
  writeLine(write, RECORD.vport, domain, vport, hex(vport), NOWHERE, NOWHERE);
}
