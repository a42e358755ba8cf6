// Dumps of hardware steering with random definers and entries, as the driver and the public steering dump tool write them. The layout
// is that of the tool's parser; the words that definers choose are given here by number, so nothing of src/ is used.

/** Templates: words and bytes of the header layout with the mask of each; `any` is a random mask, `fixed` words have a value too. */
const TEMPLATES = [
  { words: { 2: "00300000", 64: "any", 65: "any" }, fixed: { 2: "00100000" } },
  { words: { 2: "003c0000", 64: "any", 24: "ffffffff" }, fixed: { 2: "00140000" } },
  { words: { 2: "003c0000", 65: "any", 24: "any" }, fixed: { 2: "00280000" } },
  { words: { 0: "ffffffff", 1: "ffffffff", 8: "ffffffff" }, bytes: { 36: "ff", 37: "ff" } },
  { words: { 2: "0003ffff", 3: "0003ffff" }, fixed: { 2: "0002a00b", 3: "0001400c" } },
  {
    jumbo: true,
    words: { ...each(68, 4, "any"), ...each(76, 4, "ffffffff"), 2: "00300000" },
    fixed: { 2: "00200000" },
  },
  { words: { 14: "00ffff00" }, bytes: { 59: "ff" } },
  {
    words: { 98: "ffffff00", 24: "0000ffff", 66: "any", 6: "00300000" },
    bytes: { 59: "ff" },
    fixed: { 24: "12b5", 6: "100000" },
    at: { 59: "11" },
  },
  { words: { 148: "any", 149: "ffffffff", 142: "any", 145: "any", 124: "any" } },
  { words: { 29: "00ffffff", 101: "any" } },
  { words: { 33: "ff000000", 137: "ffffffff", 136: "any" } },
  { words: { 120: "ffffffff", 22: "000fffff", 27: "01ff0000" } },
  { words: { 94: "ffff0000" }, bytes: { 59: "ff" }, at: { 59: "01" } },
];

function each(first, count, mask) {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [first + n, mask]));
}

const hex = (value, digits) => (value >>> 0).toString(16).padStart(digits, "0");
const address = (n) => `0x${hex(n, 8)}`;

/** Lines of a dump of one context. */
export function drawDump(random, rulesOfMatcher) {
  const context = "0x5566770";
  const lines = [
    `4000,${context},1,mlx5_3,1.0`,
    `4001,${context},33,2,256,None,4,65535`,
    `4002,${context},28.43.1014,1,1,25,24,1167,3,3,0,17,0,4,136,137,135,134,255,1,255,1,0`,
    `4003,${context},0,0,256,1,256,0,0,0,255`,
    `4004,${context},0,0,2114,9,127,8192,128,6,14,64,5276,5276,14,2047`,
    `4005,${context},0,11`,
  ];
  const hardware = [];
  const owners = [];
  const tables = [
    { id: "0x7a001000", ft: 0x21, type: 0, level: 1, start: 0x40000100 },
    { id: "0x7a002000", ft: 0x22, type: 0, level: 2, start: 0x40000200 },
    { id: "0x7a003000", ft: 0x23, type: 1, level: 1, start: 0x40000300 },
  ];
  for (const { ft, start } of tables) hardware.push(`4940,0x${ft.toString(16)},${address(start)},0x0`);
  const ends = [
    [0x50000001, "TIR", "0x171"],
    [0x50000002, "DROP", ""],
    [0x50000003, "FT", "0x22"],
    [0x50000004, "TIR", "0x172"],
  ];
  for (const [at, type, id] of ends) hardware.push(`4910,${address(at)},${type},${id}`);
  TEMPLATES.forEach((template, n) => {
    const table = tables[n % 3];
    const matcher = `0x7b00${hex(n, 2)}00`;
    const definer = 40 + n;
    const owner = String(300 + n);
    const made = drawDefiner(random, template);
    const text = [
      `4200,${matcher},${table.id},1,${0x90 + n},0x0,${n + 1},${owner},0,-1,0,-1,0,-1,0,0x0,0x0`,
      `4201,${matcher},${n},0,4,1,0,0,0,0`,
      `4202,0x7c00${hex(n, 2)}00,${matcher},3,0`,
      `4203,0x7d00${hex(n, 2)}00,0x7c00${hex(n, 2)}00,${definer},${template.jumbo ? 1 : 0},${made.selectors},${made.mask}`,
      `4204,0x7e00${hex(n, 2)}00,${matcher},1,0,1,TIR`,
    ];
    (table.lines ??= []).push(...text);
    const entries = Array.from({ length: rulesOfMatcher }, (_, rule) => {
      const at = 0x10000000 + n * 0x1000 + rule;
      const end = ends[(table.ft === 0x21 ? [0, 1, 2, 3] : [0, 1, 3])[random.below(table.ft === 0x21 ? 4 : 3)]];
      return `4930,${address(at)},${owner},0x${drawEntry(random, template, made, definer, end[0])}`;
    });
    owners.push([owner, entries]);
  });
  for (const { id, ft, type, level, start, lines: own = [] } of tables) {
    lines.push(`4100,${id},${context},${ft},${type},${type},${level},0,${address(start)},0x0,0x0,0x0`, ...own);
  }
  lines.push("4900", ...hardware);
  for (const [owner, entries] of owners) lines.push(`4920,${owner}`, ...entries);
  return `${[...lines, "4901"].join("\n")}\n`;
}

