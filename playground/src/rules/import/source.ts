/** The text that the dialog "Import rules" has, and when it is offered. */
import { signal } from "@preact/signals";

/** What is imported. */
export const importSource = signal<{ readonly text: string; readonly file: string }>({ text: "", file: "pasted" });

/** How rules of other programs begin; none of it is JSON of a scenario. */
const OTHER_RULES =
  /^[\s>+$#]*(?:testpmd>|flow (?:create|validate|indirect|template|pattern_template) |tc (?:-\S+ )?(?:filter|qdisc|chain) |filter (?:parent|protocol|block) |ethtool (?:-[NUuKX]|--config)|ovs-ofctl |cookie=0x|recirc_id\(|[34]\d{3},0x|\{"flowsteerRecord"|\{"nftables"|ip x(?:frm)? (?:s|p|state|policy) |src [\d.:a-f]+ dst [\d.:a-f]+\s+proto esp |table netdev |nft (?:add|insert|list) |@\d+\.\d+\.\d+\.\d+\/)/m;

/** Whether a text is likely to be rules of another program. */
export function isForImport(text: string): boolean {
  return OTHER_RULES.test(text.slice(0, 20_000));
}
