/**
 * Which format a text is in: the one that explains the most lines. Lines of commands of other tools are read by the
 * importers of these, at their places.
 */
import { inOrder } from "../formats/text/inOrder.js";
import { FORMATS, IMPORT_FORMATS, type ImportFormat } from "./formats.js";

/** A text for one importer. Lines of the other parts are empty in it, so that places stay. */
export interface Part {
  readonly format: ImportFormat;
  readonly text: string;
}

/** Characters of a text, and of each line, that are looked at. */
const LOOKED_AT = 100_000;
const START_OF_LINE = 400;

type IsLine = (line: string) => boolean;

const starting =
  (pattern: RegExp): IsLine =>
  (line) =>
    pattern.test(line.slice(0, START_OF_LINE));

const XFRM_LINE =
  /\bip\s+(?:-\S+\s+){0,4}x(?:frm)?\s+(?:s|p|state|policy)\s|^\W{0,80}src [\da-f.:/]+ dst [\da-f.:/]+(?:\s|$)|^\s+(?:proto (?:esp|ah|comp)|replay-window|aead|anti-replay|tmpl|crypto offload|dir (?:in|out|fwd))\s/;

/** Lines that are typical of a format. */
const TYPICAL: Readonly<Record<ImportFormat, IsLine>> = {
  "mlx5-dump": (line) => FORMATS["mlx5-dump"].recognizes(line),
  recording: starting(/^[ \t]*\{"(?:call|flowsteerRecord)":/),
  tc: starting(/\btc\s+(?:-\S+\s+){0,4}(?:filter|qdisc|chain)\b|^filter (?:protocol|parent|block|dev) |"kind"\s*:/),
  testpmd: starting(
    /\bflow\s+(?:create|validate|destroy|flush|queue|\w+_template|template_table|indirect_action)\s+\d|\bset\s+(?:raw_encap|raw_decap|sample_actions|vxlan|nvgre)\b/,
  ),
  ovs: (line) => /\bovs-(?:of|vs)ctl\b|\bcookie=0x/.test(line.slice(0, START_OF_LINE)) || line.includes("actions="),
  "ovs-dpctl": (line) =>
    /\bdpctl\/add-flow\s|\bovs-dpctl\s/.test(line.slice(0, START_OF_LINE)) ||
    inOrder(line, /(?:recirc_id|in_port)\(/, /actions:/),
  ethtool: starting(/\bethtool\s+(?:-[NUX]\b|--(?:config-n|rxfh|set-rxfh))|^\s*(?:Filter|Rule Type): /),
  classbench: starting(/^\s*@[\d.a-f:]+\//i),
  xfrm: starting(XFRM_LINE),
  nft: starting(/\bnft\s|^\s*(?:table|chain|type filter|set|map)\s+\S|"nftables"/),
};

/** Commands that no other importer reads. */
const COMMANDS: Partial<Readonly<Record<ImportFormat, IsLine>>> = {
  recording: starting(/^[ \t]*\{"call":"(?:ibv|mlx5dv)_/),
  // The devices of rules of any tool.
  tc: starting(
    /(?:^|[\s;&|'"`])(?:tc\s+(?:-\S+\s+){0,4}filter\s+(?:add|replace|del|delete)\s|ip\s+link\s+add\s.{0,100}\stype\s+(?:vxlan|geneve)\s)/,
  ),
  testpmd: starting(/(?:^|[\s;>:'"`])flow\s+create\s+\d+\s/),
  ovs: starting(/\bovs-ofctl\s[^|;]{0,100}\badd-flow\b/),
  ethtool: starting(/\bethtool\s+(?:-[NU]|--config-(?:nfc|ntuple))\s/),
  xfrm: starting(/(?:^|[\s;&|'"`])ip\s+(?:-\S+\s+){0,4}x(?:frm)?\s+(?:s|p|state|policy)\s/),
  nft: starting(/(?:^|[\s;&|'"`])nft\s+(?:-\S+\s+){0,4}add\s+rule\s/),
};

/** Formats that one importer reads together. */
const groupOf = (format: ImportFormat): ImportFormat => (format === "ovs-dpctl" ? "ovs" : format);

/** The format of a text; undefined if it is in none. */
export function formatOf(text: string): ImportFormat | undefined {
  const found = IMPORT_FORMATS.filter((name) => FORMATS[name].recognizes(text));
  if (found.length <= 1) return found[0];
  const counts = new Map(found.map((name) => [name, 0]));
  for (const line of text.slice(0, LOOKED_AT).split("\n"))
    for (const name of found) if (TYPICAL[name](line)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return found.reduce((best, name) => ((counts.get(name) ?? 0) > (counts.get(best) ?? 0) ? name : best));
}

/** The parts of a text by format, that with the most lines first; none if it is in no format. */
export function partsOf(text: string): readonly Part[] {
  const main = formatOf(text);
  if (main === undefined) return [];
  const others = otherLines(text, main);
  if (others.size === 0) return [{ format: main, text }];
  const lines = text.split("\n");
  const parts: Part[] = [];
  const taken = new Set<number>();
  for (const [format, own] of others) {
    for (const n of own) taken.add(n);
    const kept = lines.map((line, n) => (own.has(n) || ASSIGNMENT.test(line.slice(0, START_OF_LINE)) ? line : ""));
    parts.push({ format, text: kept.join("\n") });
  }
  return [{ format: main, text: lines.map((line, n) => (taken.has(n) ? "" : line)).join("\n") }, ...parts];
}

/** Variables of a shell script, which all commands use. */
const ASSIGNMENT = /^\s*(?:export\s+|local\s+|readonly\s+)?[A-Za-z_]\w*=[^\s,]*\s*$/;

/** Lines with commands of other formats than that of the text. A backslash continues one. */
function otherLines(text: string, main: ImportFormat): Map<ImportFormat, Set<number>> {
  const found = new Map<ImportFormat, Set<number>>();
  const commands = Object.entries(COMMANDS) as [ImportFormat, IsLine][];
  const isMain = commands.find(([format]) => groupOf(main) === format)?.[1];
  let open: ImportFormat | undefined;
  let isContinued = false;
  text.split("\n").forEach((line, n) => {
    if (!isContinued) {
      const isOwn = isMain?.(line) === true || TYPICAL[main](line) || /^\s*(?:#|\/\/)/.test(line);
      open = isOwn ? undefined : commands.find(([format, isLine]) => format !== groupOf(main) && isLine(line))?.[0];
    }
    isContinued = line.trimEnd().endsWith("\\");
    if (open === undefined) return;
    const lines = found.get(open) ?? new Set();
    found.set(open, lines.add(n));
  });
  return found;
}
