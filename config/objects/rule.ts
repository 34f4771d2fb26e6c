import { leafByPath } from './leaf.ts';
import type { Config } from './root.ts';

/**
 * Reports that the values of fields contradict each other. `also` names further fields that the rule uses: when one of
 * them was already rejected, the report is dropped, because it may be a consequence.
 */
export type Refuse = (path: string, reason: string, remedy: string, also?: readonly string[]) => void;

/** A requirement that involves several fields. Each field has already been validated. */
export type Rule = (config: Config, refuse: Refuse) => void;

/** Reports every empty text in `values`; `why` is the condition as a clause. */
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

/** The remedy for a missing leaf: how to set it. */
export function howToSet(path: string): string {
  const leaf = leafByPath.get(path);
  if (leaf === undefined) return 'set it';
  const fromDomain = leaf.field.type === 'text' && leaf.field.fromDomain !== undefined ? ', or set domain' : '';
  return `set it in the file or in ${leaf.variable}${leaf.secret ? ` or ${leaf.variable}_FILE` : ''}${fromDomain}`;
}
