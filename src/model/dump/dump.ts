/**
 * Dumps of direct rules: one record a line, in comma-separated columns, in the format that the
 * public steering dump tools read: | type | id | id of its parent | ... |.
 *
 * MODEL: flowsteer has no steering entries, no hash tables of matchers and no send rings, so their
 * records are missing. Addresses in device memory are numbers of the dump, or 0. A real dump has
 * the value of a rule in its steering entries; here it is a record of our own.
 */
import { DEVICE_KEY_SIZE } from "../../abi/key.js";
import { valueOf } from "../../engine/rules.js";
import { deviceAttributes } from "../base/attributes.js";
import type { Domain, Table } from "../table/domain.js";
import { writeAction } from "./actions.js";
import type { AskedBytes } from "./headerChanges.js";
import { MATCHER, MATCHER_MASK, RULE, RULE_VALUE, writeDomainRecords, writeTableRecords } from "./objects.js";
import { idOf, writeLine, type Write } from "./record.js";
import { groupTexts } from "./parameters.js";
import { Matcher } from "../table/matcher.js";
import { directRules, type Rule } from "../rule/rule.js";
import { writeSampleIds } from "../match/samples.js";

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
  writeDomainRecords(write, {
    id: idOf(device, domain),
    type,
    vport,
    name,
    managesSwitch,
    vports: device.vports,
    rootOnly,
    reclaims,
    allowsDuplicates,
    firmware: deviceAttributes(device).fw_ver,
    steeringFormat: device.profile.steeringFormat,
  });
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
  const parent = idOf(device, domain);
  writeTableRecords(write, id, parent, domain.type, level, isRoot ? null : idOf(device, classifier));
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
  const { device, matcher, actions } = rule;
  const { handle } = rule.holder;
  const id = idOf(device, rule);
  writeLine(write, RULE, id, idOf(device, matcher));
  const { mask } = matcher;
  let asked: AskedBytes | null = null;
  // A pending rule is not in the core.
  if (handle !== 0) {
    const value = withSampleIds(matcher, valueOf(device.core, handle));
    if (mask !== null) asked = { mask, value };
    writeLine(write, RULE_VALUE, id, ...groupTexts(value, matcher.criteria));
  }
  for (const action of actions) writeAction(write, rule, action, asked);
}
