/**
 * What `ip xfrm state` and `ip xfrm policy` print, in the words of the commands that make it.
 *
 *     src 192.0.2.17 dst 192.0.2.1
 *         proto esp spi 0x00000008 reqid 8 mode transport
 *         replay-window 32
 *         aead rfc4106(gcm(aes)) 0x00112233445566778899aabbccddeeffa1b2c3d4 128
 *         crypto offload parameters: dev eth6 dir in mode packet
 */
import type { Word } from "../../text/refusal.js";

export const HEAD = /^src [\da-f.:/]+ dst [\da-f.:/]+(?:\s|$)/i;

/** What the lines after the first one begin with. */
const DETAIL =
  /^(?:proto|replay-window|aead|enc|auth|auth-trunc|comp|anti-replay|seq-hi|replay_window|encap|crypto|sel|dir|socket|tmpl|mark|output-mark|if_id|tfcpad|coa|lifetime|limit:|expire|stats:|add|lastused|security|level|enc-mask|share|uid|\d+\(bytes\)|(?:[\da-f]{8}\s?)+$)/;

export function isDetail(text: string): boolean {
  return DETAIL.test(text);
}

/** Whether a line is of a policy, or of a state; undefined where it could be of either. */
export function kindOf([first]: readonly Word[]): "policy" | "state" | undefined {
  if (first?.text === "proto") return "state";
  return first?.text === "dir" || first?.text === "socket" ? "policy" : undefined;
}

/** The words of the command for a line. */
export function turned(line: readonly Word[], kind: "policy" | "state"): readonly Word[] {
  const [first] = line;
  if (first === undefined) return [];
  const text = line.map((word) => word.text).join(" ");
  const named = (name: string, pattern: RegExp): Word[] => {
    const value = pattern.exec(text)?.[1];
    return value === undefined ? [] : at(first, name, value);
  };
  switch (first.text) {
    case "anti-replay":
    case "seq-hi":
      return [
        ...named("replay-seq", /(?:^|\s)seq (\w+)/),
        ...named("replay-oseq", /\soseq (\w+)/),
        ...named("replay-seq-hi", /(?:^|\s)seq-hi (\w+)/),
        ...named("replay-oseq-hi", /\soseq-hi (\w+)/),
      ];
    case "replay_window":
      return named("replay-window", /^replay_window (\d+)/);
    case "replay-window":
      return text.includes(" failed ") ? [] : plain(line);
    case "limit:":
      return named("limit packet-hard", /hard (\d+)\(packets\)/).flatMap((word) => at(word, ...word.text.split(" ")));
    case "encap": {
      const value = (name: string): string => new RegExp(`\\s${name} (\\S+)`).exec(text)?.[1] ?? "";
      return at(first, "encap", ...["type", "sport", "dport", "addr"].map(value));
    }
    case "crypto": {
      const dev = line[line.findIndex((word) => word.text === "dev") + 1] ?? first;
      const offload = at(first, "offload", ...(text.endsWith("mode packet") ? ["packet"] : []), "dev");
      return [...offload, dev, ...(kind === "state" ? named("dir", /\sdir (\w+)/) : [])];
    }
    case "proto":
    case "aead":
    case "enc":
    case "auth":
    case "auth-trunc":
    case "comp":
    case "sel":
    case "src":
    case "dir":
    case "socket":
    case "tmpl":
    case "mark":
    case "output-mark":
    case "if_id":
    case "tfcpad":
    case "level":
      return plain(line);
    default:
      return [];
  }
}

/** Without numbers in their other notation, the bits of a key, and masks of algorithms. */
function plain(line: readonly Word[]): readonly Word[] {
  const words: Word[] = [];
  for (let n = 0; n < line.length; n++) {
    const word = line[n] as Word;
    if (/^(?:share|enc-mask|auth-mask|comp-mask|uid)$/.test(word.text)) n++;
    else if (!/^\(|^bits\)$/.test(word.text))
      words.push({ ...word, text: word.text.replace(/^(\w+)\(\w+\)$/, stripped) });
  }
  return words;
}

/** `8(0x00000008)`; names of algorithms stay. */
const stripped = (whole: string, number: string): string => (/^(?:0x)?[\da-f]+$/i.test(number) ? number : whole);

function at({ place }: Word, ...texts: readonly string[]): Word[] {
  return texts.map((text) => ({ text, place }));
}
