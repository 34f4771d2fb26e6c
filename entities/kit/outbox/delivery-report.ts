export interface DeliveryReport {
  readonly listener: string;
  /** failed: an attempt, which is repeated; given up: a workflow of its own retries it from now on. */
  readonly outcome: 'done' | 'failed' | 'given up';
  readonly occurredAt: Date;
  readonly traceparent: string | null;
}
