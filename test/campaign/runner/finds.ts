/** A failing input as a test file. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Input, textOf } from "../input/input.js";
import { ROOT } from "../../support/root.js";
import type { Flavour } from "../target.js";

const FOLDER = "test/campaign/finds";
const WIDTH = 120;
const HEAD = "const INPUT = ".length;

export interface Find {
  readonly target: string;
  readonly flavour: Flavour;
  readonly input: Input;
  /** What went wrong. */
  readonly text: string;
  readonly signature: string;
}

/** @returns the file: the same for the same defect; its first input stays */
export function writeFind(find: Find): string {
  const hash = createHash("sha256").update(`${find.target} ${find.signature}`).digest("hex").slice(0, 8);
  const file = `${FOLDER}/${find.target}-${hash}.node.test.ts`;
  const path = join(ROOT, file);
  mkdirSync(join(ROOT, FOLDER), { recursive: true });
  if (!existsSync(path)) writeFileSync(path, testText(find));
  return file;
}

function testText({ target, flavour, input, text }: Find): string {
  const [first = ""] = text.split("\n");
  const about = first.replaceAll("*/", "* /").slice(0, 110);
  const title = `${target} on the ${flavour} core`;
  const value = `${JSON.stringify(textOf(input))};`;
  return [
    `/** Found by the campaign: ${about} */`,
    'import { test } from "vitest";',
    'import { replay } from "../replay.js";',
    "",
    // As the formatter has it.
    `const INPUT =${HEAD + value.length > WIDTH ? "\n  " : " "}${value}`,
    "",
    `test(${JSON.stringify(title)}, () => replay(${JSON.stringify(target)}, ${JSON.stringify(flavour)}, INPUT));`,
    "",
  ].join("\n");
}
