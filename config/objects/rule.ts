import { leafByPath } from './leaf.ts';
import type { Config } from './root.ts';

/**
 * Reports that fields do not go together. `also` names further fields the rule looked at: when one of them is wrong by
 * itself, the report is dropped, because it may only be a consequence.
 */
export type Refuse = (path: string, reason: string, remedy: string, also?: readonly string[]) => void;

/** A requirement between fields of a configuration whose fields are right one by one. */
export type Rule = (config: Config, refuse: Refuse) => void;

/** Refuses every empty text among `values`; `why` is the condition as a clause. */
export function requireTexts(
  refuse: Refuse,
  why: string,
  base: string,
  values: Readonly<Record<string, string>>,
  also: readonly string[] = [],
): void {
  for (const [key, value] of Object.entries(values)) {
    const path = `${base}.${key}`;
    if (value === '') refuse(path, `is missing, but needed because ${why}`, howToSet(path), also);
  }
}

/** How a leaf can be set. */
export function howToSet(path: string): string {
  const leaf = leafByPath.get(path);
  if (leaf === undefined) return 'set it';
  const fromDomain = leaf.field.type === 'text' && leaf.field.fromDomain !== undefined ? ', or set domain' : '';
  return `set it in the file or in ${leaf.variable}${leaf.secret ? ` or ${leaf.variable}_FILE` : ''}${fromDomain}`;
}
