/** What can be taken away: how each file or text is made. */
import { engine, reporting } from "../engine/client.js";
import type { ExportFormat } from "flowsteer/export";
import type { Progress } from "../engine/api.js";
import { answer } from "../state/answer.js";
import { openFile } from "../state/capture.js";
import { rules, rulesName, source as sourceText } from "../state/document.js";
import { way } from "../state/selection.js";
import { written } from "./out/client.js";
import type { Source } from "./out/steering.js";
import { fileName, programText } from "./out/texts.js";

export interface Made {
  readonly blob: Blob;
  readonly file: string;
  /** What it lacks, as a sentence. */
  readonly lacks?: string;
}

export interface Item {
  readonly title: string;
  readonly about: string;
  /** Whether it is text, which can be copied too. */
  readonly copies: boolean;
  /** @returns null if it was stopped */
  readonly make: (progress: Progress) => Promise<Made | null>;
}

export interface Section {
  readonly title: string;
  readonly items: readonly Item[];
}

/** What there is of the rules, frames and selection of the moment. */
export function sections(): Section[] {
  const base = fileName(rulesName.value);
  const taken = answer.value;
  const frames = taken?.frames ?? 0;
  return [
    {
      title: "Rules",
      items: [
        ...ofSource(),
        {
          title: "Scenario",
          about: sourceText.value === null ? "the rules as they are, JSON" : "what the text becomes, JSON",
          copies: true,
          make: () => made(rules.peek(), `${base}.json`),
        },
      ],
    },
    ...(taken === null ? [] : [ofPrograms(base)]),
    ...(frames === 0 ? [] : [ofFrames(base), ofCode(base)]),
    ...(way.value === null ? [] : [ofWay(base, way.value.frame)]),
  ];
}

/** The text of another program that the rules come from. */
function ofSource(): Item[] {
  const of = sourceText.value;
  if (of === null) return [];
  const { file } = of.options;
  const name = file.includes(".") ? file : `${file}.txt`;
  return [{ title: "Rules", about: "the text as it is", copies: true, make: () => made(of.text, name) }];
}

/** What `flowsteer export` writes, and how its files end. */
const EXPORTS: readonly (readonly [format: ExportFormat, title: string, about: string, suffix: string])[] = [
  ["c", "C program", "creates the rules with libibverbs and libmlx5", "c"],
  ["typescript", "Rules as TypeScript", "creates the rules with flowsteer", "ts"],
  ["tc", "tc commands", "the eSwitch as filters of Linux", "sh"],
  ["testpmd", "testpmd commands", "for DPDK's testpmd", "txt"],
  ["ovs", "Flows of Open vSwitch", "the eSwitch for ovs-ofctl", "flows"],
  ["dump", "Steering dump", "direct rules as mlx5dv_dump_dr_domain writes them", "csv"],
  ["dot", "Graph of the tables", "for Graphviz", "dot"],
  ["mermaid", "Graph for Mermaid", "which repository pages render", "mmd"],
  ["svg", "Graph as a picture", "SVG, for browsers", "svg"],
];

function ofPrograms(base: string): Section {
  const items = EXPORTS.map(([format, title, about, suffix]): Item => ({
    title,
    about,
    copies: true,
    make: async () => {
      const { asked } = await import("../importing/client.js");
      const { text, left } = await asked((importer) => importer.write(rules.peek(), format));
      const [first] = left;
      const one = await made(text, `${base}.${suffix}`);
      if (first === undefined) return one;
      const count = left.length === 1 ? "1 element is" : `${left.length} elements are`;
      return { ...one, lacks: `${count} left out, the first: ${first}.` };
    },
  }));
  return { title: "Rules of other programs", items };
}

function ofFrames(base: string): Section {
  return {
    title: "Frames",
    items: [
      {
        title: "Annotated capture",
        about: "each frame with a comment on what happened to it, pcapng",
        copies: false,
        make: async (progress) => named(await engine().annotated(reporting(progress)), `${base}-annotated.pcapng`),
      },
      {
        title: "Capture out",
        about: "frames as delivered, one interface per destination, pcapng",
        copies: false,
        make: async (progress) => named(await engine().captureOut(reporting(progress)), `${base}-out.pcapng`),
      },
      {
        title: "Outcomes as CSV",
        about: "one row per frame",
        copies: false,
        make: (progress) => rowsOf("csv", `${base}.csv`, progress),
      },
      {
        title: "Outcomes as NDJSON",
        about: "one line of JSON per frame",
        copies: false,
        make: (progress) => rowsOf("ndjson", `${base}.ndjson`, progress),
      },
    ],
  };
}

function ofCode(base: string): Section {
  const frame = way.value?.frame ?? null;
  return {
    title: "Code",
    items: [
      {
        title: "TypeScript",
        about: "a program that steers the frames and prints what happened to each",
        copies: true,
        make: () => made(programText(rules.peek(), rulesName.peek(), openFile.peek()?.name ?? null), `${base}.ts`),
      },
      {
        title: "Test of all frames",
        about: "for vitest: it expects what happened here",
        copies: true,
        make: (progress) => testOf(null, `${base}.test.ts`, progress),
      },
      ...(frame === null
        ? []
        : [
            {
              title: `Test of frame ${frame}`,
              about: "for vitest, with the earlier frames where rules keep state",
              copies: true,
              make: (progress: Progress) => testOf(frame, `${base}-frame-${frame}.test.ts`, progress),
            },
          ]),
    ],
  };
}

function ofWay(base: string, frame: number): Section {
  return {
    title: `Explanation of frame ${frame}`,
    items: [
      {
        title: "Text",
        about: "as flowsteer trace and flowsteer why print it",
        copies: true,
        make: async () => {
          const { explanationText } = await import("./out/explanation.js");
          return way.value === null ? null : made(explanationText(way.value), `${base}-frame-${frame}.txt`);
        },
      },
      {
        title: "JSON",
        about: "one line for the trace, one for the explanation",
        copies: true,
        make: async () => {
          const { explanationLines } = await import("./out/explanation.js");
          return way.value === null ? null : made(explanationLines(way.value), `${base}-frame-${frame}.ndjson`);
        },
      },
    ],
  };
}

function source(): Source {
  return { rules: rules.peek(), name: rulesName.peek(), capture: openFile.peek() };
}

async function rowsOf(format: "csv" | "ndjson", file: string, progress: Progress): Promise<Made | null> {
  return named(await written((writer, report) => writer.rows(source(), format, report), progress), file);
}

async function testOf(frame: number | null, file: string, progress: Progress): Promise<Made | null> {
  const text = await written((writer, report) => writer.test(source(), frame, report), progress);
  return text === null ? null : made(text, file);
}

function made(text: string, file: string): Promise<Made> {
  return Promise.resolve({ blob: new Blob([text], { type: "text/plain" }), file });
}

function named(blob: Blob | null, file: string): Made | null {
  return blob === null ? null : { blob, file };
}
