import { Type } from 'typebox';
import { defineIntegration } from '#activities/clients/integrations/definition.ts';
import { advanceRun } from '#activities/integrations/runs/advance-run.ts';
import { requestRun } from '#entities/integrations/runs/request-run.ts';
import { integration, organization } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { memoryOf, forgetPeak } from './files/process-usage.ts';
import { openBenchInstallation, type BenchInstallation } from './installation.ts';
import type { Bench } from './row.ts';

/** Accounts of the directory; `BENCH_ACCOUNTS` shortens a run while something is being tried. */
const accounts = Number(process.env['BENCH_ACCOUNTS'] ?? 50_000);

/** As large as pages of directories usually are at most. */
const pageSize = 999;

const payloadOf = (id: number) => ({
  id: `account-${id}`,
  userPrincipalName: `person${id}@example.com`,
  mail: `person${id}@example.com`,
  displayName: `Person number ${id}`,
  givenName: `Given ${id}`,
  surname: `Surname ${id}`,
  accountEnabled: id % 10 !== 0,
});

const definition = defineIntegration({
  id: 'benchdirectory',
  version: '1',
  name: 'Directory',
  description: 'Directory of the benchmark.',
  family: 'directory',
  logo: '<svg/>',
  isOffered: () => true,
  userInput: Type.Object({}),
  connections: [
    {
      credentialRef: 'none',
      name: 'None',
      description: 'Needs none.',
      check: async () => ({ id: 'bench', name: null }),
    },
  ],
  operations: [
    {
      name: 'syncDirectory',
      description: 'Brings in the directory.',
      policy: 'run',
      isLooped: true,
      input: Type.Object({}),
      ingests: ['directoryAccount'],
      readPage: async (_context, _input, cursor) => {
        const start = Number(cursor ?? 0);
        const end = Math.min(start + pageSize, accounts);
        const records = Array.from({ length: end - start }, (_none, index) => ({
          kind: 'directoryAccount' as const,
          payload: payloadOf(start + index),
        }));
        return { records, ...(end < accounts ? { next: String(end) } : {}) };
      },
    },
  ],
  mappings: [
    {
      kind: 'directoryAccount',
      mapExpr: `{'externalId': payload.id, 'userName': payload.userPrincipalName, 'email': payload.mail, 'displayName': payload.displayName,
        'givenName': payload.givenName, 'familyName': payload.surname, 'isActive': payload.accountEnabled}`,
    },
  ],
  webhooks: [],
});

/**
 * A pass over a directory: accounts filtered, mapped and written with history, events and what was seen; then a second one without changes.
 * Against `insert … on conflict` of the same rows with bare pg: into a table with the unique key alone, and into one with all indexes.
 */
export const integrationIngest: Bench = {
  name: 'integration-ingest',
  run: async (say) => {
    const installation = await openBenchInstallation({}, []);
    try {
      const { client } = installation;
      const pass = await preparePass(installation);
      const bare = await measured(() => insertBare(client));
      say(`bare pg: ${Math.round(bare)} accounts a second`);
      forgetPeak(process.pid);
      const before = memoryOf(process.pid).now;
      const first = await measured(pass);
      const grownMb = Math.round(memoryOf(process.pid).peak - before);
      const bareAgain = await measured(() => insertBare(client));
      const second = await measured(pass);
      const indexed = await measured(() => insertBare(client, 'including indexes'));
      const row = (name: string, ours: number, reference: number, note: string) => ({
        name,
        unit: 'accounts/s',
        ours,
        reference,
        ratio: ours / reference,
        spread: 0,
        note,
      });
      const reference = 'reference: insert … on conflict with bare pg';
      return [
        row(
          'integration-ingest',
          first,
          bare,
          `${accounts} accounts mapped and written, with history and events; memory grew by ${grownMb} MB; ${reference}`,
        ),
        row(
          'integration-ingest-unchanged',
          second,
          bareAgain,
          `the same again, of which nothing is written; ${reference}`,
        ),
        row(
          'integration-ingest-indexed',
          first,
          indexed,
          `the first pass; ${reference}, into a table with the indexes of the kind, among them those of searches`,
        ),
      ];
    } finally {
      await installation.close();
    }
  },
};

/** @returns accounts a second */
async function measured(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return accounts / ((performance.now() - startedAt) / 1_000);
}

async function preparePass({ runtime }: BenchInstallation): Promise<() => Promise<void>> {
  const { database, expressions } = runtime;
  const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    database.transact({ caller: systemCaller('benchmark'), requestId: newId() }, work);
  const row = await transact(async ({ data }) => {
    const { id: organizationId } = await data.create(organization, { name: 'Benchmark' });
    return data.create(integration, {
      organizationId,
      name: 'Directory',
      definitionId: definition.id,
      status: 'connected',
    });
  });
  const dependencies = {
    database,
    expressions,
    // The pages need nothing of the context.
    integrations: { use: (_id: string, work: Function) => work({}, row, definition) },
  } as unknown as Parameters<typeof advanceRun>[0];
  return async () => {
    const { id } = await transact((unit) =>
      requestRun(unit, { integration: row, operation: 'syncDirectory', trigger: 'person' }),
    );
    await advanceRun(dependencies, id, { budgetMs: Infinity });
  };
}

/** Accounts as rows in a table of the same columns with the same unique key. @param like what else the table has of that of the kind */
async function insertBare(client: BenchInstallation['client'], like: '' | 'including indexes' = ''): Promise<void> {
  if (like !== '') await client.query('drop table bench_accounts');
  await client.query(
    `create table if not exists bench_accounts (like directory_accounts including defaults ${like});
     create unique index if not exists bench_accounts_key on bench_accounts (integration_id, external_id) where deleted_at is null`,
  );
  for (let start = 0; start < accounts; start += pageSize) {
    const rows = Array.from({ length: Math.min(pageSize, accounts - start) }, (_none, index) => ({
      ...payloadOf(start + index),
      key: newId(),
    }));
    await client.query(
      `insert into bench_accounts (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, integration_id,
         external_id, user_name, email, display_name, given_name, family_name, is_active, provisioning)
       select key, now(), now(), 'bench', 'bench', 1, 'o', 'i', id, "userPrincipalName", mail, "displayName", "givenName", surname, "accountEnabled", 'none'
       from jsonb_to_recordset($1::jsonb) as given (key text, id text, "userPrincipalName" text, mail text, "displayName" text, "givenName" text, surname text, "accountEnabled" boolean)
       on conflict (integration_id, external_id) where deleted_at is null do update set user_name = excluded.user_name, email = excluded.email,
         display_name = excluded.display_name, given_name = excluded.given_name, family_name = excluded.family_name, is_active = excluded.is_active`,
      [JSON.stringify(rows)],
    );
  }
}
