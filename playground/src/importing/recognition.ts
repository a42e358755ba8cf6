/** Which texts are rules of other programs. */

/** Characters of a text that are looked at. */
const LOOKED_AT = 20_000;

/** How rules of other programs begin; none of it is JSON of a scenario. */
const OTHER_RULES =
  /^[\s>+$#]*(?:testpmd>|flow (?:create|validate|indirect|template|pattern_template) |tc (?:-\S+ )?(?:filter|qdisc|chain) |filter (?:parent|protocol|block) |ethtool (?:-[NUuKX]|--config)|ovs-ofctl |cookie=0x|recirc_id\(|[34]\d{3},0x|\{"flowsteerRecord"|\{"nftables"|ip x(?:frm)? (?:s|p|state|policy) |src [\d.:a-f]+ dst [\d.:a-f]+\s+proto esp |table netdev |nft (?:add|insert|list) |@\d+\.\d+\.\d+\.\d+\/)/m;

/** Whether a text is likely to be rules of another program. */
export function isSourceText(text: string): boolean {
  return OTHER_RULES.test(text.slice(0, LOOKED_AT));
}

/** The text of a file of rules of another program; null for other files. */
export async function sourceTextOf(file: File): Promise<string | null> {
  const start = await file.slice(0, LOOKED_AT).text();
  return !start.includes("\0") && isSourceText(start) ? file.text() : null;
}
