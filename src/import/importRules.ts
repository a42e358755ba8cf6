/** Reads sources, each by the importer of its format, into one scenario. */
import { checkArray, checkObject, checkOptions, wrongType } from "../base/checks.js";
import { inCall, refuse } from "../errors.js";
import { namesHint } from "../base/nearest.js";
import { DRIVER_NAMES, driversOf, type DriverName } from "../drivers/driver.js";
import type { Scenario } from "../scenario/document.js";
import { Draft, type ListKey } from "../formats/reading/draft.js";
import type { DriverNote, ImportFinding, SourceElement } from "../formats/reading/finding.js";
import { Findings } from "../formats/reading/findings.js";
import { hasKeys } from "../formats/text/keys.js";
import type { Format, Importer } from "../formats/reading/format.js";
import { formatOf, partsOf } from "./recognition.js";
import { refuseWhatFails } from "./loads.js";
import { addHosts, addReceivers } from "./receivers.js";
import { FORMATS, IMPORT_FORMATS, type ImportFormat } from "./formats.js";

/** A text to import, and its name in findings. */
export interface ImportSource {
  readonly file: string;
  readonly text: string;
}

export interface ImportOptions {
  /** Left out, it is recognized from each text. */
  readonly format?: ImportFormat;
  /** Whether elements that cannot be carried over are left out, and listed in the scenario under `notImported`. */
  readonly lenient?: boolean;
  /** A scenario that the rules are added to. It stays as it is. */
  readonly into?: Scenario;
  /**
   * What ports, interfaces and queues of the sources are on the device: `{ port0: "uplink", eth1: "vf1",
   * "queue 3": "web" }`. A port is "uplink", "port2", "pf" or "vf1"; a queue has the name that it gets.
   */
  readonly map?: Readonly<Record<string, string>>;
  /** Variables that texts use and do not set, without `$`: `{ REP: "eth2_0", dst_mac: "02:00:00:00:00:02" }`. */
  readonly set?: Readonly<Record<string, string>>;
  /** Whether rules are called by the places of their elements, such as `rules.sh:3`. */
  readonly namePlaces?: boolean;
  /**
   * The driver between rules and device: `mlx5-pmd` (DPDK, `dv_flow_en` 1), `mlx5-pmd-hws` (`dv_flow_en` 2), `mlx5e`
   * (Linux), or `none`, for the order of the text. Left out, rules of testpmd have `mlx5-pmd`, those of Linux `mlx5e`.
   */
  readonly driver?: DriverName;
  /** The profile of the scenario's device, which `importScenario` checks the rules against. @default that of `into` */
  readonly profile?: NonNullable<NonNullable<Scenario["device"]>["profile"]>;
}

export interface ImportResult {
  /** Null if an element was refused, unless the import is lenient. */
  readonly scenario: Scenario | null;
  /** In the order of the sources. */
  readonly findings: readonly ImportFinding[];
  /**
   * The element that an object of the scenario comes from, by the place of the object in the document: `rules[3]`.
   * Undefined for what no element of a source made.
   */
  readonly elementOf: (path: string) => SourceElement | undefined;
  /** What the driver does to the rules, in the order of the sources. */
  readonly driver: readonly DriverNote[];
  /** Whether the sources give their rules an order by listing them, as those of ClassBench do. */
  readonly isOrdered: boolean;
  /** The formats of the sources, in the order in which they were first met. */
  readonly formats: readonly ImportFormat[];
}

/**
 * Turns the rules of devices and other programs into a scenario. Several sources make one scenario.
 * `docs/import/` has a page for each format. Whether the scenario loads is not checked: `importScenario` does.
 *
 *     const { scenario, findings } = importRules(readFileSync("dump.csv", "utf8"), { lenient: true });
 *     for (const finding of findings) console.warn(printFinding(finding));
 *
 * @param sources a text, or several with their names
 * @throws TypeError an argument of the wrong type; SteeringError EINVAL an unknown option or format
 */
