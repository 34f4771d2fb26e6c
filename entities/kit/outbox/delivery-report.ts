/** A delivery that has ended, or an attempt at one. */
export interface DeliveryReport {
  readonly listener: string;
  /** failed: an attempt, which is repeated; given up: a workflow of its own retries it from now on. */
  readonly outcome: 'done' | 'failed' | 'given up';
  /** When the event happened. */
  readonly occurredAt: Date;
  readonly traceparent: string | null;
}
