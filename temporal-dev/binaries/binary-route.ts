import type { Variables } from '../machine/stack-environment.ts';
import type { Platform } from '../machine/platform.ts';
import type { Report } from '../machine/progress-report.ts';
import type { BinarySpec } from './binary-spec.ts';

/** What a route needs to fetch a binary. */
export interface RouteContext {
  spec: BinarySpec;
  platform: Platform;
  /** Route writes the binary here; the folder is removed when it fails. */
  target: string;
  stateDir: string;
  variables: Variables;
  report: Report;
  signal?: AbortSignal | undefined;
}

/**
 * A way to get a binary. Resolves with a description of where it came from, for people; throws a StackError whose message
 * says in a few words why it did not work.
 */
export type Route = (context: RouteContext) => Promise<string>;
