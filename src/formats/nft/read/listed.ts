/** Rule sets as JSON: `nft -j list ruleset`, and the commands that `nft -j -f` takes. */
import type { Findings } from "../../reading/findings.js";
import { JsonError, parseJson, placesOf } from "../../../base/json.js";
import type { Place } from "../../text/refusal.js";
import { objectOf, text, type Json } from "./expressions.js";
import { POLICY, type ChainName, type NftChain, type NftObject, type NftRule } from "./objects.js";

export function isListing(source: string): boolean {
  return /\{\s*"nftables"\s*:/.test(source);
}

/** Reads the objects of a listing. The rules have the places at which they stand in the text, in its order. */
export function* listedObjects(source: string, findings: Findings): Generator<NftObject> {
  const from = Math.max(0, source.search(/\{\s*"nftables"/));
  const placeAt = placesOf(source);
  const rulePlaces = [...source.matchAll(/\{\s*"rule"\s*:\s*\{/g)].map(({ index }) => placeAt(index));
  let n = 0;
  for (const object of parsed(source, from, placeAt, findings)) {
    const { add, insert, create } = objectOf(object);
    const { chain, rule, flowtable } = objectOf(add ?? insert ?? create ?? object);
    if (chain !== undefined) yield chainOf(chain, placeAt(from));
    if (flowtable !== undefined) {
      yield { kind: "flowtable", name: text(objectOf(flowtable)["name"]), place: placeAt(from) };
    }
    if (rule !== undefined) yield ruleOf(rule, insert !== undefined, rulePlaces[n++] ?? placeAt(from));
  }
}

function parsed(source: string, from: number, placeAt: (at: number) => Place, findings: Findings): readonly Json[] {
  try {
    const { nftables } = parseJson(source.slice(from, source.lastIndexOf("}") + 1)) as { nftables?: Json };
    if (Array.isArray(nftables)) return nftables as readonly Json[];
    findings.refuse({ line: 1, column: 1 }, "", "the list of nft -j list ruleset is missing: nftables");
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { token, start, message } = error;
    findings.refuse(placeAt(from + start), token, `not the JSON of nft -j list ruleset: ${message}`);
  }
  return [];
}

function chainName(object: Json, chain: Json | undefined): ChainName {
  const { family, table } = objectOf(object);
  return { family: text(family), table: text(table), chain: text(chain) };
}

function chainOf(chain: Json, place: Place): NftChain {
  const { name, hook, dev, policy } = objectOf(chain);
  const devices = (Array.isArray(dev) ? (dev as readonly Json[]) : [dev ?? null]).filter(
    (one): one is string => typeof one === "string",
  );
  const given = text(policy);
  const isKnown = policy === undefined || given === "accept" || given === "drop";
  return {
    ...chainName(chain, name),
    kind: "chain",
    hook: typeof hook === "string" ? hook : undefined,
    devices,
    policy: given,
    refused: isKnown ? undefined : { word: { text: given, place }, reason: POLICY },
    isOffloaded: undefined,
    place,
  };
}

function ruleOf(rule: Json, isInserted: boolean, place: Place): NftRule {
  const { chain, handle, index, expr } = objectOf(rule);
  const expressions = Array.isArray(expr) ? (expr as readonly Json[]) : [];
  const name = `rule ${text(handle)} of ${text(chain)}`;
  return {
    ...chainName(rule, chain),
    kind: "rule",
    name,
    text: name,
    isNamedFirst: true,
    position: index === undefined ? (isInserted ? "first" : "last") : undefined,
    read: () => expressions.map((json) => ({ json, text: name, place })),
    place,
  };
}
