/** Sets the value of a match field in the layers of a frame. */
import { headerAt, placesOf, type Level } from "../../../headers/fields.js";
import { format, fullMask } from "../../../model/match/term.js";
import type { TermFact } from "../facts.js";
import { isCounted, type DraftLayer, type FrameDraft } from "./draft.js";
import {
  setEtherType,
  setFragment,
  setProtocol,
  setRight,
  setTagKind,
  removeVlans,
  addVlan,
  addGreKey,
} from "./structure.js";

/** Changes a draft so that it agrees with a term whose header is present. Returns false if it cannot. */
export function setField(draft: FrameDraft, term: TermFact): boolean {
  const [group = "", bare = ""] = term.name.split(".");
  const level: Level = group === "inner" || bare.startsWith("inner_") ? "inner" : "outer";
  const name = bare.replace(/^(outer|inner)_/, "");
  const wanted = wantedValue(term);
  const structural = SPECIAL[name];
  if (structural !== undefined) return structural(draft, level, wanted);
  for (const place of placesOf(term.name)) {
    const layer = draft.layers[headerAt(draft.layers, place)];
    if (layer === undefined || !(place.field in layer.fields) || isCounted(layer, place.field)) continue;
    write(layer, place.field, term, wanted);
    return true;
  }
  return false;
}

function write(layer: DraftLayer, name: string, { field }: TermFact, wanted: bigint): void {
  if (field.kind === "number") layer.fields[name] = Number(wanted);
  else layer.fields[name] = format(field, wanted);
}

/** The nearest value that the term takes. */
export function wantedValue({ field, mask, value, range, found }: TermFact): bigint {
  const had = found ?? 0n;
  if (range === null) return (had & (fullMask(field) ^ mask)) | value;
  if (had < range.low) return range.low;
  return had > range.high ? range.high : had;
}

type Special = (draft: FrameDraft, level: Level, wanted: bigint) => boolean;

const right: Special = (draft, level, wanted) => wanted === 1n && setRight(draft, level);
const tag =
  (n: number, service: boolean): Special =>
  (draft, level, wanted) => {
    if (wanted === 0n) return removeVlans(draft, level, n);
    return setTagKind(draft, level, n, service) || addVlan(draft, level, n);
  };

/** Fields that are no bits of one header. */
const SPECIAL: Readonly<Record<string, Special>> = {
  ethertype: (draft, level, wanted) => setEtherType(draft, level, Number(wanted)),
  ip_protocol: (draft, level, wanted) => setProtocol(draft, level, Number(wanted)),
  gre_k_present: (draft, _, wanted) => wanted === 1n && addGreKey(draft),
  frag: (draft, level, wanted) => setFragment(draft, level, wanted === 1n),
  cvlan_tag: tag(0, false),
  svlan_tag: tag(0, true),
  second_cvlan_tag: tag(1, false),
  second_svlan_tag: tag(1, true),
  l3_ok: right,
  l4_ok: right,
  ipv4_checksum_ok: right,
  l4_checksum_ok: right,
};
