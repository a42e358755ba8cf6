/** TIRs for the action rss: what is hashed depends on IP version and protocol of a frame. */
import type { Draft } from "../../../reading/draft.js";
import { notImported, type Word } from "../../../text/refusal.js";
import type { PatternWalk } from "../pattern/walk.js";
import type { Rss } from "./rss.js";
import type { Fate } from "./steps.js";

type Selector = "src_ip" | "dst_ip" | "l4_sport" | "l4_dport" | "ipsec_spi";

/** The key that the mlx5 driver hashes with where a rule has none. */
const KEY = "2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1ad9944a7d9563d59063c25f3fc1fdc2a";
const KEY_BYTES = 40;
/** Entries of a table for a number of queues that is no power of two, as the mlx5 driver makes it. */
const LARGEST = 512;

const LEFT_OUT = new Set([
  "tunnel",
  "vlan",
  "l2-payload",
  "vxlan",
  "geneve",
  "nvgre",
  "gtpu",
  "eth",
  "s-vlan",
  "c-vlan",
]);
const NO_FIELD = new Set([
  "ah",
  "l2tpv3",
  "pfcp",
  "pppoe",
  "ecpri",
  "mpls",
  "ipv4-chksum",
  "l4-chksum",
  "l2tpv2",
  "port",
]);
const IP_ONLY: Readonly<Record<4 | 6, readonly string[]>> = {
  4: ["all", "ip", "ipv4", "ipv4-frag", "ipv4-other"],
  6: ["all", "ip", "ipv6", "ipv6-frag", "ipv6-other", "ipv6-ex"],
};

export interface RssPlace {
  readonly draft: Draft;
  readonly walk: PatternWalk;
  /** The packet of the pattern that is the outer one when frames are spread; undefined for a new one. */
  readonly packet: "outer" | "inner" | undefined;
  readonly queue: (index: number) => string;
  readonly queues: number | undefined;
  readonly assume: (word: Word, reason: string) => void;
  /** What an element of the action is refused with. */
  readonly lack: (word: Word, reason: string) => void;
}

/** How frames are spread. @throws NotImported */
export function fatesOfRss(rss: Rss, word: Word, place: RssPlace): Fate[] {
  const names = queuesOf(rss, word, place).map(place.queue);
  const [first = ""] = names;
  if (new Set(names).size === 1) return [{ match: {}, suffix: "", action: { queue: first } }];
  const types = typesOf(rss, word, place);
  for (const one of rss.types ?? []) {
    if (LEFT_OUT.has(one.text) || NO_FIELD.has(one.text) || one.text.startsWith("l3-pre")) {
      place.lack(one, "the device does not hash this");
    }
  }
  if (rss.func?.text === "simple_xor") place.lack(rss.func, "the device has no such hash; Toeplitz is used");
  const spread = { rss, place, names, key: keyOf(rss, word, place) };
  const level = rss.level >= 2n && place.packet !== "inner" ? "inner" : "outer";
  const asked = level === "outer" ? place.packet : place.packet === "outer" ? "inner" : undefined;
  const known = asked === undefined ? undefined : ipOf(place.walk, asked);
  const versions = known === undefined ? ([4, 6] as const) : [known];
  const fates = versions.flatMap((version) => fatesOf(version, types, level, asked, spread, known !== undefined));
  // Frames that are not IP have no hash input, whatever is selected.
  if (known === undefined) fates.push(fate(4, "tcp", selected(4, undefined, types), {}, level, spread, " not IP"));
  return fates;
}

/** mlx5 (`mlx5_flow.c` `flow_list_create`) hashes the addresses where no type is given. */
function typesOf({ types }: Rss, word: Word, { assume }: RssPlace): readonly string[] {
  const given = types?.map(({ text }) => text).filter((text) => text !== "none") ?? [];
  if (given.length > 0) return given;
  assume(word, `no types given: ip, the default of ${types === undefined ? "testpmd" : "the mlx5 driver"}`);
  return ["ip"];
}

function ipOf({ match }: PatternWalk, level: "outer" | "inner"): 4 | 6 | undefined {
  const bits = match.bits(`${level}.ip_version`);
  return bits?.mask === 15n && (bits.value === 4n || bits.value === 6n) ? (Number(bits.value) as 4 | 6) : undefined;
}

function queuesOf(rss: Rss, word: Word, { queues, assume }: RssPlace): number[] {
  if (rss.queues === undefined || rss.queues.length === 0) {
    const number = queues ?? 1;
    assume(
      word,
      `no queues are given: the ${number} of the port${queues === undefined ? ", the default of testpmd" : ""}`,
    );
    return entries(Array.from({ length: number }, (_, n) => n));
  }
  return entries(rss.queues);
}

function entries(queues: readonly number[]): number[] {
  const isPower = (queues.length & (queues.length - 1)) === 0;
  return isPower ? [...queues] : Array.from({ length: LARGEST }, (_, n) => queues[n % queues.length] as number);
}

