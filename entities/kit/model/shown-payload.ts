import { snakeCase } from '../base/snake-case.ts';
import type { EntityModule } from './define.ts';
import { answeredFields } from './exposure.ts';

/** The payload of an event with the names of REST. */
export interface ShownPayload {
  /** Names of the fields that were set or changed, of those that the APIs show. */
  readonly changed?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Payload of an event as it is shown outside the server. @param module the kind of its record */
export function shownPayload(
  { changed, ...details }: Readonly<Record<string, unknown>>,
  module: EntityModule | undefined,
): ShownPayload {
  const names = Object.keys(details);
  return {
    ...(Array.isArray(changed) ? { changed: shownNames(changed, module) } : {}),
    ...(names.length > 0 ? { details: Object.fromEntries(names.map((name) => [snakeCase(name), details[name]])) } : {}),
  };
}

function shownNames(names: readonly unknown[], module: EntityModule | undefined): string[] {
  const shown = new Set(module ? answeredFields(module) : []);
  return names.flatMap((name) => (typeof name === 'string' && shown.has(name) ? [snakeCase(name)] : []));
}
