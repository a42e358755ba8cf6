/**
 * The counters of a connected queue pair. All except `malformed` have the names of Linux's port
 * counters.
 */
export interface TransportCounters {
  /** Frames without a complete RoCE packet. */
  malformed: number;
  /** Packets with a wrong ICRC. */
  rx_icrc_encapsulated: number;
  /** Packets that arrived while an earlier one was missing. */
  out_of_sequence: number;
  /** Packets that had arrived before. */
  duplicate_request: number;
  /** Messages that arrived without a receive request for them. */
  out_of_buffer: number;
  /** Operations of the peer on memory that it may not use. */
  resp_remote_access_errors: number;
  /** Own operations that the peer refused for that. */
  req_remote_access_errors: number;
  /** NAKs received for a missing packet. */
  packet_seq_err: number;
  /** Packets sent that were answered by neither ACK nor NAK in time. */
  local_ack_timeout_err: number;
  /** Requests that failed because the peer had no receive request at any retry. */
  rnr_nak_retry_err: number;
}

export function noCounts(): TransportCounters {
  return {
    malformed: 0,
    rx_icrc_encapsulated: 0,
    out_of_sequence: 0,
    duplicate_request: 0,
    out_of_buffer: 0,
    resp_remote_access_errors: 0,
    req_remote_access_errors: 0,
    packet_seq_err: 0,
    local_ack_timeout_err: 0,
    rnr_nak_retry_err: 0,
  };
}
