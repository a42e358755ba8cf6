/** Fields of items that do not become match fields bit by bit. */
import { ones } from "../../../../base/bits.js";
import { notImported, type Word } from "../../../text/refusal.js";
import type { Special } from "../../fields/kind.js";
import { FIRST_TAG, INTEGRITY, LAST_TAG, registerOfMeta } from "../../fields/metadata.js";
import type { PatternWalk } from "./walk.js";
import { maskOf, type FieldValue, type Item } from "./read.js";

export type Asked = FieldValue;

const TPIDS: Readonly<Record<string, "cvlan_tag" | "svlan_tag">> = { 0x8100: "cvlan_tag", 0x88a8: "svlan_tag" };
const IPV6_FRAGMENT = 0xfff9n;

/** How each special field is asked; `asked` is undefined for an item without fields. */
export const SPECIALS: Readonly<Record<Special, (walk: PatternWalk, item: Item, asked: Asked | undefined) => void>> = {
  etherType: (walk, _, asked) => etherType(walk, given(asked), ""),
  innerType: (walk, _, asked) => {
    if (walk.vlans < 2) etherType(walk, given(asked), `${walk.level}_second_`);
    else plain(walk, `${walk.level}.ethertype`, given(asked));
  },
  hasVlan: (walk, _, asked) => {
    const { spec, word } = given(asked);
    if (spec === 1n) walk.match.ask(`${walk.level}.first_vid`, 0n, 0n);
    else {
      walk.match.ask(`${walk.level}.cvlan_tag`, 0n);
      walk.match.ask(`${walk.level}.svlan_tag`, 0n);
    }
    noRange(given(asked), word);
  },
  hasMoreVlan: (walk, _, asked) => {
    if (given(asked).spec === 1n) walk.match.ask(`misc.${walk.level}_second_vid`, 0n, 0n);
    else {
      walk.match.ask(`misc.${walk.level}_second_cvlan_tag`, 0n);
      walk.match.ask(`misc.${walk.level}_second_svlan_tag`, 0n);
    }
  },
  ipv4Fragment: (walk, _, asked) => ipv4Fragment(walk, given(asked)),
  ipv6Fragment: (_walk, _item, asked) => {
    const { spec, last, mask, word } = given(asked);
    if (spec === 1n && last === IPV6_FRAGMENT && (mask & IPV6_FRAGMENT) === IPV6_FRAGMENT) return;
    if (spec === 0n && last === 0n && (mask & IPV6_FRAGMENT) === 0n) return;
    notImported(word, "no match field has the offset of a fragment");
  },
  hasFragment: (walk, _, asked) => walk.match.ask(`${walk.level}.frag`, given(asked).spec & 1n),
  greChecksum: (walk, _, asked) => {
    const { spec, mask, word } = noRange(given(asked));
    if (walk.level === "inner") notImported(word, "the parser of the device does not read gre inside a tunnel");
    walk.match.ask("misc.gre_c_present", 1n);
    walk.match.ask("misc5.tunnel_header_1", spec << 16n, mask << 16n);
  },
  optionWord: () => undefined,
  integrity: (walk, item, asked) => integrity(walk, item, given(asked)),
  tag: (walk, item, asked) => {
    const index = item.fields.get("index")?.spec ?? 0n;
    plain(walk, registerOfTag(index, item.word), given(asked));
  },
  meta: (walk, _, asked) => plain(walk, registerOfMeta(walk.place.domain), given(asked)),
  colour: (walk, item, asked) => colour(walk, item, given(asked)),
  port: (walk, item, asked) => port(walk, item, asked),
  any: (_walk, _item, asked) => {
    const { spec, word } = given(asked);
    if (spec !== 0n) notImported(word, "a number of headers of any kind: the device matches headers that it knows");
  },
  connection: (walk, _, asked) => connection(walk, given(asked)),
  with: (walk, item) => {
    if (item.name === "geneve-opt") geneveOption(walk, item);
  },
};

function given(asked: Asked | undefined): Asked {
  if (asked === undefined) throw new Error("a field without a value");
  return asked;
}

function noRange(asked: Asked, word: Word = asked.word): Asked {
  if (asked.last !== 0n && asked.last !== asked.spec)
    notImported(word, "the match fields that it becomes have no ranges");
  return asked;
}

function plain(walk: PatternWalk, name: string, asked: Asked): void {
  const { spec, last, mask } = asked;
  if (last !== 0n && (last & mask) !== (spec & mask)) {
    if (walk.match.ranges >= 2) notImported(asked.word, "a rule has two ranges at most");
    if (last < spec) notImported(asked.word, "the upper end is below the value");
    walk.match.range(name, spec & mask, last & mask);
  } else walk.match.ask(name, spec, mask);
}

/** The EtherType after the addresses or after a tag: that of a tag is the kind of the next tag. */
function etherType(walk: PatternWalk, asked: Asked, second: string): void {
  const tag = asked.mask === ones(16) && asked.last === 0n ? TPIDS[String(asked.spec)] : undefined;
  if (tag === undefined) plain(walk, `${walk.level}.ethertype`, asked);
  else if (second === "") walk.match.ask(`${walk.level}.${tag}`, 1n);
  else walk.match.ask(`misc.${second}${tag}`, 1n);
}

/** The register that meters put their colour into, and connections their syndrome: mlx5 has one for both. */
export const STATE_REGISTER = 5;

