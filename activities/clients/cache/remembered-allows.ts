import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Question } from '#entities/kit/authorizer.ts';

/**
 * Questions that were answered with yes. Their keys hold the revisions of all scopes concerned, so what is remembered is
 * never wrong and needs no end; only allows are kept, because a no may become a yes without any revision.
 */
export interface RememberedAllows {
  has(key: string): Promise<boolean>;
  add(key: string): Promise<void>;
}

/**
 * A key that only the same question under the same revisions has: each part stands behind its length, so that no part can run
 * into the next, whatever it holds.
 */
export function rememberedKey({ subject, relation, object, context }: Question, revisions: string): string {
  const ties = context.flatMap((tie) => [
    tie.object,
    tie.relation,
    tie.subject,
    ...(tie.condition ? [tie.condition.name, JSON.stringify(tie.condition.context)] : ['', '']),
  ]);
  const parts = [subject, relation, object, revisions, ...ties];
  const text = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('');
  return createHash('sha256').update(text).digest('base64url');
}

/** Allows that one process remembers; about 200 bytes each. */
const most = 100_000;

export function allowsInMemory(): RememberedAllows {
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

/**
 * Allows that all processes share. A cache that does not answer has forgotten everything.
 * @param prefix of the keys; installations may share a server
 */
export function allowsInCache(connection: Redis, prefix: string): RememberedAllows {
  return {
    has: async (key) => (await connection.exists(`${prefix}:allow:${key}`).catch(() => 0)) === 1,
    add: async (key) => {
      await connection.set(`${prefix}:allow:${key}`, '1', 'EX', keptS).catch(() => undefined);
    },
  };
}