function drawDefiner(random, { words, bytes = {} }) {
  const dwords = Object.keys(words).map(Number);
  const selected = Object.keys(bytes).map(Number);
  const dwordMasks = dwords.map((n) => (words[n] === "any" ? hex(random.word() | random.word(), 8) : words[n]));
  const padded = [...dwords, ...Array(9).fill(0)].slice(0, 9);
  const paddedBytes = [...selected, ...Array(8).fill(0)].slice(0, 8);
  const selectors = `${padded.map((n) => `0x${n.toString(16)}`).join("-")},${paddedBytes.map((n) => `0x${n.toString(16)}`).join("-")}`;
  const masks = [...dwordMasks, ...Array(9).fill("00000000")].slice(0, 9);
  const byteMasks = [...Object.values(bytes), ...Array(8).fill("00")].slice(0, 8);
  return { dwords, selected, selectors, mask: tag(masks, byteMasks) };
}

/** Words 8 to 0, then bytes 7 to 0. */
const tag = (words, bytes) => [...words.toReversed(), ...bytes.toReversed()].join("");

function drawEntry(random, { jumbo, fixed = {}, at = {} }, { dwords, selected, mask }, definer, to) {
  const words = Array.from({ length: 9 }, (_, n) => {
    const word = dwords[n];
    if (word === undefined) return "00000000";
    return hex(fixed[word] === undefined ? random.word() : Number.parseInt(fixed[word], 16), 8);
  });
  const bytes = Array.from({ length: 8 }, (_, n) => {
    const byte = selected[n];
    if (byte === undefined) return "00";
    return at[byte] ?? hex(random.below(256), 2);
  });
  // A tag has no bits that the mask does not have.
  const full = tag(words, bytes);
  const masked = [...full]
    .map((digit, n) => (Number.parseInt(digit, 16) & Number.parseInt(mask[n], 16)).toString(16))
    .join("");
  const actions = jumbo
    ? ""
    : [
        `0c${hex(random.below(2 ** 24), 6)}`,
        random.chance(0.5) ? "00000000" : `14${hex(1 + random.below(1000), 6)}`,
        "00000000",
      ].join("");
  // | format | counter | miss 16 | definer 8 | miss 8 | miss 32 | hit 16 | hash 8 | hit 8 | hit 27, 5 |
  const low = ((to % 2 ** 26) * 2 + 1) * 32;
  const control = [
    jumbo ? "05" : "04",
    hex(random.chance(0.5) ? 0 : random.below(2 ** 24), 6),
    "0000",
    hex(definer, 2),
    "28",
    "00001dc0",
    "0004",
    "01",
    hex(Math.floor(to / 2 ** 26), 2),
    hex(low, 8),
  ].join("");
  return `${control}${actions}${masked.slice(actions.length)}`;
}