/** The device numbers colours from red on, testpmd from green on. */
function colour(walk: PatternWalk, { word }: Item, { spec, mask, last }: Asked): void {
  if (mask === 0n) return;
  if (mask !== ones(8) || last !== 0n) notImported(word, "a colour is compared as a whole");
  walk.match.ask(`misc2.metadata_reg_c_${STATE_REGISTER}`, GREEN - spec, mask);
}

const GREEN = 2n;

/** Bits of the item, and the bits of the syndrome that they ask for (`flow_dv_translate_item_aso_ct` of mlx5). */
const VERDICTS = [
  { flag: 1n, value: 0n, mask: 0xc0n },
  { flag: 2n, value: 0x02n, mask: 0x02n },
  { flag: 4n, value: 0x40n, mask: 0xc0n },
  { flag: 8n, value: 0x80n, mask: 0xc0n },
  { flag: 0x10n, value: 0x01n, mask: 0x01n },
];

/** valid 1, changed 2, invalid 4, disabled 8, bad 16: what the connection before said of the frame. */
function connection(walk: PatternWalk, asked: Asked): void {
  const { spec, mask } = noRange(asked);
  let [value, care] = [0n, 0n];
  for (const verdict of VERDICTS) {
    if ((mask & verdict.flag) !== 0n) care |= verdict.mask;
    if ((spec & mask & verdict.flag) !== 0n) value |= verdict.value;
  }
  if (care !== 0n) walk.match.ask(`misc2.metadata_reg_c_${STATE_REGISTER}`, value, care);
}

const MF_AND_OFFSET = 0x3fffn;
const OFFSET = 0x1fffn;

function ipv4Fragment(walk: PatternWalk, { spec, last, mask, word }: Asked): void {
  const flags = `ext.${walk.level}_ipv4_flags`;
  const value = spec & mask;
  if (last !== 0n && (last & mask) !== value) {
    const isAny =
      value === 1n && (last & mask & MF_AND_OFFSET) === MF_AND_OFFSET && (mask & MF_AND_OFFSET) === MF_AND_OFFSET;
    if (!isAny) notImported(word, "no match field has the offset of a fragment");
    walk.match.ask(`${walk.level}.frag`, 1n);
    return;
  }
  if ((mask & OFFSET) !== 0n) {
    const isNone = (mask & MF_AND_OFFSET) === MF_AND_OFFSET && (value & MF_AND_OFFSET) === 0n;
    if (!isNone) notImported(word, "no match field has the offset of a fragment");
    walk.match.ask(`${walk.level}.frag`, 0n);
  }
  const flagMask = (mask & OFFSET) === 0n ? mask >> 13n : (mask >> 13n) & 6n;
  if (flagMask !== 0n) walk.match.ask(flags, value >> 13n, flagMask);
}

function integrity(walk: PatternWalk, item: Item, { spec, mask, word }: Asked): void {
  const level = (item.fields.get("level")?.spec ?? 0n) >= 2n ? "inner" : "outer";
  for (let bit = 0n; bit < 64n; bit++) {
    if (((mask >> bit) & 1n) === 0n) continue;
    const name = INTEGRITY[Number(bit)];
    if (name !== undefined) walk.match.ask(`${level}.${name}`, (spec >> bit) & 1n);
    // A mask of all bits, as `is` has it, asks for those that the device has.
    else if (mask !== ones(64) || ((spec >> bit) & 1n) === 1n)
      notImported(word, `the device has no result for bit ${bit}`);
  }
}

/** The register that a tag of an index is in. @throws NotImported */
export function registerOfTag(index: bigint, word: Word): string {
  if (index > LAST_TAG - FIRST_TAG) notImported(word, "a tag has an index of 0 to 5: registers C2 to C7");
  return `misc2.metadata_reg_c_${Number(index) + FIRST_TAG}`;
}

/** The port that frames come from. */
function port(walk: PatternWalk, item: Item, asked: Asked | undefined): void {
  if (asked === undefined ? item.fields.size > 0 : asked.mask === 0n) return;
  const { word } = asked ?? item;
  if (asked !== undefined && (noRange(asked).mask & 0xffffn) !== 0xffffn)
    notImported(word, "a port is compared as a whole");
  if (walk.hasPort) notImported(word, "a pattern names one port");
  if (walk.place.domain !== "fdb") notImported(word, "only transfer rules match frames of other ports");
  walk.hasPort = true;
  if (item.name === "port_representor") {
    if (asked !== undefined && asked.spec !== 0n) notImported(word, "the application sends by port 0 only, the PF");
    walk.match.ask("misc.source_port", 0n);
  } else walk.match.ask("misc.source_port", walk.place.sourceOf(asked?.spec, word));
}

/** All fields of an option at once, when its type comes. */
function geneveOption(walk: PatternWalk, item: Item): void {
  if (walk.match.bits("misc.geneve_tlv_option_0_exist") !== undefined) return;
  const [ofClass, type] = [item.fields.get("class"), item.fields.get("type")];
  const whole =
    ofClass !== undefined && maskOf(item, "class") === 0xffffn && type !== undefined && maskOf(item, "type") === 0xffn;
  if (!whole) notImported(item.word, "the device matches one option, of a class and a type that are given whole");
  walk.place.option(ofClass.spec, type.spec, item.word);
  walk.match.ask("misc.geneve_tlv_option_0_exist", 1n);
  const data = item.fields.get("data");
  const mask = maskOf(item, "data");
  if (data === undefined || mask === 0n) return;
  if (mask >> 32n !== 0n || data.spec >> 32n !== 0n)
    notImported(data.word, "the device matches the first word of an option");
  walk.match.ask("misc3.geneve_tlv_option_0_data", data.spec, mask);
}
