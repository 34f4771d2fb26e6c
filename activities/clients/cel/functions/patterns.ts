import { LRUCache } from 'lru-cache';
import { RE2JS, RE2JSException } from 're2js';
import { CelFailure, meter } from '../meter.ts';

/** Instructions of a compiled pattern; `.{1000}` has about a thousand. */
const maxInstructions = 10_000;

let patterns = newCache();

function newCache(): LRUCache<string, RE2JS> {
  return new LRUCache<string, RE2JS>({ max: 200 });
}

/** After an interruption, a pattern may be left half built. */
export function dropPatterns(): void {
  patterns = newCache();
}

/**
 * `text.matches(pattern)`: whether a part of the text matches, in time linear in both. The cost is the same when the pattern was compiled
 * before. @throws CelFailure invalid_argument
 */
export function matches(text: string, pattern: string): boolean {
  meter.charge(pattern.length * 10);
  const compiled = patternOf(pattern);
  meter.charge(Math.ceil(text.length / 10 + 1) * Math.ceil(compiled.programSize() / 4) * 10);
  return compiled.test(text);
}

/** Why a text is no pattern; undefined if it is one. */
export function patternProblem(pattern: string): string | undefined {
  try {
    patternOf(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof CelFailure) return error.cause instanceof RE2JSException ? error.cause.message : error.message;
    throw error;
  }
}

function patternOf(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiled.programSize() > maxInstructions)
      throw new CelFailure('invalid_argument', 'The pattern has too many repetitions.');
    patterns.set(pattern, compiled);
    return compiled;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new CelFailure('invalid_argument', 'The text is no pattern.', { cause: error });
  }
}
