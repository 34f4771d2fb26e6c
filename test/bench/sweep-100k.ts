import { pino } from 'pino';
import { sweepPage } from '#activities/sweeps/sweep-page.ts';
import { remindPaymentMethodSweep } from '#activities/sweeps/organizations/remind-payment-method.sweep.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import type { SweepPage } from '#workflows/kit/sweep-contract.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryOf } from './files/process-usage.ts';
import { openBenchInstallation, type BenchInstallation } from './installation.ts';
import type { Bench } from './row.ts';

const organizations = 100_000;
/** One of so many has nobody who pays. */
const everyNth = 100;
const pageSize = 100;

/** A run over many organizations of which few are marked; against the same reading and one update each with bare pg. */
export const sweep100k: Bench = {
  name: 'sweep-100k',
  run: async (say) => {
    const installation = await openBenchInstallation({}, []);
    const stateFolder = await mkdtemp(join(tmpdir(), 'core-bench-sweep-'));
    const { runtime, client, environment } = installation;
    const logger = pino({ enabled: false });
    const config = await ConfigStore.open({
      logger,
      stateFolder,
      environment: { ...environment, CORE_INTEGRATIONS_PAYMENTREMINDER_DRYRUN: 'false' },
    });
    try {
      await fill(client);
      const reference = await markBare(client);
      say(`bare pg: ${Math.round(reference)} organizations a second`);
      await client.query('update organization_settings set marked_for_deletion_at = null, deletion_not_before = null');
      await client.query('vacuum analyze organization_settings');
      const { database, temporal } = runtime;
      const deps = { config, database, temporal, logger, onSwept: () => {} };
      const [startedAt, memoryBefore] = [performance.now(), memoryOf(process.pid).now];
      let page: SweepPage = {};
      let done: number;
      for (;;) {
        const { report, next, run } = await sweepPage(deps, remindPaymentMethodSweep, page);
        ({ done } = report);
        if (!next) break;
        page = { after: next, report, ...(run ? { run } : {}) };
      }
      const ours = organizations / ((performance.now() - startedAt) / 1_000);
      const grownMb = Math.round(memoryOf(process.pid).now - memoryBefore);
      return [
        {
          name: 'sweep-100k',
          unit: 'organizations/s',
          ours,
          reference,
          ratio: ours / reference,
          spread: 0,
          note: `${done} of ${organizations} marked, with history and events; memory grew by ${grownMb} MB; reference: pages of ${pageSize} and one update each with bare pg`,
        },
      ];
    } finally {
      config.close();
      await installation.close();
      await rm(stateFolder, { recursive: true, force: true });
    }
  },
};

/** As migrations would, without members: what decides about the mark matters alone. */
async function fill(client: BenchInstallation['client']): Promise<void> {
  const id = (prefix: string) => `'${prefix}' || lpad(n::text, 25, '0')`;
  const stamps = `now() - interval '60 days', now(), 'system:benchmark', 'system:benchmark', 1`;
  const columns = 'id, created_at, updated_at, created_by, updated_by, record_version';
  const numbers = 'from generate_series(1, $1) as n';
  await client.query(
    `insert into organizations (${columns}, name, name_form, is_personal, is_archived)
     select ${id('0')}, ${stamps}, 'organization ' || n, 'organization ' || n, false, false ${numbers}`,
    [organizations],
  );
  await client.query(
    `insert into organization_settings (${columns}, organization_id, timezone, requires_second_factor, files_need_verdict, email_domains, admits_email_domains, email_theme)
     select ${id('1')}, ${stamps}, ${id('0')}, 'UTC', false, false, '{}', false, 'modern' ${numbers}`,
    [organizations],
  );
  await client.query(
    `insert into organization_billings (${columns}, organization_id, customer_generation, trial_generation, checkout_generation,
       drawn_round, applied_round, is_lapsed, has_payment_method, reconciled_at)
     select ${id('2')}, ${stamps}, ${id('0')}, 1, 1, 0, 1, 1, false, n % $2 <> 0, now() ${numbers}`,
    [organizations, everyNth],
  );
  await client.query('vacuum analyze organizations, organization_settings, organization_billings');
}

/** @returns organizations a second */
async function markBare(client: BenchInstallation['client']): Promise<number> {
  const startedAt = performance.now();
  let after = '';
  for (;;) {
    const { rows } = await client.query<{ id: string; pays: boolean }>(
      `select o.id, b.has_payment_method as pays
       from (select id from organizations where id > $1 and deleted_at is null and not is_personal and parent_id is null order by id limit $2) o
         join organization_billings b on b.organization_id = o.id and b.deleted_at is null
         join organization_settings s on s.organization_id = o.id and s.deleted_at is null
       order by o.id`,
      [after, pageSize],
    );
    for (const { id } of rows.filter(({ pays }) => !pays))
      await client.query(
        'update organization_settings set marked_for_deletion_at = now(), deletion_not_before = now() where organization_id = $1',
        [id],
      );
    after = rows.at(-1)?.id ?? '';
    if (rows.length < pageSize) return organizations / ((performance.now() - startedAt) / 1_000);
  }
}
