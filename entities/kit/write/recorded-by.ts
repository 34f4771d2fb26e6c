/** Who made a change, in which request, and when (RFC 3339). Every recorded row carries it. */
export interface RecordedBy {
  readonly actor: string;
  readonly request_id: string;
  readonly at: string;
}
