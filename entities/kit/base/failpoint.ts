/**
 * Named points at every durable boundary, where a test can make the process die, fail or pause. A failpoint that is not armed
 * costs one comparison. They are armed through the environment (config/reading/standard-variables.ts), and only with `server.dev`.
 */
export const failpoints = [
  'before-commit',
  'after-commit',
  'commit-prepared',
  'commit-decided',
  'relay-claimed',
  'work-claimed',
  'work-begun',
  'relay-started',
  'delivery-before-commit',
  'delivery-after-commit',
  'delivery-before-settle',
  'delivery-after-settle',
  'wake-before-signal',
  'wake-after-signal',
  'email-before-send',
  'email-before-write',
  'email-after-write',
  'email-accepted',
  'tuples-before-write',
  'tuples-after-write',
  'upload-begun',
  'upload-received',
  'upload-durable',
  'upload-finished',
  'part-saved',
  'check-copied',
  'copy-written',
  'copy-verified',
  'restore-written',
  'remove-marked',
  'bytes-removed',
  'export-page-kept',
  'export-stored',
  'import-page-written',
  'webhook-claimed',
  'webhook-sent',
  'webhook-settled',
  'billing-drawn',
  'billing-customer-created',
  'billing-trial-started',
  'billing-read',
  'billing-written',
  'billing-cancelled',
  'backfill-written',
  'backfill-committed',
  'chat-posted',
  'notifications-claimed',
  'sweep-acted',
  'instance-step-before-commit',
  'instance-step-after-commit',
  'integration-credential-renewed',
  'integration-page-read',
  'integration-operation-performed',
  'integration-page-taken',
  'integration-records-removed',
] as const;
export type Failpoint = (typeof failpoints)[number];

interface ArmedFailpoint {
  /** A failpoint, or a failpoint and what passes it, such as `work-claimed:file/copies`. */
  readonly name: string;
  /** `kill`: SIGKILL to this process; `throw`: an error that names the failpoint; `pause`: blocks the event loop for five seconds. */
  readonly action: 'kill' | 'throw' | 'pause';
  /** How many passes have no effect before the first that does. */
  readonly after: number;
}

let armed: Map<string, ArmedFailpoint & { passes: number }> | undefined;

/** Arms the given failpoints for the rest of this process. @throws Error for an unknown name */
export function armFailpoints(points: readonly ArmedFailpoint[]): void {
  const known: readonly string[] = failpoints;
  for (const { name } of points) {
    if (!known.includes(name.replace(/:.*/s, '')))
      throw new Error(`"${name}" is not a failpoint; known are ${failpoints.join(', ')}`);
  }
  armed = points.length === 0 ? undefined : new Map(points.map((point) => [point.name, { ...point, passes: 0 }]));
}

/**
 * Marks a durable boundary; does nothing unless a test armed it.
 * @param what passes it, where several kinds of work do
 */
export function failpoint(name: Failpoint, what?: string): void {
  if (armed !== undefined) strike(name, what, armed);
}

function strike(name: Failpoint, what: string | undefined, points: NonNullable<typeof armed>): void {
  const point = points.get(`${name}:${what}`) ?? points.get(name);
  if (!point || point.passes++ < point.after) return;
  if (point.action === 'throw') throw new Error(`failpoint ${name}`);
  if (point.action === 'kill') process.kill(process.pid, 'SIGKILL');
  // SIGKILL is delivered asynchronously; blocking here keeps the next line from running before the process dies.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);
}
