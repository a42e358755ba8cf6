/** Work of other targets, with allocations of the core that fail. */
import { createDevice, type Device, SteeringError } from "../../../src/index.js";
import { importRules } from "../../../src/import/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import * as v from "../../../src/verbs/index.js";
import { Countdown } from "../../faults/support/faultyCore.js";
import { everyCall as everyDirectCall } from "../../mlx5dv/support/everyCall.js";
import { randomFrame } from "../../oracle/generate/frame.js";
import type { Random } from "../../oracle/generate/random.js";
import { everyCall as everyVerb } from "../../verbs/support/everyCall.js";
import type { Target } from "../target.js";
import { servedText } from "./control.js";
import { drawnText, wholeTexts } from "./importers.js";
import { drawnDocument, wholeDocuments } from "./scenarios.js";
import { checkRefused, drawnAllocations, failingModule, failSteps, NEVER } from "./support/failing.js";
import { LIMITS } from "./support/loading.js";
import { callsWork, controlWork, loadedWork } from "./support/works.js";

const CALLS = 30;
const MESSAGES = 20;
/** Steps with a loaded scenario. */
const STEPS = 8;

export const faults: Target = {
  name: "faults",
  about:
    "documents, imported texts, messages to the control and calls of the facades, as other targets draw them, while " +
    "allocations of the core fail: each is refused by name with ENOMEM and changes nothing, or does without, and rules " +
    "are destroyed with no memory left",
  unit: "failures",
  guide: "host",
  checkedOnly: true,
  open: () => {
    const core = failingModule();
    const [documents, texts, served] = [wholeDocuments(), wholeTexts(), servedText()];
    return Promise.resolve(async (random) => {
      switch (random.below(4)) {
        case 0:
          return failLoading(
            random.chance(0.5) ? random.pick(documents) : drawnDocument(random, documents),
            core,
            random,
          );
        case 1:
          return failLoading(
            imported(random.chance(0.5) ? random.pick(texts) : drawnText(random, texts)),
            core,
            random,
          );
        case 2: {
          const open = (): Promise<LoadedScenario> => loadScenario(served, { countHits: true, core });
          return failSteps(async () => controlWork(await open()), random, MESSAGES);
        }
        default: {
          const [facade, makeCalls] = random.chance(0.5) ? [v, everyVerb] : [dv, everyDirectCall];
          return failSteps(() => callsWork(facade, makeCalls, { core }), random, CALLS);
        }
      }
    });
  },
};

function imported(text: string): object | null {
  return importRules([{ file: "text", text }], { lenient: true }).scenario;
}

/** How loading ended. */
interface Loading {
  readonly device: Device | null;
  readonly loaded: LoadedScenario | null;
  readonly error: unknown;
  /** How many more allocations it would have taken until one fails. */
  readonly left: number;
}

async function load(document: string | object, core: WebAssembly.Module, n: number): Promise<Loading> {
  let device: Device | null = null;
  let faulty: Countdown | null = null;
  const open = async (options: object): Promise<Device> => {
    device = await createDevice(options);
    faulty = new Countdown(device);
    faulty.start(n);
    return device;
  };
  let loaded: LoadedScenario | null = null;
  let error: unknown;
  try {
    loaded = await loadScenario(document, { limits: LIMITS, core }, open);
  } catch (caught) {
    error = caught;
  }
  return { device, loaded, error, left: (faulty as Countdown | null)?.stop() ?? n };
}

/** Loads a document with allocations that fail, then goes on with it. @returns how many failed */
async function failLoading(document: unknown, core: WebAssembly.Module, random: Random): Promise<number> {
  if ((typeof document !== "object" && typeof document !== "string") || document === null) return 0;
  const whole = await load(document, core, NEVER);
  if (whole.error instanceof SteeringError) return 0;
  if (whole.error !== undefined) throw whole.error as Error;
  let failed = 0;
  for (const n of drawnAllocations(random, NEVER - whole.left)) {
    const { device, loaded, ...ran } = await load(document, core, n);
    failed++;
    if (loaded === null) checkRefused(`loading, allocation ${n}`, "loadScenario", ran);
    // What was made until then takes frames.
    const frame = randomFrame(random);
    device?.receive(1, frame.bytes, { linkType: frame.linkType });
  }
  const open = async (): Promise<LoadedScenario> => (await load(document, core, NEVER)).loaded as LoadedScenario;
  return failed + (await failSteps(async () => loadedWork(await open()), random, STEPS));
}
