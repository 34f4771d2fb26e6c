/** An event to be recorded. Payloads hold ids and small values, never secrets. */
export interface EventDraft {
  /** `<entity>.<past tense>`. */
  readonly topic: string;
  readonly entityKind: string;
  readonly entityId: string;
  readonly recordVersion: number;
  readonly organizationId: string | null;
  /** Organizations that it concerns besides: their endpoints may receive it. */
  readonly concerns?: readonly string[];
  /** A person: it concerns all organizations of which they are a member. */
  readonly concernsMember?: string;
  readonly payload?: Readonly<Record<string, unknown>>;
}
