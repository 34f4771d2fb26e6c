import { deriveSchema } from '#api/graphql/derive-schema.ts';
import { allow, anyone, deny, role, system } from '#entities/kit/model/policy.ts';
import { defineEntityModule, type EntityModule } from '#entities/kit/model/define.ts';
import { choice, flag, integer, reference, text, textList, timestamp } from '#entities/kit/model/fields.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { organization, user } from '#entities/index.ts';

/** Kinds as they are, a hundred of them: twelve fields each, and a reference to the one before. */
const count = 100;

global.gc?.();
const before = process.memoryUsage().heapUsed;
const startedAt = performance.now();
const modules = Array.from({ length: count }, (_none, index) => kind(index));
const registry = createRegistry([user, organization, ...modules]);
const schema = deriveSchema(registry, []);
const tookMs = performance.now() - startedAt;
global.gc?.();
const megabytes = (process.memoryUsage().heapUsed - before) / 1_048_576;
process.send?.({ tookMs, megabytes, types: Object.keys(schema.getTypeMap()).length });

function kind(index: number): EntityModule {
  const previous = index === 0 ? 'organization' : `thing${index - 1}`;
  return defineEntityModule({
    kind: `thing${index}`,
    table: `thing${index}s`,
    description: 'Something of which there are many kinds.',
    fields: {
      name: text('Name.', { max: 160 }),
      details: text('More about it.', { max: 2_000, optional: true }),
      status: choice('How far it is.', ['open', 'done'], { default: 'open' }),
      level: choice('How much it matters.', ['low', 'middle', 'high'], { default: 'low' }),
      priority: integer('What comes first.', { min: 0, max: 100, default: 0 }),
      isHidden: flag('Whether it is hidden.', { default: false }),
      dueAt: timestamp('When.', { optional: true }),
      doneAt: timestamp('When it was done.', { optional: true }),
      tags: textList('Words.', { max: 64, maxItems: 50 }),
      code: text('Short name.', { max: 20, optional: true }),
      previousId: reference(previous, 'What it hangs on.', { optional: true, reverse: `next${index}` }),
      keeperId: reference('user', 'Who keeps it.', { optional: true, reverse: `kept${index}` }),
    },
    displayId: `T${letters(index)}`,
    tenancy: 'organization',
    policy: {
      view: [allow(system), allow(role('owner', 'admin', 'member')), deny(anyone)],
      create: [allow(system), allow(role('owner'))],
      edit: [allow(system), allow(role('owner'))],
      remove: [allow(system), allow(role('owner'))],
    },
    expose: {
      name: 'read-write',
      details: 'read-write',
      status: 'read-write',
      level: 'read-write',
      priority: 'read-write',
      isHidden: 'read',
      dueAt: 'read-write',
      doneAt: 'read-write',
      tags: 'read-write',
      code: 'read-write',
      previousId: 'read-write',
      keeperId: 'read-write',
    },
    filter: ['name', 'status', 'level', 'priority', 'dueAt', 'previousId', 'keeperId', 'tags'],
    order: ['name', 'priority', 'dueAt', 'createdAt'],
    search: ['name', 'details'],
    mutate: ['create', 'update', 'delete'],
    events: ['created', 'updated', 'deleted'],
  });
}

/** A prefix of two letters for each. */
function letters(index: number): string {
  return [Math.floor(index / 26), index % 26].map((place) => String.fromCodePoint(65 + place)).join('');
}
