/** The expected frame at a destination: bytes, or fields and their values. */
import { hexOf } from "../../base/hex.js";
import { inCall, refuse } from "../../errors.js";
import type { Field } from "../../model/match/fields.js";
import { knownField } from "../../model/match/match.js";
import { parseTerm, type Term } from "../../model/match/term.js";
import type { ExpectedBytes } from "./definition.js";
import { headerBytes, hexText } from "../action/headerBytes.js";
import { below } from "../schema/path.js";

/** A difference. */
export interface FrameDifference {
  /** Its path after the expectation, such as `.outer.dmac`. */
  readonly path: string;
  /** `bytes`, or the name of a field. */
  readonly what: string;
  readonly expected: unknown;
  readonly got: unknown;
}

type Fields = Readonly<Record<string, number | string>>;

/** The fields of bytes of a link type, as `parseBatch` returns them. */
export type FieldsOf = (frame: Uint8Array, linkType: number) => Fields;

/** Compares a frame with its expectation. */
export type FrameCheck = (frame: Uint8Array, fields: () => Fields) => FrameDifference[];

/**
 * The comparison for an expectation at `path`; null where it compares nothing.
 * @throws EINVAL malformed bytes, headers, fields and values
 */
export function frameCheck(path: string, expected: ExpectedBytes): FrameCheck | null {
  if (expected === null) return null;
  if (typeof expected === "string") return sameBytes(hexText(path, expected));
  if (Array.isArray(expected)) return sameBytes(headerBytes(path, expected));
  const checks = Object.entries(expected).map(([name, value]) => fieldCheck(path, name, value));
  return (_, fields) => {
    const found = fields();
    return checks.flatMap((check) => check(found));
  };
}

function sameBytes(expected: Uint8Array): FrameCheck {
  return (frame) => {
    const [wanted, got] = [hexOf(expected), hexOf(frame)];
    return wanted === got ? [] : [{ path: "", what: "bytes", expected: wanted, got }];
  };
}

type FieldCheck = (fields: Fields) => FrameDifference[];

function fieldCheck(path: string, name: string, value: string | number | null): FieldCheck {
  const field = arrivedField(path, name);
  const term = value === null ? null : parseTerm(below(path, name), field, value);
  return (fields) => {
    // A state bit that is not listed is 0.
    const got = fields[name] ?? (field.here === null ? 0 : undefined);
    if (got === undefined ? term === null : term !== null && holds(field, term, got)) return [];
    return [{ path: `.${name}`, what: name, expected: value ?? "not there", got: got ?? "not there" }];
  };
}

/** A field that follows from bytes alone, not from the port or registers. */
function arrivedField(path: string, name: string): Field {
  const field = knownField(path, name);
  if (!field.ofWay) return field;
  const hint = "bytes do not tell of it; registers are expected as registers";
  return refuse({ code: "EINVAL", reason: "bad_field", path: below(path, name), hint });
}

function holds(field: Field, term: Term, got: number | string): boolean {
  if (term.kind === "any") return true;
  const value = valueOf(field, got);
  if (term.kind === "range") return value >= term.low && value <= term.high;
  return (value & term.mask) === term.value;
}

function valueOf(field: Field, shown: number | string): bigint {
  return inCall("loadScenario", () => {
    const term = parseTerm(field.name, field, shown);
    return term.kind === "bits" ? term.value : 0n;
  });
}
