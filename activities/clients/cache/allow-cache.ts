import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CheckRequest } from '#entities/kit/access/authorizer.ts';
import type { GuardedCache } from './guarded-cache.ts';

/**
 * Checks that the authorization store has allowed. A key contains the revisions of all scopes that the check depends on, so
 * an entry never becomes wrong and needs no expiry. Denials are not kept: they can become allows without a new revision.
 */
export interface AllowCache {
  has(key: string): Promise<boolean>;
  add(key: string): Promise<void>;
}

/** The key of a check under these revisions. Each part is preceded by its length, so two different checks never share a key. */
export function allowKey({ subject, relation, object, context }: CheckRequest, revisions: string): string {
  const contextualTuples = context.flatMap((contextualTuple) => [
    contextualTuple.object,
    contextualTuple.relation,
    contextualTuple.subject,
    ...(contextualTuple.condition
      ? [contextualTuple.condition.name, JSON.stringify(contextualTuple.condition.context)]
      : ['', '']),
  ]);
  const parts = [subject, relation, object, revisions, ...contextualTuples];
  const text = parts.map((part) => `${part.length}:${part}`).join('');
  // UTF-8 would turn every unpaired surrogate into the same character.
  return createHash('sha256').update(text, 'utf16le').digest('base64url');
}

/** Allows that one process remembers; about 200 bytes each. */
const maxAllows = 100_000;

export function allowsInMemory(): AllowCache {
  // With `max` it would reserve memory for all of them at once.
  const held = new LRUCache<string, true>({ maxSize: maxAllows, sizeCalculation: () => 1 });
  return {
    has: (key) => Promise.resolve(held.has(key) && held.get(key) === true),
    add: (key) => {
      held.set(key, true);
      return Promise.resolve();
    },
  };
}

/** Seconds after which an entry expires in the shared cache. */
const expiryS = 24 * 60 * 60;

/**
 * Allows that all processes share, in Redis. While the cache is unreachable or slow every look-up misses.
 * @param prefix of the keys; several installations may share a server
 */
export function allowsInCache(cache: GuardedCache, prefix: string): AllowCache {
  const nameOf = (key: string) => `${prefix}:allow:${key}`;
  return {
    has: async (key) => (await cache.ask((connection) => connection.exists(nameOf(key)), 0, 'allow look-up')) === 1,
    add: (key) => {
      // Nobody waits for it.
      void cache.ask((connection) => connection.set(nameOf(key), '1', 'EX', expiryS), null, 'allow');
      return Promise.resolve();
    },
  };
}
