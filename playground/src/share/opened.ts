/** The files that `flowsteer play` serves beside the page. */
import type { SourceOptions } from "../importing/api.js";
import { notify } from "../state/notices.js";

type Reading = Pick<SourceOptions, "map" | "driver" | "profile">;

export interface CommandFiles {
  readonly rules: string;
  /** How they are read, if they are those of another program; null for a scenario. */
  readonly reading: Reading | null;
  /** The name of the file. */
  readonly name: string;
  readonly capture: { readonly file: Blob; readonly name: string } | null;
}

/** `opened/index.json`: the names of files that are there. */
interface Index {
  readonly rules: string;
  readonly capture: string | null;
  readonly reading: Reading | null;
}

/** The files of the command, as they are now; null where the address does not ask for them, or they are gone. */
export async function filesOfCommand(): Promise<CommandFiles | null> {
  if (!new URLSearchParams(location.search).has("opened")) return null;
  try {
    const { rules, capture, reading } = (await (await read("index.json")).json()) as Index;
    const file = capture === null ? null : await (await read("capture")).blob();
    return {
      rules: await (await read("rules.json")).text(),
      reading,
      name: rules,
      capture: file === null || capture === null ? null : { file, name: capture },
    };
  } catch {
    notify({ id: "opened", text: "The files that were opened with the page are not there any more." });
    return null;
  }
}

async function read(name: string): Promise<Response> {
  const response = await fetch(`./opened/${name}`);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response;
}