export function importRules(sources: string | readonly ImportSource[], options: ImportOptions = {}): ImportResult {
  return resultOf(
    readSources(
      inCall("importRules", () => checked(sources, options)),
      sources,
    ),
  );
}

/**
 * `importRules`, and the scenario loads: what the device refuses is not imported, as the element that it comes from.
 *
 * @throws as `importRules`
 */
export async function importScenario(
  sources: string | readonly ImportSource[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const read = readSources(
    inCall("importScenario", () => checked(sources, options)),
    sources,
  );
  const { draft, findings, lenient } = read;
  const textOf = (file: string): string | undefined => listOf(sources).find((one) => one.file === file)?.text;
  if (lenient || findings.refused.length === 0) await refuseWhatFails(draft, findings, textOf);
  return resultOf(read);
}

/** Whether a text is in a format that can be imported. */
export function recognizes(text: string): boolean {
  return formatOf(text) !== undefined;
}

interface Read {
  readonly draft: Draft;
  readonly findings: Findings;
  readonly lenient: boolean;
  readonly into: Scenario | undefined;
  readonly isOrdered: boolean;
  readonly formats: readonly ImportFormat[];
}

function readSources(options: ImportOptions, sources: string | readonly ImportSource[]): Read {
  const { lenient = false, format, into, map, set, driver, profile, namePlaces = false } = options;
  const drivers = driversOf(driver);
  const findings = new Findings();
  const draft = new Draft(withProfile(into, profile), map, set);
  const importers = new Map<ImportFormat, Importer>();
  for (const { file, text } of listOf(sources)) {
    findings.file = file;
    findings.hidesKeys ||= hasKeys(text);
    draft.file = file;
    draft.comesFrom({ line: 1, column: 1 }, "");
    const from = findings.list.length;
    const parts = format === undefined ? partsOf(text) : [{ format, text }];
    if (parts.length === 0)
      findings.refuse({ line: 1, column: 1 }, "", HINTS.find(([of]) => of.test(text))?.[1] ?? UNKNOWN);
    for (const part of parts) {
      let importer = importers.get(part.format);
      importer ??= FORMATS[part.format].importer(draft, findings, drivers);
      importers.set(part.format, importer);
      importer.add(part.text);
    }
    findings.sortFrom(from);
  }
  for (const importer of importers.values()) importer.finish?.();
  for (const [name, to] of draft.wrongMaps)
    findings.refuse({ line: 1, column: 1 }, `${name}=${to}`, "a device or port is mapped to uplink, port2, pf or vf1");
  if (drivers.kernel !== null) {
    if (OF_KERNEL.some((one) => importers.has(one))) addHosts(draft, drivers.kernel);
    if (WITH_DRIVERS.some((one) => importers.has(one))) addReceivers(draft);
  }
  if (namePlaces) findings.rename(draft.nameByPlace());
  const formats = [...importers.keys()];
  return { draft, findings, lenient, into, formats, isOrdered: formats.length > 0 && formats.every(isOrderedFormat) };
}

function isOrderedFormat(name: ImportFormat): boolean {
  const format: Format = FORMATS[name];
  return format.isOrdered === true;
}

function listOf(sources: string | readonly ImportSource[]): readonly ImportSource[] {
  return typeof sources === "string" ? [{ file: "input", text: sources }] : sources;
}

function withProfile(into: Scenario | undefined, profile: ImportOptions["profile"]): Scenario | undefined {
  if (profile === undefined) return into;
  return { flowsteer: 1, ...into, device: { ...into?.device, profile } };
}

function resultOf({
  draft,
  findings: { list, refused, driver },
  lenient,
  into,
  isOrdered,
  formats,
}: Read): ImportResult {
  const elementOf = (path: string): SourceElement | undefined => {
    const [, key = "", index = ""] = /^(\w+)\[(\d+)\]/.exec(path) ?? [];
    const object: object | undefined = draft.list(key as ListKey)?.[Number(index)];
    return object === undefined ? undefined : draft.elementOf(object);
  };
  if (refused.length > 0 && !lenient) return { scenario: null, findings: list, driver, isOrdered, elementOf, formats };
  const notImported = [
    ...(into?.notImported ?? []),
    ...refused.map(({ file: source, line, column, text, reason }) => ({ source, line, column, text, reason })),
  ];
  const scenario = draft.scenario();
  return {
    scenario: notImported.length === 0 ? scenario : { ...scenario, notImported },
    findings: list,
    driver,
    isOrdered,
    elementOf,
    formats,
  };
}

/** Formats of rules of an eSwitch, whose functions have drivers of their own. */
const WITH_DRIVERS: readonly ImportFormat[] = ["tc", "testpmd", "ovs", "ovs-dpctl", "nft"];

/** Formats of rules that the kernel has, too: it receives what they leave. */
const OF_KERNEL: readonly ImportFormat[] = ["tc", "ovs", "ovs-dpctl", "nft", "ethtool"];

const UNKNOWN = `its format is not recognized; formats: ${IMPORT_FORMATS.join(", ")}`;

/** What to do with texts of other kinds that people have. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:rte_flow_(?:create|item|action|attr)|ibv_create_flow|ibv_flow_(?:attr|spec)|mlx5dv_(?:create_flow|dr_)|doca_flow_)\w*/,
    "source code is not read: run the program under `flowsteer record` and import the recording",
  ],
  [
    /^(?:-A|:)(?:INPUT|OUTPUT|FORWARD|PREROUTING|POSTROUTING)\b|\b(?:ip6?|eb|arp)tables(?:-(?:legacy|nft|restore|save))?\s+-/m,
    "iptables rules run in the kernel, not in a NIC; iptables-translate rewrites them for nft",
  ],
  [
    /\bSEC\("xdp|\bxdp_md\b|\bXDP_(?:DROP|PASS|TX|REDIRECT)\b|\bip\s+link\s+set\b.{0,80}\bxdp/,
    "XDP programs run on the host: write what they match as tc filters or testpmd rules",
  ],
  [
    /#include\s*<(?:core|v1model|psa|pna|tna)\.p4>|^[ \t]*(?:control|parser) \w+ ?\([^)]{0,200}\b(?:inout|packet_in|packet_out)\b/m,
    "P4 programs are not read: import the rules that the compiled program installs, such as testpmd commands",
  ],
];

