import { expect, test } from 'vitest';
import { lockingAmong, lockingStatements } from '#migrations/locking-statements.ts';
import { migrations } from '#migrations/index.ts';

test('no migration locks a table that may be large, unless it says why', async () => {
  const unexplained: string[] = [];
  for (const { name } of migrations)
    for (const { table, statement, remark } of await lockingStatements(name))
      unexplained.push(
        `${name} locks ${table}: ${remark}. ${statement}\nIf that is right, give the migration a field: readonly locks = { ${table}: 'why' };`,
      );
  expect(unexplained).toEqual([]);
});

test.each([
  ['create index "tasks_title" on "tasks" ("title")', 'tasks'],
  ['create unique index "k" on "tasks" ("title") where deleted_at is null;', 'tasks'],
  ['create index concurrently "tasks_title" on "tasks" ("title")', undefined],
  ['alter table "tasks" add constraint "c" foreign key ("a") references "users" ("id");', 'tasks'],
  ['alter table "tasks" add constraint "c" foreign key ("a") references "users" ("id") not valid', undefined],
  ['alter table "tasks" add constraint "c" check (priority > 0)', 'tasks'],
  ['alter table tasks validate constraint c', undefined],
  ['alter table "tasks" add primary key ("id")', 'tasks'],
  ['alter table "tasks"\n  alter column "title" set not null', 'tasks'],
  ['alter table "tasks" alter column "title" drop not null', undefined],
  ['alter table "tasks" alter column "title" type varchar(9)', 'tasks'],
  [`alter table "tasks" add "sort" text not null default 'a', add "more" text null`, undefined],
  ['alter table "tasks" add "token" uuid not null default gen_random_uuid()', 'tasks'],
  ['update tasks set title = $1', 'tasks'],
  ['delete from only "tasks"', 'tasks'],
  ['lock table tasks in exclusive mode', 'tasks'],
  ['create function f() returns void language sql as $$ update tasks set title = 1; $$', undefined],
  ['comment on table "tasks" is \'create index "a" on "tasks"\'', undefined],
  ['select 1; update tasks set title = null', 'tasks'],
])('%s', (statement, table) => {
  expect(lockingAmong([statement]).map((each) => each.table)).toEqual(table === undefined ? [] : [table]);
});

test('a table that the same migration creates is empty', () => {
  const statements = [
    'create table "risks" ("id" text)',
    'create index "i" on "risks" ("id")',
    'update risks set id = 1',
  ];
  expect(lockingAmong(statements)).toEqual([]);
});
