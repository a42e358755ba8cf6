/** What a connected queue pair counts besides its completions: names of Linux's port counters, but for `malformed`. */
export interface TransportCounters {
  /** Packets that no whole RoCE packet is in. */
  malformed: number;
  /** Packets with a wrong ICRC. */
  rx_icrc_encapsulated: number;
  /** Packets that came before others that are missing. */
  out_of_sequence: number;
  /** Packets that had come before. */
  duplicate_request: number;
  /** Messages that found no receive request. */
  out_of_buffer: number;
  /** NAKs that said that packets are missing. */
  packet_seq_err: number;
  /** Times that neither ACK nor NAK came. */
  local_ack_timeout_err: number;
  /** Requests that the peer had no receive request for, to the last try. */
  rnr_nak_retry_err: number;
}

export function noCounts(): TransportCounters {
  return {
    malformed: 0,
    rx_icrc_encapsulated: 0,
    out_of_sequence: 0,
    duplicate_request: 0,
    out_of_buffer: 0,
    packet_seq_err: 0,
    local_ack_timeout_err: 0,
    rnr_nak_retry_err: 0,
  };
}
