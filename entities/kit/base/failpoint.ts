/**
 * Named places at every durable boundary where a test can make the process die, fail or stand still. Unarmed they cost
 * one comparison; they are armed through the environment (config/reading/standard-variables.ts) and never outside `server.dev`.
 */
export const failpoints = [
  'before-commit',
  'after-commit',
  'relay-claimed',
  'relay-started',
  'delivery-before-commit',
  'delivery-after-commit',
  'delivery-before-settle',
  'delivery-after-settle',
  'email-before-write',
  'email-after-write',
  'tuples-before-write',
  'tuples-after-write',
] as const;
export type Failpoint = (typeof failpoints)[number];

export interface ArmedFailpoint {
  readonly name: string;
  /** `kill`: SIGKILL to this process; `throw`: an error of the name; `pause`: five seconds of standing still. */
  readonly action: 'kill' | 'throw' | 'pause';
  /** Passes that go by unharmed first. */
  readonly after: number;
}

let armed: Map<string, ArmedFailpoint & { passes: number }> | undefined;

/** Arms the given places for the rest of this process. @throws Error for a name that is no failpoint */
export function armFailpoints(points: readonly ArmedFailpoint[]): void {
  const known: readonly string[] = failpoints;
  for (const { name } of points) {
    if (!known.includes(name)) throw new Error(`"${name}" is no failpoint; there are ${failpoints.join(', ')}`);
  }
  armed = points.length === 0 ? undefined : new Map(points.map((point) => [point.name, { ...point, passes: 0 }]));
}

/** Marks a durable boundary; does nothing unless a test armed it. */
export function failpoint(name: Failpoint): void {
  if (armed !== undefined) strike(name, armed);
}

function strike(name: Failpoint, points: NonNullable<typeof armed>): void {
  const point = points.get(name);
  if (!point || point.passes++ < point.after) return;
  if (point.action === 'throw') throw new Error(`failpoint ${name}`);
  if (point.action === 'kill') process.kill(process.pid, 'SIGKILL');
  // SIGKILL is asynchronous to the event loop; standing still keeps the next line from running before it lands.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);
}
