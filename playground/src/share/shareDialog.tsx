/** The dialog "Share a link". */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { bytesText, counted } from "../parts/format.js";
import { rules } from "../state/document.js";
import { linkOfTheMoment, type Link } from "./linking.js";
import type { ViewProps } from "../parts/viewProps.js";

/** Characters that programs other than browsers take. */
const LONG = 2000;

export function ShareDialog({ onClose }: ViewProps): JSX.Element {
  const link = useSignal<Link | null>(null);
  useEffect(() => {
    void linkOfTheMoment().then((made) => (link.value = made));
  }, []);
  const made = link.value;
  return (
    <Dialog title="Share a link" class="share" onClose={onClose}>
      <p>
        The link holds the rules, what is selected and the filter: nothing is sent to a server. Who has the link can
        read all of it, keys of ESP too.
      </p>
      {made !== null && <Made link={made} />}
    </Dialog>
  );
}

function Made({ link }: { readonly link: Link }): JSX.Element {
  const { url, capture, left } = link;
  return (
    <>
      {capture !== null && (
        <p>
          The capture <Name text={capture.name} /> ({bytesText(capture.size)}) goes along.
        </p>
      )}
      {left !== null && (
        <p>
          <strong>Left out:</strong> the capture <Name text={left.name} /> ({bytesText(left.size)}). A link holds one of
          up to 30 KB. Send the file along.
        </p>
      )}
      {url === null ? (
        <p>The rules are too long for a link ({bytesText(rules.value.length)}). Download them instead: Export.</p>
      ) : (
        <Ready url={url} />
      )}
    </>
  );
}

function Ready({ url }: { readonly url: string }): JSX.Element {
  const said = useSignal("");
  const field = useRef<HTMLInputElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(url);
      said.value = "Copied.";
    } catch {
      field.current?.focus();
      field.current?.select();
      said.value = "The browser blocked the copy. The link is selected: press Ctrl+C.";
    }
  };
  const share = async (): Promise<void> => {
    // Closing the system's dialog is no error.
    await navigator.share({ title: document.title, url }).catch(() => undefined);
  };
  return (
    <>
      <div class="share-link">
        <input
          ref={field}
          class="mono"
          aria-label="Link"
          readOnly
          value={url}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="main" onClick={() => void copy()}>
          Copy link
        </button>
        {"share" in navigator && (
          <button type="button" onClick={() => void share()}>
            Send…
          </button>
        )}
      </div>
      <p class="muted">
        {counted(url.length, "character")}
        {url.length > LONG && ". Some programs cut links that are longer than 2,000."}
      </p>
      <p role="status" aria-live="polite" class="said">
        {said.value}
      </p>
    </>
  );
}

/** A name of a stranger: its direction does not turn the sentence around. */
function Name({ text }: { readonly text: string }): JSX.Element {
  return <bdi class="mono">{text}</bdi>;
}
