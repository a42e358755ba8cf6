/**
 * Dumps of direct rules: one record a line, in comma-separated columns, in the format that the
 * public steering dump tools read: | type | id | id of its parent | ... |.
 *
 * MODEL: flowsteer has no steering entries, no hash tables of matchers and no send rings, so their
 * records are missing. Addresses in device memory are numbers of the dump, or 0. A real dump has
 * the value of a rule in its steering entries; here it is a record of our own.
 */
import { VPORT_MANAGER, VPORT_UPLINK } from "../../abi/engine.js";
import { DEVICE_KEY_SIZE } from "../../abi/key.js";
import { valueOf } from "../../engine/rules.js";
import { deviceAttributes } from "../device/attributes.js";
import type { Domain, Table } from "../table/domain.js";
import { DOMAIN_TYPES } from "../table/domainType.js";
import { writeAction } from "./actions.js";
import { hex, idOf, writeLine, type Write } from "./record.js";
import { groupTexts } from "./parameters.js";
import { Matcher } from "../table/matcher.js";
import { directRules, type Rule } from "../rule/rule.js";
import { writeSampleIds } from "../match/samples.js";

const DOMAIN = 3000;
const DEVICE_ATTRIBUTES = 3002;
const VPORT = 3003;
const CAPABILITIES = 3004;
const TABLE = 3100;
const TABLE_RECEIVES = 3101;
const TABLE_SENDS = 3102;
const MATCHER = 3200;
const MATCHER_MASK = 3205;
const RULE = 3300;
/** Our own record type, which tools skip: | id of the rule | groups, as those of a mask |. */
const RULE_VALUE = 4300;

/** In device commands. */
const TABLE_TYPES: Readonly<Record<Domain["type"], number>> = { nic_rx: 0, nic_tx: 1, fdb: 4 };
/** Flags of a domain. */
const RECLAIMS = 1;
const NO_DUPLICATES = 2;
/** The version of the package that a real dump names. */
const PACKAGE = "flowsteer";
const NOWHERE = hex(0);

/** Dumps a domain and everything in it. */
export function dumpDomain(write: Write, domain: Domain): void {
  writeDomain(write, domain);
  const rules = livingRules(domain);
  for (const table of domain.tables) writeTableAll(write, table, rules);
}

/** Dumps a table and everything in it, after its domain. */
export function dumpTable(write: Write, table: Table): void {
  writeDomain(write, table.domain);
  writeTableAll(write, table, livingRules(table.domain));
}

/** Dumps a matcher and its rules, after their table. */
export function dumpMatcher(write: Write, matcher: Matcher): void {
  writeDomain(write, matcher.table.domain);
  writeTable(write, matcher.table);
  writeMatcherAll(write, matcher, livingRules(matcher.table.domain));
}

/** Dumps a rule, after its matcher. */
export function dumpRule(write: Write, rule: Rule): void {
  writeDomain(write, rule.matcher.table.domain);
  writeTable(write, rule.matcher.table);
  writeMatcher(write, rule.matcher);
  writeRule(write, rule);
}

type Rules = ReadonlyMap<Matcher, Rule[]>;

/** The living rules of a domain, oldest first. */
function livingRules(domain: Domain): Rules {
  const rules = new Map<Matcher, Rule[]>();
  for (const rule of directRules(domain.device)) {
    if (rule.destroyed || rule.matcher.table.domain !== domain) continue;
    const list = rules.get(rule.matcher);
    if (list === undefined) rules.set(rule.matcher, [rule]);
    else list.push(rule);
  }
  for (const list of rules.values()) list.sort((a, b) => a.sequence - b.sequence);
  return rules;
}

function writeDomain(write: Write, domain: Domain): void {
  const { device, type, rootOnly, reclaims, allowsDuplicates, context } = domain;
  const { vport, name, managesSwitch } = context.function;
  const id = idOf(device, domain);
  const vports = managesSwitch ? device.vports + 1 : 0;
  const flags = (reclaims ? RECLAIMS : 0) | (allowsDuplicates ? 0 : NO_DUPLICATES);
  const steers = rootOnly ? 0 : 1;
  const format = device.profile.steeringFormat;
  const gvmi = `0${vport.toString(16)}`;
  // Memory pools for entries, programs and patterns: none of each kind.
  const blocks = [0, 0, 0];
  writeLine(write, DOMAIN, id, DOMAIN_TYPES.indexOf(type), gvmi, steers, PACKAGE, name, flags, ...blocks, format);
  writeLine(write, DEVICE_ATTRIBUTES, id, vports, deviceAttributes(device).fw_ver, 0);
  const protocols = hex(FLEX_PROTOCOLS);
  writeLine(write, CAPABILITIES, id, hex(vport), NOWHERE, NOWHERE, protocols, vports, managesSwitch ? 1 : 0);
  if (type !== "fdb" || rootOnly) return;
  for (let one = VPORT_MANAGER; one <= device.vports; one++) writeVport(write, id, one);
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

function writeTableAll(write: Write, table: Table, rules: Rules): void {
  writeTable(write, table);
  for (const matcher of matchersOf(table)) writeMatcherAll(write, matcher, rules);
}

/** The matchers of a table in the order of lookups, as the library lists them. */
function matchersOf(table: Table): Matcher[] {
  const own = [...table.classifier.places]
    .filter((place) => place instanceof Matcher)
    .filter((one) => one.table === table);
  const byAge = table.isRoot ? own : own.reverse();
  return byAge.sort((a, b) => a.priority - b.priority);
}

function writeTable(write: Write, table: Table): void {
  const { device, domain, level, isRoot, classifier } = table;
  const id = idOf(device, table);
  writeLine(write, TABLE, id, idOf(device, domain), TABLE_TYPES[domain.type], level);
  if (isRoot) return;
  const anchor = idOf(device, classifier);
  if (domain.type !== "nic_tx") writeLine(write, TABLE_RECEIVES, id, anchor);
  if (domain.type !== "nic_rx") writeLine(write, TABLE_SENDS, id, anchor);
}

function writeMatcherAll(write: Write, matcher: Matcher, rules: Rules): void {
  writeMatcher(write, matcher);
  for (const rule of rules.get(matcher) ?? []) writeRule(write, rule);
}

/** SPEC: matchers of root tables have their masks too; the library does not keep those. */
function writeMatcher(write: Write, matcher: Matcher): void {
  const { device, table, priority, mask, criteria } = matcher;
  const id = idOf(device, matcher);
  writeLine(write, MATCHER, id, idOf(device, table), priority);
  // Rules of an open matcher have masks of their own.
  const key = mask ?? new Uint8Array(DEVICE_KEY_SIZE);
  writeLine(write, MATCHER_MASK, id, ...groupTexts(withSampleIds(matcher, key), criteria));
}

/** The key in device format, with the ids of samples. */
function withSampleIds({ mask }: Matcher, key: Uint8Array): Uint8Array {
  const bytes = key.slice(0, DEVICE_KEY_SIZE);
  if (mask !== null) writeSampleIds(mask, bytes);
  return bytes;
}

function writeRule(write: Write, rule: Rule): void {
  const { device, matcher, actions, handle } = rule;
  const id = idOf(device, rule);
  writeLine(write, RULE, id, idOf(device, matcher));
  // A pending rule is not in the core.
  if (handle !== 0) {
    const value = withSampleIds(matcher, valueOf(device.core, handle));
    writeLine(write, RULE_VALUE, id, ...groupTexts(value, matcher.criteria));
  }
  for (const action of actions) writeAction(write, rule, action);
}
