/** Programs and tests, as text that runs when it is saved. */
import type { FrameInput } from "flowsteer/scenario";
import { hexOf } from "../../text/hex.js";

/** What a test expects of a frame: names, as in the rows of the command. */
export interface Expected {
  readonly verdict: string;
  readonly reason: string | null;
  readonly to: readonly string[];
  readonly copies: readonly string[];
  readonly rules: readonly string[];
}

/** A name as a part of a file name. */
export function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "") || "rules";
}

/**
 * A program that steers the frames and prints what happened to each.
 * @param rules JSON that the package accepts
 * @param capture the file that it reads; null for the frames of the document
 */
export function programText(rules: string, name: string, capture: string | null): string {
  const file = `${fileName(name)}.ts`;
  const packed = capture?.endsWith(".gz") === true;
  const imports = [
    ...(capture === null
      ? []
      : [
          'import { createReadStream } from "node:fs";',
          ...(packed ? ['import { createGunzip } from "node:zlib";'] : []),
          'import { readCapture, type Outcome } from "flowsteer";',
        ]),
    ...(capture === null ? ['import type { Outcome } from "flowsteer";'] : []),
    `import { ${capture === null ? "" : "cannotRun, "}loadScenario, outcomeNames } from "flowsteer/scenario";`,
  ];
  const source = packed ? "createReadStream(capture).pipe(createGunzip())" : "createReadStream(capture)";
  const steering =
    capture === null
      ? "loaded.run().forEach((outcome, i) => print(i + 1, outcome));"
      : `const capture = process.argv[2] ?? ${JSON.stringify(capture)};
for await (const all of readCapture(${source})) {
  const frames = all.filter(({ linkType, bytes }) => cannotRun(linkType, bytes.length) === null);
  const outcomes = loaded.run(frames);
  frames.forEach(({ number }, i) => print(number, outcomes[i] as Outcome));
}`;
  return `// Steers frames through the rules, and prints what happened to each.
// npm install flowsteer tsx && npx tsx ${file}
${imports.join("\n")}

const scenario = ${embedded(rules)};

const loaded = await loadScenario(scenario);
${steering}
for (const { to, frames } of loaded.tally.ends) console.log(\`\${to ?? "nowhere"}: \${frames} frames\`);

function print(frame: number, outcome: Outcome): void {
  const { verdict, reason, to, copies, rules } = outcomeNames(outcome);
  const why = reason === null ? "" : \` (\${reason})\`;
  console.log(\`\${frame}: \${verdict}\${why}\`, { to, copies, rules });
}
`;
}

/** Frames of a test: all of the document or some of them by number; or frames with their bytes. */
export type TestFrames =
  | { readonly kind: "document" }
  | { readonly kind: "some"; readonly first: number; readonly last: number }
  | { readonly kind: "bytes"; readonly frames: readonly FrameInput[] };

/**
 * A test for vitest.
 * @param title what it says
 * @param expected of the frames in order, or of the last of them only
 */
export function testText(
  rules: string,
  name: string,
  title: string,
  frames: TestFrames,
  expected: readonly Expected[],
  lastOnly: boolean,
): string {
  const bytes = frames.kind === "bytes";
  const given = bytes ? `\nconst frames: FrameInput[] = [\n${frames.frames.map(frameLine).join("")}];\n` : "";
  const run =
    frames.kind === "document"
      ? "loaded.run()"
      : frames.kind === "some"
        ? `loaded.run(loaded.frames.slice(${frames.first - 1}, ${frames.last}))`
        : "loaded.run(frames)";
  return `// npm install --save-dev flowsteer vitest && npx vitest run ${fileName(name)}.test.ts
import { expect, test } from "vitest";
import { loadScenario, outcomeNames${bytes ? ", type FrameInput" : ""} } from "flowsteer/scenario";

const scenario = ${embedded(rules)};
${given}
test(${JSON.stringify(title)}, async () => {
  const loaded = await loadScenario(scenario);
  const outcomes = ${run}.map((outcome) => {
    const { verdict, reason, to, copies, rules } = outcomeNames(outcome);
    return { verdict, reason, to, copies, rules };
  });
  expect(outcomes${lastOnly ? ".slice(-1)" : ""}).toEqual([
${expected.map((one) => `    ${JSON.stringify(one)},\n`).join("")}  ]);
});
${bytes ? HEX : ""}`;
}

const HEX = `
function hex(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g) ?? [], (two) => parseInt(two, 16));
}
`;

function frameLine({ bytes, time = null, linkType = 1, wireLength = bytes.length, number = 0 }: FrameInput): string {
  const digits = hexOf(bytes);
  const others = [
    `time: ${time === null ? "null" : `${time}n`}`,
    ...(linkType === 1 ? [] : [`linkType: ${linkType}`]),
    ...(wireLength === bytes.length ? [] : [`wireLength: ${wireLength}`]),
  ];
  return `  // ${number}\n  { bytes: hex("${digits}"), ${others.join(", ")} },\n`;
}

/** JSON as an expression. As a literal, the key __proto__ would set the prototype. */
function embedded(rules: string): string {
  const text = rules.replace(/^\uFEFF/, "").trim();
  return text.includes("__proto__") || text.includes("\\u") ? `JSON.parse(${JSON.stringify(text)})` : text;
}