function keyOf({ key }: Rss, word: Word, place: RssPlace): string {
  if (key === undefined) {
    place.assume(word, "no key given: the default of the mlx5 driver");
    return KEY;
  }
  const digits = key.text.replace(/^0x/i, "").toLowerCase();
  if (digits.length !== 2 * KEY_BYTES) notImported(key, `the key of the device has ${KEY_BYTES} bytes`);
  return digits;
}

interface Spread {
  readonly rss: Rss;
  readonly place: RssPlace;
  readonly names: readonly string[];
  readonly key: string;
}

function fatesOf(
  version: 4 | 6,
  types: readonly string[],
  level: "outer" | "inner",
  pattern: "outer" | "inner" | undefined,
  spread: Spread,
  known: boolean,
): Fate[] {
  const upper = spread.place.walk.upperOf(pattern);
  const asked = known ? {} : { [`${level}.ip_version`]: version };
  const rest = selected(version, undefined, types);
  const fates: Fate[] = [];
  for (const protocol of upper === undefined ? (["tcp", "udp"] as const) : [upper]) {
    const fields = selected(version, protocol, types);
    if (upper === undefined && fields.join() === rest.join()) continue;
    const extra = upper === undefined ? { ...asked, [`${level}.${protocol}_sport`]: "any" } : asked;
    fates.push(
      fate(version, protocol, fields, extra, level, spread, ` ${version === 4 ? "ipv4" : "ipv6"} ${protocol}`),
    );
  }
  if (upper === undefined)
    fates.push(fate(version, "tcp", rest, asked, level, spread, version === 4 ? " ipv4" : " ipv6"));
  return fates;
}

function fate(
  version: 4 | 6,
  protocol: "tcp" | "udp",
  fields: readonly Selector[],
  match: Fate["match"],
  level: "outer" | "inner",
  { rss, place, names, key }: Spread,
  suffix: string,
): Fate {
  const { draft } = place;
  const l3 = version === 4 ? ("ipv4" as const) : ("ipv6" as const);
  const upper = fields.some((one) => one.startsWith("l4")) ? `${protocol} ` : "";
  const hash = `${level} ${fields.length === 0 ? "no fields" : `${l3} ${upper}${fields.join(" ")}`}`;
  const rqt = draft.once("rqts", { name: `queues ${shortList(names)}`, queues: [...names] });
  const isSymmetric = rss.func?.text === "symmetric_toeplitz";
  const ownKey = key === KEY ? "" : ` key ${key}`;
  const tir = draft.once("tirs", {
    name: `${rqt}: ${isSymmetric ? "symmetric " : ""}${hash}${ownKey}`,
    rqt,
    rx_hash_fn: "toeplitz" as const,
    ...(isSymmetric ? { rx_hash_symmetric: true } : {}),
    rx_hash_toeplitz_key: key,
    // Without fields the hash is 0: the first entry.
    [`rx_hash_field_selector_${level}`]:
      fields.length === 0
        ? { selected_fields: [] }
        : { l3_prot_type: l3, l4_prot_type: protocol, selected_fields: [...fields] },
  });
  return { match, suffix, action: { tir } };
}

/** A table that repeats its queues is named by one round of them. */
function shortList(names: readonly string[]): string {
  const round = names.indexOf(names[0] as string, 1);
  const isRepeated = names.length === LARGEST && round > 0;
  return (isRepeated ? names.slice(0, round) : names).map((one) => one.replace(/^queue /, "")).join(" ");
}

/** The fields that are hashed of frames of an IP version and a protocol. */
function selected(version: 4 | 6, protocol: "tcp" | "udp" | undefined, types: readonly string[]): Selector[] {
  const ip = version === 4 ? "ipv4" : "ipv6";
  const has = (...names: readonly string[]): boolean => names.some((one) => types.includes(one));
  const ports = protocol !== undefined && has("all", protocol, `${ip}-${protocol}`, `${ip}-${protocol}-ex`);
  const addresses = ports || has(...IP_ONLY[version]) || (protocol === undefined && has("sctp", `${ip}-sctp`));
  const [l3Source, l3Target] = [has("l3-src-only"), has("l3-dst-only")];
  const [l4Source, l4Target] = [has("l4-src-only"), has("l4-dst-only")];
  const noAddresses = (l4Source || l4Target) && !l3Source && !l3Target && !has("ip", ip, "all");
  return [
    ...(addresses && !noAddresses && (l3Source || !l3Target) ? (["src_ip"] as const) : []),
    ...(addresses && !noAddresses && (l3Target || !l3Source) ? (["dst_ip"] as const) : []),
    ...(ports && (l4Source || !l4Target) ? (["l4_sport"] as const) : []),
    ...(ports && (l4Target || !l4Source) ? (["l4_dport"] as const) : []),
    ...(has("esp", "all") && protocol === undefined ? (["ipsec_spi"] as const) : []),
  ];
}
