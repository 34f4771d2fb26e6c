import type { Variables } from '../machine/stack-environment.ts';
import type { Platform } from '../machine/platform.ts';
import type { Report } from '../machine/progress-report.ts';
import type { BinarySpec } from './binary-spec.ts';

/** Input of a route that fetches a binary. */
export interface RouteContext {
  spec: BinarySpec;
  platform: Platform;
  /** The route writes the binary to this path. Its folder is deleted when the route fails. */
  target: string;
  stateDir: string;
  variables: Variables;
  report: Report;
  signal?: AbortSignal | undefined;
}

/**
 * A way to get a binary. Resolves with a text that says where the binary came from. Throws a StackError with a short
 * reason when the route does not work.
 */
export type Route = (context: RouteContext) => Promise<string>;
