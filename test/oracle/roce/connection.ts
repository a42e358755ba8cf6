/**
 * The slow reference of a connection over a network that takes time: messages of one queue pair to its peer, as events in
 * the order of their times. Written from docs/queues.md and InfiniBand architecture 1.4, 9.7 and 9.8.
 */

/** What the network does to the nth frame of a direction: the nanoseconds that each of its copies takes; none: it is lost. */
export type Fate = (fromSender: boolean, n: number) => readonly bigint[];

export interface ConnectionRun {
  readonly reliable: boolean;
  /** Bytes of a packet. */
  readonly mtu: number;
  readonly timeout: number;
  readonly retryCount: number;
  readonly rnrRetry: number;
  /** Nanoseconds that the peer asks to wait. */
  readonly rnrTime: bigint;
  /** Messages: when each is posted, and its bytes. */
  readonly messages: readonly { readonly at: bigint; readonly length: number }[];
  /** When receive requests are posted. */
  readonly receives: readonly bigint[];
}

/** `sent`: a send completion with its status; `received`: a whole message. */
export type Happening = readonly [at: bigint, what: "sent" | "received", index: number, status: string];

type Packet =
  | {
      readonly kind: "data";
      readonly psn: number;
      readonly message: number;
      readonly first: boolean;
      readonly last: boolean;
    }
  | { readonly kind: "answer"; readonly psn: number; readonly says: "ack" | "gap" | "rnr" };

export function reference(run: ConnectionRun, fate: Fate): Happening[] {
  const happened: Happening[] = [];
  const events: { at: bigint; order: number; act: () => void }[] = [];
  let [now, order] = [0n, 0];
  const at = (time: bigint, act: () => void): void => {
    events.push({ at: time, order: order++, act });
  };
  const sentFrames: [number, number] = [0, 0];
  const carry = (fromSender: boolean, packet: Packet): void => {
    const n = sentFrames[Number(!fromSender) as 0 | 1]++;
    for (const time of fate(fromSender, n))
      at(now + time, () => (fromSender ? arriveAtPeer : answered)(packet as never));
  };

  // The sender. Sequence numbers are not cut to 24 bits here: no run has so many packets.
  const posted: number[] = [];
  let psn = 0;
  let broken = false;
  /** Messages in flight, in their order. */
  const flight: { message: number; first: number; count: number; sent: number; acked: number }[] = [];
  let [tries, rnrs, held] = [0, 0, false];
  let alarm = 0;
  let rings = false;
  const countOf = (message: number): number => Math.max(1, Math.ceil(run.messages[message]!.length / run.mtu));
  const sendRest = (own: (typeof flight)[number]): void => {
    for (let i = own.acked; i < own.count; i++) {
      own.sent = Math.max(own.sent, i + 1);
      const part = { first: i === 0, last: i === own.count - 1 };
      carry(true, { kind: "data", psn: own.first + i, message: own.message, ...part });
    }
  };
  const stop = (): void => {
    alarm++;
    rings = false;
  };
  const wait = (time: bigint | null, act: () => void): void => {
    stop();
    rings = true;
    const own = alarm;
    const rung = (): void => {
      rings = false;
      act();
    };
    if (time !== null) at(now + time, () => own === alarm && rung());
  };
  const timeout = run.timeout === 0 ? null : 4096n << BigInt(run.timeout);
  const sendAgain = (): void => {
    held = false;
    flight.forEach(sendRest);
    begin();
    wait(timeout, retry);
  };
  const retry = (): void => {
    if (tries++ < run.retryCount) sendAgain();
    else end("retry");
  };
  /** The first message ends with an error, and the connection with it. */
  const end = (status: string): void => {
    stop();
    broken = true;
    const [first, ...others] = flight.splice(0).map(({ message }) => message);
    happened.push([now, "sent", first!, status]);
    for (const message of [...others, ...posted.splice(0)]) happened.push([now, "sent", message, "flush"]);
  };
  const begin = (): void => {
    while (!held && posted.length > 0) {
      const message = posted.shift()!;
      const own = { message, first: psn, count: countOf(message), sent: 0, acked: 0 };
      psn += own.count;
      sendRest(own);
      if (run.reliable) flight.push(own);
      else happened.push([now, "sent", message, "success"]);
    }
    if (flight.length > 0 && !rings) wait(timeout, retry);
  };
  const answered = ({ psn: of, says }: Extract<Packet, { kind: "answer" }>): void => {
    const about = flight.find(({ first, count }) => of >= first && of < first + count);
    if (about === undefined || of - about.first < about.acked || of - about.first >= about.sent) return;
    const reached = says === "ack" ? of + 1 : of;
    let progress = false;
    for (const own of flight) {
      const acked = Math.max(own.acked, Math.min(own.count, reached - own.first));
      progress ||= acked > own.acked;
      own.acked = acked;
    }
    while (flight[0]?.acked === flight[0]?.count && flight.length > 0)
      happened.push([now, "sent", flight.shift()!.message, "success"]);
    if (progress) tries = rnrs = 0;
    if (flight.length === 0) {
      stop();
      held = false;
      tries = rnrs = 0;
      begin();
    } else if (says === "ack") {
      if (!held) wait(timeout, retry);
    } else if (says === "gap") {
      retry();
    } else if (run.rnrRetry !== 7 && rnrs === run.rnrRetry) end("rnr");
    else {
      rnrs++;
      held = true;
      wait(run.rnrTime, sendAgain);
    }
  };

  // The peer.
  let [expected, requests, asked, received] = [0, 0, false, 0];
  let partial: number | null = null;
  const answer = (of: number, says: "ack" | "gap" | "rnr"): void => carry(false, { kind: "answer", psn: of, says });
  const take = (packet: Extract<Packet, { kind: "data" }>): void => {
    if (packet.first) {
      requests--;
      partial = packet.message;
    }
    if (!packet.last) return;
    happened.push([now, "received", received++, String(run.messages[packet.message]!.length)]);
    partial = null;
  };
  const arriveAtPeer = (packet: Extract<Packet, { kind: "data" }>): void => {
    if (!run.reliable) {
      if (packet.psn !== expected && partial !== null) {
        // The request of the lost message waits for the next one.
        requests++;
        partial = null;
      }
      expected = packet.psn + 1;
      if (packet.first && partial !== null) {
        requests++;
        partial = null;
      }
      if (packet.first ? requests > 0 : partial !== null) take(packet);
    } else if (packet.psn < expected) {
      if (packet.last) answer(expected - 1, "ack");
    } else if (packet.psn > expected) {
      if (!asked) answer(expected, "gap");
      asked = true;
    } else if (packet.first && requests === 0) {
      asked = true;
      answer(packet.psn, "rnr");
    } else {
      asked = false;
      expected++;
      take(packet);
      if (packet.last) answer(packet.psn, "ack");
    }
  };

  for (const [message, { at: time }] of run.messages.entries()) {
    at(time, () => {
      if (broken) happened.push([now, "sent", message, "flush"]);
      else {
        posted.push(message);
        begin();
      }
    });
  }
  for (const time of run.receives) at(time, () => requests++);
  for (;;) {
    events.sort((a, b) => (a.at === b.at ? a.order - b.order : a.at < b.at ? -1 : 1));
    const next = events.shift();
    if (next === undefined) return happened;
    now = next.at;
    next.act();
  }
}
