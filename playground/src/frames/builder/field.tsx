/** A field of a header in the form. Without a value of its own it shows the value that it gets. */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { PacketField, TreeField } from "flowsteer/packet";
import { hexOf } from "../../text/hex.js";

interface FieldProps {
  readonly field: PacketField;
  /** The value that was given; undefined for none. */
  readonly value: unknown;
  /** The field in the frame as it was built. */
  readonly built: TreeField | undefined;
  readonly error: string | null;
  readonly onValue: (value: unknown) => void;
}

export function Field(props: FieldProps): JSX.Element {
  const id = useId();
  const { field, error } = props;
  return (
    <div class="builder-field" data-wide={field.kind === "flags" || isLong(field) || undefined}>
      {field.kind === "flags" ? (
        <FlagsInput {...props} />
      ) : (
        <>
          <label for={id}>{field.name.replaceAll("_", " ")}</label>
          {field.kind === "flag" ? <FlagInput {...props} id={id} /> : <TextInput {...props} id={id} />}
        </>
      )}
      {error !== null && (
        <p class="builder-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

const LONG = new Set(["ipv6", "bytes", "tcp_options", "ipv4_options", "ipv6_options", "geneve_options", "route"]);

function isLong({ kind }: PacketField): boolean {
  return LONG.has(kind);
}

function TextInput({ field, value, built, error, onValue, id }: FieldProps & { readonly id: string }): JSX.Element {
  const named = Object.entries(field.names);
  return (
    <>
      <input
        id={id}
        class="mono"
        type="text"
        spellcheck={false}
        autocomplete="off"
        aria-invalid={error !== null}
        list={named.length > 0 ? `${id}-names` : undefined}
        value={textOf(value)}
        placeholder={built?.text ?? ""}
        onInput={({ currentTarget }) => onValue(valueOf(field, currentTarget.value))}
      />
      {named.length > 0 && (
        <datalist id={`${id}-names`}>
          {named.map(([number, name]) => (
            <option key={number} value={number} label={name} />
          ))}
        </datalist>
      )}
    </>
  );
}

function FlagInput({ value, built, onValue, id }: FieldProps & { readonly id: string }): JSX.Element {
  return (
    <select
      id={id}
      value={value === undefined ? "" : String(Number(value))}
      onChange={({ currentTarget }) => onValue(currentTarget.value === "" ? undefined : Number(currentTarget.value))}
    >
      <option value="">{built === undefined ? "by itself" : `${String(built.value)} by itself`}</option>
      <option value="0">0</option>
      <option value="1">1</option>
    </select>
  );
}

function FlagsInput({ field, value, built, onValue }: FieldProps): JSX.Element {
  const bits = Number(built?.value ?? 0);
  const given = Array.isArray(value) ? (value as string[]) : null;
  const isSet = (flag: string, i: number): boolean =>
    given?.includes(flag) ?? ((bits >> (field.flags.length - 1 - i)) & 1) === 1;
  const now = field.flags.filter(isSet);
  return (
    <fieldset class="builder-flags">
      <legend>{field.name}</legend>
      {field.flags.map((flag, i) => (
        <label key={flag}>
          <input
            type="checkbox"
            checked={isSet(flag, i)}
            onChange={({ currentTarget }) =>
              onValue(currentTarget.checked ? [...now, flag] : now.filter((one) => one !== flag))
            }
          />{" "}
          {flag}
        </label>
      ))}
    </fieldset>
  );
}

/** A value as it is written in an input. */
function textOf(value: unknown): string {
  if (value === undefined) return "";
  if (value instanceof Uint8Array) return hexOf(value);
  if (typeof value === "bigint") return value.toString();
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value that a text gives; undefined for none. What is no number stays text, which the packet then refuses. */
function valueOf({ kind }: PacketField, text: string): unknown {
  const written = text.trim();
  if (written === "") return undefined;
  if (/^\[.*\]$/s.test(written)) return listOf(written);
  if (kind !== "number" && kind !== "hex") return written;
  if (!/^(?:\d+|0x[0-9a-f]+)$/i.test(written)) return written;
  const number = Number(written);
  return Number.isSafeInteger(number) ? number : BigInt(written);
}

function listOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
