/** Samples of Node's profiler by function: where the CPU spends time while something runs. */
import { Session, type Profiler } from "node:inspector";

/** Microseconds between samples. */
const INTERVAL = 100;

export interface FunctionShare {
  /** A function of the core is its path in assembly/ and its name. */
  name: string;
  /** The nearest of the functions asked for that it is called from, or that it is; null for none. */
  under: string | null;
  /** Of all samples. */
  share: number;
}

/** Samples while `run` runs; `marks` are names of functions. */
export async function sampled(run: () => void, marks: readonly string[]): Promise<FunctionShare[]> {
  const session = new Session();
  session.connect();
  const post = (method: string, parameters?: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      session.post(method, parameters, (error, result) => (error === null ? resolve(result) : reject(error)));
    });
  await post("Profiler.enable");
  await post("Profiler.setSamplingInterval", { interval: INTERVAL });
  await post("Profiler.start");
  run();
  const { profile } = (await post("Profiler.stop")) as Profiler.StopReturnType;
  session.disconnect();
  return sharesOf(profile, marks);
}

function sharesOf({ nodes, samples = [] }: Profiler.Profile, marks: readonly string[]): FunctionShare[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const under = new Map<number, string | null>();
  const visit = ({ id, callFrame, children = [] }: Profiler.ProfileNode, above: string | null): void => {
    const here = marks.includes(callFrame.functionName) ? callFrame.functionName : above;
    under.set(id, here);
    for (const child of children) visit(byId.get(child)!, here);
  };
  visit(nodes[0]!, null);
  const shares = new Map<string, FunctionShare>();
  for (const id of samples) {
    const name = byId.get(id)!.callFrame.functionName;
    const place = { name, under: under.get(id) ?? null };
    const one = shares.get(JSON.stringify(place)) ?? { ...place, share: 0 };
    one.share += 1 / samples.length;
    shares.set(JSON.stringify(place), one);
  }
  return [...shares.values()];
}
