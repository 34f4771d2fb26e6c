import type { InjectOptions } from 'fastify';
import { registry } from '#entities/index.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { readableFields } from '#entities/kit/model/exposure.ts';
import { asOwner } from '../as-owner.ts';
import type { Person } from '../people.ts';
import type { World } from '../world.ts';

/** Words that only the records of an organization have: ids and texts, which are made unique for each. */
export async function wordsOf(world: World, { user, organization }: Person): Promise<ReadonlySet<string>> {
  const words = new Set<string>(wordsIn(`${user.id} ${user.email} ${organization.id} ${organization.name}`));
  const others = new Set<string>();
  for (const { tenancy, table } of registry.modules) {
    if (tenancy !== 'organization') continue;
    const rows = await asOwner(world, `select * from ${table}`);
    for (const row of rows) {
      const isTheirs = row['organization_id'] === organization.id;
      const texts = Object.values(row).filter((value) => typeof value === 'string');
      for (const word of wordsIn(texts.join(' '))) (isTheirs ? words : others).add(word);
    }
  }
  return words.difference(others);
}

/** Parts of a text that are long enough, and have a digit, so that none of them occurs by chance. */
function wordsIn(text: string): string[] {
  return (text.match(/[\w-]{10,}/g) ?? []).filter((word) => /\d/.test(word));
}

/** The words of a text that are secret. */
export function secretsIn(text: string, secrets: ReadonlySet<string>): string[] {
  return wordsIn(text).filter((word) => secrets.has(word));
}

/** Everything that a request has, percent-encoding decoded. */
export function sentBy({ url, headers, payload = '' }: InjectOptions): string {
  const given = Buffer.isBuffer(payload) ? payload.toString('latin1') : JSON.stringify(payload);
  const text = `${JSON.stringify(url)} ${given} ${JSON.stringify(headers)}`;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Names of fields that have any text, in both APIs: nothing is referred to by them. */
const texts = new Set(
  registry.modules.flatMap((module) =>
    readableFields(module).flatMap(([name, { type }]) =>
      ['text', 'textList', 'json'].includes(type) && !/Ids?$/.test(name) ? [name, snakeCase(name)] : [],
    ),
  ),
);

/** An answer as JSON, without the values of such fields. */
export function jsonWithoutTexts(body: unknown): string {
  return JSON.stringify(body, (name, value: unknown) => (texts.has(name) ? undefined : value));
}
