/** Conversations: frames between the same two ends, as the innermost packet has them, in either direction. */
import type { HeaderName, ParsedHeaders, VerdictName } from "flowsteer";
import { cannotRun } from "flowsteer/scenario";
import { filterValues, filterValueText, packetFilterFields } from "flowsteer/packet";
import type { Conversation, Progress } from "../api.js";
import { scanParsed } from "../frames/parsedScan.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";

/** What filters call the headers that have ends. */
const LINKS: Readonly<Partial<Record<HeaderName, string>>> = { ethernet: "eth" };
const NETWORKS: Readonly<Partial<Record<HeaderName, string>>> = { ipv4: "ip", ipv6: "ipv6" };
const TRANSPORTS: Readonly<Partial<Record<HeaderName, string>>> = { tcp: "tcp", udp: "udp", sctp: "sctp" };

interface Ends {
  /** The ends, in either order the same. */
  readonly text: string;
  readonly filter: string;
}

/** Most frames first. */
export async function conversationsOf(run: Run, pace: Pace, progress: Progress): Promise<Conversation[]> {
  const { frames, outcomes, loaded } = run;
  const all = new Map<string, { -readonly [K in keyof Conversation]: Conversation[K] }>();
  await scanParsed(frames, loaded.device, pace, progress, (frame, bytes, parsed) => {
    const ends = endsOf(bytes, parsed);
    if (ends === null) return;
    let found = all.get(ends.text);
    if (found === undefined) all.set(ends.text, (found = { ...ends, frames: 0, bytes: 0, verdicts: {} }));
    const verdict = outcomes.of(frame)?.outcome.verdict ?? null;
    found.frames++;
    found.bytes += frames.head(frame).wireLength;
    if (verdict !== null) found.verdicts = plusOne(found.verdicts, verdict);
  });
  return [...all.values()].sort((a, b) => b.frames - a.frames);
}

/** The filter that frames of the same conversation pass; null where a frame has no ends. */
export async function conversationFilter({ frames, loaded }: Run, frame: number): Promise<string | null> {
  const [bytes] = await frames.bytes([frame]);
  const { linkType } = frames.head(frame);
  if (bytes === undefined || cannotRun(linkType, bytes.length) !== null) return null;
  const [parsed] = loaded.device.parseHeaders([bytes], { linkType });
  return parsed === undefined ? null : (endsOf(bytes, parsed)?.filter ?? null);
}

function plusOne(sums: Conversation["verdicts"], verdict: VerdictName): Conversation["verdicts"] {
  return { ...sums, [verdict]: (sums[verdict] ?? 0) + 1 };
}

function endsOf(bytes: Uint8Array, parsed: ParsedHeaders): Ends | null {
  let [place, transport]: (string | undefined)[] = [];
  for (const { header } of parsed.headers) {
    const begins = LINKS[header] ?? NETWORKS[header];
    if (begins !== undefined) [place, transport] = [begins, undefined];
    else transport = TRANSPORTS[header] ?? transport;
  }
  if (place === undefined) return null;
  const valueOf = (name: string): string => {
    const field = packetFilterFields().get(name);
    const value = field === undefined ? undefined : filterValues(field, bytes, parsed).at(-1);
    return field === undefined || value === undefined ? "" : filterValueText(field, value);
  };
  const addresses = [valueOf(`${place}.src`), valueOf(`${place}.dst`)];
  const ports = transport === undefined ? [] : [valueOf(`${transport}.srcport`), valueOf(`${transport}.dstport`)];
  const conditions = [
    ...addresses.map((address) => `${place}.addr == ${address}`),
    ...ports.map((port) => `${transport}.port == ${port}`),
  ];
  const ends = addresses.map((address, i) => withPort(address, ports[i]));
  const text = ends.sort().join(" ↔ ");
  return {
    text: transport === undefined ? text : `${text} ${transport.toUpperCase()}`,
    filter: conditions.join(" && "),
  };
}

function withPort(address: string, port: string | undefined): string {
  if (port === undefined) return address;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
