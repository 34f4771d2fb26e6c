import { escapeLiteral } from 'pg';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { callerTriggersOf, type CallerTrigger } from '#entities/kit/storage/caller-triggers.ts';
import { digestOf, type Execute } from './functions.ts';

interface TriggerName {
  readonly name: string;
  readonly table: string;
}

/** Triggers that a database lacks, of those that note changes of the tables that decide about callers. */
interface TriggerDifference {
  /** Triggers that are missing, or were created from another text. */
  readonly stale: readonly CallerTrigger[];
  /** Triggers that are there and stale, or not wanted any more. */
  readonly dropped: readonly TriggerName[];
}

/** The comment of a trigger says from which text it was created; PostgreSQL prints the trigger in its own words. */
export async function triggerDifference(
  execute: Execute,
  modules: readonly EntityModule[],
): Promise<TriggerDifference> {
  const held = await heldTriggers(execute);
  const wanted = callerTriggersOf(modules);
  const digests = new Map(wanted.map((trigger) => [keyOf(trigger), digestOf(trigger.text)]));
  const [current, dropped] = [new Set<string>(), [] as TriggerName[]];
  for (const { digest, ...trigger } of held) {
    const key = keyOf(trigger);
    if (digests.get(key) === digest) current.add(key);
    else dropped.push(trigger);
  }
  return { stale: wanted.filter((trigger) => !current.has(keyOf(trigger))), dropped };
}

/** The triggers that are there. */
export function heldTriggers(execute: Execute): Promise<readonly (TriggerName & { readonly digest: string | null })[]> {
  return execute(
    `select t.tgname as name, c.relname as "table", case when t.tgenabled = 'O' then obj_description(t.oid, 'pg_trigger') end as digest
     from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where t.tgfoid = to_regproc('note_caller_change')::oid order by c.relname, t.tgname`,
  );
}

/** Before the migrations too: a column that a trigger compares can neither be dropped nor get another type. */
export function dropTriggers(triggers: readonly TriggerName[]): string[] {
  return triggers.map(({ name, table }) => `drop trigger ${name} on ${table}`);
}

/** After the migrations, which make the tables. A change that was made while a trigger was missing or stale may concern everybody. */
export function createTriggers({ stale }: TriggerDifference): string[] {
  const created = stale.flatMap(({ name, table, text }) => [
    text,
    `comment on trigger ${name} on ${table} is ${escapeLiteral(digestOf(text))}`,
  ]);
  return created.length > 0 ? [...created, `insert into caller_changes (scope) values (hashtextextended('*', 0))`] : [];
}

/** Tables with triggers that are stale. */
export function staleTables({ stale }: TriggerDifference): string[] {
  return [...new Set(stale.map(({ table }) => table))];
}

function keyOf({ name, table }: TriggerName): string {
  return `${table}.${name}`;
}
