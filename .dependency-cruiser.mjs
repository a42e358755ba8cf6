/**
 * The direction of imports, type imports included: `npm run lint:imports` (ARCHITECTURE.md, "Directions").
 *
 *     src:       base <- every room;  abi <- headers <- packet, engine <- model <- verbs, mlx5dv <- scenario <- run <- cli
 *                abi, headers, packet, engine, model, drivers <- explain <- proof <- cli
 *                abi, headers, packet, model, scenario, drivers <- formats <- import, export <- cli
 *                explain <- import, export
 *                abi, packet, engine, model <- snapshot <- fabric;  packet, model, explain <- vitest
 *                replay and calls import no room
 *     src/*.ts:  errors.ts imports base; index.ts and inline.ts are imported by entry points and cli
 *     bench:     playground/src/speed imports it
 *     assembly:  wire <- branch <- classify <- forward <- act <- walk;  crypto <- esp <- act;  out reads branches
 *
 * A folder may import the folders that its list names. Nothing imports in a circle.
 */
const MAY_IMPORT = {
  "src/base": [],
  "src/abi": [],
  "src/headers": ["abi"],
  "src/packet": ["abi", "headers"],
  "src/engine": ["abi"],
  "src/model": ["abi", "headers", "packet", "engine"],
  "src/verbs": ["abi", "packet", "model"],
  "src/mlx5dv": ["abi", "packet", "model", "verbs"],
  "src/scenario": ["abi", "headers", "packet", "model", "verbs", "mlx5dv"],
  "src/drivers": [],
  "src/run": ["abi", "packet", "model", "scenario"],
  "src/explain": ["abi", "headers", "packet", "engine", "model", "drivers"],
  "src/proof": ["abi", "headers", "packet", "engine", "model", "explain"],
  "src/formats": ["abi", "headers", "packet", "model", "scenario", "drivers"],
  "src/import": ["headers", "explain", "scenario", "formats", "drivers"],
  "src/export": ["abi", "headers", "packet", "model", "explain", "scenario", "formats"],
  "src/snapshot": ["abi", "packet", "engine", "model"],
  "src/fabric": ["abi", "packet", "engine", "model", "snapshot"],
  "src/replay": [],
  "src/vitest": ["packet", "model", "explain"],
  "src/calls": [],
  "src/cli": [],
  "assembly/wire": [],
  "assembly/branch": ["wire"],
  "assembly/classify": ["wire", "branch"],
  "assembly/forward": ["wire", "branch", "classify"],
  "assembly/crypto": [],
  "assembly/esp": ["wire", "branch", "crypto"],
  "assembly/act": ["wire", "branch", "classify", "forward", "esp"],
  "assembly/out": ["branch"],
  "assembly/walk": ["wire", "branch", "classify", "forward", "act", "esp", "crypto", "out"],
};

/** The command uses what the package exports. */
const ENTRY_POINTS = "^src/[^/]+/index\\.ts$";

const directions = Object.entries(MAY_IMPORT).map(([room, allowed]) => {
  const [root, folder] = room.split("/");
  const names = [folder, ...allowed, ...(root === "src" ? ["base"] : [])].map((name) => `^${root}/${name}/`);
  return {
    name: `direction-${room.replace("/", "-")}`,
    comment: `${room} imports ${allowed.join(", ") || (folder === "cli" ? "entry points only" : "no other folder")}`,
    severity: "error",
    // The entry point of explanations exports proofs too.
    from: { path: `^${room}/`, pathNot: "^src/explain/index\\.ts$" },
    to: { path: `^${root}/[^/]+/`, pathNot: folder === "cli" ? [...names, ENTRY_POINTS] : names },
  };
});

/** The folders of src/model: each may import those before it. */
const MODEL = [
  "profile",
  "base",
  "match",
  "queue",
  "table",
  "roce",
  "queuePair",
  "action",
  "esp",
  "rule",
  "devx",
  "dump",
  "flow",
  "traffic",
  "monitor",
  "device",
  "pool",
];

/** What formats share: the importers' frame, texts and matches; the exporters' frame; programs. */
const SHARED_BY_FORMATS = ["reading", "text", "rules", "writing", "program"];

/** The folders of the page: those of a line may import the lines before it and each other. */
const PAGE = [
  ["text"],
  ["engine", "proof", "importing"],
  ["state"],
  ["parts"],
  ["rules", "frames", "way", "answers", "share", "tour"],
  ["shell"],
];

const inOrder = [
  ...MODEL.map((folder, i) => [`^src/model/${folder}/`, `^src/model/(${MODEL.slice(i + 1).join("|")})/`]),
  ...PAGE.map((row, i) => [
    `^playground/src/(${row.join("|")})/`,
    `^playground/src/(${PAGE.slice(i + 1)
      .flat()
      .join("|")})/`,
  ]),
]
  // The last row has no folders after it.
  .filter(([, to]) => !to.includes("()"))
  .map(([from, to]) => ({
    name: `order-${from.replace(/\W+/g, "-")}`,
    comment: "a folder imports no folder that comes after it",
    severity: "error",
    from: { path: from },
    to: { path: to },
  }));

export default {
  forbidden: [
    {
      name: "no-circle",
      comment: "no file imports itself by way of others, types included",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    ...directions,
    ...inOrder,
    {
      name: "formats-apart",
      comment: "a format imports what formats share, and no other format; only nft becomes filters of tc",
      severity: "error",
      from: { path: "^src/formats/([^/]+)/" },
      to: { path: "^src/formats/", pathNot: `^src/formats/($1|${SHARED_BY_FORMATS.join("|")}|tc/read)/` },
    },
    {
      name: "formats-tc",
      comment: "only nft becomes filters of tc",
      severity: "error",
      from: { path: "^src/formats/", pathNot: "^src/formats/(nft|tc)/" },
      to: { path: "^src/formats/tc/" },
    },
    {
      name: "formats-read-write",
      comment: "what reads a format and what writes it share its fields only",
      severity: "error",
      from: { path: "^src/formats/([^/]+)/(read|write)/" },
      to: { path: "^src/formats/$1/(read|write)/", pathNot: "^src/formats/$1/$2/" },
    },
    {
      name: "root-errors",
      comment: "every folder imports errors.ts, which imports src/base only",
      severity: "error",
      from: { path: "^src/errors\\.ts$" },
      to: { path: "^src/", pathNot: "^src/base/" },
    },
    {
      name: "root-entry",
      comment: "only entry points and the command import an entry point of src",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(cli/|inline\\.ts$)" },
      to: { path: "^src/(index|inline)\\.ts$" },
    },
    {
      name: "bench-apart",
      comment: "benches import the package; the page's speed test alone imports them",
      severity: "error",
      from: { pathNot: "^(bench|playground/src/speed)/" },
      to: { path: "^bench/" },
    },
    {
      name: "playground-public",
      comment: "the playground imports the package by its name",
      severity: "error",
      from: { path: "^playground/" },
      to: { path: "^src/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    includeOnly: "^(src|assembly|playground|bench)/",
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".tsx", ".js"] },
  },
};
