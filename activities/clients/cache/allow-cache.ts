import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { CheckRequest } from '#entities/kit/access/authorizer.ts';

/**
 * Questions that were answered with yes. Their keys hold the revisions of all scopes concerned, so what is remembered is
 * never wrong and needs no end; only allows are kept, because a no may become a yes without any revision.
 */
export interface AllowCache {
  has(key: string): Promise<boolean>;
  add(key: string): Promise<void>;
}

/**
 * A key that only the same question under the same revisions has: each part stands behind its length, so that no part can run
 * into the next, whatever it holds.
 */
export function rememberedKey({ subject, relation, object, context }: CheckRequest, revisions: string): string {
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
  // As UTF-8, all halves of characters would be the same.
  return createHash('sha256').update(text, 'utf16le').digest('base64url');
}

/** Allows that one process remembers; about 200 bytes each. */
const most = 100_000;

export function allowsInMemory(): AllowCache {
  const held = new LRUCache<string, true>({ max: most });
  return {
    has: (key) => Promise.resolve(held.has(key) && held.get(key) === true),
    add: (key) => {
      held.set(key, true);
      return Promise.resolve();
    },
  };
}

/** Seconds after which an allow that nobody asks for any more leaves the shared cache. */
const keptS = 24 * 60 * 60;

/** Longest that a decision waits for the cache, in milliseconds: the authorization store answers sooner. */
const patienceMs = 250;

/** Time in which a cache that did not answer is left alone, in milliseconds. */
const pauseMs = 5_000;

/**
 * Allows that all processes share. A cache that is away, or slow, has forgotten everything; decisions do not wait for it.
 * @param prefix of the keys; installations may share a server
 */
export function allowsInCache(connection: Redis, prefix: string): AllowCache {
  let askAgainAt = 0;
  const nameOf = (key: string) => `${prefix}:allow:${key}`;
  const isAnswering = (): boolean => {
    // Without being asked to, it does not connect; afterwards it connects again by itself.
    if (connection.status === 'wait') connection.connect().catch(() => {});
    return connection.status === 'ready' && performance.now() >= askAgainAt;
  };
  const leaveAlone = () => {
    askAgainAt = performance.now() + pauseMs;
  };
  return {
    has: async (key) => {
      if (!isAnswering()) return false;
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error('the cache is slow')), patienceMs);
      });
      try {
        return (await Promise.race([connection.exists(nameOf(key)), patience])) === 1;
      } catch {
        leaveAlone();
        return false;
      } finally {
        clearTimeout(timer);
      }
    },
    add: (key) => {
      if (isAnswering()) connection.set(nameOf(key), '1', 'EX', keptS).catch(leaveAlone);
      return Promise.resolve();
    },
  };
}
