/** The frames as a capture with a comment on each that says what happened to it, as `flowsteer run --annotate` writes it. */
import { PcapngWriter } from "flowsteer";
import { CaptureAnnotator, encodeComment, printable, type EncodedComment } from "flowsteer/run";
import { answerText } from "../answers/states.js";
import type { Progress } from "../api.js";
import type { CaptureFrames } from "../frames/captureFrames.js";
import type { DocumentFrames } from "../frames/documentFrames.js";
import type { OutcomeClass } from "../steer/outcomes.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";
import { FileParts } from "./parts.js";
import { inFile } from "./times.js";

const WHAT = "Writing";

export async function annotatedCapture(run: Run, pace: Pace, progress: Progress): Promise<Blob> {
  const comments = run.outcomes.classes.map(commentText);
  const commentOf = (frame: number): number => run.outcomes.numberOf(frame) - 1;
  return run.frames.capture === null
    ? annotateDocument(run.frames, (frame) => comments[commentOf(frame)] ?? "", pace, progress)
    : annotateCapture(run.frames, comments.map(encodeComment), commentOf, pace, progress);
}

async function annotateDocument(
  frames: DocumentFrames,
  commentOf: (frame: number) => string,
  pace: Pace,
  progress: Progress,
): Promise<Blob> {
  const linkTypes = [...new Set(frames.inputs.map(({ linkType = 1 }) => linkType))];
  const interfaces = linkTypes.map((linkType) => ({ linkType, nanoseconds: true }));
  const writer = new PcapngWriter({ interfaces });
  const parts = new FileParts();
  parts.add(writer.header());
  for (const [i, { bytes, linkType = 1 }] of frames.inputs.entries()) {
    const { time, wireLength } = frames.head(i + 1);
    const interfaceId = linkTypes.indexOf(linkType);
    parts.add(writer.frame({ time: inFile(time), bytes, wireLength, interfaceId, comments: [commentOf(i + 1)] }));
    progress(i, frames.count, WHAT);
    await pace.rest();
  }
  return parts.end();
}

/** What the capture says besides its frames stays. */
async function annotateCapture(
  frames: CaptureFrames,
  comments: readonly EncodedComment[],
  commentOf: (frame: number) => number,
  pace: Pace,
  progress: Progress,
): Promise<Blob> {
  const none = encodeComment("");
  const annotator = new CaptureAnnotator();
  const parts = new FileParts();
  for await (const { columns, number, bytes, complete } of frames.rows(pace)) {
    const own = Array.from({ length: columns.count }, (_, row) => comments[commentOf(number + row)] ?? none);
    parts.add(annotator.add({ columns, bytes, complete, passed: 0 }, own));
    progress(number, frames.count, WHAT);
    await pace.rest();
  }
  return parts.end();
}

/** `flowsteer: deliver to qp:web; rules "to overlay", "http"; meter police green` */
function commentText({ outcome, answers }: OutcomeClass): string {
  const { verdict, reason, to, copies, rules, skipped } = outcome;
  if (verdict === null) return printable(`flowsteer: not steered: ${skipped}`);
  const why = reason === null ? "" : `: ${reason.replaceAll("_", " ")}`;
  const parts = [`${verdict}${to.length === 0 ? "" : ` to ${to.join(", ")}`}${why}`];
  if (copies.length > 0) parts.push(`copies to ${copies.join(", ")}`);
  if (rules.length > 0) {
    const names = rules.map((name) => `"${name}"`).join(", ");
    parts.push(`${rules.length === 1 ? "rule" : "rules"} ${names}`);
  }
  for (const answer of answers) parts.push(`${KINDS[answer.use.kind]} ${answer.use.name} ${answerText(answer)}`);
  return printable(`flowsteer: ${parts.join("; ")}`);
}

const KINDS = { first_hit: "flag", flow_meter: "meter", conn_track: "connection" } as const;
