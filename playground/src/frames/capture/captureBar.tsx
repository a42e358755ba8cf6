/** The open capture, what is wrong with it, and why the last file was not opened. */
import type { JSX } from "preact";
import { bytesText, counted } from "../../parts/format.js";
import { answer } from "../../state/answer.js";
import { captureError, closeCapture } from "../../state/capture.js";

export function CaptureBar(): JSX.Element {
  const capture = answer.value?.capture ?? null;
  const error = captureError.value;
  return (
    <>
      {error !== null && (
        <p class="capture-error" role="alert">
          <span>{error}</span>
          <button type="button" class="quiet" onClick={() => (captureError.value = null)}>
            Dismiss
          </button>
        </p>
      )}
      {capture !== null && (
        <div class="capture-bar">
          <span class="capture-name" title={capture.name}>
            {capture.name}
          </span>
          <span class="muted">{bytesText(capture.bytes)}</span>
          <button type="button" class="quiet" onClick={() => void closeCapture()}>
            Close capture
          </button>
          {capture.broken !== null && (
            <p class="capture-note">
              The capture {capture.broken}. {counted(capture.frames, "frame")} before it can be used.
            </p>
          )}
          {capture.skipped.map(({ why, frames }) => (
            <p key={why} class="capture-note">
              {counted(frames, "frame")} {frames === 1 ? "is" : "are"} not steered: {why}
            </p>
          ))}
        </div>
      )}
    </>
  );
}
