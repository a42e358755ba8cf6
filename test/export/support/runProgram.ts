/** Exported TypeScript programs, run. */
import { transform } from "esbuild";
import * as flowsteer from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as ib from "../../../src/verbs/index.js";

/** What a program exports, by name. */
export type RunProgram = { readonly device: flowsteer.Device } & Readonly<Record<string, unknown>>;

/** Runs a program that imports the package; its exports are the result. */
export async function runProgram(program: string): Promise<RunProgram> {
  const { code } = await transform(program, { loader: "ts", format: "esm", target: "es2022" });
  const names = [...code.matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  const listed = [...code.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(",").map((one) => one.trim()),
  );
  const body = code
    .replaceAll(/^import \{([^}]*)\} from "flowsteer";$/gm, "const {$1} = flowsteer;")
    .replaceAll(/^import .*$/gm, "")
    .replaceAll(/^export \{[^}]*\};$/gm, "")
    .replaceAll(/^export /gm, "");
  const all = [...names, ...listed].filter((name) => name !== undefined && name !== "").join(", ");
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const made = new Function("flowsteer", "dv", "ib", `return (async () => { ${body}\nreturn { ${all} }; })();`) as (
    ...parts: unknown[]
  ) => Promise<RunProgram>;
  return made(flowsteer, dv, ib);
}