function checked(sources: string | readonly ImportSource[], options: ImportOptions): ImportOptions {
  if (typeof sources !== "string") checkSources(sources);
  checkOptions("", options, {
    format: "string",
    lenient: "boolean",
    into: "object",
    map: "object",
    set: "object",
    namePlaces: "boolean",
    driver: "string",
    profile: "string",
  });
  const { format, map = {}, set = {}, driver } = options;
  if (format !== undefined && !IMPORT_FORMATS.includes(format)) {
    const hint = namesHint(format, "formats", IMPORT_FORMATS);
    refuse({ code: "EINVAL", reason: "unsupported", path: "format", value: format, hint });
  }
  if (driver !== undefined && !DRIVER_NAMES.includes(driver)) {
    const hint = namesHint(driver, "drivers", DRIVER_NAMES);
    refuse({ code: "EINVAL", reason: "unsupported", path: "driver", value: driver, hint });
  }
  for (const [option, values] of Object.entries({ map, set })) {
    for (const [name, to] of Object.entries(values)) {
      if (typeof to !== "string") wrongType(`${option}.${name}`, "a string", to);
    }
  }
  return options;
}

function checkSources(sources: readonly ImportSource[]): void {
  checkArray("sources", sources);
  sources.forEach((source, n) => {
    checkObject(`sources[${n}]`, source);
    for (const key of ["file", "text"] as const) {
      if (typeof source[key] !== "string") wrongType(`sources[${n}].${key}`, "a string", source[key]);
    }
  });
}
