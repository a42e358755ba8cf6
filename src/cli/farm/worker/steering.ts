/** Steers pieces of captures as `flowsteer run` steers captures: a steer job. */
import { FrameShare, PartRecorder, type PartSums } from "../../../run/index.js";
import { loadScenario, type LoadedScenario } from "../../../scenario/index.js";
import { Session } from "../../commands/session.js";
import { fileOf } from "../cut/cutting.js";
import type { Piece, Steered, SteerJob } from "../jobs.js";
import { PartFiles } from "../merge/partFiles.js";
import { breaksInCapture, placesOf } from "../cut/places.js";
import { Spans } from "../cut/spans.js";

/** Gives the text of a scenario by its hash. */
export type ScenarioTexts = (hash: string) => Promise<string>;

/** What a job gives that steered nothing. */
const NOTHING = { skipped: [], span: null, files: [], breaks: [], refused: null } as const;

interface Ready {
  readonly hash: string;
  readonly loaded: LoadedScenario;
  readonly recorder: PartRecorder;
}

/** Steers the jobs of a process, one at a time. */
export class Steering {
  readonly #texts: ScenarioTexts;
  readonly #spans = new Spans();
  /** The last scenario. Loading many rules takes longer than steering a piece. */
  #ready: Ready | null = null;

  constructor(texts: ScenarioTexts) {
    this.#texts = texts;
  }

  /** @throws Error a capture cannot be read, has changed, or what is written cannot be written */
  async steer(job: SteerJob): Promise<Steered> {
    const { loaded, recorder } = await this.#readyFor(job);
    const pieces = await this.#piecesOf(job);
    if (pieces === null) return { ...NOTHING, sums: recorder.take() };
    const parts = await PartFiles.open(job);
    const { json, rows, files: captures } = parts.outputs;
    const outputs = { json: json !== null, quiet: true, imported: null, annotated: null, rows, files: captures };
    const session = new Session(loaded, outputs, json ?? undefined);
    const files = pieces.map(fileOf);
    const share = job.share === null ? null : new FrameShare(loaded.device, job.share);
    await session.runCaptures(
      { files, first: job.first, limit: job.limit ?? Infinity, share, interruptible: false },
      job.port,
    );
    const sums = recorder.take();
    const skipped = [...session.skipped];
    checkFrames(job, sums, skipped);
    const [piece] = pieces;
    const span = job.estimated && piece !== undefined ? await this.#spans.read(piece, session.log) : null;
    const { breaks: found } = session.log;
    const breaks = piece !== undefined && pieces.length === 1 ? breaksInCapture(found, placesOf(piece)) : found;
    return { sums, skipped, span, files: await parts.end(), breaks, refused: null };
  }

  /** Null where the records of an estimated piece cannot be found. */
  async #piecesOf({ pieces, estimated }: SteerJob): Promise<readonly Piece[] | null> {
    if (!estimated) return pieces;
    const exact = await this.#spans.exact(pieces[0] as Piece);
    return exact === null ? null : [exact];
  }

  /** What frames changed on a device stays there, so jobs whose frames remember get a device each. */
  async #readyFor({ scenario: hash, remembers }: SteerJob): Promise<Ready> {
    const before = this.#ready;
    this.#ready = null;
    const ready = before?.hash === hash ? before : await this.#load(hash);
    if (!remembers) this.#ready = ready;
    return ready;
  }

  async #load(hash: string): Promise<Ready> {
    const loaded = await loadScenario(await this.#texts(hash));
    return { hash, loaded, recorder: new PartRecorder(loaded) };
  }
}

/** A capture that was written to in the meantime has other frames than its index says. */
function checkFrames({ frames, pieces }: SteerJob, sums: PartSums, skipped: Steered["skipped"]): void {
  const sum = (all: readonly { readonly frames: number }[]): number => all.reduce((n, one) => n + one.frames, 0);
  const found = sum(sums.alike) + sum(skipped.map(([, one]) => one));
  if (frames === null || frames === found) return;
  throw new Error(`${pieces[0]?.capture.place ?? ""} has changed: ${found} frames where there were ${frames}`);
}
