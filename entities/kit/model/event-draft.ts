/** An event to be recorded. Payloads hold ids and small values, never secrets. */
export interface EventDraft {
  /** `<entity>.<past tense>`. */
  readonly topic: string;
  readonly entityKind: string;
  readonly entityId: string;
  readonly recordVersion: number;
  readonly organizationId: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
}
